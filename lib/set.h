/* SPDX-License-Identifier: MIT */
/*
 * set.h - what a set is made of
 */
#ifndef UPMU_LIB_SET_H
#define UPMU_LIB_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pmus.h"
#include "lib/wanted.h"
#include "upmu.h"

struct upmu_source;

/**
 * struct upmu_slot - one event of a set
 * @fd: perf's descriptor on each PMU of the set; -1 where none is open
 * @page: perf's mmap page on each PMU, or NULL
 * @state: the source's own
 */
struct upmu_slot {
	char name[UPMU_NAME_SIZE + 2];
	const char *unit;
	int fd[UPMU_PMUS_MAX];
	void *page[UPMU_PMUS_MAX];
	uint64_t state;
};

struct upmu {
	const struct upmu_source *source;
	size_t size;
	size_t pmus; /* how many fd[] of each slot are used */
	uint32_t flags;
	uint64_t opened_ns;
	struct upmu *next; /* every open set of the process, for fork */
	struct upmu_slot *slots;
	struct upmu_counter counters[];
};

/** The set that @counter is one of. */
static inline struct upmu *upmu_set_of(const struct upmu_counter *counter)
{
	const struct upmu_counter *first = counter - counter->position;

	return (struct upmu *)((uintptr_t)first -
			       offsetof(struct upmu, counters));
}

#endif
