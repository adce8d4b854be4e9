/* SPDX-License-Identifier: MIT */
/*
 * source.h - a source is a way of reading: one file, one table of functions
 *
 * A function left NULL answers -EOPNOTSUPP. Each returns 0 or a negative
 * errno, explained.
 */
#ifndef UPMU_LIB_SOURCE_H
#define UPMU_LIB_SOURCE_H

#include "lib/set.h"

/**
 * struct upmu_source - the functions of one way of reading
 * @name: what UPMU_SOURCE= and struct upmu_options say
 * @unit: of every count, or NULL where each event has its own
 * @probe: can this machine and user read this way? It asks; nothing stays
 *	open, no instruction that may be undefined is tried
 * @open: make @set count the events of @wanted
 * @close: undo all of it, also what a failed @open left
 * @read: counts with times; may make a system call
 * @count: one count, as cheap as can be
 */
struct upmu_source {
	const char *name;
	const char *unit;
	int (*probe)(void);
	int (*open)(struct upmu *set, const struct upmu_wanted *wanted);
	void (*close)(struct upmu *set);
	int (*start)(struct upmu *set);
	int (*stop)(struct upmu *set);
	int (*read)(struct upmu *set, struct upmu_value *values);
	int (*count)(struct upmu *set, size_t position, uint64_t *count);
};

extern const struct upmu_source upmu_source_page;
extern const struct upmu_source upmu_source_read;
extern const struct upmu_source upmu_source_clock;

/* In the order in which they are asked; ends with NULL. */
extern const struct upmu_source *const upmu_sources[];

/** Its row, or NULL. */
const struct upmu_source *upmu_source_find(const char *name);

#endif
