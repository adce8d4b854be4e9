/* SPDX-License-Identifier: MIT */
/**
 * rdtsc32.h - rdtsc32(), for programs written for enable_arm_pmu
 *
 * In the place of its armpmu_lib.h, and on more than ARMv7: one instruction.
 * raw.h tells what it needs.
 */
#ifndef UPMU_RDTSC32_H
#define UPMU_RDTSC32_H

#include <upmu/raw.h>

#if UPMU_REGS_MAX_COUNTERS > 0 /* else raw.h has said why not */
static inline uint32_t rdtsc32(void)
{
	return upmu_raw_cycles();
}
#endif

#endif
