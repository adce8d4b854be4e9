/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * v8_32.h - code compiled for ARMv8 in AArch32: PMUv3
 *
 * Every counter has an encoding of its own, so PMSELR is not needed. Source:
 * DDI 0487 chapter G8: PMEVCNTR<n> is c14, c8 + n / 8, n mod 8; PMEVTYPER<n>
 * is c14, c12 + n / 8, n mod 8; PMCCFILTR is c14, c15, 7; PMCCNTR in 64 bits
 * is mrrc 0, c9.
 */
#ifndef UPMU_REGS_V8_32_H
#define UPMU_REGS_V8_32_H

#include "pmu_aarch32.h"

#define UPMU_REGS_NAME "v8-32"

static inline uint64_t upmu_regs_wide_cycles(void)
{
	uint64_t value;

	UPMU_MRRC(value, 0, 9);
	return value;
}

static inline uint64_t upmu_regs_cycles64(void)
{
	return upmu_regs_wide_cycles();
}

static inline unsigned int upmu_regs_cycle_bits(void)
{
	return 64;
}

static inline void upmu_regs_set_cycles(uint64_t value)
{
	UPMU_MCRR(value, 0, 9);
}

/* X(n, CRm of PMEVCNTR<n>, CRm of PMEVTYPER<n>, opc2 of both) */
#define UPMU_V8_32_COUNTERS(X) \
	X(0, 8, 12, 0)         \
	X(1, 8, 12, 1)         \
	X(2, 8, 12, 2)         \
	X(3, 8, 12, 3)         \
	X(4, 8, 12, 4)         \
	X(5, 8, 12, 5)         \
	X(6, 8, 12, 6)         \
	X(7, 8, 12, 7)         \
	X(8, 9, 13, 0)         \
	X(9, 9, 13, 1)         \
	X(10, 9, 13, 2)        \
	X(11, 9, 13, 3)        \
	X(12, 9, 13, 4)        \
	X(13, 9, 13, 5)        \
	X(14, 9, 13, 6)        \
	X(15, 9, 13, 7)        \
	X(16, 10, 14, 0)       \
	X(17, 10, 14, 1)       \
	X(18, 10, 14, 2)       \
	X(19, 10, 14, 3)       \
	X(20, 10, 14, 4)       \
	X(21, 10, 14, 5)       \
	X(22, 10, 14, 6)       \
	X(23, 10, 14, 7)       \
	X(24, 11, 15, 0)       \
	X(25, 11, 15, 1)       \
	X(26, 11, 15, 2)       \
	X(27, 11, 15, 3)       \
	X(28, 11, 15, 4)       \
	X(29, 11, 15, 5)       \
	X(30, 11, 15, 6)

#define UPMU_V8_32_COUNTER(n, cnt, typ, opc2)      \
	case n:                                    \
		UPMU_MRC(value, 0, 14, cnt, opc2); \
		break;
#define UPMU_V8_32_SET_COUNTER(n, cnt, typ, opc2)            \
	case n:                                              \
		UPMU_MCR((uint32_t)value, 0, 14, cnt, opc2); \
		break;
#define UPMU_V8_32_TYPE(n, cnt, typ, opc2)         \
	case n:                                    \
		UPMU_MRC(value, 0, 14, typ, opc2); \
		break;
#define UPMU_V8_32_SET_TYPE(n, cnt, typ, opc2)    \
	case n:                                   \
		UPMU_MCR(type, 0, 14, typ, opc2); \
		break;

/* 0 for a counter that no PMU has (31 on). */
static inline uint64_t upmu_regs_counter(unsigned int n)
{
	uint32_t value = 0;

	switch (n) {
		UPMU_V8_32_COUNTERS(UPMU_V8_32_COUNTER)
	}
	return value;
}

static inline void upmu_regs_set_counter(unsigned int n, uint64_t value)
{
	switch (n) {
		UPMU_V8_32_COUNTERS(UPMU_V8_32_SET_COUNTER)
	}
}

static inline int upmu_regs_has_filter(void)
{
	return 1;
}

/* 31: PMCCFILTR, which has no counter of its own to name */
static inline uint32_t upmu_regs_type(unsigned int n)
{
	uint32_t value = 0;

	switch (n) {
		UPMU_V8_32_COUNTERS(UPMU_V8_32_TYPE)
		UPMU_V8_32_TYPE(31, 0, 15, 7)
	}
	return value;
}

static inline void upmu_regs_set_type(unsigned int n, uint32_t type)
{
	switch (n) {
		UPMU_V8_32_COUNTERS(UPMU_V8_32_SET_TYPE)
		UPMU_V8_32_SET_TYPE(31, 0, 15, 7)
	}
}

#endif
