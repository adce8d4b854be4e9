/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * v7.h - ARMv7-A: PMUv1 and PMUv2, and PMUv3 run by ARMv7 code in AArch32
 *
 * An event counter is reached in two steps, PMSELR then PMXEVCNTR or
 * PMXEVTYPER, and an interrupt between the two may leave PMSELR on another
 * counter (perf's handler does). So a read looks at PMSELR again. A write
 * cannot be taken back: its caller keeps interrupts off or owns all counters.
 */
#ifndef UPMU_REGS_V7_H
#define UPMU_REGS_V7_H

#include "pmu_aarch32.h"

#define UPMU_REGS_NAME "v7"

/*
 * PMUv3 has 64 bits, reached by mrrc, which is undefined on PMUv1 and PMUv2.
 * ARMv7 code that knows what it runs on may use upmu_regs_wide_cycles().
 */
static inline uint64_t upmu_regs_cycles64(void)
{
	return upmu_regs_cycles32();
}

static inline unsigned int upmu_regs_cycle_bits(void)
{
	return 32;
}

static inline uint64_t upmu_regs_wide_cycles(void)
{
	uint64_t value;

	UPMU_MRRC(value, 0, 9);
	return value;
}

static inline void upmu_regs_set_cycles(uint64_t value)
{
	upmu_cp15_set_pmccntr((uint32_t)value);
}

/* Leaves PMSELR on @n. */
static inline uint64_t upmu_regs_counter(unsigned int n)
{
	uint32_t value;

	do {
		upmu_cp15_set_pmselr(n);
		upmu_regs_isb(); /* orders PMXEVCNTR after PMSELR */
		value = upmu_cp15_pmxevcntr();
	} while ((upmu_cp15_pmselr() ^ n) & UPMU_SELECT);
	return value;
}

/* Leaves PMSELR on @n, as do the two below. */
static inline void upmu_regs_set_counter(unsigned int n, uint64_t value)
{
	upmu_cp15_set_pmselr(n);
	upmu_regs_isb();
	upmu_cp15_set_pmxevcntr((uint32_t)value);
}

/* PMUv1 has no filters: type 31 is reserved there (DDI 0406C C12.5). */
static inline int upmu_regs_has_filter(void)
{
	unsigned int version = upmu_regs_pmu_version();

	return version >= 2 && version != 0xf;
}

static inline uint32_t upmu_regs_type(unsigned int n)
{
	uint32_t type;

	do {
		upmu_cp15_set_pmselr(n);
		upmu_regs_isb();
		type = upmu_cp15_pmxevtyper();
	} while ((upmu_cp15_pmselr() ^ n) & UPMU_SELECT);
	return type;
}

static inline void upmu_regs_set_type(unsigned int n, uint32_t type)
{
	upmu_cp15_set_pmselr(n);
	upmu_regs_isb();
	upmu_cp15_set_pmxevtyper(type);
}

#endif
