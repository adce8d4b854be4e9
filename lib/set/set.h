/* SPDX-License-Identifier: MIT */
/*
 * set.h - what a set is made of
 */
#ifndef UPMU_LIB_SET_H
#define UPMU_LIB_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/perf/group.h"
#include "lib/perf/pmus.h"
#include "lib/set/wanted.h"
#include "upmu.h"

struct upmu_source;

/**
 * struct upmu_slot - one event of a set
 * @page: perf's mmap page on each PMU, or NULL
 */
struct upmu_slot {
	char name[UPMU_NAME_SIZE];
	const char *unit;
	void *page[UPMU_PMUS_MAX];
};

struct upmu {
	const struct upmu_source *source;
	void *state; /* the source's own */
	size_t size;
	size_t pmus; /* how many groups and pages of each slot are used */
	uint32_t flags;
	pid_t pid; /* that is counted; 0: the opener, -1: all on @cpu */
	int cpu;   /* -1: any */
	pid_t who; /* the same thread by its number; -1: all on @cpu */
	bool counts_others;
	bool has_lease;
	bool takes_cycles; /* it wants the cycle counter to itself */
	bool is_child;	   /* after fork(): the parent's registers */
	bool is_measured;  /* upmu_measure()'s, in its thread's hands alone */
	uint64_t skew_ns;  /* see perf_set.c */
	uint64_t opened_ns;
	uint64_t opened_ticks;
	struct upmu *next; /* in the registry, of one bucket */
	struct upmu_slot *slots;
	struct upmu_group *groups; /* of perf, one on each PMU; or NULL */
	struct upmu_counter counters[];
};

/** The set that @counter is one of. */
static inline struct upmu *upmu_set_of(const struct upmu_counter *counter)
{
	const struct upmu_counter *first = counter - counter->position;

	return (struct upmu *)((uintptr_t)first -
			       offsetof(struct upmu, counters));
}

/** As upmu_open(); a fork that waits for its end finds @is_measured set. */
int upmu_set_open(struct upmu **out, const char *events,
		  const struct upmu_options *options, bool is_measured);

/** As upmu_count_all(), but 0 also for events that had no counter until now. */
int upmu_set_counts(const struct upmu *set, uint64_t *counts, size_t n);

/** Turn all counters to the slow path: the pages are no longer mapped. */
void upmu_set_forget_pages(struct upmu *set);

#endif
