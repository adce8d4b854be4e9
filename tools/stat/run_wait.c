// SPDX-License-Identifier: MIT
/* What is due while one run lasts, and the waiting for it. */
#include <math.h>
#include <signal.h>
#include <time.h>

#include "lib/engine/clock.h"
#include "run.h"

/* How often a process that is not ours is looked after. */
#define LOOK_NS 50e6

/* How long a program may take to end by --timeout before its user is told. */
#define ENDING_NS 2e9

/*
 * Those that upmu was kept from, stopped by ^Z or without a CPU, are in the one
 * that it reports: else as many follow at once, of no time.
 */
static void await_next_interval(struct stat_run *run)
{
	double length = run->report->options->interval_ms * 1e6;
	double late = engine_now_ns() - run->interval_ns;

	run->interval_ns += length * (1 + floor(late / length));
}

void run_end_interval(struct stat_run *run)
{
	struct stat_report *report = run->report;
	unsigned int most = report->options->interval_count;

	if (most && report->intervals == most) {
		run->covered_s = INFINITY; /* the rest is not looked at */
		return;
	}
	run_collect(run);
	report->interval_s = (run->collected_ns - run->start_ns) / 1e9;
	report->intervals++;
	engine_others_most(&report->others_most, &report->others);
	/* A report that is lost is told at the end; the program goes on. */
	run->interval(report);
	for (size_t i = 0; i < run->places; i++)
		engine_forget_slices(&run->place[i].engine);
	await_next_interval(run);
	if (most && report->intervals == most) {
		run->interval_ns = INFINITY;
		run->ended = run->ended || !run->has_child;
	}
}

static void time_out(struct stat_run *run, double now)
{
	bool again = run->report->timed_out;

	run->stop_ns = again ? INFINITY : now + ENDING_NS;
	run->report->timed_out = true;
	run->ended = run->ended || !run->has_child;
	if (again)
		child_tell_goes_on(&run->child);
	else if (run->has_child)
		child_terminate(&run->child);
}

static void look_after(struct stat_run *run, double now)
{
	run->look_ns = now + LOOK_NS;
	for (size_t i = 0; i < run->places; i++)
		engine_fold(&run->place[i].engine);
	if (!run->has_child && !stat_targets_alive(run->targets))
		run->ended = true;
}

static double turn_due(const struct stat_run *run)
{
	double due = INFINITY;

	for (size_t i = 0; i < run->places && run->was_started; i++)
		due = fmin(due, engine_due_ns(&run->place[i].engine));
	return due;
}

static void turn(struct stat_run *run, double now)
{
	for (size_t i = 0; i < run->places && run->was_started; i++)
		if (now >= engine_due_ns(&run->place[i].engine))
			engine_turn(&run->place[i].engine, true);
}

static void do_what_is_due(struct stat_run *run, double now)
{
	if (now >= run->enable_ns)
		run_start_late(run);
	turn(run, now);
	if (now >= run->interval_ns)
		run_end_interval(run);
	if (now >= run->stop_ns)
		time_out(run, now);
	if (now >= run->look_ns)
		look_after(run, now);
}

static double next_due(const struct stat_run *run)
{
	double due = fmin(fmin(run->enable_ns, run->interval_ns),
			  fmin(run->stop_ns, run->look_ns));

	return fmin(due, turn_due(run));
}

void run_set_clock(struct stat_run *run)
{
	const struct stat_options *options = run->report->options;
	double now = engine_now_ns();

	run->start_ns = now;
	run->interval_ns = options->interval_ms
				   ? now + options->interval_ms * 1e6
				   : INFINITY;
	run->stop_ns = options->timeout_ms ? now + options->timeout_ms * 1e6
					   : INFINITY;
	run->enable_ns = options->delay_ms && !options->starts_off
				 ? now + options->delay_ms * 1e6
				 : INFINITY;
	run->look_ns = run->has_child && !engine_raw_cpus(&run->place->engine)
			       ? INFINITY
			       : now + LOOK_NS;
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

static void obey(struct stat_run *run, enum stat_order order)
{
	if (order == STAT_ORDER_ENABLE && !run->is_stopped)
		run_start_late(run);
	if (order == STAT_ORDER_DISABLE || order == STAT_ORDER_STOP)
		run_stop_counting(run);
	if (order == STAT_ORDER_STOP) {
		run->is_stopped = true;
		run->ended = run->ended || !run->has_child;
	}
}

/*
 * Until there is an order or a signal, or the time is over. One order at a
 * time: however many come, the program's end and what is due are looked at.
 */
static void wait_for_order(struct stat_run *run, const struct timespec *time)
{
	enum stat_order order = stat_control_wait(&run->control, time);

	if (order == STAT_ORDER_NONE)
		return;
	obey(run, order);
	stat_control_done(&run->control);
}

/* Sleep until something is due or a signal comes. */
static void wait_for_signal(struct stat_run *run, const sigset_t *mask)
{
	double due = next_due(run), left;
	struct timespec time = { 0 };
	siginfo_t info;
	int signal;

	if (isfinite(due)) {
		left = fmax(due - engine_now_ns(), 0);
		time.tv_sec = (time_t)(left / 1e9);
		time.tv_nsec = (long)(left - time.tv_sec * 1e9);
	}
	if (run->control.fd >= 0) {
		wait_for_order(run, isfinite(due) ? &time : NULL);
		time = (struct timespec){ 0 };
	}
	if (isfinite(due) || run->control.fd >= 0)
		signal = sigtimedwait(mask, &info, &time);
	else
		signal = sigwaitinfo(mask, &info);
	if (signal > 0)
		take_signal(run, &info);
}

void run_until_end(struct stat_run *run)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	stat_control_watch(&run->control, &mask);
	while (!run->ended) {
		wait_for_signal(run, &mask);
		if (run->has_child && child_reap(&run->child, false))
			run->ended = true;
		else
			do_what_is_due(run, engine_now_ns());
	}
}
