// SPDX-License-Identifier: MIT
/* One run: start the program, count while it runs, read the counts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/engine/clock.h"
#include "run.h"

/*
 * A process uses some before its program is executed: of "true" as much as
 * that, 26 ms on a board whose machine is busy. And clocks differ.
 */
#define BEFORE_EXEC_S	   0.05
#define BEFORE_EXEC_MOST_S 0.3
#define CLOCKS_DIFFER	   1.1

/* How often a process may have got threads while its events were opened. */
#define OPENINGS_MOST 20

static double seconds(const struct timeval *t)
{
	return t->tv_sec + t->tv_usec / 1e6;
}

static void add_usage(struct stat_report *report, const struct rusage *usage)
{
	report->user_s = seconds(&usage->ru_utime);
	report->sys_s = seconds(&usage->ru_stime);
	report->page_faults =
		(double)usage->ru_minflt + (double)usage->ru_majflt;
	report->context_switches =
		(double)usage->ru_nvcsw + (double)usage->ru_nivcsw;
	report->max_rss_kb = (uint64_t)usage->ru_maxrss;
	report->has_usage = true;
}

/* Is all that the program does to be counted, from its exec to its end? */
static bool counts_it_whole(const struct stat_run *run)
{
	const struct stat_options *options = run->report->options;

	return !run->targets->n && !run_starts_late(options) &&
	       !options->control && !options->no_inherit &&
	       !run->report->regions && !engine_raw_cpus(&run->place->engine);
}

/*
 * Linux takes a user's events off a program that gains rights by its file
 * (set-uid, capabilities), or that the user may not read: that shows by
 * processor time that nobody counted.
 */
static void find_uncounted(struct stat_run *run)
{
	struct stat_report *report = run->report;
	double used = report->user_s + report->sys_s, counted = run->covered_s;
	double before = fmin(BEFORE_EXEC_S + 2 * counted, BEFORE_EXEC_MOST_S);

	if (counted > 0 && counts_it_whole(run) && used > counted + before &&
	    used > CLOCKS_DIFFER * counted)
		report->uncounted_s = fmax(report->uncounted_s, used - counted);
}

static void finish(struct stat_run *run, int *exit_status)
{
	struct stat_report *report = run->report;

	report->elapsed_s = (engine_now_ns() - run->start_ns) / 1e9;
	run->ended = true;
	if (report->options->interval_ms)
		run_end_interval(run);
	else
		run_collect(run);
	*exit_status = 0;
	if (!run->has_child)
		return;
	child_reap(&run->child, true);
	add_usage(report, &run->child.usage);
	find_uncounted(run);
	if (WIFSIGNALED(run->child.status) && !report->timed_out)
		report->signal = WTERMSIG(run->child.status);
	*exit_status = report->timed_out ? EXIT_TIMED_OUT
					 : child_exit_status(&run->child);
}

static int start(struct stat_run *run, bool by_exec)
{
	int error = 0;

	run_set_clock(run);
	if (!run_starts_late(run->report->options))
		error = run_start_counting(run, by_exec);
	if (!run->has_child)
		return error;
	if (error) {
		child_kill(&run->child);
		return error;
	}
	error = child_go(&run->child);
	run->report->not_executed = error != 0;
	return error;
}

static int open_place(struct stat_run *run, struct stat_place *place, int pass,
		      bool by_exec)
{
	const struct stat_options *options = run->report->options;
	struct engine_target child = { .pid = run->child.pid, .cpu = -1 };
	const struct engine_targets alone = { .target = &child, .n = 1 };
	const struct engine_targets *targets =
		place->targets->n ? place->targets : &alone;
	const struct engine_options how = {
		.on_exec = by_exec,
		.inherit = targets->target[0].pid >= 0 &&
			   !options->no_inherit && !options->cgroups,
		.own_child = targets == &alone,
		.cgroups = options->cgroups,
		.pass = pass,
		.slice_ms = options->slice_ms,
	};

	return engine_open(&place->engine, place->events, targets, &how);
}

static void close_engines(struct stat_run *run)
{
	for (size_t i = 0; i < run->places; i++)
		engine_close(&run->place[i].engine);
}

static int open_places(struct stat_run *run, int pass, bool by_exec)
{
	int error = 0;

	for (size_t i = 0; i < run->places && !error; i++)
		error = open_place(run, &run->place[i], pass, by_exec);
	return error;
}

/* --per-thread: each thread that was found has its row. */
static int place_anew(struct stat_run *run)
{
	struct stat_report *report = run->report;
	int error;

	if (!report->places)
		return 0;
	stat_places_free(report);
	error = stat_places_make(report, run->events, run->targets);
	run->place = report->place;
	run->places = report->places;
	return error ? -ECANCELED : 0;
}

/*
 * A thread that starts while /proc is read, or its parent's events are opened,
 * may be in no list and inherit nothing; the next one inherits. Which of both
 * it was nobody can tell: then all is opened anew. Not without end, as some
 * start threads all the time.
 */
static int open_all(struct stat_run *run, int pass, bool by_exec)
{
	const struct stat_options *options = run->report->options;
	int error, grown;

	for (int left = OPENINGS_MOST;; left--) {
		error = open_places(run, pass, by_exec);
		if (error || options->no_inherit)
			return error;
		grown = stat_targets_grow(run->targets, options);
		if (grown <= 0)
			return grown ? -ECANCELED : 0;
		if (left == 1)
			break;
		close_engines(run);
		error = place_anew(run);
		if (error)
			return error;
	}
	fprintf(stderr,
		"upmu stat: threads of '%s' start faster than they are found: "
		"some may not be counted\n"
		"hint: -a counts all that runs, -- COMMAND from its start on\n",
		options->pids);
	return 0;
}

static int open_engines(struct stat_run *run, int pass, bool by_exec)
{
	int error = open_all(run, pass, by_exec);
	size_t cpus;

	if (error)
		return error;
	cpus = engine_raw_cpus(&run->place->engine);
	if (cpus && run->places > 1)
		return -EOPNOTSUPP;
	out_tell_source(run->report, cpus);
	if (run->has_child)
		engine_keep_on_cpus(&run->place->engine, run->child.pid);
	if (run->report->options->verbose)
		stat_tell_sets(stderr, run->place, run->places);
	return 0;
}

static int count_and_read(struct stat_run *run, bool by_exec, int *exit_status)
{
	int error = start(run, by_exec);

	if (error)
		return error;
	run_until_end(run);
	if (run->error)
		return run->error;
	finish(run, exit_status);
	if (run->report->options->verbose)
		stat_tell_readings(stderr, run->place, run->places);
	return 0;
}

int stat_run_once(struct stat_report *report, struct engine_events *events,
		  struct engine_targets *targets, int pass,
		  stat_interval_fn *interval, int *exit_status)
{
	const struct stat_options *options = report->options;
	struct stat_place whole = { .name = "",
				    .targets = targets,
				    .events = events,
				    .count = report->count,
				    .sum = report->sum };
	struct stat_run run = { .report = report,
				.events = events,
				.targets = targets,
				.place =
					report->places ? report->place : &whole,
				.places = report->places ? report->places : 1,
				.control = { .fd = -1 },
				.interval = interval,
				.has_child = options->command };
	bool by_exec = !targets->n && !run_starts_late(options);
	int error = 0, late;

	if (stat_control_open(&run.control, options->control))
		return -EBADF;
	if (run.has_child)
		error = child_start(&run.child, options->command);
	else
		child_none(&run.child);
	if (error) {
		stat_control_close(&run.control);
		return error;
	}
	error = open_engines(&run, pass, by_exec);
	if (error && run.has_child)
		child_kill(&run.child);
	if (!error)
		error = count_and_read(&run, by_exec, exit_status);
	close_engines(&run);
	stat_control_close(&run.control);
	/* Last: from then to the next run a signal ends upmu, and no report. */
	late = child_late_signal();
	if (late)
		report->interrupted = late;
	child_done(&run.child);
	return error;
}
