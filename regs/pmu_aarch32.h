/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pmu_aarch32.h - PMUv1, PMUv2 and PMUv3 in AArch32: what v7.h and v8_32.h
 * share
 *
 * Source: DDI 0406C.d B4.1.112 to B4.1.129 and chapter C12 (PMUv1, PMUv2);
 * DDI 0487 chapter G8 "Performance Monitors registers" (PMUv3). The encodings
 * are the same, so ARMv7 code runs on an ARMv8 core in AArch32.
 */
#ifndef UPMU_REGS_PMU_AARCH32_H
#define UPMU_REGS_PMU_AARCH32_H

#include "cp15.h"

#define UPMU_REGS_MAX_COUNTERS 31

/* PMCR, DDI 0406C B4.1.117 */
#define UPMU_CONTROL_X	0x10u /* export events to external logic */
#define UPMU_CONTROL_DP 0x20u /* no cycles where counting is prohibited */
#define UPMU_CONTROL_LC 0x40u /* PMUv3: cycles overflow at 2^64 */
#define UPMU_CONTROL_SAVED                                                    \
	(UPMU_CONTROL_E | UPMU_CONTROL_D | UPMU_CONTROL_X | UPMU_CONTROL_DP | \
	 UPMU_CONTROL_LC)	/* settings */
#define UPMU_CONTROL_N_SHIFT 11 /* [15:11] number of event counters */
#define UPMU_CONTROL_N	     0x1fu

/* Software increment: counts nothing unless told to; DDI 0406C C12.8.2 */
#define UPMU_REGS_EVENT_IDLE   0x00u
#define UPMU_REGS_EVENT_CYCLES 0x11u

#define UPMU_SELECT	   0x1fu /* PMSELR [4:0]; the rest reads as unknown */
#define UPMU_SELECT_CYCLES 31u	 /* PMXEVTYPER is then the cycle filter */

/* PMXEVTYPER and the cycle filter, PMUv2 on: DDI 0406C B4.1.129 */
#define UPMU_TYPE_P (UINT32_C(1) << 31) /* not privileged modes */
#define UPMU_TYPE_U (UINT32_C(1) << 30) /* not user mode */
#define UPMU_TYPE_NSK                                                         \
	(UINT32_C(1) << 29)		  /* P differs: not Non-secure kernel \
					   */
#define UPMU_TYPE_NSU (UINT32_C(1) << 28) /* U differs: not Non-secure user */
#define UPMU_TYPE_NSH (UINT32_C(1) << 27) /* Hyp mode too */

UPMU_CP15(pmcr, 0, 9, 12, 0)
UPMU_CP15(pmcntenset, 0, 9, 12, 1)
UPMU_CP15(pmcntenclr, 0, 9, 12, 2)
UPMU_CP15(pmovsr, 0, 9, 12, 3)
UPMU_CP15_WRITE(pmswinc, 0, 9, 12, 4)
UPMU_CP15(pmselr, 0, 9, 12, 5)
UPMU_CP15_READ(pmceid0, 0, 9, 12, 6)
UPMU_CP15_READ(pmceid1, 0, 9, 12, 7)
UPMU_CP15(pmccntr, 0, 9, 13, 0)
UPMU_CP15(pmxevtyper, 0, 9, 13, 1)
UPMU_CP15(pmxevcntr, 0, 9, 13, 2)
UPMU_CP15(pmuserenr, 0, 9, 14, 0)
UPMU_CP15(pmintenset, 0, 9, 14, 1)
UPMU_CP15(pmintenclr, 0, 9, 14, 2)
UPMU_CP15(pmovsset, 0, 9, 14, 3)
UPMU_CP15_READ(midr, 0, 0, 0, 0)
UPMU_CP15_READ(id_dfr0, 0, 0, 1, 2)

static inline uint32_t upmu_regs_cycles32(void)
{
	return upmu_cp15_pmccntr();
}

/* P and C read as zero. */
static inline uint32_t upmu_regs_control(void)
{
	return upmu_cp15_pmcr();
}

static inline void upmu_regs_write_control(uint32_t value)
{
	upmu_cp15_set_pmcr(value);
}

static inline void upmu_regs_change_control(uint32_t clear, uint32_t set)
{
	upmu_cp15_set_pmcr((upmu_cp15_pmcr() & ~clear) | set);
}

/* In user mode this too needs access. Up to 31. */
static inline unsigned int upmu_regs_counters(void)
{
	return (upmu_cp15_pmcr() >> UPMU_CONTROL_N_SHIFT) & UPMU_CONTROL_N;
}

static inline int upmu_regs_has_selector(void)
{
	return 1;
}

static inline uint32_t upmu_regs_selected(void)
{
	return upmu_cp15_pmselr() & UPMU_SELECT;
}

/* Takes effect for the next PMXEV access after upmu_regs_isb(). */
static inline void upmu_regs_select(unsigned int n)
{
	upmu_cp15_set_pmselr(n);
}

#ifdef __KERNEL__
/* A filter of cycles that leaves nothing out but Hyp, where no kernel runs. */
static inline uint32_t upmu_regs_filter_none(void)
{
	return 0;
}
#endif

static inline int upmu_regs_has_enables(void)
{
	return 1;
}

static inline uint32_t upmu_regs_enabled(void)
{
	return upmu_cp15_pmcntenset();
}

static inline void upmu_regs_enable(uint32_t mask)
{
	upmu_cp15_set_pmcntenset(mask);
}

static inline void upmu_regs_disable(uint32_t mask)
{
	upmu_cp15_set_pmcntenclr(mask);
}

static inline uint32_t upmu_regs_interrupts(void)
{
	return upmu_cp15_pmintenset();
}

static inline void upmu_regs_enable_interrupts(uint32_t mask)
{
	upmu_cp15_set_pmintenset(mask);
}

/* A pending one still comes: isb, then clear its flag. */
static inline void upmu_regs_disable_interrupts(uint32_t mask)
{
	upmu_cp15_set_pmintenclr(mask);
}

static inline uint32_t upmu_regs_overflow(void)
{
	return upmu_cp15_pmovsr();
}

static inline void upmu_regs_clear_overflow(uint32_t mask)
{
	upmu_cp15_set_pmovsr(mask);
}

/* ID_DFR0.PerfMon: 1 PMUv1, 2 PMUv2, 3 to 14 PMUv3, 0 and 15 not told. */
static inline unsigned int upmu_regs_pmu_version(void)
{
	return (upmu_cp15_id_dfr0() >> 24) & 0xf;
}

/*
 * PMOVSSET came with the Virtualization Extensions (DDI 0406C B4.1.115), that
 * is with PMUv2; before, only a counter that passes 2^32 sets its flag.
 */
static inline int upmu_regs_has_overflow_set(void)
{
	unsigned int version = upmu_regs_pmu_version();

	return version >= 2 && version != 0xf;
}

static inline void upmu_regs_set_overflow(uint32_t mask)
{
	upmu_cp15_set_pmovsset(mask);
}

static inline int upmu_regs_has_software_increment(void)
{
	return 1;
}

/* Counters whose type is 0 count one each. */
static inline void upmu_regs_software_increment(uint32_t mask)
{
	upmu_cp15_set_pmswinc(mask);
}

/* User mode may always read PMUSERENR (DDI 0406C B4.1.124). */
static inline int upmu_regs_user_readable(void)
{
	return 1;
}

static inline uint32_t upmu_regs_user_access(void)
{
	return upmu_cp15_pmuserenr();
}

static inline void upmu_regs_set_user_access(uint32_t bits)
{
	upmu_cp15_set_pmuserenr(bits);
}

static inline uint32_t upmu_regs_midr(void)
{
	return upmu_cp15_midr();
}

/*
 * Events 0 to 31 (@word 0) and 32 to 63 (1) as bits. Undefined on PMUv1 and
 * PMUv2 of some cores: ask only where upmu_regs_pmu_version() is 3 to 14.
 */
static inline uint32_t upmu_regs_event_bits(unsigned int word)
{
	return word ? upmu_cp15_pmceid1() : upmu_cp15_pmceid0();
}

#endif
