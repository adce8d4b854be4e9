/* SPDX-License-Identifier: MIT */
/*
 * fast.h - counts from registers alone
 */
#ifndef UPMU_LIB_FAST_H
#define UPMU_LIB_FAST_H

#include <errno.h>
#include <stdbool.h>

#include "upmu.h"

/** Is the calling thread the one that opened the set of @counter? */
static inline bool upmu_is_opener(const struct upmu_counter *counter)
{
	uintptr_t key = (uintptr_t)counter->thread - upmu_regs_thread_pointer();

	return key == UPMU_KEY_WIDE || key == UPMU_KEY_NARROW;
}

/**
 * Read @n counters of one set by register, of one instant, on the thread that
 * opened the set. 0, or -EAGAIN where not all of them are on the hardware or
 * perf kept changing them.
 *
 * Each count is right by its own page's lock. A set is one perf group, whose
 * pages all change when this thread is switched out, so that where the first
 * one's lock has not changed the counts are of one time on one CPU.
 */
static inline __attribute__((always_inline)) int
upmu_fast_counts(const struct upmu_counter *counters, uint64_t *counts,
		 size_t n)
{
	const void *first = counters->page;

	for (int tries = 0; tries < 100; tries++) {
		uint32_t lock = upmu_page_lock(first), own;

		for (size_t i = 0; i < n; i++)
			if (!upmu_regs_page_read(counters[i].page, &own,
						 &counts[i]))
				return -EAGAIN;
		if (upmu_page_lock(first) == lock)
			return 0;
	}
	return -EAGAIN;
}

/**
 * The same for a constant @n of 1 to 3, in one piece and without a second try:
 * a caller's slow path tries again.
 */
static inline __attribute__((always_inline)) int
upmu_fast_few(const struct upmu_counter *counters, uint64_t *counts, size_t n)
{
	const void *first = counters[0].page;
	uint32_t lock, own;

	if (!upmu_regs_page_read(first, &lock, &counts[0]))
		return -EAGAIN;
	if (n > 1 && !upmu_regs_page_read(counters[1].page, &own, &counts[1]))
		return -EAGAIN;
	if (n > 2 && !upmu_regs_page_read(counters[2].page, &own, &counts[2]))
		return -EAGAIN;
	return upmu_page_lock(first) == lock ? 0 : -EAGAIN;
}

#endif
