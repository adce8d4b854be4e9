/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * none.h - a machine whose counters this project does not read by register
 *
 * Only what says so; code for registers does not compile here, rather than
 * reading 0.
 */
#ifndef UPMU_REGS_NONE_H
#define UPMU_REGS_NONE_H

#define UPMU_REGS_NAME	       "none"
#define UPMU_REGS_MAX_COUNTERS 0

static inline unsigned int upmu_regs_cycle_bits(void)
{
	return 0;
}

#ifndef __KERNEL__
#include <errno.h>

/* Differs from thread to thread, which is all that is asked of it here. */
static inline uintptr_t upmu_regs_thread_pointer(void)
{
	return (uintptr_t)&errno;
}
#endif

#endif
