/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * v6.h - the ARM1176's PMU: one cycle counter, two event counters
 *
 * Source: ARM1176JZF-S TRM, DDI 0301H, 3.2.51 to 3.2.54 (PMU), 3.2.50 (user
 * access), 3.2.2 (identity). The architecture's name for PMNC is PMCR.
 *
 * Everything but the counts is in PMCR, and its overflow flags are cleared by
 * writing 1: a read-modify-write that writes back what it read loses them. So
 * each writer here starts from upmu_v6_keep().
 */
#ifndef UPMU_REGS_V6_H
#define UPMU_REGS_V6_H

#include "cp15.h"

#define UPMU_REGS_NAME	       "v6"
#define UPMU_REGS_MAX_COUNTERS 2

/* PMCR, DDI 0301H table 3-136 */
#define UPMU_V6_IRQ_SHIFT   4	 /* [6:4]: cycles, counter 1, counter 0 */
#define UPMU_V6_FLAG_SHIFT  8	 /* [10:8]: same order, write 1 clears */
#define UPMU_V6_TRIO	    0x7u /* as wide as either */
#define UPMU_V6_FLAGS	    (UPMU_V6_TRIO << UPMU_V6_FLAG_SHIFT)
#define UPMU_V6_EXPORT	    0x800u /* X */
#define UPMU_V6_TYPE0_SHIFT 20	   /* EvtCount0 [27:20] */
#define UPMU_V6_TYPE1_SHIFT 12	   /* EvtCount1 [19:12] */
#define UPMU_V6_TYPE	    0xffu
#define UPMU_V6_ZERO	    0xf0000080u /* [31:28], [7]: should be zero */

#define UPMU_CONTROL_X UPMU_V6_EXPORT

/*
 * A counter cannot be stopped alone; one whose event is this one (ETMEXTOUT[0],
 * silent unless an ETM drives it) stands still. Table 3-137.
 */
#define UPMU_V6_EVENT_IDLE     0x20u
#define UPMU_V6_EVENT_CYCLES   0xffu
#define UPMU_REGS_EVENT_IDLE   UPMU_V6_EVENT_IDLE
#define UPMU_REGS_EVENT_CYCLES UPMU_V6_EVENT_CYCLES

/* What of PMCR is a setting and has no function of its own here. */
#define UPMU_CONTROL_SAVED (UPMU_CONTROL_E | UPMU_CONTROL_D | UPMU_CONTROL_X)

UPMU_CP15(pmcr, 0, 15, 12, 0)
UPMU_CP15(ccnt, 0, 15, 12, 1)
UPMU_CP15(pmn0, 0, 15, 12, 2)
UPMU_CP15(pmn1, 0, 15, 12, 3)
/* Secure User and Non-secure Access Validation Control Register, 3.2.50 */
UPMU_CP15(sunavcr, 0, 15, 9, 0)
UPMU_CP15_READ(midr, 0, 0, 0, 0)

/* The mask's counters as PMCR's trio: bit 31 to bit 2. */
static inline uint32_t upmu_v6_trio(uint32_t mask)
{
	return (mask & 0x3) | (mask >> 31) << 2;
}

static inline uint32_t upmu_v6_mask(uint32_t trio)
{
	return (trio & 0x3) | (trio & 0x4) << 29;
}

/* PMCR with everything zero that acts when written or must be zero. */
static inline uint32_t upmu_v6_keep(void)
{
	return upmu_cp15_pmcr() & ~(UPMU_V6_FLAGS | UPMU_V6_ZERO |
				    UPMU_CONTROL_C | UPMU_CONTROL_P);
}

static inline unsigned int upmu_v6_type_shift(unsigned int n)
{
	return n ? UPMU_V6_TYPE1_SHIFT : UPMU_V6_TYPE0_SHIFT;
}

static inline uint32_t upmu_regs_cycles32(void)
{
	return upmu_cp15_ccnt();
}

/* 32 bits wide here: see upmu_regs_cycle_bits(). */
static inline uint64_t upmu_regs_cycles64(void)
{
	return upmu_cp15_ccnt();
}

static inline unsigned int upmu_regs_cycle_bits(void)
{
	return 32;
}

static inline void upmu_regs_set_cycles(uint64_t value)
{
	upmu_cp15_set_ccnt((uint32_t)value);
}

/* C and P are unpredictable when read: given as 0, as on later PMUs. */
static inline uint32_t upmu_regs_control(void)
{
	return upmu_cp15_pmcr() & ~(UPMU_CONTROL_C | UPMU_CONTROL_P);
}

/* As given: a flag that is 1 in @value is cleared. */
static inline void upmu_regs_write_control(uint32_t value)
{
	upmu_cp15_set_pmcr(value & ~UPMU_V6_ZERO);
}

/* Leaves the overflow flags alone unless @set names them. */
static inline void upmu_regs_change_control(uint32_t clear, uint32_t set)
{
	upmu_regs_write_control((upmu_v6_keep() & ~clear) | set);
}

static inline unsigned int upmu_regs_counters(void)
{
	return 2;
}

/* No selector: each counter has a register of its own. */
static inline int upmu_regs_has_selector(void)
{
	return 0;
}

static inline uint32_t upmu_regs_selected(void)
{
	return 0;
}

static inline void upmu_regs_select(unsigned int n)
{
	(void)n;
}

static inline uint64_t upmu_regs_counter(unsigned int n)
{
	return n ? upmu_cp15_pmn1() : upmu_cp15_pmn0();
}

static inline void upmu_regs_set_counter(unsigned int n, uint64_t value)
{
	if (n)
		upmu_cp15_set_pmn1((uint32_t)value);
	else
		upmu_cp15_set_pmn0((uint32_t)value);
}

/* No filter by mode: what is asked of 31 is 0 and what is told is ignored. */
static inline int upmu_regs_has_filter(void)
{
	return 0;
}

static inline uint32_t upmu_regs_type(unsigned int n)
{
	if (n > 1)
		return 0;
	return (upmu_cp15_pmcr() >> upmu_v6_type_shift(n)) & UPMU_V6_TYPE;
}

static inline void upmu_regs_set_type(unsigned int n, uint32_t type)
{
	unsigned int shift = upmu_v6_type_shift(n);

	if (n > 1)
		return;
	upmu_regs_change_control(UPMU_V6_TYPE << shift, (type & UPMU_V6_TYPE)
								<< shift);
}

/* No enables: PMCR.E starts and stops all three counters together. */
#ifdef __KERNEL__
static inline uint32_t upmu_regs_filter_none(void)
{
	return 0;
}
#endif

static inline int upmu_regs_has_enables(void)
{
	return 0;
}

static inline uint32_t upmu_regs_enabled(void)
{
	return (upmu_cp15_pmcr() & UPMU_CONTROL_E) ? UPMU_MASK_CYCLES | 0x3 : 0;
}

static inline void upmu_regs_enable(uint32_t mask)
{
	(void)mask;
}

static inline void upmu_regs_disable(uint32_t mask)
{
	(void)mask;
}

static inline uint32_t upmu_regs_interrupts(void)
{
	return upmu_v6_mask(upmu_cp15_pmcr() >> UPMU_V6_IRQ_SHIFT);
}

static inline void upmu_regs_enable_interrupts(uint32_t mask)
{
	upmu_regs_change_control(0, upmu_v6_trio(mask) << UPMU_V6_IRQ_SHIFT);
}

static inline void upmu_regs_disable_interrupts(uint32_t mask)
{
	upmu_regs_change_control(upmu_v6_trio(mask) << UPMU_V6_IRQ_SHIFT, 0);
}

static inline uint32_t upmu_regs_overflow(void)
{
	return upmu_v6_mask(upmu_cp15_pmcr() >> UPMU_V6_FLAG_SHIFT);
}

static inline void upmu_regs_clear_overflow(uint32_t mask)
{
	upmu_regs_change_control(0, upmu_v6_trio(mask) << UPMU_V6_FLAG_SHIFT);
}

/* Nothing sets a flag but a counter that passes 2^32. */
static inline int upmu_regs_has_overflow_set(void)
{
	return 0;
}

static inline void upmu_regs_set_overflow(uint32_t mask)
{
	(void)mask;
}

static inline int upmu_regs_has_software_increment(void)
{
	return 0;
}

static inline void upmu_regs_software_increment(uint32_t mask)
{
	(void)mask;
}

/* User mode cannot ask whether it has access: SUNAVCR is privileged. */
static inline int upmu_regs_user_readable(void)
{
	return 0;
}

/*
 * V opens the PMU to user mode for reading and writing, and the system
 * validation counters beside it.
 */
static inline uint32_t upmu_regs_user_access(void)
{
	return upmu_cp15_sunavcr();
}

static inline void upmu_regs_set_user_access(uint32_t bits)
{
	upmu_cp15_set_sunavcr(bits & UPMU_USER_EN);
}

static inline uint32_t upmu_regs_midr(void)
{
	return upmu_cp15_midr();
}

/* Before ID_DFR0 told of it. */
static inline unsigned int upmu_regs_pmu_version(void)
{
	return 0;
}

/* No PMCEID: which events there are is known by MIDR only. */
static inline uint32_t upmu_regs_event_bits(unsigned int word)
{
	(void)word;
	return 0;
}

#endif
