/* SPDX-License-Identifier: MIT */
/**
 * cost.h - what one of something costs, measured by repeating it
 */
#ifndef UPMU_TOOLS_COST_H
#define UPMU_TOOLS_COST_H

#include <stdbool.h>

#include "upmu.h"

#define COST_REPEATS 1000 /* whose cost is told; twice as many less as many */
#define COST_RUNS    9 /* the least of them is told: the rest is disturbance */

/** struct cost - of one repetition; NAN: could not be counted */
struct cost {
	double instructions, cycles, ns;
};

/** Does what is to be measured @times times. */
typedef void cost_work(const void *arg, int times);

/** upmu_count() on the struct upmu_counter @arg. */
void cost_counts(const void *arg, int times);

/**
 * A set "cycles,instructions" of the first source in @sources (ends with NULL)
 * that gives one, or NULL. upmu_close() frees it.
 */
struct upmu *cost_meter(const char *const *sources);

/**
 * The least cost of one repetition of @work, the empty loop taken off.
 * @meter: counts this thread; NULL: time only
 */
struct cost cost_measure(struct upmu *meter, cost_work *work, const void *arg);

/**
 * The least cost of begin and end of an empty region together, which a region
 * around them counts: no counter beyond the regions' own is needed. 0 or a
 * negative errno, explained.
 */
int cost_region(struct cost *cost);

#endif
