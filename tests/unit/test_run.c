// SPDX-License-Identifier: MIT
/* A run of upmu stat: which threads it finds, and what it leaves behind. */
#include "fake_kernel.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/engine/sets.h"
#include "lib/set/wanted.h"
#include "tools/stat/stat.h"

/* The calls of memory that a run makes are fewer. */
#define MOST 400

/* ---- memory ---- */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fake_fails(FAKE_MEMORY) ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fake_fails(FAKE_MEMORY) ? NULL : __real_calloc(n, size);
}

/* ---- a machine that is busy just after counting began ---- */

static unsigned int delay_us;

int __real_engine_start(struct engine *e, bool by_exec);
int __wrap_engine_start(struct engine *e, bool by_exec);
int __wrap_engine_start(struct engine *e, bool by_exec)
{
	int ret = __real_engine_start(e, by_exec);

	usleep(delay_us);
	return ret;
}

/* ---- threads that start while events are opened ---- */

#define THREADS 64

static struct {
	sem_t is_there, over;
	pthread_t thread[THREADS];
	size_t n, wanted;
	pid_t tid[THREADS];
} started;

static void *wait_for_the_end(void *place)
{
	*(pid_t *)place = (pid_t)syscall(SYS_gettid);
	sem_post(&started.is_there);
	sem_wait(&started.over);
	return NULL;
}

/* Each time that all is opened. */
static void start_another(void)
{
	size_t n = started.n;

	if (n == started.wanted || fake_open_fds())
		return;
	started.n++;
	assert_int_equal(pthread_create(&started.thread[n], NULL,
					wait_for_the_end, &started.tid[n]),
			 0);
	sem_wait(&started.is_there);
}

static void end_threads(void)
{
	for (size_t i = 0; i < started.n; i++)
		sem_post(&started.over);
	for (size_t i = 0; i < started.n; i++)
		pthread_join(started.thread[i], NULL);
}

/* ---- a run ---- */

static struct engine_events events; /* large */
static struct engine_count counts[UPMU_EVENTS_MAX];
static struct engine_targets targets;
static double length_s;

static int run(const struct stat_options *options, const char *list)
{
	struct stat_report report = { .options = options,
				      .events = &events,
				      .count = counts,
				      .place_name = "" };
	struct upmu_events_error why = { 0 };
	int status, ret = engine_events_resolve(&events, list, &why);

	if (!ret)
		ret = stat_run_once(&report, &events, &targets, -1, NULL,
				    &status);
	length_s = report.length_s;
	engine_events_free(&events);
	return ret;
}

/* This process, which has one more thread each time. */
static void run_on_threads(size_t wanted)
{
	char pid[16];
	const struct stat_options options = { .pids = pid, .timeout_ms = 1 };

	fake_boot("pi2");
	snprintf(pid, sizeof(pid), "%d", getpid());
	started.n = 0;
	started.wanted = wanted;
	sem_init(&started.is_there, 0, 0);
	sem_init(&started.over, 0, 0);
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	fake.in_perf_open = start_another;
	assert_int_equal(run(&options, "cycles"), 0);
	fake.in_perf_open = NULL;
	end_threads();
	fake_assert_closed();
}

static bool was_opened(pid_t tid)
{
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].pid == tid)
			return true;
	return false;
}

static void threads_that_start_while_events_are_opened_are_found(void **state)
{
	(void)state;
	run_on_threads(3);
	for (size_t i = 0; i < 3; i++)
		assert_true(was_opened(started.tid[i]));
	stat_targets_free(&targets);
}

static void threads_that_start_all_the_time_keep_no_run_from_it(void **state)
{
	(void)state;
	run_on_threads(THREADS);
	assert_true(started.n > 3 && started.n < THREADS);
	stat_targets_free(&targets);
}

/* Whichever allocation fails: nobody waits for a program that never ran. */
static void a_run_without_memory_leaves_no_process(void **state)
{
	static char name[] = "true", *command[] = { name, NULL };
	const struct stat_options options = { .command = command,
					      .slice_ms = 1 };
	size_t failed = 0;

	(void)state;
	for (size_t at = 1; at < MOST; at++) {
		fake_boot("pi2");
		fake.ordinary = 2;
		fake.failure = (struct fake_failure){ .call = FAKE_MEMORY,
						      .at = at,
						      .error = -ENOMEM };
		failed += run(&options, "cycles,r3,r4,r10,r12,r13") == -ENOMEM;
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
		fake_assert_closed();
		if (fake.failure.seen < at)
			break;
	}
	assert_true(fake.failure.seen < MOST);
	assert_true(failed > 4);
	fake.failure.call = FAKE_NONE; /* gcov wants some at the end */
}

/* Else the rates of what is counted for less than that are too large. */
static void the_time_that_was_counted_begins_with_the_counting(void **state)
{
	static char pid[16];
	const struct stat_options options = { .pids = pid, .timeout_ms = 1 };

	(void)state;
	fake_boot("pi2");
	snprintf(pid, sizeof(pid), "%d", getpid());
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	delay_us = 20000;
	assert_int_equal(run(&options, "cycles"), 0);
	delay_us = 0;
	stat_targets_free(&targets);
	assert_true(length_s >= 0.02);
}

/* The second run was at three times the frequency. */
static void a_frequency_is_of_all_runs_as_the_mean_beside_it(void **state)
{
	static struct stat_metric metric[STAT_METRICS_MOST];
	const struct stat_options options = { .repeat = 2 };
	struct stat_spread spread[UPMU_EVENTS_MAX] = { { .time_ns = 2000 } };
	const struct stat_report report = { .options = &options,
					    .events = &events,
					    .count = counts,
					    .spread = spread };
	struct upmu_events_error why = { 0 };

	(void)state;
	fake_boot("pi2");
	assert_int_equal(engine_events_resolve(&events, "cycles", &why), 0);
	counts[1].state = ENGINE_NOT_COUNTED; /* instructions, for estimates */
	counts[0] = (struct engine_count){ .state = ENGINE_COUNTED,
					   .raw = 900,
					   .enabled_ns = 1000,
					   .running_ns = 1000 };
	stat_spread_add(&spread[0], 300);
	stat_spread_add(&spread[0], 900);
	assert_int_equal(stat_metrics(&report, metric, STAT_METRICS_MOST), 1);
	assert_string_equal(metric[0].key, "ghz");
	assert_true(fabs(metric[0].value - 0.6) < 1e-9);
	engine_events_free(&events);
}

static void open_engine(struct engine *e, const char *list,
			const struct engine_targets *targets, bool cgroups)
{
	const struct engine_options options = { .cgroups = cgroups,
						.pass = -1,
						.slice_ms = 4 };
	struct upmu_events_error why;

	assert_int_equal(engine_events_resolve(&events, list, &why), 0);
	assert_int_equal(engine_open(e, &events, targets, &options), 0);
}

static void close_engine(struct engine *e)
{
	engine_close(e);
	engine_events_free(&events);
}

/* Of CPUs and cgroups time goes on while nobody runs. */
static void tasks_are_counted_where_a_process_is_named(void **state)
{
	static const struct {
		struct engine_target target;
		bool cgroups, tasks;
	} rows[] = { { { 0, -1 }, false, true },
		     { { 1, -1 }, false, true },
		     { { -1, 0 }, false, false },
		     { { 3, 0 }, true, false } };
	struct engine e;

	(void)state;
	fake_boot("pi2");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct engine_target target = rows[i].target;
		const struct engine_targets targets = { &target, 1 };

		open_engine(&e, "cycles", &targets, rows[i].cgroups);
		assert_int_equal(e.counts_tasks, rows[i].tasks);
		close_engine(&e);
	}
	fake_assert_closed();
}

static void what_estimates_lack_is_counted_unseen(void **state)
{
	static const struct {
		const char *list, *hidden;
	} rows[] = { { "cycles,r3,r4,r10,r12", "instructions" },
		     { "r3,r4,instructions,r10,r12", "cycles" },
		     { "cycles,r3,r4,r10,instructions", NULL } };
	struct upmu_events_error why;

	(void)state;
	fake_boot("pi2");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(
			engine_events_resolve(&events, rows[i].list, &why), 0);
		assert_int_equal(events.n, rows[i].hidden ? 6 : 5);
		for (size_t k = 0; k < events.n; k++)
			assert_int_equal(events.event[k].hidden, k == 5);
		if (rows[i].hidden)
			assert_string_equal(events.event[5].name,
					    rows[i].hidden);
		engine_events_free(&events);
	}
}

static bool is_on(const struct engine_set *of, size_t target)
{
	return !fake.events[of->group[target].fd[0] - FAKE_FD].attr.disabled;
}

/* What is always on, then one turn after the other; of a lost CPU nothing. */
static void a_turn_switches_its_own_sets_alone(void **state)
{
	struct engine_target cpus[] = { { -1, 0 }, { -1, 1 } };
	const struct engine_targets both = { cpus, 2 };
	struct engine e;

	(void)state;
	fake_boot("pi2");
	fake.ordinary = 2;
	open_engine(&e, "cycles,r3,r4,r10,r12", &both, false);
	assert_int_equal(e.sets.turns, 2);
	for (int on = 1; on >= 0; on--) {
		for (int turn = ENGINE_ALWAYS; turn < 2; turn++) {
			engine_turn_switch(&e.sets, turn, on);
			for (size_t i = 0; i < 2 * e.sets.n; i++) {
				const struct engine_set *one =
					&e.sets.set[i / 2];

				assert_int_equal(is_on(one, i % 2),
						 (one->turn <= turn) == on);
			}
		}
	}
	e.sets.cpu[1].lost = true;
	engine_turn_switch(&e.sets, 0, true);
	for (size_t i = 0; i < e.sets.n; i++) {
		assert_int_equal(is_on(&e.sets.set[i], 0), !e.sets.set[i].turn);
		assert_false(is_on(&e.sets.set[i], 1));
	}
	close_engine(&e);
	fake_assert_closed();
}

/* With turns that have begun, in the second of them, and without any. */
static void a_pause_switches_all_that_is_on_off_until_it_ends(void **state)
{
	static const char *const lists[] = { "cycles,r3,r4,r10,r12", "cycles" };
	struct engine_target target = { 1, -1 };
	const struct engine_targets targets = { &target, 1 };
	struct engine e;

	(void)state;
	fake_boot("pi2");
	fake.ordinary = 2;
	for (size_t n = 0; n < 2; n++) {
		size_t on[3] = { 0 };

		open_engine(&e, lists[n], &targets, false);
		assert_int_equal(engine_start(&e, false), 0);
		engine_turn(&e, true);
		for (int when = 0; when < 3; when++) {
			if (when == 1)
				engine_pause(&e);
			else if (when == 2)
				engine_resume(&e);
			for (size_t i = 0; i < e.sets.n; i++)
				on[when] += is_on(&e.sets.set[i], 0);
		}
		assert_int_equal(on[0], n ? 1 : 2);
		assert_int_equal(on[1], 0);
		assert_int_equal(on[2], on[0]);
		close_engine(&e);
	}
	fake_assert_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_frequency_is_of_all_runs_as_the_mean_beside_it),
		cmocka_unit_test(
			threads_that_start_while_events_are_opened_are_found),
		cmocka_unit_test(
			threads_that_start_all_the_time_keep_no_run_from_it),
		cmocka_unit_test(a_run_without_memory_leaves_no_process),
		cmocka_unit_test(
			the_time_that_was_counted_begins_with_the_counting),
		cmocka_unit_test(tasks_are_counted_where_a_process_is_named),
		cmocka_unit_test(what_estimates_lack_is_counted_unseen),
		cmocka_unit_test(a_turn_switches_its_own_sets_alone),
		cmocka_unit_test(
			a_pause_switches_all_that_is_on_off_until_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
