/* SPDX-License-Identifier: MIT */
/*
 * region_live.h - what a thread writes while it measures itself
 */
#ifndef UPMU_LIB_REGION_LIVE_H
#define UPMU_LIB_REGION_LIVE_H

#include <stdatomic.h>

#include "lib/region/region.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

struct upmu_region {
	size_t id;
	size_t cell; /* its place in a struct upmu_region_thread, in bytes */
	char name[UPMU_REGION_NAME_SIZE];
};

/*
 * What a thread writes. Nearly all counts have 32 bits, and most are no new
 * minimum or maximum, which one comparison tells: count - small_min is less
 * than small_size = maximum - minimum + 1, or 0 where there were none. So
 * UINT32_MAX is a large one; among those, min > max where there were none.
 */
struct live_tally {
	uint64_t total;
	uint32_t small_min, small_size;
	uint64_t large_min, large_max;
};

struct live_cell {
	uint64_t calls;
	struct live_tally events[UPMU_REGION_EVENTS_MAX];
};

struct frame {
	struct live_cell *cell;
	uint64_t counts[UPMU_REGION_EVENTS_MAX];
};

/*
 * @version: odd while the thread writes to its cells, or jumped out of it
 * @dearer: by how much a pair counts more here than in the first thread, where
 *          it was measured what is taken off
 */
struct upmu_region_thread {
	const struct upmu_counter *counters;
	size_t events;
	struct frame *top; /* the next to be used */
	atomic_uint version;
	unsigned int stuck; /* the version at which readers gave up waiting */
	struct upmu *set;
	struct upmu_region_thread *next;
	struct frame frames[1 + UPMU_REGION_DEPTH_MAX]; /* 0: of no region */
	struct live_cell cells[UPMU_REGIONS_MAX];
	int64_t dearer[UPMU_REGION_EVENTS_MAX];
};

/* The model that needs no call. For it libc has room for some 1,500 bytes in
 * all libraries that are loaded later: as small as can be, also elsewhere. */
extern _Thread_local struct upmu_region_thread *upmu_region_self
	__attribute__((tls_model("initial-exec")));

/** The calling thread's, made at its first begin; 0 or an explained -errno. */
int upmu_region_this_thread(struct upmu_region_thread **out);

/** A call could not be counted, explained now: the report tells. @error. */
int upmu_region_missed(int error);

/** A thread's tally as all others know it. */
void upmu_region_fold(struct upmu_tally *out, const struct live_tally *live);

/** Add one cell, or those of a thread's first @regions regions, to sums; one
 * reader of a thread at a time. */
void upmu_region_add_cell(struct upmu_cell *sum, const struct upmu_cell *part);
void upmu_region_add_thread(struct upmu_cell *sums,
			    struct upmu_region_thread *thread, size_t regions);

#endif
