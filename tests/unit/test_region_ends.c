// SPDX-License-Identifier: MIT
/* Regions of threads that jump out of a call, or count more than others, and of
 * a program that exits. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/region/live.h"
#include "regions.h"
#include "tests/unit/source_model.h"

static pthread_barrier_t meeting;
static struct upmu_region_thread *jumper;

/* As siglongjmp(3) out of a call of end leaves it: in the midst of writing. */
static void *jump_out(void *work)
{
	call(work);
	jumper = upmu_region_self;
	atomic_fetch_or(&jumper->version, 1);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	call(work);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	return NULL;
}

/* Each moment of waiting is one. */
static long own_waits(void)
{
	struct rusage usage;

	CHECK(!getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

static void read_where_a_thread_jumped_out(void)
{
	long before;
	pthread_t other;

	alarm(60); /* one who waits for that thread waits for ever */
	pthread_barrier_init(&meeting, NULL, 2);
	CHECK(!pthread_create(&other, NULL, jump_out, region_of("work")));
	pthread_barrier_wait(&meeting);
	CHECK(stats_of("work", 0).calls == 1);
	before = own_waits();
	CHECK(stats_of("work", 0).calls == 1);
	CHECK(own_waits() - before < 1000);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	CHECK(!(atomic_load(&jumper->version) & 1));
	CHECK(stats_of("work", 0).calls == 2);
	pthread_barrier_wait(&meeting);
	CHECK(!pthread_join(other, NULL));
}

/* Each moment of waiting takes as long as services of systemd's
 * TimerSlackNSec=20ms have it: to count them would make it 300 s. */
static void read_where_moments_are_long(void)
{
	pthread_t other;

	alarm(60);
	CHECK(!prctl(PR_SET_TIMERSLACK, 20000000));
	pthread_barrier_init(&meeting, NULL, 2);
	CHECK(!pthread_create(&other, NULL, jump_out, region_of("work")));
	pthread_barrier_wait(&meeting);
	CHECK(stats_of("work", 0).calls == 1);
}

/* The library's key is gone by then, and its number is for others. */
static void fork_in_a_late_handler(void)
{
	pthread_key_t key;
	int status;
	pid_t child;

	CHECK(!pthread_key_create(&key, NULL));
	CHECK(!pthread_setspecific(key, &key));
	child = fork();
	if (!child)
		_exit(pthread_getspecific(key) != &key);
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void fork_while_it_exits(void)
{
	CHECK(!atexit(fork_in_a_late_handler));
	call(region_of("first"));
}

/* ---- claims ---- */

CHILD_TEST(a_child_of_a_program_that_exits_keeps_what_is_not_the_librarys,
	   fork_while_it_exits)
CHILD_TEST(nobody_waits_twice_for_a_thread_that_jumped_out_of_a_call,
	   read_where_a_thread_jumped_out)
CHILD_TEST(the_wait_for_a_thread_that_jumped_out_is_short_by_the_clock,
	   read_where_moments_are_long)

/* Of three calls of 10 each; what a pair counts more there is taken off. */
static void a_threads_counts_are_as_the_first_would_have_them(void **state)
{
	static struct upmu_region_thread thread = {
		.dearer = { 4, -2, 40 },
	};
	static struct upmu_cell sum;

	(void)state;
	thread.cells[0].calls = 3;
	for (size_t i = 0; i < 3; i++)
		thread.cells[0].events[i] = (struct live_tally){
			.total = 30,
			.small_min = 10,
			.small_size = 1,
			.large_min = UINT64_MAX,
		};
	upmu_region_add_thread(&sum, &thread, 1);
	assert_int_equal(sum.calls, 3);
	assert_int_equal(sum.events[0].total, 18);
	assert_int_equal(sum.events[0].min, 6);
	assert_int_equal(sum.events[0].max, 6);
	assert_int_equal(sum.events[1].total, 36);
	assert_int_equal(sum.events[1].max, 12);
	assert_int_equal(sum.events[2].total, 0);
	assert_int_equal(sum.events[2].min, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_child_of_a_program_that_exits_keeps_what_is_not_the_librarys),
		cmocka_unit_test(
			nobody_waits_twice_for_a_thread_that_jumped_out_of_a_call),
		cmocka_unit_test(
			the_wait_for_a_thread_that_jumped_out_is_short_by_the_clock),
		cmocka_unit_test(
			a_threads_counts_are_as_the_first_would_have_them),
	};

	return cmocka_run_group_tests_name("region_ends", tests, NULL, NULL);
}
