// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - which PMU a CPU has, known without touching the PMU
 *
 * A PMU register that is not there is undefined even in kernel mode (a guest
 * without a virtual PMU), so this is asked before anything else.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "upmu.h"

/* MIDR: implementer and part number; DDI 0406C B4.1.105. */
#define UPMU_MIDR_CORE 0xff00fff0u

/* Cores whose ID registers do not tell of their PMU. */
static const struct {
	u32 midr;
	u32 version;
} upmu_silent_cores[] = {
	{ 0x4100b760, 1 }, /* ARM1176: DDI 0301H 3.2.51 */
	{ 0x4100c080, 1 }, /* Cortex-A8: DDI 0344K 3.2.42 */
	{ 0x4100c090, 1 }, /* Cortex-A9: DDI 0388I 11 */
};

static u32 upmu_version_by_midr(u32 midr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(upmu_silent_cores); i++)
		if ((midr & UPMU_MIDR_CORE) == upmu_silent_cores[i].midr)
			return upmu_silent_cores[i].version;
	return 0;
}

int upmu_core_probe(struct upmu_core *core)
{
	u32 told = upmu_regs_pmu_version();
	struct upmu_core found = { .midr = upmu_regs_midr() };

	if (told == 0)
		found.version = upmu_version_by_midr(found.midr);
	else if (told != 0xf) /* 0xf: a PMU of another make */
		found.version = min_t(u32, told, 3);
	if (!found.version)
		return -ENODEV;
	found.counters = upmu_regs_counters();
	*core = found;
	return 0;
}

struct upmu_core_request {
	struct upmu_core *core;
	int result;
};

static void upmu_core_probe_here(void *data)
{
	struct upmu_core_request *request = data;

	request->result = upmu_core_probe(request->core);
}

int upmu_core_probe_cpu(int cpu, struct upmu_core *core)
{
	struct upmu_core_request request = { core, -ENODEV };
	int err;

	err = smp_call_function_single(cpu, upmu_core_probe_here, &request, 1);
	return err ? err : request.result;
}

unsigned int upmu_core_arch(void)
{
	switch (UPMU_REGS_ARCH) {
	case UPMU_REGS_V6:
		return 6;
	case UPMU_REGS_V8_64:
		return 8;
	default:
		return 7;
	}
}
