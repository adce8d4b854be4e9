/* SPDX-License-Identifier: MIT */
/**
 * estimate.h - what a count would have been, had it run all the time
 *
 * Pure arithmetic: no I/O and no clock.
 */
#ifndef UPMU_ENGINE_ESTIMATE_H
#define UPMU_ENGINE_ESTIMATE_H

#include <stddef.h>

/**
 * struct estimate_slice - one slice of a run
 * @time: how long it took, any unit
 * @cycles: counted in it; NAN where cycles are not counted all the time
 * @instructions: the same
 * @count: the event's count in it; NAN in another set's turn
 */
struct estimate_slice {
	double time, cycles, instructions;
	double count;
};

/**
 * struct estimate - a total and its 95 % interval
 * @slices: how many of the run's slices counted the event
 */
struct estimate {
	double total, low, high;
	size_t slices;
};

/**
 * Extend @n slices' counts to the whole run. Returns 0, -ENODATA where no
 * slice counted the event, or -ENOMEM; *out is left alone then. The total is
 * never below what was counted; with one counted slice the interval has no
 * upper end (INFINITY). Cost: some 100 operations a slice.
 */
int estimate_total(const struct estimate_slice *slice, size_t n,
		   struct estimate *out);

/**
 * What others print: the count times all time over counted time. For
 * comparison. NAN where no slice counted the event.
 */
double estimate_linear(const struct estimate_slice *slice, size_t n);

#endif
