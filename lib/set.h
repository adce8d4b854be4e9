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
 * @counter: first, so that upmu_count_slow() finds the slot
 * @fd: perf's descriptor on each PMU of the set; -1 where this PMU lacks it
 * @page: perf's mmap page on each PMU, or NULL
 * @state: the source's own
 */
struct upmu_slot {
	struct upmu_counter counter;
	struct upmu *set;
	size_t position;
	char name[UPMU_NAME_SIZE];
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
	struct upmu_slot slots[];
};

#endif
