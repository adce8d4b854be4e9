/* SPDX-License-Identifier: MIT */
/**
 * regions.h - programs that measure themselves; upmu.h includes it
 */
#ifndef UPMU_REGIONS_H
#define UPMU_REGIONS_H

#include <upmu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- regions --------------------------------------------------------- */

/** A named part of a program that measures itself; lives until exit. */
struct upmu_region;

enum upmu_region_format {
	UPMU_REGION_TEXT = 0,
	UPMU_REGION_JSON = 1,
};

/**
 * struct upmu_region_stats - one event in one region, over all threads
 * @size: set by the caller to sizeof(struct upmu_region_stats); no more is
 *         filled
 * @calls: completed begin/end pairs; where it is 0 the others mean nothing
 * @total, @min, @max: counts between begin and end, the cost of the pair
 *         itself (@overhead, measured at the start) taken off each call;
 *         of a thread that reads in another way than the first, its own cost
 * @mean: @total / @calls
 * @running: share of the time (0 to 1) that the events were on the hardware;
 *         below 1 the counts lack what came in the rest
 */
struct upmu_region_stats {
	size_t size;
	uint64_t calls;
	uint64_t total;
	uint64_t min;
	uint64_t max;
	uint64_t overhead;
	double mean;
	double running;
};

#define UPMU_REGION_STATS_SIZE_1 \
	(offsetof(struct upmu_region_stats, running) + sizeof(double))

/**
 * upmu_regions_init - choose what regions count
 * @events: as for upmu_open(); 1 to 8 of them. NULL: the environment's
 *          UPMU_EVENTS=, as the first begin of a thread finds it, else
 *          "cycles,instructions"
 * @options: as for upmu_open(), of the calling thread, not UPMU_OPEN_STOPPED
 *
 * Not needed for the defaults. At exit(3) of the program, or where main()
 * returns, the report goes to standard error as text, or where the
 * environment's UPMU_REPORT= says: a file, as JSON where its name ends in
 * ".json", with the process's number for %p, and without a / at its start in
 * the folder where the program then is; "none" for no report. Calls in
 * handlers of atexit(3) and destructors of C++ that were there before the first
 * begin come too late for it. How many calls could not be counted, and why the
 * first, is told in it. A child made by fork() reports what it did itself, to a
 * file of its own: where there is no %p its number is put in, as in
 * report.1234.json, and the time where a sibling had that number; /dev/stdout
 * and its kin and a terminal are of all, a named pipe is its parent's. A
 * program that another one starts (sh, make, mpirun) writes to the very file
 * named: of several the last to end is what stays, whole; with %p each has its
 * own, with the time in its name too where another process of that number has
 * been. A signal's handler that forks must not come upon a call about regions,
 * upmu_region_open() too, in its own thread. Any thread.
 *
 * Returns 0, an error of upmu_open(), or
 *   -EALREADY it is chosen, or a region has begun: what is counted stays
 *   -EINVAL   more than 8 events
 *   -EAGAIN   as of upmu_region_begin()
 */
UPMU_API int upmu_regions_init(const char *events,
			       const struct upmu_options *options);

/**
 * upmu_region_open - the region of that name, made where there is none
 * @out: receives it; it is never freed
 * @name: 1 to 63 characters
 *
 * Any thread; takes a lock: open once, keep the pointer. Returns 0 or
 *   -EINVAL a name of no or more than 63 characters
 *   -ENOSPC there are 64 regions already
 *   -ENOMEM out of memory
 */
UPMU_API int upmu_region_open(struct upmu_region **out, const char *name);

/**
 * upmu_region_begin - this thread enters the region
 * @region: from upmu_region_open()
 *
 * Regions nest up to 32 deep, also a region in itself; each thread has its own
 * nesting. The first begin of a thread opens a set for it; after that it makes
 * no system call where upmu_count_all() makes none.
 *
 * Returns 0, an error of upmu_open() or upmu_count_all(), or
 *   -ENOSPC 32 regions are nested already
 *   -EXDEV  this thread can count user mode alone, or a clock, and those before
 *           it counted more: the process has given up a right since
 *   -EAGAIN no pthread_key_create(3) is left, by which a thread's end is told
 */
UPMU_API int upmu_region_begin(struct upmu_region *region);

/**
 * upmu_region_end - this thread leaves the region that it entered last
 * @region: from upmu_region_open()
 *
 * Returns 0, an error of upmu_count_all() (the region is left, the call is not
 * counted), or
 *   -EINVAL @region is not the one entered last; nothing is changed. After
 *           fork() the child is in no region
 */
UPMU_API int upmu_region_end(struct upmu_region *region);

/**
 * upmu_region_read - what one event came to in a region so far
 * @region: from upmu_region_open()
 * @event: position in the list of upmu_regions_init()
 * @stats: filled
 *
 * Threads that are inside a call of begin or end at this very moment are
 * counted as before it. Any thread. A call of begin or end that a signal's
 * handler came upon is reported in part where the handler calls exit(), or
 * leaves it by siglongjmp(3); the region then stays entered.
 *
 * Returns 0 or
 *   -ENOENT beyond the last event; before any region has begun there is none
 *   -EINVAL @stats->size is less than UPMU_REGION_STATS_SIZE_1
 *   -ENOMEM out of memory
 */
UPMU_API int upmu_region_read(struct upmu_region *region, size_t event,
			      struct upmu_region_stats *stats);

/**
 * upmu_regions_report - write the report now
 * @fd: where to; stays open
 * @format: enum upmu_region_format
 *
 * There is then none at exit. Any thread.
 *
 * Returns 0, an error of write(2), or
 *   -EINVAL @format is none of enum upmu_region_format
 *   -ENOMEM out of memory
 */
UPMU_API int upmu_regions_report(int fd, enum upmu_region_format format);

/* ---- measuring a function -------------------------------------------- */

/**
 * struct upmu_measure_options - zero and set what differs
 * @size: sizeof(struct upmu_measure_options); a tail unknown must be 0
 * @events: as for upmu_open(), 1 to 8; NULL for "cycles"
 * @warmup: runs that are not counted, at most 1,000,000; 0 for 10
 * @runs: runs that are counted, 1 to 1,000,000; 0 for 101
 * @open: as for upmu_open(), of the calling thread, not UPMU_OPEN_STOPPED; or
 *        NULL
 */
struct upmu_measure_options {
	size_t size;
	const char *events;
	uint32_t warmup;
	uint32_t runs;
	const struct upmu_options *open;
};

#define UPMU_MEASURE_OPTIONS_SIZE_1 \
	(offsetof(struct upmu_measure_options, open) + sizeof(void *))

/**
 * struct upmu_measurement - one event over all runs, in counts of the event
 * @size: set by the caller, of the first result at least, to sizeof(struct
 *         upmu_measurement): that far apart they stand
 * @min, @q1, @median, @q3, @max: of the runs; q3 - q1 is the interquartile
 *         range. What an empty function costs (@overhead, its median over as
 *         many runs) is taken off each run; a run below it counts as 0.
 */
struct upmu_measurement {
	size_t size;
	uint64_t min;
	uint64_t q1;
	uint64_t median;
	uint64_t q3;
	uint64_t max;
	uint64_t overhead;
};

#define UPMU_MEASUREMENT_SIZE_1 \
	(offsetof(struct upmu_measurement, overhead) + sizeof(uint64_t))

/**
 * upmu_measure - what does one call of @fn cost beyond that of an empty one?
 * @fn: called warmup + runs times on the calling thread. It returns, or ends
 *      the thread; where it jumps out (longjmp), set and memory stay until the
 *      thread ends
 * @arg: what it is called with
 * @options: NULL for all defaults
 * @results: one for each event
 * @n: room in @results; the number of events exactly
 *
 * A run that was interrupted counts like any other: the median does not mind.
 *
 * Returns 0, an error of upmu_open() or upmu_count_all(), or
 *   -EINVAL an option out of range; @n is not the number of events, or that is
 *           more than 8; @results->size is less than UPMU_MEASUREMENT_SIZE_1
 *   -EAGAIN the events were not on the hardware all the time: others want
 *           counters too
 *   -ENOMEM out of memory
 */
UPMU_API int upmu_measure(void (*fn)(void *arg), void *arg,
			  const struct upmu_measure_options *options,
			  struct upmu_measurement *results, size_t n);

#ifdef __cplusplus
}
#endif

#endif
