/* SPDX-License-Identifier: MIT */
/**
 * stat.h - what the files of "upmu stat" share
 *
 * options -> events -> sets (what is counted at the same time) -> a run
 * (child, slices) -> a report -> one writer per format.
 */
#ifndef UPMU_TOOLS_STAT_H
#define UPMU_TOOLS_STAT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "child.h"
#include "estimate.h"

enum stat_format {
	STAT_FORMAT_TEXT,
	STAT_FORMAT_RPISTAT,
	STAT_FORMAT_CSV,
	STAT_FORMAT_JSON,
};

struct stat_options {
	char *events;	/* the -e lists joined by ','; NULL: the default nine */
	char **command; /* NULL-terminated, or NULL */
	const char *pids, *tids, *cpus;
	const char *output;
	const char *separator;
	enum stat_format format;
	unsigned int repeat;
	unsigned int interval_ms, delay_ms, timeout_ms;
	double slice_ms;
	bool append, all_cpus, no_scale, quiet, metric_only, passes;
};

/** Return 0, or -1 once the caller was told; *done: --help was printed. */
int stat_options_parse(struct stat_options *options, int argc, char **argv,
		       bool *done);
void stat_options_free(struct stat_options *options);

enum stat_state {
	STAT_COUNTED,
	STAT_NOT_SUPPORTED, /* it could not be opened */
	STAT_NOT_COUNTED,   /* it never had the hardware */
	STAT_NOT_EMULATED,  /* this board's emulator does not count it */
};

const char *stat_state_text(enum stat_state state);

#define STAT_ALWAYS (-1) /* a set that is on all the time */

/** One event of the user's list. */
struct stat_event {
	char *name;	  /* as the report prints it */
	const char *role; /* which of the default nine it is, or NULL */
	const char *unit; /* "" or "ns" */
	uint32_t type;
	uint64_t config;
	bool exclude_user, exclude_kernel;
	bool software;
	bool emulated; /* an emulated board counts it */
	int braces; /* events with the same number belong together; -1: none */
	enum stat_state state;
};

struct stat_events {
	struct stat_event *event;
	size_t n;
	char reason[256]; /* why the first unsupported one is so, or "" */
};

int stat_events_parse(struct stat_events *events, const char *list);
void stat_events_free(struct stat_events *events);

/** What one event is counted on: a task on any CPU, or a CPU's every task. */
struct stat_target {
	pid_t pid;
	int cpu;
};

#define STAT_SET_MAX 32

/** Events that are on the hardware at the same time. */
struct stat_set {
	int turn; /* STAT_ALWAYS, or its place in the round */
	size_t n;
	size_t event[STAT_SET_MAX]; /* indices into stat_events */
	int *leader;		    /* one per target */
};

/** The sum over a set's targets, since the sets were opened. */
struct stat_reading {
	uint64_t enabled_ns, running_ns;
	uint64_t count[STAT_SET_MAX];
};

struct stat_sets {
	struct stat_set *set;
	size_t n;
	size_t turns; /* sets that take turns; 0: all run all the time */
	size_t targets;
	int *fd;
	size_t fds;
};

struct stat_sets_options {
	bool on_exec; /* counting starts when the target executes */
	bool inherit;
	bool passes; /* never share the counters: see stat_sets_only() */
};

/**
 * Pack the events into sets and open them, all switched off. Events that
 * cannot be opened get STAT_NOT_SUPPORTED; that is no error.
 * Return 0 or -ENOMEM.
 */
int stat_sets_open(struct stat_sets *sets, struct stat_events *events,
		   const struct stat_target *target, size_t targets,
		   const struct stat_sets_options *options);
void stat_sets_close(struct stat_sets *sets);
int stat_set_read(const struct stat_sets *sets, size_t set,
		  struct stat_reading *reading);
void stat_set_switch(const struct stat_sets *sets, size_t set, bool on);

/** One slice: what the sets that are always on saw, and one set's counts. */
struct stat_slice {
	double time_ns, cycles, instructions;
	size_t set;
	size_t counts; /* of the set's counts, the first in stat_timeline */
};

/** One event's result. */
struct stat_count {
	enum stat_state state;
	bool scaled; /* it ran part of the time: see estimate */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
	struct estimate estimate;
};

struct stat_report {
	const struct stat_options *options;
	const struct stat_events *events;
	struct stat_count *count; /* one per event */
	double elapsed_s, user_s, sys_s;
	uint64_t page_faults, context_switches;
	bool has_usage;
	size_t turns; /* sets that took turns */
	size_t slices;
	double slice_ms;  /* mean length */
	double switching; /* share of the run */
	int signal;	  /* that ended the program, or 0 */
};

/**
 * Run the command once and count it. Returns 0 with *exit_status what a
 * shell would say of the program, or the negative errno that kept it from
 * running.
 */
int stat_run_once(struct stat_report *report, struct stat_events *events,
		  int *exit_status);

int stat_write_text(FILE *out, const struct stat_report *report);

#endif
