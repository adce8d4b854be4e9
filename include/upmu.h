/* SPDX-License-Identifier: MIT */
/**
 * upmu.h - read the processor's performance counters from user mode
 *
 * Error rule: a call that can fail returns 0 or a negative errno and leaves
 * its out-parameters as they were; upmu_explain() then tells this thread the
 * reason in words. A handle of NULL is a caller's bug (assert), except for
 * upmu_close(NULL), which does nothing. A count is never 0 for "could not
 * read": it is UPMU_NO_COUNT.
 *
 * Words: an event is what is counted, a counter is a register counting one
 * event, a set is a list of events counted at the same time, a source is a
 * way of reading.
 */
#ifndef UPMU_H
#define UPMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UPMU_API __attribute__((visibility("default")))

/** What upmu_count() returns where nothing can be read; ask upmu_read() why. */
#define UPMU_NO_COUNT UINT64_MAX

/** A set: events counted at the same time on the thread that opened it. */
struct upmu;

/**
 * struct upmu_counter - what the inline read needs; its layout is ABI
 * @page: the perf mmap page of the event, or a constant page whose index is 0
 *        where this event cannot be read without a system call; never NULL
 * @layout: UPMU_COUNTER_LAYOUT of the library that filled it
 * @reserved: zero
 */
struct upmu_counter {
	const void *page;
	uint32_t layout;
	uint32_t reserved;
};

#define UPMU_COUNTER_LAYOUT 1

/** One reading: a count never travels without the times it was counted in. */
struct upmu_value {
	uint64_t count;	     /* events, raw: not scaled */
	uint64_t enabled_ns; /* time since opening, while the set was wanted */
	uint64_t running_ns; /* of that, the time on the hardware */
};

enum upmu_open_flags {
	UPMU_OPEN_USER_ONLY = 1 << 0, /* as if each event had :u */
	UPMU_OPEN_STOPPED = 1 << 1,   /* upmu_start() starts it */
	UPMU_OPEN_ANY_CLOCK = 1 << 2, /* timer or clock rather than an error */
};

/**
 * struct upmu_options - zero and set what differs
 * @size: sizeof(struct upmu_options); a tail unknown to the library must be 0
 * @flags: UPMU_OPEN_*
 * @source: a source's name, or NULL for the first that serves the events
 *          (the environment's UPMU_SOURCE= is used where this is NULL)
 */
struct upmu_options {
	size_t size;
	uint32_t flags;
	uint32_t reserved;
	const char *source;
};

UPMU_API int upmu_open(struct upmu **out, const char *events,
		       const struct upmu_options *options);
UPMU_API void upmu_close(struct upmu *set);
UPMU_API int upmu_start(struct upmu *set);
UPMU_API int upmu_stop(struct upmu *set);

UPMU_API size_t upmu_size(const struct upmu *set);
UPMU_API const struct upmu_counter *upmu_counter(const struct upmu *set,
						 size_t position);
UPMU_API const char *upmu_event_name(const struct upmu *set, size_t position);
UPMU_API const char *upmu_unit(const struct upmu *set, size_t position);
UPMU_API const char *upmu_source(const struct upmu *set);

UPMU_API int upmu_read(struct upmu *set, struct upmu_value *values, size_t n);
UPMU_API int upmu_counts(const struct upmu *set, uint64_t *counts, size_t n);
UPMU_API uint64_t upmu_count_slow(const struct upmu_counter *counter);
UPMU_API int upmu_scale(const struct upmu_value *value, uint64_t *estimate);

UPMU_API const char *upmu_explain(void);
UPMU_API const char *upmu_version(void);

#ifdef __cplusplus
}
#endif

#endif
