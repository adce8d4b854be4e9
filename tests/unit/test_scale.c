// SPDX-License-Identifier: MIT
/* upmu_scale(): the arithmetic, to the last bit. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "said.h"

static void assert_scaled(uint64_t count, uint64_t enabled, uint64_t running,
			  uint64_t expected)
{
	const struct upmu_value value = { count, enabled, running };
	uint64_t estimate = 0;

	assert_int_equal(upmu_scale(&value, &estimate), 0);
	assert_true(estimate == expected);
}

static void assert_refused(uint64_t count, uint64_t enabled, uint64_t running,
			   int error)
{
	const struct upmu_value value = { count, enabled, running };
	uint64_t estimate = 4711;

	assert_int_equal(upmu_scale(&value, &estimate), error);
	assert_int_equal(estimate, 4711);
}

static void a_count_of_the_whole_time_stays_as_it_is(void **state)
{
	(void)state;
	assert_scaled(UINT64_MAX, 1, 1, UINT64_MAX);
	assert_scaled(12345678901234567, 999999999, 999999999,
		      12345678901234567);
	assert_scaled(0, 5, 5, 0);
}

static void half_the_time_doubles_the_count(void **state)
{
	(void)state;
	assert_scaled(1000, 2000, 1000, 2000);
	/* Beyond what a double can hold. */
	assert_scaled(UINT64_C(0x4000000000000001), 2000000000, 1000000000,
		      UINT64_C(0x8000000000000002));
}

static void the_estimate_is_rounded_to_the_nearest(void **state)
{
	(void)state;
	assert_scaled(10, 10, 3, 33);
	assert_scaled(10, 5, 3, 17);
	assert_scaled(1, 3, 2, 2);
}

static void times_of_centuries_are_divided_to_the_last_bit(void **state)
{
	(void)state;
	assert_scaled(3, UINT64_MAX, UINT64_MAX - 1, 3);
	assert_scaled(123456789, UINT64_MAX - 7, UINT64_MAX / 3 * 2, 185185183);
}

static void an_event_that_never_ran_has_no_estimate(void **state)
{
	(void)state;
	assert_refused(0, 1000, 0, -ENODATA);
	assert_said("never on the hardware");
}

static void times_that_cannot_be_are_refused(void **state)
{
	(void)state;
	assert_refused(5, 1, 2, -EINVAL);
}

static void an_estimate_beyond_64_bits_is_refused(void **state)
{
	(void)state;
	assert_refused(UINT64_MAX, 2, 1, -EOVERFLOW);
	assert_refused(UINT64_MAX / 2 + 1, 2, 1, -EOVERFLOW);
	assert_scaled(UINT64_MAX / 2, 2, 1, UINT64_MAX - 1);
}

/* A mistake of the program, not of its machine: it is to be seen at once. */
static void no_set_ends_the_program_by_its_own_words(void **state)
{
	struct upmu_value value;
	int status;
	pid_t pid;

	(void)state;
#ifdef NDEBUG
	puts("# compiled without assertions");
	skip();
#endif
	pid = fork();
	if (!pid) {
		close(STDERR_FILENO);
		upmu_read(NULL, &value, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_of_the_whole_time_stays_as_it_is),
		cmocka_unit_test(half_the_time_doubles_the_count),
		cmocka_unit_test(the_estimate_is_rounded_to_the_nearest),
		cmocka_unit_test(
			times_of_centuries_are_divided_to_the_last_bit),
		cmocka_unit_test(an_event_that_never_ran_has_no_estimate),
		cmocka_unit_test(times_that_cannot_be_are_refused),
		cmocka_unit_test(an_estimate_beyond_64_bits_is_refused),
		cmocka_unit_test(no_set_ends_the_program_by_its_own_words),
	};

	return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
