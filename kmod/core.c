// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - which PMU a CPU has, known without touching the PMU
 *
 * A PMU register that is not there is undefined even in kernel mode (a guest
 * without a virtual PMU), so this is asked before anything else.
 */
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/smp.h>

#include "cores.h"
#include "upmu.h"

static DEFINE_PER_CPU(struct upmu_core, upmu_core);
static bool upmu_core_is_v3; /* one of them, and stays so */

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

void upmu_core_cpu_up(bool looked_after)
{
	struct upmu_core *core = this_cpu_ptr(&upmu_core);
	u32 midr = upmu_regs_midr();
	u32 version = looked_after ? upmu_core_version(midr) : 0;

	/* Others read it, also where it comes up again. */
	WRITE_ONCE(core->counters, version ? upmu_regs_counters() : 0);
	WRITE_ONCE(core->version, version);
	if (version == 3)
		WRITE_ONCE(upmu_core_is_v3, true);
	smp_store_release(&core->midr, midr); /* known from now on */
	if (!upmu_core_has_these_registers(midr))
		pr_notice_once("%s\n", upmu_core_is_foreign);
}

const struct upmu_core *upmu_core_of(int cpu)
{
	const struct upmu_core *core = per_cpu_ptr(&upmu_core, cpu);

	return READ_ONCE(core->version) ? core : NULL;
}

bool upmu_core_all_known(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		/* Where it is known, what it has is known too. */
		if (smp_load_acquire(&per_cpu_ptr(&upmu_core, cpu)->midr) &&
		    !upmu_core_of(cpu))
			return false;
	return true;
}

bool upmu_core_any_v3(void)
{
	return READ_ONCE(upmu_core_is_v3);
}

static void upmu_core_look(void *unused)
{
	upmu_core_cpu_up(true);
}

/* Before perf's PMUs are asked for: `adopt` is to know. */
int upmu_core_init(void)
{
	on_each_cpu(upmu_core_look, NULL, 1);
	return 0;
}
