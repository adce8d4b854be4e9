// SPDX-License-Identifier: MIT
/* upmu_measure(), on the software PMU. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "said.h"
#include "tests/unit/source_model.h"

static const struct upmu_options model = {
	.size = sizeof(struct upmu_options),
	.source = "model",
};

static struct upmu_measure_options options;
static struct upmu_measurement results[2];
static unsigned int calls;

static int start_afresh(void **state)
{
	(void)state;
	upmu_model = (struct upmu_model){ .running = 100 };
	options = (struct upmu_measure_options){
		.size = sizeof(options),
		.events = "r1,r2",
		.open = &model,
	};
	calls = 0;
	memset(results, 0x5a, sizeof(results));
	results[0].size = sizeof(results[0]);
	return 0;
}

static void count_calls(void *arg)
{
	(void)arg;
	calls++;
}

/* Each call makes the next readings further apart: 0, 1, 2, ... */
static void grow(void *arg)
{
	uint64_t *step = arg;

	upmu_model.step[0] = ++*step;
}

/* The same the other way: the first run is the largest. */
static void shrink(void *arg)
{
	uint64_t *step = arg;

	upmu_model.step[0] = --*step;
}

static int measure(void (*fn)(void *), void *arg)
{
	return upmu_measure(fn, arg, &options, results, 2);
}

static void an_empty_function_measures_0(void **state)
{
	(void)state;
	assert_int_equal(measure(count_calls, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(results[i].overhead, 1000 * (i + 1));
		assert_int_equal(results[i].min, 0);
		assert_int_equal(results[i].median, 0);
		assert_int_equal(results[i].max, 0);
	}
}

static void runs_and_warm_up_are_as_many_as_asked_for(void **state)
{
	(void)state;
	options.runs = 5;
	options.warmup = 3;
	assert_int_equal(measure(count_calls, NULL), 0);
	assert_int_equal(calls, 8);
}

static void the_defaults_are_10_and_101_runs(void **state)
{
	(void)state;
	assert_int_equal(measure(count_calls, NULL), 0);
	assert_int_equal(calls, 111);
}

static void three_times(void *arg)
{
	(void)arg;
	upmu_model.step[0] = 3000;
}

static void the_first_run_after_the_warm_up_counts_like_all(void **state)
{
	(void)state;
	options.runs = 5;
	options.warmup = 3;
	assert_int_equal(measure(three_times, NULL), 0);
	assert_int_equal(results[0].overhead, 1000);
	assert_int_equal(results[0].min, 2000);
	assert_int_equal(results[0].max, 2000);
}

static void assert_quartiles_in_order(void (*fn)(void *), uint64_t step)
{
	upmu_model.step[0] = 1;
	options.warmup = 1;
	options.runs = 9;
	assert_int_equal(measure(fn, &step), 0);
	assert_true(results[0].min < results[0].q1);
	assert_true(results[0].q1 < results[0].median);
	assert_true(results[0].median < results[0].q3);
	assert_true(results[0].q3 < results[0].max);
}

static void quartiles_are_counts_that_were_seen(void **state)
{
	(void)state;
	assert_quartiles_in_order(grow, 0);
}

static void it_does_not_matter_which_run_was_the_largest(void **state)
{
	(void)state;
	assert_quartiles_in_order(shrink, 10000);
}

/* Nearest rank: the third quartile of two is the larger. */
static void the_quartiles_of_two_runs_are_these_two(void **state)
{
	uint64_t step = 0;

	(void)state;
	upmu_model.step[0] = 1;
	options.warmup = 1;
	options.runs = 2;
	assert_int_equal(measure(grow, &step), 0);
	assert_true(results[0].min < results[0].max);
	assert_int_equal(results[0].q1, results[0].min);
	assert_int_equal(results[0].median, results[0].min);
	assert_int_equal(results[0].q3, results[0].max);
}

/* Of a later release, whose struct has grown. */
static void results_stand_as_far_apart_as_the_caller_says(void **state)
{
	struct {
		struct upmu_measurement first;
		uint64_t later;
	} two[2];

	(void)state;
	memset(two, 0x5a, sizeof(two));
	two[0].first.size = sizeof(two[0]);
	assert_int_equal(
		upmu_measure(count_calls, NULL, &options, &two[0].first, 2), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(two[i].first.size, sizeof(two[0]));
		assert_int_equal(two[i].first.overhead, 1000 * (i + 1));
		assert_int_equal(two[i].later, 0);
	}
}

static void results_without_their_size_are_einval(void **state)
{
	(void)state;
	results[0].size = UPMU_MEASUREMENT_SIZE_1 - 1;
	assert_int_equal(measure(count_calls, NULL), -EINVAL);
	assert_said("set it to sizeof");
	results[0].size = 1u << 31; /* by chance */
	assert_int_equal(measure(count_calls, NULL), -EINVAL);
	assert_int_equal(results[0].min, UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(calls, 0);
}

static void another_number_of_results_is_einval(void **state)
{
	(void)state;
	assert_int_equal(upmu_measure(count_calls, NULL, &options, results, 1),
			 -EINVAL);
	assert_said("room for 1 results, but 2 events");
	assert_int_equal(upmu_measure(count_calls, NULL, &options, results, 0),
			 -EINVAL);
	assert_int_equal(calls, 0);
}

static void more_than_8_events_are_einval(void **state)
{
	struct upmu_measurement nine[9] = { { .size = sizeof(nine[0]) } };

	(void)state;
	options.events = "r1,r2,r3,r4,r5,r6,r7,r8,r9";
	assert_int_equal(upmu_measure(count_calls, NULL, &options, nine, 9),
			 -EINVAL);
}

static void options_out_of_range_are_einval(void **state)
{
	(void)state;
	options.runs = 1000001;
	assert_int_equal(measure(count_calls, NULL), -EINVAL);
	options.runs = 0;
	options.warmup = 1000001;
	assert_int_equal(measure(count_calls, NULL), -EINVAL);
	assert_said("1000000 at most");
	options.warmup = 0;
	options.size = 1;
	assert_int_equal(measure(count_calls, NULL), -EINVAL);
}

static void errors_of_opening_and_reading_pass_through(void **state)
{
	(void)state;
	options.events = "nonsense";
	assert_int_equal(measure(count_calls, NULL), -ENOENT);
	options.events = "r1,r2";
	upmu_model.error = -EIO;
	assert_int_equal(measure(count_calls, NULL), -EIO);
	assert_int_equal(results[0].min, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void assert_not_measured(unsigned int running, int error,
				const char *why)
{
	upmu_model.running = running;
	assert_int_equal(measure(count_calls, NULL), error);
	assert_said(why);
	assert_int_equal(results[0].min, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void events_that_shared_the_hardware_are_eagain(void **state)
{
	(void)state;
	assert_not_measured(50, -EAGAIN, "others use the counters too");
}

static void events_that_never_had_the_hardware_are_ebusy(void **state)
{
	(void)state;
	assert_not_measured(0, -EBUSY, "had no counter until now");
}

static void end_the_thread(void *arg)
{
	(void)arg;
	pthread_exit(NULL);
}

static void *measure_the_end(void *arg)
{
	(void)arg;
	upmu_measure(end_the_thread, NULL, &options, results, 2);
	return NULL;
}

static _Thread_local jmp_buf out_of_it;

static void jump_out(void *arg)
{
	(void)arg;
	longjmp(out_of_it, 1);
}

static __attribute__((noinline)) void measure_a_jump(void)
{
	if (!setjmp(out_of_it))
		upmu_measure(jump_out, NULL, &options, results, 2);
}

static __attribute__((noinline)) void use_the_stack_again(void)
{
	volatile char bytes[8192];

	memset((void *)(uintptr_t)bytes, 0x55, sizeof(bytes));
}

/* A measured function that measures one itself, which jumps back into it. */
static void jump_out_of_an_inner_one(void *arg)
{
	(void)arg;
	calls++;
	measure_a_jump();
}

static void *measure_jumps(void *arg)
{
	(void)arg;
	measure_a_jump();
	use_the_stack_again();
	measure_a_jump();
	options.runs = 2;
	upmu_measure(jump_out_of_an_inner_one, NULL, &options, results, 2);
	use_the_stack_again();
	pthread_exit(NULL);
}

static void run_thread(void *(*start)(void *arg))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, start, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void leaves_nothing(void *(*start)(void *arg))
{
	size_t before;

	mallopt(M_ARENA_MAX, 1);
	run_thread(start);
	before = mallinfo2().uordblks;
	run_thread(start);
	assert_int_equal(mallinfo2().uordblks, before);
}

static void a_function_that_ends_the_thread_leaves_nothing(void **state)
{
	(void)state;
	leaves_nothing(measure_the_end);
}

static void a_thread_ends_that_jumped_out_of_a_measured_function(void **state)
{
	(void)state;
	leaves_nothing(measure_jumps);
	assert_int_equal(calls, 2 * (10 + 2));
}

#define MEASURE_TEST(name) cmocka_unit_test_setup(name, start_afresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MEASURE_TEST(an_empty_function_measures_0),
		MEASURE_TEST(runs_and_warm_up_are_as_many_as_asked_for),
		MEASURE_TEST(the_defaults_are_10_and_101_runs),
		MEASURE_TEST(the_first_run_after_the_warm_up_counts_like_all),
		MEASURE_TEST(quartiles_are_counts_that_were_seen),
		MEASURE_TEST(it_does_not_matter_which_run_was_the_largest),
		MEASURE_TEST(the_quartiles_of_two_runs_are_these_two),
		MEASURE_TEST(results_stand_as_far_apart_as_the_caller_says),
		MEASURE_TEST(results_without_their_size_are_einval),
		MEASURE_TEST(another_number_of_results_is_einval),
		MEASURE_TEST(more_than_8_events_are_einval),
		MEASURE_TEST(options_out_of_range_are_einval),
		MEASURE_TEST(errors_of_opening_and_reading_pass_through),
		MEASURE_TEST(events_that_shared_the_hardware_are_eagain),
		MEASURE_TEST(events_that_never_had_the_hardware_are_ebusy),
		MEASURE_TEST(a_function_that_ends_the_thread_leaves_nothing),
		MEASURE_TEST(
			a_thread_ends_that_jumped_out_of_a_measured_function),
	};

	return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
