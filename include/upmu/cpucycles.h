/* SPDX-License-Identifier: MIT */
/**
 * cpucycles.h - cpucycles(), for programs written for SUPERCOP or libcpucycles
 *
 * Cycles of this CPU in 64 bits: on ARMv6 and ARMv7 right where called at least
 * once every 2^32 cycles. raw.h tells what it needs. Of libcpucycles' other
 * functions only cpucycles_implementation() is here: how long a cycle takes is
 * not known to a counter of cycles.
 */
#ifndef UPMU_CPUCYCLES_H
#define UPMU_CPUCYCLES_H

#include <upmu/raw.h>

#ifdef __cplusplus /* what is inline here is C, too */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#if UPMU_REGS_MAX_COUNTERS > 0 /* else raw.h has said why not */
static inline long long cpucycles(void)
{
	return (long long)upmu_raw_cycles64();
}

static inline const char *cpucycles_implementation(void)
{
	return "upmu-" UPMU_REGS_NAME;
}
#endif

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif
