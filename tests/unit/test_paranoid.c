// SPDX-License-Identifier: MIT
/* What perf_event_paranoid lets upmu_open() do, and how it tells. */
#include "one_set.h"

#include <errno.h>
#include <stdlib.h>

#include "said.h"

static void assert_refused(const char *words)
{
	assert_int_equal(upmu_open(&set, "cycles", NULL), -EACCES);
	assert_null(set);
	assert_said(words);
}

static void paranoid_3_tells_the_value_and_the_command(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	fake.perf_error = -EACCES;
	assert_refused("perf_event_paranoid is 3");
	assert_said("hint: sudo sysctl kernel.perf_event_paranoid=1");
}

static void paranoid_2_counts_user_mode_and_says_so(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake.only_user = true;
	assert_int_equal(upmu_open(&set, "cycles,instructions", NULL), 0);
	assert_string_equal(upmu_event_name(set, 0), "cycles:u");
	assert_string_equal(upmu_event_name(set, 1), "instructions:u");
}

static void paranoid_2_on_a_core_without_filters_is_eacces(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake.only_user = true;
	fake.has_no_filter = true;
	assert_refused("perf_event_paranoid is 2");
	assert_said("kernel.perf_event_paranoid=1");
}

static void
a_policy_that_refuses_although_paranoid_permits_is_told(void **state)
{
	(void)state;
	fake.perf_error = -EPERM;
	assert_refused("although perf_event_paranoid is 0");
	/* The highest that would do. */
	fake_write("/proc/sys/kernel/perf_event_paranoid", "1\n");
	assert_refused("although perf_event_paranoid is 1");
}

static void a_setting_that_is_no_number_is_not_told(void **state)
{
	(void)state;
	fake.perf_error = -EPERM;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "many\n");
	assert_refused("this user may not count 'cycles'");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3 or so\n");
	assert_refused("this user may not count 'cycles'");
}

#define PARANOID_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PARANOID_TEST(paranoid_3_tells_the_value_and_the_command),
		PARANOID_TEST(paranoid_2_counts_user_mode_and_says_so),
		PARANOID_TEST(paranoid_2_on_a_core_without_filters_is_eacces),
		PARANOID_TEST(
			a_policy_that_refuses_although_paranoid_permits_is_told),
		PARANOID_TEST(a_setting_that_is_no_number_is_not_told),
	};

	return cmocka_run_group_tests_name("paranoid", tests, NULL, NULL);
}
