/* SPDX-License-Identifier: MIT */
/*
 * source.h - a source is a way of reading: one file, one table of functions
 *
 * Each function returns 0 or a negative errno, explained; one left NULL answers
 * -EOPNOTSUPP, through the functions at the end of this file.
 */
#ifndef UPMU_LIB_SOURCE_H
#define UPMU_LIB_SOURCE_H

#include "lib/set/set.h"

/**
 * struct upmu_source - the functions of one way of reading
 * @name: what UPMU_SOURCE= and struct upmu_options say
 * @unit: of every count, or NULL where each event has its own
 * @is_clock: no events: only where the caller takes any clock, or by name
 * @by_name_only: never chosen unasked
 * @counts_others: other threads, what they start, CPUs
 * @tells_error: where no source serves, its error is the one to tell
 * @probe: can this machine and user read this way? It asks; nothing stays
 *	open, no instruction that may be undefined is tried
 * @open: make @set count the events of @wanted, stopped
 * @close: undo all of it, also what a failed @open left
 * @start, @stop: NULL for what always runs
 * @read: counts with times, all of one instant
 * @counts: the same without times and system calls; any error sends the
 *	caller to @read
 * @count: one count, as cheap as can be
 */
struct upmu_source {
	const char *name;
	const char *unit;
	bool is_clock;
	bool by_name_only;
	bool counts_others;
	bool tells_error;
	int (*probe)(void);
	int (*open)(struct upmu *set, const struct upmu_wanted *wanted);
	void (*close)(struct upmu *set);
	int (*start)(struct upmu *set);
	int (*stop)(struct upmu *set);
	int (*read)(struct upmu *set, struct upmu_value *values);
	int (*counts)(const struct upmu *set, uint64_t *counts);
	int (*count)(struct upmu *set, size_t position, uint64_t *count);
};

extern const struct upmu_source upmu_source_page;
extern const struct upmu_source upmu_source_read;
extern const struct upmu_source upmu_source_raw;
extern const struct upmu_source upmu_source_timer;
extern const struct upmu_source upmu_source_clock;

#define UPMU_SOURCES_MAX 8

/* In the order in which they are asked; ends with NULL. */
extern const struct upmu_source *upmu_sources[UPMU_SOURCES_MAX];

/** One more, the last to be asked: for tests, before any thread starts. */
void upmu_source_add(const struct upmu_source *source);

/** Its row, or NULL. */
const struct upmu_source *upmu_source_find(const char *name);
/** "page, read, ..." */
void upmu_source_names(char *text, size_t size);

int upmu_source_do_probe(const struct upmu_source *source);
int upmu_source_do_open(struct upmu *set, const struct upmu_wanted *wanted);
void upmu_source_do_close(struct upmu *set);
int upmu_source_do_start(struct upmu *set);
int upmu_source_do_stop(struct upmu *set);
int upmu_source_do_read(struct upmu *set, struct upmu_value *values);
int upmu_source_do_count(struct upmu *set, size_t position, uint64_t *count);

/**
 * What a source that tells time can stand in for: 0 where @wanted is `cycles`
 * of all modes alone, else -EOPNOTSUPP.
 */
int upmu_clock_serves(const struct upmu_wanted *wanted);

/** Tests change the machine: ask anew whether its pages tell. */
void upmu_page_forget(void);

#endif
