// SPDX-License-Identifier: MIT
/* What threads have written of regions, added up while they go on. */
#include <stdbool.h>
#include <time.h>

#include "lib/region/live.h"
#include "lib/sys.h"

/* How long to look whether a thread still writes, and how often at least: we
 * may have been stopped all that time, and it with us. */
#define PATIENCE_NS    UINT64_C(1500000000)
#define PATIENCE_LOOKS 20

static void merge_event(struct upmu_tally *sum, const struct upmu_tally *part,
			bool is_first)
{
	sum->total += part->total;
	if (is_first || part->min < sum->min)
		sum->min = part->min;
	if (is_first || part->max > sum->max)
		sum->max = part->max;
}

void upmu_region_add_cell(struct upmu_cell *sum, const struct upmu_cell *part)
{
	if (!part->calls)
		return;
	for (size_t i = 0; i < UPMU_REGION_EVENTS_MAX; i++)
		merge_event(&sum->events[i], &part->events[i], !sum->calls);
	sum->calls += part->calls;
}

void upmu_region_fold(struct upmu_tally *out, const struct live_tally *live)
{
	bool has_small = live->small_size;
	bool has_large = live->large_min <= live->large_max;

	out->total = live->total;
	out->min = has_small ? live->small_min : live->large_min;
	out->max = has_large ? live->large_max
			     : live->small_min + (live->small_size - 1);
}

/*
 * When the thread does not write. One in the midst of it may wait for this very
 * CPU, and has less priority: it gets it while we sleep. Our own goes on only
 * when the signal's handler, in which we are, returns, and one that a handler
 * made jump out of it never does: the call that it came upon may be counted in
 * part. That one is waited for once.
 */
static unsigned int wait_for_version(struct upmu_region_thread *thread)
{
	static const struct timespec moment = { .tv_nsec = 20000 };
	uint64_t until = 0;
	unsigned int version;

	for (int looks = 0;; looks++) {
		version = atomic_load_explicit(&thread->version,
					       memory_order_acquire);
		if (!(version & 1) || thread == upmu_region_self ||
		    version == thread->stuck)
			return version;
		if (!looks)
			until = upmu_sys_clock_ns() + PATIENCE_NS;
		else if (looks >= PATIENCE_LOOKS && upmu_sys_clock_ns() > until)
			break;
		nanosleep(&moment, NULL);
	}
	thread->stuck = version;
	return version;
}

/* The thread goes on: read again where it wrote meanwhile. */
static void copy_cell(struct upmu_cell *out, struct upmu_region_thread *thread,
		      size_t id)
{
	const struct live_cell *live = &thread->cells[id];
	unsigned int version;

	do {
		version = wait_for_version(thread);
		out->calls = live->calls;
		for (size_t i = 0; i < UPMU_REGION_EVENTS_MAX; i++)
			upmu_region_fold(&out->events[i], &live->events[i]);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&thread->version, memory_order_relaxed) !=
		 version);
}

static uint64_t less(uint64_t count, int64_t by)
{
	return by > 0 && count < (uint64_t)by ? 0 : count - (uint64_t)by;
}

/* As the first thread would have counted. */
static void level(struct upmu_cell *cell, const int64_t *dearer)
{
	for (size_t i = 0; i < UPMU_REGION_EVENTS_MAX; i++) {
		struct upmu_tally *tally = &cell->events[i];

		tally->total =
			less(tally->total, dearer[i] * (int64_t)cell->calls);
		tally->min = less(tally->min, dearer[i]);
		tally->max = less(tally->max, dearer[i]);
	}
}

void upmu_region_add_thread(struct upmu_cell *sums,
			    struct upmu_region_thread *thread, size_t regions)
{
	for (size_t i = 0; i < regions; i++) {
		struct upmu_cell cell;

		copy_cell(&cell, thread, i);
		level(&cell, thread->dearer);
		upmu_region_add_cell(&sums[i], &cell);
	}
}
