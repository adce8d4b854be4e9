/* SPDX-License-Identifier: MIT */
/* run.h - one run, in three files: begun and ended, waited for, counted */
#ifndef UPMU_TOOLS_STAT_RUN_H
#define UPMU_TOOLS_STAT_RUN_H

#include "stat.h"

/** The state of one run. */
struct stat_run {
	struct stat_report *report;
	struct engine_events *events;
	struct engine_targets *targets;
	struct stat_place *place; /* one at least */
	size_t places;
	struct stat_control control;
	struct child child;
	bool has_child;
	bool ended;
	bool was_started, is_on; /* counting; control may switch it off */
	bool is_stopped;	 /* and for good */
	int error;		 /* of counting that starts late */
	/* When what is due; INFINITY: never. */
	double start_ns, enable_ns, interval_ns, stop_ns, look_ns;
	/* Counting since, and before that since the last report. */
	double on_ns, counted_ns, collected_ns;
	double covered_s; /* of processor time, all in all */
	stat_interval_fn *interval;
};

/* run_count.c: the counting of one run */

/* Where it is off. 0 or a negative errno. */
int run_start_counting(struct stat_run *run, bool by_exec);
/* Where that fails the program goes on uncounted; --timeout still ends it. */
void run_start_late(struct stat_run *run);
void run_stop_counting(struct stat_run *run);
/* Each place's counts, and how long since the last time it was counted. */
void run_collect(struct stat_run *run);

/* run_wait.c: what is due while it runs */

/* The times of its end, its intervals and the like begin now. */
void run_set_clock(struct stat_run *run);
/* Does what is due until the program has ended, or all is counted. */
void run_until_end(struct stat_run *run);
/* Reports what was counted since the last interval. */
void run_end_interval(struct stat_run *run);

/* run.c */

/* -D, --delay: counting does not begin with the program. */
static inline bool run_starts_late(const struct stat_options *options)
{
	return options->delay_ms || options->starts_off;
}

#endif
