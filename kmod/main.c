// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - loading and unloading
 */
#include <linux/kernel.h>
#include <linux/module.h>

#include "lease.h"
#include "process.h"

static const struct upmu_part {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
} upmu_parts[] = {
	{ "core", upmu_core_init, NULL },
	{ "process", upmu_process_init, upmu_process_exit },
	{ "lease", upmu_lease_init, upmu_lease_exit },
	{ "tell", upmu_tell_init, upmu_tell_exit },
	/* its probes are gone before what they call */
	{ "watch", upmu_watch_init, upmu_watch_exit },
	{ "adopt", upmu_adopt_init, NULL },
	{ "fold", upmu_fold_init, upmu_fold_exit },
	{ "publish", upmu_publish_init, upmu_publish_exit },
	/* before each CPU goes to another task: it is to see each vCPU loaded */
	{ "trap", upmu_trap_init, upmu_trap_exit },
	/* looks for perf's PMUs on each CPU */
	{ "cpu", upmu_cpu_init, upmu_cpu_exit },
	{ "state", upmu_state_init, upmu_state_exit },
	{ "open", upmu_open_init, upmu_open_exit },
	{ "device", upmu_device_init, upmu_device_exit },
};

static void upmu_unwind(size_t n)
{
	while (n--)
		if (upmu_parts[n].exit)
			upmu_parts[n].exit();
}

static int __init upmu_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(upmu_parts); i++) {
		err = upmu_parts[i].init();
		if (err) {
			pr_err("cannot start '%s': error %d\n",
			       upmu_parts[i].name, err);
			upmu_unwind(i);
			return err;
		}
	}
	return 0;
}

static void __exit upmu_exit(void)
{
	upmu_unwind(ARRAY_SIZE(upmu_parts));
}

module_init(upmu_init);
module_exit(upmu_exit);
MODULE_DESCRIPTION("Opens the CPU's performance counters to user mode, safely");
MODULE_LICENSE("GPL");
