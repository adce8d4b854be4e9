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
	struct engine_targets *targets;
	struct stat_place *place; /* one at least */
	size_t places;
	struct stat_control control;
	struct child child;
	bool has_child;
	bool ended;
	bool was_started, is_on; /* counting; control may switch it off */
	int error;		 /* of counting that starts late */
	/* When what is due; INFINITY: never. */
	double start_ns, enable_ns, interval_ns, stop_ns, look_ns;
	/* Counting since, and before that since the last report. */
	double on_ns, counted_ns, collected_ns;
	double covered_s; /* of processor time, all in all */
	stat_interval_fn *interval;
};

/*
 * A process uses some before its program is executed: of "true" as much as
 * that, 26 ms on a board whose machine is busy. And clocks differ.
 */
#define BEFORE_EXEC_S	   0.05
#define BEFORE_EXEC_MOST_S 0.3
#define CLOCKS_DIFFER	   1.1

/* How often a process that is not ours is looked after. */
#define LOOK_NS 50e6

/* How long a program may take to end by --timeout before its user is told. */
#define ENDING_NS 2e9

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

static int start_counting(struct stat_run *run, bool by_exec)
{
	int error = 0;

	run->enable_ns = INFINITY;
	if (run->is_on)
		return 0;
	for (size_t i = 0; i < run->places && !error; i++) {
		struct engine *engine = &run->place[i].engine;

		if (run->was_started)
			engine_resume(engine);
		else
			error = engine_start(engine, by_exec);
	}
	run->was_started = run->is_on = true;
	run->on_ns = engine_now_ns();
	return error;
}

/* Where that fails the program goes on uncounted; --timeout still ends it. */
static void start_late(struct stat_run *run)
{
	if (run->error)
		return;
	run->error = start_counting(run, false);
	if (!run->error)
		return;
	run->interval_ns = INFINITY;
	run->ended = run->ended || !run->has_child;
}

static void stop_counting(struct stat_run *run)
{
	run->enable_ns = INFINITY;
	if (!run->is_on)
		return;
	for (size_t i = 0; i < run->places; i++)
		engine_pause(&run->place[i].engine);
	run->is_on = false;
	run->counted_ns += engine_now_ns() - run->on_ns;
}

/* Of unlike cores' CPUs some need no turns: the pace is of most sets. */
static void add_told(struct stat_report *report, const struct engine *engine)
{
	struct engine_others others;
	struct engine_pace pace;

	engine_tell_others(engine, &others);
	engine_others_most(&report->others, &others);
	engine_tell_pace(engine, &pace);
	if (pace.turns >= report->pace.turns)
		report->pace = pace;
	engine_tell_lost(engine, report->lost);
}

/*
 * Between two turns, so that no set counts while sets are read. A program that
 * has ended counts nothing more: that saves it a call.
 */
static void collect_place(struct stat_run *run, struct stat_place *place)
{
	bool more = run->report->options->interval_ms && !run->ended;

	if (run->was_started && (more || run->targets->n))
		engine_turn_end(&place->engine);
	else if (run->was_started)
		engine_turn(&place->engine, false);
	if (place == run->place)
		run->collected_ns = engine_now_ns();
	engine_collect(&place->engine, place->count);
	if (run->was_started && more)
		engine_turn_begin(&place->engine);
}

/* Each place's, and how long since the last time it was counted. */
static void collect(struct stat_run *run)
{
	struct stat_report *report = run->report;

	report->others = (struct engine_others){ 0 };
	report->pace = (struct engine_pace){ 0 };
	for (size_t i = 0; i < run->places; i++) {
		struct stat_place *place = &run->place[i];

		collect_place(run, place);
		add_told(report, &place->engine);
		if (place->sum)
			stat_sum_add(place->sum, place->count,
				     place->events->n);
	}
	stat_targets_missed(run->targets, report->options, report->missed);
	run->covered_s +=
		engine_covered_ns(&run->place->engine, run->place->count) / 1e9;
	if (run->is_on)
		run->counted_ns += run->collected_ns - run->on_ns;
	report->length_s = run->counted_ns / 1e9;
	report->whole_s += report->length_s;
	run->counted_ns = 0;
	run->on_ns = run->collected_ns;
}

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

static void end_interval(struct stat_run *run)
{
	struct stat_report *report = run->report;
	unsigned int most = report->options->interval_count;

	if (most && report->intervals == most) {
		run->covered_s = INFINITY; /* the rest is not looked at */
		return;
	}
	collect(run);
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
		start_late(run);
	turn(run, now);
	if (now >= run->interval_ns)
		end_interval(run);
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
	if (order == STAT_ORDER_ENABLE)
		start_late(run);
	if (order == STAT_ORDER_DISABLE)
		stop_counting(run);
	if (order == STAT_ORDER_STOP) {
		stop_counting(run);
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

static void count_until_end(struct stat_run *run)
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

static bool starts_late(const struct stat_options *options)
{
	return options->delay_ms || options->starts_off;
}

/* Is all that the program does to be counted, from its exec to its end? */
static bool counts_it_whole(const struct stat_run *run)
{
	const struct stat_options *options = run->report->options;

	return !run->targets->n && !starts_late(options) && !options->control &&
	       !options->no_inherit && !run->report->regions &&
	       !engine_raw_cpus(&run->place->engine);
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
		end_interval(run);
	else
		collect(run);
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
	run->enable_ns = options->delay_ms && !options->starts_off
				 ? now + options->delay_ms * 1e6
				 : INFINITY;
	run->look_ns = run->has_child && !engine_raw_cpus(&run->place->engine)
			       ? INFINITY
			       : now + LOOK_NS;
}

static int start(struct stat_run *run, bool by_exec)
{
	int error = 0;

	set_clock(run);
	if (!starts_late(run->report->options))
		error = start_counting(run, by_exec);
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
	count_until_end(run);
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
	bool by_exec = !targets->n && !starts_late(options);
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
	late = child_late_signal();
	if (late)
		report->interrupted = late;
	child_done(&run.child);
	close_engines(&run);
	stat_control_close(&run.control);
	return error;
}
