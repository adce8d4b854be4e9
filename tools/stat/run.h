/* SPDX-License-Identifier: MIT */
/* stat_run.h - the state of one run, for stat_run.c and stat_collect.c */
#ifndef UPMU_TOOLS_STAT_RUN_H
#define UPMU_TOOLS_STAT_RUN_H

#include "stat.h"

struct stat_run {
	struct stat_report *report;
	struct stat_events *events;
	const struct stat_targets *targets;
	struct child child;
	bool has_child;
	bool ended;
	bool timed_out;
	struct stat_sets sets;
	struct stat_turns turns;
	bool has_turns;
	int pass; /* the turn that has the whole run; -1: turns alternate */
	struct stat_reading *mark;  /* one per set: at the interval's start */
	struct stat_reading *since; /* one per set: in this interval */
	double mark_ns;
	double skew_ns; /* what starting or reading all sets took last */
	uint64_t wanted_ns[UPMU_KINDS_MAX]; /* of a lane, in this interval */
	/* When what is due; INFINITY: never. */
	double start_ns, enable_ns, interval_ns, stop_ns, look_ns;
	stat_interval_fn *interval;
};

/** Fill the report's counts with what was counted since the last call. */
void stat_collect(struct stat_run *run);

#endif
