// SPDX-License-Identifier: MIT
/* One run: start the program, count while it runs, read the counts. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/engine/clock.h"
#include "stat.h"

/** The state of one run. */
struct stat_run {
	struct stat_report *report;
	struct engine_events *events;
	const struct engine_targets *targets;
	struct engine engine;
	struct child child;
	bool has_child;
	bool ended;
	bool timed_out;
	/* When what is due; INFINITY: never. */
	double start_ns, enable_ns, interval_ns, stop_ns, look_ns;
	stat_interval_fn *interval;
};

/* How often a process that is not ours is looked after. */
#define LOOK_NS 50e6

static double seconds(const struct timeval *t)
{
	return t->tv_sec + t->tv_usec / 1e6;
}

static void add_usage(struct stat_report *report, const struct rusage *usage)
{
	report->user_s = seconds(&usage->ru_utime);
	report->sys_s = seconds(&usage->ru_stime);
	report->page_faults =
		(uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt;
	report->context_switches =
		(uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;
	report->max_rss_kb = (uint64_t)usage->ru_maxrss;
	report->has_usage = true;
}

static int start_counting(struct stat_run *run, bool by_exec)
{
	run->enable_ns = INFINITY;
	return engine_start(&run->engine, by_exec);
}

static void collect(struct stat_run *run)
{
	struct stat_report *report = run->report;

	engine_turn(&run->engine, report->options->interval_ms && !run->ended);
	engine_collect(&run->engine, report->count);
	engine_tell_pace(&run->engine, &report->pace);
	engine_tell_others(&run->engine, &report->others);
}

static void end_interval(struct stat_run *run)
{
	struct stat_report *report = run->report;

	collect(run);
	report->interval_s = (engine_now_ns() - run->start_ns) / 1e9;
	report->intervals++;
	/* A report that is lost is told at the end; the program goes on. */
	run->interval(report);
	engine_forget_slices(&run->engine);
	run->interval_ns += report->options->interval_ms * 1e6;
}

static void time_out(struct stat_run *run)
{
	run->stop_ns = INFINITY;
	run->timed_out = true;
	if (run->has_child)
		kill(run->child.pid, SIGTERM);
	else
		run->ended = true;
}

static void look_after(struct stat_run *run, double now)
{
	run->look_ns = now + LOOK_NS;
	engine_fold(&run->engine);
	if (!run->has_child && !stat_targets_alive(run->targets))
		run->ended = true;
}

static void do_what_is_due(struct stat_run *run, double now)
{
	if (now >= run->enable_ns && start_counting(run, false))
		run->ended = true;
	if (now >= engine_due_ns(&run->engine))
		engine_turn(&run->engine, true);
	if (now >= run->interval_ns)
		end_interval(run);
	if (now >= run->stop_ns)
		time_out(run);
	if (now >= run->look_ns)
		look_after(run, now);
}

static double next_due(const struct stat_run *run)
{
	double due = fmin(fmin(run->enable_ns, run->interval_ns),
			  fmin(run->stop_ns, run->look_ns));

	return fmin(due, engine_due_ns(&run->engine));
}

static void take_signal(struct stat_run *run, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD)
		return;
	if (info->si_signo != SIGUSR1 && info->si_signo != SIGUSR2)
		run->report->interrupted = info->si_signo;
	if (run->has_child)
		child_pass_on(&run->child, info);
	else
		run->ended = true;
}

/* Sleep until something is due or a signal comes. */
static void wait_for_signal(struct stat_run *run, const sigset_t *mask)
{
	double due = next_due(run), left;
	struct timespec time;
	siginfo_t info;
	int signal;

	if (isinf(due)) {
		signal = sigwaitinfo(mask, &info);
	} else {
		left = fmax(due - engine_now_ns(), 0);
		time.tv_sec = (time_t)(left / 1e9);
		time.tv_nsec = (long)(left - time.tv_sec * 1e9);
		signal = sigtimedwait(mask, &info, &time);
	}
	if (signal > 0)
		take_signal(run, &info);
}

static void count(struct stat_run *run)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	while (!run->ended) {
		wait_for_signal(run, &mask);
		if (run->has_child && child_reap(&run->child, false))
			run->ended = true;
		else
			do_what_is_due(run, engine_now_ns());
	}
}

static void finish(struct stat_run *run, int *exit_status)
{
	struct stat_report *report = run->report;

	report->elapsed_s = (engine_now_ns() - run->start_ns) / 1e9;
	if (report->options->interval_ms)
		end_interval(run);
	else
		collect(run);
	*exit_status = 0;
	if (!run->has_child)
		return;
	child_reap(&run->child, true);
	add_usage(report, &run->child.usage);
	if (WIFSIGNALED(run->child.status) && !run->timed_out)
		report->signal = WTERMSIG(run->child.status);
	*exit_status = run->timed_out ? EXIT_TIMED_OUT
				      : child_exit_status(&run->child);
}

static void set_clock(struct stat_run *run)
{
	const struct stat_options *options = run->report->options;
	double now = engine_now_ns();

	run->start_ns = now;
	run->interval_ns = options->interval_ms
				   ? now + options->interval_ms * 1e6
				   : INFINITY;
	run->stop_ns = options->timeout_ms ? now + options->timeout_ms * 1e6
					   : INFINITY;
	run->enable_ns =
		options->delay_ms ? now + options->delay_ms * 1e6 : INFINITY;
	run->look_ns = run->has_child && !engine_raw_cpus(&run->engine)
			       ? INFINITY
			       : now + LOOK_NS;
}

static int start(struct stat_run *run, bool by_exec)
{
	int error = 0;

	set_clock(run);
	if (!run->report->options->delay_ms)
		error = start_counting(run, by_exec);
	if (!error && run->has_child)
		error = child_go(&run->child);
	return error;
}

/* What is in the numbers, where perf has no PMU. */
static void tell_source(struct stat_report *report, size_t cpus)
{
	bool one = cpus == 1;

	if (!cpus)
		return;
	snprintf(report->source, sizeof(report->source),
		 "perf has no PMU here: counted by the registers themselves. "
		 "Everything that\nran on %s%zu CPU%s meanwhile is in the "
		 "numbers: the kernel, other processes, upmu.\n"
		 "The program was kept on %s.\n",
		 one ? "" : "these ", cpus, one ? "" : "s",
		 one ? "that CPU" : "those CPUs");
}

static int open_engine(struct stat_run *run, int pass, bool by_exec)
{
	struct engine_target child = { .pid = run->child.pid, .cpu = -1 };
	const struct engine_targets alone = { .target = &child, .n = 1 };
	const struct engine_targets *targets =
		run->targets->n ? run->targets : &alone;
	const struct engine_options how = {
		.on_exec = by_exec,
		.inherit = targets->target[0].pid >= 0,
		.own_child = targets == &alone,
		.pass = pass,
		.slice_ms = run->report->options->slice_ms,
	};
	int error = engine_open(&run->engine, run->events, targets, &how);

	if (error)
		return error;
	tell_source(run->report, engine_raw_cpus(&run->engine));
	if (run->has_child)
		engine_keep_on_cpus(&run->engine, run->child.pid);
	return 0;
}

int stat_run_once(struct stat_report *report, struct engine_events *events,
		  const struct engine_targets *targets, int pass,
		  stat_interval_fn *interval, int *exit_status)
{
	const struct stat_options *options = report->options;
	struct stat_run run = { .report = report,
				.events = events,
				.targets = targets,
				.interval = interval,
				.has_child = options->command };
	bool by_exec = !targets->n && !options->delay_ms;
	int error = 0;

	if (run.has_child)
		error = child_start(&run.child, options->command);
	else
		child_none(&run.child);
	if (error)
		return error;
	error = open_engine(&run, pass, by_exec);
	if (error && run.has_child)
		child_kill(&run.child);
	if (!error)
		error = start(&run, by_exec);
	if (!error) {
		count(&run);
		finish(&run, exit_status);
	}
	child_done(&run.child);
	engine_close(&run.engine);
	return error;
}
