// SPDX-License-Identifier: MIT
/* One run of the command: start it, count while it runs, read the counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "stat.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double seconds(const struct timeval *t)
{
	return t->tv_sec + t->tv_usec / 1e6;
}

static void store(struct stat_report *report, const struct stat_sets *sets,
		  size_t set, const struct stat_reading *reading)
{
	const struct stat_set *s = &sets->set[set];

	for (size_t i = 0; i < s->n; i++) {
		struct stat_count *count = &report->count[s->event[i]];

		count->raw = reading->count[i];
		count->enabled_ns = reading->enabled_ns;
		count->running_ns = reading->running_ns;
		count->state =
			reading->running_ns ? STAT_COUNTED : STAT_NOT_COUNTED;
	}
}

static void collect(struct stat_report *report, const struct stat_sets *sets)
{
	for (size_t i = 0; i < report->events->n; i++) {
		struct stat_count *count = &report->count[i];

		count->state = report->events->event[i].state;
		if (count->state == STAT_COUNTED)
			count->state = STAT_NOT_COUNTED;
	}
	for (size_t i = 0; i < sets->n; i++) {
		struct stat_reading reading;

		if (!stat_set_read(sets, i, &reading))
			store(report, sets, i, &reading);
	}
}

static void add_usage(struct stat_report *report, const struct rusage *usage)
{
	report->user_s = seconds(&usage->ru_utime);
	report->sys_s = seconds(&usage->ru_stime);
	report->page_faults =
		(uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt;
	report->context_switches =
		(uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;
	report->has_usage = true;
}

int stat_run_once(struct stat_report *report, struct stat_events *events,
		  int *exit_status)
{
	const struct stat_sets_options how = { .on_exec = true,
					       .inherit = true };
	struct stat_target target = { .cpu = -1 };
	struct child child;
	struct stat_sets sets;
	double start;
	int error;

	error = child_start(&child, report->options->command);
	if (error)
		return error;
	target.pid = child.pid;
	error = stat_sets_open(&sets, events, &target, 1, &how);
	if (error) {
		child_kill(&child);
		return error;
	}
	start = now_s();
	error = child_go(&child);
	if (!error) {
		child_wait(&child);
		report->elapsed_s = now_s() - start;
		collect(report, &sets);
		add_usage(report, &child.usage);
		report->signal =
			WIFSIGNALED(child.status) ? WTERMSIG(child.status) : 0;
		*exit_status = child_exit_status(&child);
	}
	child_done(&child);
	stat_sets_close(&sets);
	return error;
}
