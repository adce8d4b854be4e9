// SPDX-License-Identifier: MIT
/*
 * Begin and end of a region, in as few instructions as can be: no lock, no
 * call but to the slow paths.
 */
#include <errno.h>

#include "lib/explain.h"
#include "lib/set/fast.h"
#include "lib/set/set.h"
#include "lib/region/live.h"

/*
 * Off the hardware, or by another way than pages. What was not counted yet is 0
 * here: the share of time that the report tells says so.
 */
static __attribute__((noinline, cold)) int
take_slowly(const struct upmu_region_thread *thread, uint64_t *counts)
{
	int ret = upmu_set_counts(thread->set, counts, thread->events);

	return ret ? upmu_region_missed(ret) : 0;
}

static void widen_large(struct live_tally *tally, uint64_t count)
{
	if (count < tally->large_min)
		tally->large_min = count;
	if (count > tally->large_max)
		tally->large_max = count;
}

/* The first one, a new minimum or a new maximum. */
static __attribute__((noinline, cold)) void widen(struct live_tally *tally,
						  uint64_t count)
{
	uint32_t small = (uint32_t)count;

	if (count >= UINT32_MAX) {
		widen_large(tally, count);
	} else if (!tally->small_size) {
		tally->small_min = small;
		tally->small_size = 1;
	} else if (small < tally->small_min) {
		tally->small_size += tally->small_min - small;
		tally->small_min = small;
	} else {
		tally->small_size = small - tally->small_min + 1;
	}
}

static ALWAYS_INLINE void add_count(struct live_tally *tally, uint64_t count)
{
	uint32_t above = (uint32_t)count - tally->small_min;

	tally->total += count;
	if (__builtin_expect(above >= tally->small_size || count >> 32, 0))
		widen(tally, count);
}

static ALWAYS_INLINE void add_call(struct upmu_region_thread *thread,
				   struct live_cell *cell, const uint64_t *from,
				   const uint64_t *to, size_t events)
{
	unsigned int version;

	/* It is odd where a signal's handler jumped out of a call. */
	version = atomic_load_explicit(&thread->version, memory_order_relaxed);
	version |= 1;
	atomic_store_explicit(&thread->version, version, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	add_count(&cell->events[0], to[0] - from[0]);
	if (events > 1)
		add_count(&cell->events[1], to[1] - from[1]);
	if (events > 2)
		add_count(&cell->events[2], to[2] - from[2]);
	for (size_t i = 3; i < events; i++)
		add_count(&cell->events[i], to[i] - from[i]);
	cell->calls++;
	atomic_store_explicit(&thread->version, version + 1,
			      memory_order_release);
}

static ALWAYS_INLINE struct live_cell *
cell_of(struct upmu_region_thread *thread, const struct upmu_region *region)
{
	return (struct live_cell *)((char *)thread + region->cell);
}

static ALWAYS_INLINE int take(const struct upmu_region_thread *thread,
			      uint64_t *counts, size_t events)
{
	if (events <= 3)
		return upmu_fast_few(thread->counters, counts, events);
	return upmu_fast_counts(thread->counters, counts, events);
}

static __attribute__((noinline, cold)) int explain_depth(void)
{
	return upmu_region_missed(
		upmu_explain_set(-ENOSPC, "regions nest %d deep already",
				 UPMU_REGION_DEPTH_MAX));
}

static __attribute__((noinline, cold)) int
explain_end(const struct upmu_region *region)
{
	return upmu_explain_set(-EINVAL,
				"this thread is not in the region '%s', or in "
				"another one inside it",
				region->name);
}

/* @events is a constant where this is inlined: see WITH_LENGTH(). */
static ALWAYS_INLINE int begin(struct upmu_region_thread *thread,
			       const struct upmu_region *region, size_t events)
{
	struct frame *frame = thread->top;
	int ret;

	if (__builtin_expect(
		    frame == &thread->frames[UPMU_REGION_DEPTH_MAX + 1], 0))
		return explain_depth();
	frame->cell = cell_of(thread, region);
	thread->top = frame + 1;
	ret = take(thread, frame->counts, events);
	if (__builtin_expect(!ret, 1))
		return 0;
	ret = take_slowly(thread, frame->counts);
	if (ret)
		thread->top = frame;
	return ret;
}

static __attribute__((noinline)) int
end_slowly(struct upmu_region_thread *thread, const struct upmu_region *region)
{
	uint64_t counts[UPMU_REGION_EVENTS_MAX];
	struct frame *frame = thread->top - 1;
	int ret;

	/* Of a call that was missed at its begin: once is enough. */
	if (frame->cell != cell_of(thread, region))
		return explain_end(region);
	ret = take_slowly(thread, counts);
	thread->top = frame;
	if (!ret)
		add_call(thread, frame->cell, frame->counts, counts,
			 thread->events);
	return ret;
}

static ALWAYS_INLINE int end(struct upmu_region_thread *thread,
			     const struct upmu_region *region, size_t events)
{
	uint64_t counts[UPMU_REGION_EVENTS_MAX];
	struct live_cell *cell = cell_of(thread, region);
	struct frame *frame;

	if (__builtin_expect(take(thread, counts, events), 0))
		return end_slowly(thread, region);
	frame = thread->top - 1;
	if (__builtin_expect(frame->cell != cell, 0))
		return explain_end(region);
	thread->top = frame;
	add_call(thread, cell, frame->counts, counts, events);
	return 0;
}

/* The usual lengths are unrolled: loops took a fifth of the instructions. */
#define WITH_LENGTH(function, thread, region)               \
	do {                                                \
		size_t length = (thread)->events;           \
		if (length == 3)                            \
			return function(thread, region, 3); \
		if (length == 2)                            \
			return function(thread, region, 2); \
		if (length == 1)                            \
			return function(thread, region, 1); \
		return function(thread, region, length);    \
	} while (0)

/* By itself: what has its address taken lives in memory. */
static __attribute__((noinline, cold)) int
begin_first(struct upmu_region *region)
{
	struct upmu_region_thread *thread;
	int ret = upmu_region_this_thread(&thread);

	return ret ? upmu_region_missed(ret) : upmu_region_begin(region);
}

/* Not inlined into the calibration, which is to cost what callers pay. */
__attribute__((noinline)) int upmu_region_begin(struct upmu_region *region)
{
	struct upmu_region_thread *thread = upmu_region_self;

	if (__builtin_expect(!thread, 0))
		return begin_first(region);
	WITH_LENGTH(begin, thread, region);
}

__attribute__((noinline)) int upmu_region_end(struct upmu_region *region)
{
	struct upmu_region_thread *thread = upmu_region_self;

	if (__builtin_expect(!thread, 0))
		return explain_end(region);
	WITH_LENGTH(end, thread, region);
}
