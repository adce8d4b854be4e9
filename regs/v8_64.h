/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * v8_64.h - ARMv8 and later in AArch64: PMUv3
 *
 * Source: DDI 0487 chapter D17 "Performance Monitors registers" (each by its
 * name) and D17.2 (MIDR_EL1, ID_AA64DFR0_EL1).
 */
#ifndef UPMU_REGS_V8_64_H
#define UPMU_REGS_V8_64_H

#define UPMU_REGS_NAME	       "v8-64"
#define UPMU_REGS_MAX_COUNTERS 31

#ifndef UPMU_REGS_MODEL
/* volatile and "memory" as in cp15.h: what stands between is measured */
#define UPMU_MRS(value, name) \
	__asm__ __volatile__("mrs %0, " #name : "=r"(value) : : "memory")
#define UPMU_MSR(name, value)                         \
	__asm__ __volatile__("msr " #name ", %0"      \
			     :                        \
			     : "r"((uint64_t)(value)) \
			     : "memory")
#define UPMU_ISB() __asm__ __volatile__("isb" : : : "memory")
#endif

/* PMCR_EL0 */
#define UPMU_CONTROL_X	0x10u /* export events */
#define UPMU_CONTROL_DP 0x20u /* no cycles where counting is prohibited */
#define UPMU_CONTROL_LC 0x40u /* cycles overflow at 2^64, not 2^32 */
#define UPMU_CONTROL_LP 0x80u /* PMUv3p5: event counters at 2^64 */
#define UPMU_CONTROL_SAVED                                                    \
	(UPMU_CONTROL_E | UPMU_CONTROL_D | UPMU_CONTROL_X | UPMU_CONTROL_DP | \
	 UPMU_CONTROL_LC | UPMU_CONTROL_LP) /* settings */
#define UPMU_CONTROL_N_SHIFT 11 /* [15:11] number of event counters */
#define UPMU_CONTROL_N	     0x1fu

/* Software increment: counts nothing unless told to; DDI 0487 D13.11 */
#define UPMU_REGS_EVENT_IDLE   0x00u
#define UPMU_REGS_EVENT_CYCLES 0x11u

#define UPMU_SELECT	   0x1fu /* PMSELR_EL0.SEL */
#define UPMU_SELECT_CYCLES 31u

/* PMEVTYPER<n>_EL0 and PMCCFILTR_EL0 */
#define UPMU_TYPE_P   (UINT32_C(1) << 31) /* not EL1 */
#define UPMU_TYPE_U   (UINT32_C(1) << 30) /* not EL0 */
#define UPMU_TYPE_NSK (UINT32_C(1) << 29) /* P differs: not Non-secure EL1 */
#define UPMU_TYPE_NSU (UINT32_C(1) << 28) /* U differs: not Non-secure EL0 */
#define UPMU_TYPE_NSH (UINT32_C(1) << 27) /* EL2 too */

#define UPMU_SYS_READ(name)                          \
	static inline uint64_t upmu_sys_##name(void) \
	{                                            \
		uint64_t value;                      \
                                                     \
		UPMU_MRS(value, name);               \
		return value;                        \
	}
#define UPMU_SYS_WRITE(name)                                   \
	static inline void upmu_sys_set_##name(uint64_t value) \
	{                                                      \
		UPMU_MSR(name, value);                         \
	}
#define UPMU_SYS(name)      \
	UPMU_SYS_READ(name) \
	UPMU_SYS_WRITE(name)

UPMU_SYS(pmcr_el0)
UPMU_SYS(pmcntenset_el0)
UPMU_SYS(pmcntenclr_el0)
UPMU_SYS(pmovsclr_el0)
UPMU_SYS(pmovsset_el0)
UPMU_SYS_WRITE(pmswinc_el0)
UPMU_SYS(pmselr_el0)
UPMU_SYS_READ(pmceid0_el0)
UPMU_SYS_READ(pmceid1_el0)
UPMU_SYS(pmccntr_el0)
UPMU_SYS(pmccfiltr_el0)
UPMU_SYS(pmuserenr_el0)
UPMU_SYS(pmintenset_el1)
UPMU_SYS(pmintenclr_el1)
UPMU_SYS_READ(midr_el1)
UPMU_SYS_READ(id_aa64dfr0_el1)

static inline void upmu_regs_isb(void)
{
	UPMU_ISB();
}

static inline uint32_t upmu_regs_cycles32(void)
{
	return (uint32_t)upmu_sys_pmccntr_el0();
}

static inline uint64_t upmu_regs_cycles64(void)
{
	return upmu_sys_pmccntr_el0();
}

static inline uint64_t upmu_regs_wide_cycles(void)
{
	return upmu_sys_pmccntr_el0();
}

static inline unsigned int upmu_regs_cycle_bits(void)
{
	return 64;
}

static inline void upmu_regs_set_cycles(uint64_t value)
{
	upmu_sys_set_pmccntr_el0(value);
}

/* P and C read as zero. */
static inline uint32_t upmu_regs_control(void)
{
	return (uint32_t)upmu_sys_pmcr_el0();
}

static inline void upmu_regs_write_control(uint32_t value)
{
	upmu_sys_set_pmcr_el0(value);
}

/* PMUv3p7 and later have bits above 31: kept. */
static inline void upmu_regs_change_control(uint32_t clear, uint32_t set)
{
	upmu_sys_set_pmcr_el0((upmu_sys_pmcr_el0() & ~(uint64_t)clear) | set);
}

static inline unsigned int upmu_regs_counters(void)
{
	return (upmu_regs_control() >> UPMU_CONTROL_N_SHIFT) & UPMU_CONTROL_N;
}

static inline int upmu_regs_has_selector(void)
{
	return 1;
}

static inline uint32_t upmu_regs_selected(void)
{
	return (uint32_t)upmu_sys_pmselr_el0() & UPMU_SELECT;
}

/* Not needed by anything here: each counter has a register of its own. */
static inline void upmu_regs_select(unsigned int n)
{
	upmu_sys_set_pmselr_el0(n);
}

/* clang-format off */
#define UPMU_V8_64_COUNTERS(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) \
	X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
	X(24) X(25) X(26) X(27) X(28) X(29) X(30)
/* clang-format on */

#define UPMU_V8_64_SET_COUNTER(n)                   \
	case n:                                     \
		UPMU_MSR(pmevcntr##n##_el0, value); \
		break;
#define UPMU_V8_64_TYPE(n)                           \
	case n:                                      \
		UPMU_MRS(value, pmevtyper##n##_el0); \
		break;
#define UPMU_V8_64_SET_TYPE(n)                      \
	case n:                                     \
		UPMU_MSR(pmevtyper##n##_el0, type); \
		break;

#ifndef UPMU_REGS_MODEL
/*
 * A register's name is part of its instruction, so jump into a row of them.
 * Where the compiler guards indirect branches (BTI) each target says so
 * (hint #36 is bti j, which older assemblers do not know).
 */
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define UPMU_V8_64_LANDING "hint #36\n\t"
#define UPMU_V8_64_PAD	   "\n\tnop\n\t"
#define UPMU_V8_64_SHIFT   "4"
#else
#define UPMU_V8_64_LANDING
#define UPMU_V8_64_PAD	 "\n\t"
#define UPMU_V8_64_SHIFT "3"
#endif
#define UPMU_V8_64_ROW(name, value, next) \
	UPMU_V8_64_LANDING "mrs " value ", " name "\n\tb " next UPMU_V8_64_PAD
#define UPMU_V8_64_NO_ROW(next) \
	UPMU_V8_64_LANDING "b " next "\n\tnop" UPMU_V8_64_PAD
#define UPMU_V8_64_COUNTER(n) UPMU_V8_64_ROW("pmevcntr" #n "_el0", "%0", "2f")

/* @n must be below 31. */
static inline uint64_t upmu_regs_counter(unsigned int n)
{
	uint64_t value;

	__asm__ __volatile__("adr %0, 1f\n\t"
			     "add %0, %0, %1, lsl #" UPMU_V8_64_SHIFT "\n\t"
			     "br %0\n"
			     "1:\t" UPMU_V8_64_COUNTERS(UPMU_V8_64_COUNTER) "\n"
									    "2:"
			     : "=&r"(value)
			     : "r"((uint64_t)n)
			     : "memory");
	return value;
}
#else
#define UPMU_V8_64_COUNTER(n)                       \
	case n:                                     \
		UPMU_MRS(value, pmevcntr##n##_el0); \
		break;
static inline uint64_t upmu_regs_counter(unsigned int n)
{
	uint64_t value = 0;

	switch (n) {
		UPMU_V8_64_COUNTERS(UPMU_V8_64_COUNTER)
	}
	return value;
}
#endif

static inline void upmu_regs_set_counter(unsigned int n, uint64_t value)
{
	switch (n) {
		UPMU_V8_64_COUNTERS(UPMU_V8_64_SET_COUNTER)
	}
}

static inline int upmu_regs_has_filter(void)
{
	return 1;
}

/* 31: PMCCFILTR_EL0 */
static inline uint32_t upmu_regs_type(unsigned int n)
{
	uint64_t value = 0;

	switch (n) {
		UPMU_V8_64_COUNTERS(UPMU_V8_64_TYPE)
	case UPMU_SELECT_CYCLES:
		value = upmu_sys_pmccfiltr_el0();
	}
	return (uint32_t)value;
}

static inline void upmu_regs_set_type(unsigned int n, uint32_t type)
{
	switch (n) {
		UPMU_V8_64_COUNTERS(UPMU_V8_64_SET_TYPE)
	case UPMU_SELECT_CYCLES:
		upmu_sys_set_pmccfiltr_el0(type);
	}
}

#ifdef __KERNEL__
/* PMCCFILTR_EL0 for all that the kernel and its programs run at. */
static inline uint32_t upmu_regs_filter_none(void)
{
	uint64_t level;

	UPMU_MRS(level, CurrentEL);
	return (level >> 2 & 3) == 2 ? UPMU_TYPE_NSH : 0;
}
#endif

static inline int upmu_regs_has_enables(void)
{
	return 1;
}

static inline uint32_t upmu_regs_enabled(void)
{
	return (uint32_t)upmu_sys_pmcntenset_el0();
}

static inline void upmu_regs_enable(uint32_t mask)
{
	upmu_sys_set_pmcntenset_el0(mask);
}

static inline void upmu_regs_disable(uint32_t mask)
{
	upmu_sys_set_pmcntenclr_el0(mask);
}

static inline uint32_t upmu_regs_interrupts(void)
{
	return (uint32_t)upmu_sys_pmintenset_el1();
}

static inline void upmu_regs_enable_interrupts(uint32_t mask)
{
	upmu_sys_set_pmintenset_el1(mask);
}

/* A pending one still comes: isb, then clear its flag. */
static inline void upmu_regs_disable_interrupts(uint32_t mask)
{
	upmu_sys_set_pmintenclr_el1(mask);
}

static inline uint32_t upmu_regs_overflow(void)
{
	return (uint32_t)upmu_sys_pmovsclr_el0();
}

static inline void upmu_regs_clear_overflow(uint32_t mask)
{
	upmu_sys_set_pmovsclr_el0(mask);
}

static inline int upmu_regs_has_overflow_set(void)
{
	return 1;
}

static inline void upmu_regs_set_overflow(uint32_t mask)
{
	upmu_sys_set_pmovsset_el0(mask);
}

static inline int upmu_regs_has_software_increment(void)
{
	return 1;
}

/* Counters whose type is 0 count one each. */
static inline void upmu_regs_software_increment(uint32_t mask)
{
	upmu_sys_set_pmswinc_el0(mask);
}

/* EL0 may always read PMUSERENR_EL0. */
static inline int upmu_regs_user_readable(void)
{
	return 1;
}

static inline uint32_t upmu_regs_user_access(void)
{
	return (uint32_t)upmu_sys_pmuserenr_el0();
}

static inline void upmu_regs_set_user_access(uint32_t bits)
{
	upmu_sys_set_pmuserenr_el0(bits);
}

static inline uint32_t upmu_regs_midr(void)
{
	return (uint32_t)upmu_sys_midr_el1();
}

/*
 * As in AArch32 (3 PMUv3, 4 PMUv3p1, ...; 0 and 15 none or not told):
 * ID_AA64DFR0_EL1.PMUVer [11:8] differs only in calling PMUv3 1.
 */
static inline unsigned int upmu_regs_pmu_version(void)
{
	unsigned int version = (upmu_sys_id_aa64dfr0_el1() >> 8) & 0xf;

	return version == 1 ? 3 : version;
}

/* Events 0 to 31 (@word 0) and 32 to 63 (1) as bits. */
static inline uint32_t upmu_regs_event_bits(unsigned int word)
{
	return (uint32_t)(word ? upmu_sys_pmceid1_el0()
			       : upmu_sys_pmceid0_el0());
}

#if !defined(__KERNEL__) && !defined(UPMU_REGS_MODEL)
static inline uintptr_t upmu_regs_thread_pointer(void)
{
	uintptr_t value;

	__asm__("mrs %0, tpidr_el0" : "=r"(value));
	return value;
}
#endif

#endif
