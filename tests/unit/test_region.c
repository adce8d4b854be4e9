// SPDX-License-Identifier: MIT
/* Regions, on the software PMU: each reading of it goes on by one step. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/region/region.h"
#include "regions.h"
#include "tests/unit/source_model.h"

#define INTERRUPTIONS 500

/* ---- bodies ---- */

static void count_calls(void)
{
	struct upmu_region *work = region_of("work");
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	for (int i = 0; i < 7; i++)
		call(work);
	stats = stats_of("work", 0);
	CHECK(stats.calls == 7);
	/* The model takes one step between two readings, and an empty pair
	 * was seen to cost just that. */
	CHECK(stats.overhead == 1000);
	CHECK(stats.total == 0 && stats.min == 0 && stats.max == 0);
	CHECK(stats_of("work", 1).overhead == 2000);
	CHECK(stats.running == 1);
}

static void nest(void)
{
	struct upmu_region *outer = region_of("outer");
	struct upmu_region *inner = region_of("inner");
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	for (int i = 1; i <= 3; i++) {
		CHECK(!upmu_region_begin(outer));
		for (int k = 0; k < i; k++)
			call(inner);
		CHECK(!upmu_region_end(outer));
	}
	stats = stats_of("outer", 0);
	/* Two readings for each inner call lie inside. */
	CHECK(stats.calls == 3);
	CHECK(stats.min == 2000 && stats.max == 6000 && stats.total == 12000);
	CHECK(stats.mean == 4000);
	CHECK(stats_of("inner", 0).calls == 6);
}

static void nest_in_itself(void)
{
	struct upmu_region *again = region_of("again");

	for (int i = 0; i < UPMU_REGION_DEPTH_MAX; i++)
		CHECK(!upmu_region_begin(again));
	CHECK(upmu_region_begin(again) == -ENOSPC);
	for (int i = 0; i < UPMU_REGION_DEPTH_MAX; i++)
		CHECK(!upmu_region_end(again));
	CHECK(upmu_region_end(again) == -EINVAL);
	CHECK(stats_of("again", 0).calls == UPMU_REGION_DEPTH_MAX);
}

static void end_the_wrong_one(void)
{
	struct upmu_region *a = region_of("a"), *b = region_of("b");

	CHECK(upmu_region_end(a) == -EINVAL);
	CHECK(!upmu_region_begin(a));
	CHECK(upmu_region_end(b) == -EINVAL);
	CHECK(strstr(upmu_explain(), "'b'"));
	CHECK(!upmu_region_end(a));
	CHECK(stats_of("a", 0).calls == 1);
	CHECK(stats_of("b", 0).calls == 0);
}

static void *call_a_hundred_times(void *name)
{
	struct upmu_region *region = region_of(name);

	for (int i = 0; i < 100; i++)
		call(region);
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&threads[i], NULL, call_a_hundred_times,
				      "shared"));
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	call_a_hundred_times("shared");
	CHECK(stats_of("shared", 0).calls == 900);
	CHECK(stats_of("shared", 0).total == 0);
}

static void come_and_go(int threads)
{
	pthread_t thread;

	for (int i = 0; i < threads; i++) {
		CHECK(!pthread_create(&thread, NULL, call_a_hundred_times,
				      "passing"));
		pthread_join(thread, NULL);
	}
}

/* One that stayed would take some 19 KiB, for 64 regions. */
static void run_threads_by_the_thousand(void)
{
	size_t before;

	mallopt(M_ARENA_MAX, 1);
	come_and_go(10);
	before = mallinfo2().uordblks;
	come_and_go(3000);
	CHECK(mallinfo2().uordblks < before + 64 * 1024);
	CHECK(stats_of("passing", 0).calls == 301000);
}

static void *call_and_wait(void *barrier)
{
	call_a_hundred_times("alive");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static void read_while_a_thread_lives(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(!pthread_create(&thread, NULL, call_and_wait, &barrier));
	pthread_barrier_wait(&barrier);
	CHECK(stats_of("alive", 0).calls == 100);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	CHECK(stats_of("alive", 0).calls == 100);
}

/* A reading is a multiple of the step, so a longer step moves them apart. */
static void count_beyond_32_bits(void)
{
	struct upmu_region *work = region_of("work");
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	CHECK(!upmu_regions_init("r3", NULL));
	CHECK(!upmu_region_begin(work));
	upmu_model.step[0] = UINT64_C(1) << 33;
	CHECK(!upmu_region_end(work));
	stats = stats_of("work", 0);
	CHECK(stats.calls == 1 && stats.min == stats.max);
	CHECK(stats.min > UINT64_C(1) << 33 && stats.total == stats.min);
	upmu_model.step[0] = 1;
	CHECK(!upmu_region_begin(work));
	upmu_model.step[0] = 100;
	CHECK(!upmu_region_end(work));
	stats = stats_of("work", 0);
	CHECK(stats.min < UINT64_C(1) << 32);
	CHECK(stats.max > UINT64_C(1) << 33);
	CHECK(stats.total == stats.min + stats.max);
}

static uint64_t without_1(uint64_t count)
{
	return count ? count - 1 : 0;
}

/* An empty pair was seen to cost 1. */
static void check_sequence(const uint64_t *counts, size_t n)
{
	uint64_t total = 0, min = UINT64_MAX, max = 0;
	static int sequences;
	char name[16];

	snprintf(name, sizeof(name), "s%d", sequences++);
	for (size_t i = 0; i < n; i++) {
		struct upmu_region_stats stats = { .size = sizeof(stats) };

		upmu_model.step[0] = counts[i] ? counts[i] : UPMU_MODEL_STILL;
		call(region_of(name));
		total += counts[i];
		min = counts[i] < min ? counts[i] : min;
		max = counts[i] > max ? counts[i] : max;
		stats = stats_of(name, 0);
		CHECK(stats.total == (total > i ? total - (i + 1) : 0));
		CHECK(stats.min == without_1(min));
		CHECK(stats.max == without_1(max));
	}
}

#define CHECK_SEQUENCE(...)                                               \
	do {                                                              \
		static const uint64_t counts[] = { __VA_ARGS__ };         \
                                                                          \
		check_sequence(counts, sizeof(counts) / sizeof(*counts)); \
	} while (0)

/* Where small counts end: 32 bits full, one less, one more. */
#define FULL ((uint64_t)UINT32_MAX)

static void widen_both_ways(void)
{
	upmu_model.step[0] = 1;
	CHECK(!upmu_regions_init("r3", NULL));
	CHECK_SEQUENCE(5, 7, 6, 3, 4, 9, 1, 9, 10);
	CHECK_SEQUENCE(FULL);
	CHECK_SEQUENCE(FULL, FULL + 1, FULL);
	CHECK_SEQUENCE(FULL + 1, FULL - 1, FULL, 1);
	CHECK_SEQUENCE(1, FULL - 1, FULL, 2, UINT64_C(1) << 40);
	CHECK_SEQUENCE(FULL - 1, 0, FULL, FULL - 2);
	CHECK_SEQUENCE(0, 0, FULL, 1);
	/* Below 2^32 in its low half, and within what was seen. */
	CHECK_SEQUENCE(4, 8, (UINT64_C(1) << 32) + 6, 8);
}

static void fail_to_read(void)
{
	struct upmu_region *work = region_of("work");

	call(work);
	upmu_model.error = -EIO;
	CHECK(upmu_region_begin(work) == -EIO);
	upmu_model.error = 0;
	CHECK(upmu_region_end(work) == -EINVAL);
	CHECK(!upmu_region_begin(work));
	upmu_model.error = -EIO;
	CHECK(upmu_region_end(work) == -EIO);
	upmu_model.error = 0;
	/* It was left all the same, and not counted. */
	CHECK(upmu_region_end(work) == -EINVAL);
	CHECK(stats_of("work", 0).calls == 1);
}

static void fail_to_open(void)
{
	struct upmu_region *work = region_of("work");

	setenv("UPMU_SOURCE", "nonsense", 1);
	CHECK(upmu_region_begin(work) == -EINVAL);
	CHECK(strstr(upmu_explain(), "nonsense"));
	setenv("UPMU_SOURCE", "model", 1);
	CHECK(!upmu_region_begin(work));
	CHECK(upmu_model.open == 1);
}

/* They are opened before they are counted, and closed then. */
static void ask_for_too_many_events(void)
{
	setenv("UPMU_EVENTS", "cs,cs,cs,cs,cs,cs,cs,cs,task-clock", 1);
	CHECK(upmu_region_begin(region_of("work")) == -EINVAL);
	CHECK(strstr(upmu_explain(), "8 events at most, not 9"));
	CHECK(!upmu_model.open);
}

/* Whoever made a key keeps what it has there. */
static void run_out_of_keys(void)
{
	pthread_key_t keys[2048];
	size_t n = 0;

	while (n < 2048 && !pthread_key_create(&keys[n], NULL))
		CHECK(!pthread_setspecific(keys[n], &keys[n]) && ++n);
	CHECK(n && n < 2048);
	CHECK(upmu_region_begin(region_of("work")) == -EAGAIN);
	CHECK(strstr(upmu_explain(), "pthread_key_create"));
	CHECK(upmu_regions_init("r3", NULL) == -EAGAIN);
	for (size_t i = 0; i < n; i++)
		CHECK(pthread_getspecific(keys[i]) == &keys[i]);
	CHECK(!pthread_key_delete(keys[n - 1]));
	call(region_of("work"));
}

static void *call_in_another(void *events)
{
	setenv("UPMU_EVENTS", events, 1);
	setenv("UPMU_SOURCE", "nonsense", 1);
	call(region_of("work"));
	return NULL;
}

/* As a daemon that clears its environment. */
static void change_the_environment(void)
{
	pthread_t thread;

	setenv("UPMU_EVENTS", "r7,r8", 1);
	call(region_of("work"));
	CHECK(!pthread_create(&thread, NULL, call_in_another, "r1,r2,r3"));
	CHECK(!pthread_join(thread, NULL));
	CHECK(stats_of("work", 1).calls == 2);
	CHECK(upmu_regions_init(NULL, NULL) == -EALREADY);
	CHECK(strstr(upmu_explain(), "'r7,r8'"));
}

static void refuse_names(void)
{
	struct upmu_region *region = NULL;
	char name[UPMU_REGION_NAME_SIZE + 1] = "";

	CHECK(upmu_region_open(&region, "") == -EINVAL);
	memset(name, 'x', UPMU_REGION_NAME_SIZE);
	CHECK(upmu_region_open(&region, name) == -EINVAL);
	CHECK(!region);
	name[UPMU_REGION_NAME_SIZE - 1] = '\0';
	CHECK(!upmu_region_open(&region, name));
	CHECK(region_of(name) == region);
}

static void fill_the_table(void)
{
	struct upmu_region *region = NULL, *first = NULL;
	char name[16];

	for (int i = 0; i < UPMU_REGIONS_MAX; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		CHECK(!upmu_region_open(&region, name));
	}
	region = NULL;
	CHECK(upmu_region_open(&region, "one too many") == -ENOSPC);
	CHECK(!region && !upmu_region_open(&first, "r0") && first);
}

static void choose_events(void)
{
	const struct upmu_options model = {
		.size = sizeof(model),
		.source = "model",
	};

	unsetenv("UPMU_SOURCE");
	CHECK(upmu_regions_init("cycles,nonsense", &model) == -ENOENT);
	CHECK(upmu_regions_init("r1,r2,r3,r4,r5,r6,r7,r8,r9", &model) ==
	      -EINVAL);
	CHECK(!upmu_regions_init("r3,r4,r5", &model));
	call(region_of("work"));
	CHECK(stats_of("work", 2).overhead == 3000);
	CHECK(upmu_regions_init("cycles", &model) == -EALREADY);
	CHECK(strstr(upmu_explain(), "r3,r4,r5"));
}

static int events_wanted;

/* Each by its own step, in a region with three readings of another inside. */
static void count_so_many_events(void)
{
	char list[] = "r1,r2,r3,r4,r5,r6,r7,r8";

	list[3 * events_wanted - 1] = '\0';
	CHECK(!upmu_regions_init(list, NULL));
	for (int round = 0; round < 2; round++) {
		CHECK(!upmu_region_begin(region_of("outer")));
		for (int i = 0; i < 3; i++)
			call(region_of("inner"));
		CHECK(!upmu_region_end(region_of("outer")));
	}
	for (int i = 0; i < events_wanted; i++) {
		struct upmu_region_stats outer = stats_of("outer", (size_t)i);
		uint64_t step = 1000 * ((uint64_t)i + 1);

		CHECK(outer.calls == 2 && outer.overhead == step);
		CHECK(outer.min == 6 * step && outer.max == 6 * step);
		CHECK(outer.total == 12 * step);
	}
}

/* The flag, and what is chosen then, contradict one another. */
static void choose_in_vain(void)
{
	const struct upmu_options user = { .size = sizeof(user),
					   .flags = UPMU_OPEN_USER_ONLY };

	CHECK(upmu_regions_init("nonsense", &user) == -ENOENT);
	setenv("UPMU_EVENTS", "cycles:k", 1);
	call(region_of("work"));
}

static void choose_by_environment(void)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	setenv("UPMU_EVENTS", "r7", 1);
	call(region_of("work"));
	CHECK(upmu_region_read(region_of("work"), 1, &stats) == -ENOENT);
	CHECK(strstr(upmu_explain(), "1 events"));
}

static void choose_by_an_empty_environment(void)
{
	setenv("UPMU_EVENTS", "", 1);
	call(region_of("work"));
	CHECK(upmu_regions_init("r3", NULL) == -EALREADY);
	CHECK(strstr(upmu_explain(), "'cycles,instructions'"));
}

static void read_before_any_begin(void)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	CHECK(upmu_region_read(region_of("work"), 0, &stats) == -ENOENT);
}

static void fork_inside(void)
{
	struct upmu_region *work = region_of("work");
	int status;
	pid_t child;

	call(work);
	CHECK(!upmu_region_begin(work));
	child = fork();
	if (!child) {
		CHECK(upmu_region_end(work) == -EINVAL);
		CHECK(stats_of("work", 0).calls == 0);
		call(work);
		CHECK(stats_of("work", 0).calls == 1);
		CHECK(upmu_model.open == 1);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!upmu_region_end(work));
	CHECK(stats_of("work", 0).calls == 2);
}

static struct upmu_region *interrupted;
static atomic_int interruptions;

static void read_interrupted(int signal)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	(void)signal;
	CHECK(!upmu_region_read(interrupted, 0, &stats));
	atomic_fetch_add(&interruptions, 1);
}

static void *interrupt(void *thread)
{
	static const struct timespec moment = { .tv_nsec = 50000 };

	while (atomic_load(&interruptions) < INTERRUPTIONS) {
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		nanosleep(&moment, NULL);
	}
	return NULL;
}

static void read_in_a_signal(void)
{
	pthread_t self = pthread_self(), other;

	interrupted = region_of("work");
	call(interrupted);
	alarm(60); /* a reading that waits for its own thread never ends */
	signal(SIGUSR1, read_interrupted);
	CHECK(!pthread_create(&other, NULL, interrupt, &self));
	while (atomic_load(&interruptions) < INTERRUPTIONS)
		call(interrupted);
	CHECK(!pthread_join(other, NULL));
}

/* ---- claims ---- */

CHILD_TEST(calls_are_counted_and_the_pairs_own_cost_taken_off, count_calls)
CHILD_TEST(an_outer_region_holds_the_inner_ones, nest)
CHILD_TEST(regions_nest_in_themselves_32_deep, nest_in_itself)
CHILD_TEST(only_the_innermost_region_can_end, end_the_wrong_one)
CHILD_TEST(threads_add_up_after_they_ended, run_threads)
CHILD_TEST(threads_that_come_and_go_by_the_thousand_leave_no_memory,
	   run_threads_by_the_thousand)
CHILD_TEST(threads_add_up_while_they_live, read_while_a_thread_lives)
CHILD_TEST(counts_of_more_than_32_bits_are_kept, count_beyond_32_bits)
CHILD_TEST(each_call_is_held_against_least_and_most, widen_both_ways)
CHILD_TEST(a_call_whose_reading_failed_is_not_counted, fail_to_read)
CHILD_TEST(a_set_that_cannot_be_opened_fails_begin_and_is_tried_again,
	   fail_to_open)
CHILD_TEST(more_events_than_regions_have_are_closed_again,
	   ask_for_too_many_events)
CHILD_TEST(without_a_key_of_its_own_a_thread_takes_nobody_elses,
	   run_out_of_keys)
CHILD_TEST(the_environment_that_the_first_thread_had_is_the_others_too,
	   change_the_environment)
CHILD_TEST(names_have_1_to_63_characters, refuse_names)
CHILD_TEST(the_65th_region_is_enospc, fill_the_table)
CHILD_TEST(events_are_chosen_once, choose_events)
static void one_to_eight_events_are_each_counted(void **state)
{
	(void)state;
	for (events_wanted = 1; events_wanted <= 8; events_wanted++)
		assert_int_equal(run_in_child(count_so_many_events), 0);
}

CHILD_TEST(a_choice_that_failed_leaves_no_option, choose_in_vain)
CHILD_TEST(the_environment_chooses_events, choose_by_environment)
CHILD_TEST(an_empty_list_in_the_environment_is_none,
	   choose_by_an_empty_environment)
CHILD_TEST(before_the_first_begin_there_is_no_event, read_before_any_begin)
CHILD_TEST(a_forked_child_is_in_no_region_and_counts_anew, fork_inside)
CHILD_TEST(a_signals_handler_does_not_wait_for_the_thread_it_came_upon,
	   read_in_a_signal)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			calls_are_counted_and_the_pairs_own_cost_taken_off),
		cmocka_unit_test(an_outer_region_holds_the_inner_ones),
		cmocka_unit_test(regions_nest_in_themselves_32_deep),
		cmocka_unit_test(only_the_innermost_region_can_end),
		cmocka_unit_test(threads_add_up_after_they_ended),
		cmocka_unit_test(
			threads_that_come_and_go_by_the_thousand_leave_no_memory),
		cmocka_unit_test(threads_add_up_while_they_live),
		cmocka_unit_test(counts_of_more_than_32_bits_are_kept),
		cmocka_unit_test(each_call_is_held_against_least_and_most),
		cmocka_unit_test(a_call_whose_reading_failed_is_not_counted),
		cmocka_unit_test(
			a_set_that_cannot_be_opened_fails_begin_and_is_tried_again),
		cmocka_unit_test(
			more_events_than_regions_have_are_closed_again),
		cmocka_unit_test(
			without_a_key_of_its_own_a_thread_takes_nobody_elses),
		cmocka_unit_test(
			the_environment_that_the_first_thread_had_is_the_others_too),
		cmocka_unit_test(names_have_1_to_63_characters),
		cmocka_unit_test(the_65th_region_is_enospc),
		cmocka_unit_test(events_are_chosen_once),
		cmocka_unit_test(one_to_eight_events_are_each_counted),
		cmocka_unit_test(a_choice_that_failed_leaves_no_option),
		cmocka_unit_test(the_environment_chooses_events),
		cmocka_unit_test(an_empty_list_in_the_environment_is_none),
		cmocka_unit_test(before_the_first_begin_there_is_no_event),
		cmocka_unit_test(
			a_forked_child_is_in_no_region_and_counts_anew),
		cmocka_unit_test(
			a_signals_handler_does_not_wait_for_the_thread_it_came_upon),
	};

	return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
