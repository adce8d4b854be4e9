// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - /proc/upmu
 *
 * In /proc and not in sysfs: it is a list without bound, one line per lease
 * and per CPU, while a sysfs attribute is one value and one page. Not in
 * debugfs: everybody may ask why a lease was refused, as `upmu check` does.
 */
#include <linux/cpu.h>
#include <linux/proc_fs.h>
#include <linux/perf/arm_pmu.h>
#include <linux/seq_file.h>

#include "upmu.h"

static void upmu_state_read_access(void *data)
{
	struct upmu_core core;
	u32 *bits = data;

	if (!upmu_core_probe(&core))
		*bits = upmu_regs_user_access();
}

/* As the register has it at this moment, with whatever that CPU runs. */
static void upmu_state_show_cpu(struct seq_file *m, int cpu)
{
	const struct upmu_pmu *upmu = upmu_publish_of_cpu(cpu);
	struct upmu_core core;
	u32 bits = 0;

	if (upmu_core_probe_cpu(cpu, &core)) {
		seq_printf(m, "cpu %d pmu none\n", cpu);
		return;
	}
	smp_call_function_single(cpu, upmu_state_read_access, &bits, 1);
	seq_printf(m, "cpu %d pmu %s version %u counters %u access 0x%x\n", cpu,
		   upmu ? upmu->pmu->name : "unregistered", core.version,
		   core.counters, bits);
}

static int upmu_state_show(struct seq_file *m, void *unused)
{
	int cpu;

	seq_printf(m, "abi %d\n", UPMU_ABI);
	seq_printf(m, "published %s\n", upmu_publish_active() ? "yes" : "no");
	seq_printf(m, "raw %s\n", upmu_raw_group() ? "group" : "root");
	seq_printf(m, "open %s\n", upmu_open_name());
	seq_printf(m, "taken 0x%08x\n", upmu_take_taken());
	upmu_lease_check();
	upmu_lease_show(m);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		upmu_state_show_cpu(m, cpu);
	cpus_read_unlock();
	return 0;
}

int upmu_state_init(void)
{
	if (!proc_create_single("upmu", 0444, NULL, upmu_state_show))
		return -ENOMEM;
	return 0;
}

void upmu_state_exit(void)
{
	remove_proc_entry("upmu", NULL);
}
