// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - which PMU a CPU has, known without touching the PMU
 *
 * A PMU register that is not there is undefined even in kernel mode (a guest
 * without a virtual PMU), so this is asked before anything else.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/smp.h>

#include "cores.h"
#include "upmu.h"

/* Written by its CPU as it comes up; version 0: none. */
static DEFINE_PER_CPU(struct upmu_core, upmu_core);
static atomic_t upmu_versions; /* of all of them, as bits */

const struct upmu_known_core *upmu_core_known(u32 midr)
{
	const struct upmu_known_core *known;

	for (known = upmu_known_cores; known->midr; known++)
		if (known->midr == (midr & UPMU_MIDR_KIND))
			return known;
	return NULL;
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

/*
 * A kernel for ARMv6 and ARMv7 in one gets a module with ARMv6's registers,
 * which are undefined on a later core.
 */
static bool upmu_core_has_these_registers(u32 midr)
{
	const struct upmu_known_core *known = upmu_core_known(midr);

	if (upmu_core_arch() != 6)
		return true;
	return known && known->is_v6;
}

static u32 upmu_core_version(u32 midr)
{
	const struct upmu_known_core *known = upmu_core_known(midr);
	u32 told = upmu_regs_pmu_version();

	if (!upmu_core_has_these_registers(midr) || told == 0xf)
		return 0; /* 0xf: a PMU of another make */
	if (!told)
		return known ? known->silent_version : 0;
	return min_t(u32, told, 3);
}

static const char upmu_core_is_foreign[] =
	"a kernel for ARMv6 and later cores in one: nothing is granted on the later ones";

void upmu_core_cpu_up(void *unused)
{
	struct upmu_core *core = this_cpu_ptr(&upmu_core);

	if (core->midr)
		return; /* since it came up before; others read it */
	core->midr = upmu_regs_midr();
	core->version = upmu_core_version(core->midr);
	core->counters = core->version ? upmu_regs_counters() : 0;
	atomic_or(BIT(core->version), &upmu_versions);
	if (!upmu_core_has_these_registers(core->midr))
		pr_notice_once("%s\n", upmu_core_is_foreign);
}

const struct upmu_core *upmu_core_of(int cpu)
{
	const struct upmu_core *core = per_cpu_ptr(&upmu_core, cpu);

	return READ_ONCE(core->version) ? core : NULL;
}

bool upmu_core_disown(unsigned int cpu)
{
	struct upmu_core *core = per_cpu_ptr(&upmu_core, cpu);
	bool was_known = core->version;

	WRITE_ONCE(core->version, 0);
	atomic_or(BIT(0), &upmu_versions);
	return was_known;
}

bool upmu_core_all_known(void)
{
	return !(atomic_read(&upmu_versions) & BIT(0));
}

bool upmu_core_any_v3(void)
{
	return atomic_read(&upmu_versions) & BIT(3);
}

int upmu_core_init(void)
{
	on_each_cpu(upmu_core_cpu_up, NULL, 1);
	return 0;
}
