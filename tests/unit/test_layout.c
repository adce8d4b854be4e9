// SPDX-License-Identifier: MIT
/*
 * Layouts that programs were compiled with: a change here is a new soname.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "upmu.h"

#define WORD sizeof(void *)

static void a_counter_is_page_thread_position(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct upmu_counter, page), 0);
	assert_int_equal(offsetof(struct upmu_counter, thread), WORD);
	assert_int_equal(offsetof(struct upmu_counter, position), 2 * WORD);
	assert_int_equal(sizeof(struct upmu_counter), 3 * WORD);
}

static void a_value_is_three_times_64_bits(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct upmu_value, count), 0);
	assert_int_equal(offsetof(struct upmu_value, enabled_ns), 8);
	assert_int_equal(offsetof(struct upmu_value, running_ns), 16);
	assert_int_equal(sizeof(struct upmu_value), 24);
}

static void options_begin_with_their_size(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct upmu_options, size), 0);
	assert_int_equal(offsetof(struct upmu_options, flags), WORD);
	assert_int_equal(offsetof(struct upmu_options, pid), WORD + 4);
	assert_int_equal(offsetof(struct upmu_options, source), WORD + 8);
	assert_int_equal(UPMU_OPTIONS_SIZE_1, 2 * WORD + 8);
	assert_int_equal(sizeof(struct upmu_options), 2 * WORD + 16);
	assert_int_equal(offsetof(struct upmu_measure_options, size), 0);
	assert_int_equal(UPMU_MEASURE_OPTIONS_SIZE_1, 3 * WORD + 8);
	assert_int_equal(sizeof(struct upmu_measure_options), 3 * WORD + 8);
}

static void results_have_the_same_layout_everywhere(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct upmu_measurement), 56);
	assert_int_equal(offsetof(struct upmu_measurement, min), 8);
	assert_int_equal(sizeof(struct upmu_region_stats), 64);
	assert_int_equal(offsetof(struct upmu_region_stats, mean), 48);
	assert_int_equal(UPMU_MEASUREMENT_SIZE_1, 56);
	assert_int_equal(UPMU_REGION_STATS_SIZE_1, 64);
	assert_int_equal(UPMU_VERDICT_SIZE_1, 3 * WORD + 4 + 1024);
}

static void flags_keep_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(UPMU_OPEN_USER_ONLY, 1);
	assert_int_equal(UPMU_OPEN_STOPPED, 2);
	assert_int_equal(UPMU_OPEN_ANY_CLOCK, 4);
	assert_int_equal(UPMU_OPEN_BOUND, 8);
	assert_int_equal(UPMU_OPEN_INHERIT, 16);
	assert_int_equal(UPMU_OPEN_ON_EXEC, 32);
	assert_int_equal(UPMU_OPEN_CPU, 64);
	assert_int_equal(UPMU_REGION_TEXT, 0);
	assert_int_equal(UPMU_REGION_JSON, 1);
	assert_true(UPMU_NO_COUNT == UINT64_C(0xffffffffffffffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_is_page_thread_position),
		cmocka_unit_test(a_value_is_three_times_64_bits),
		cmocka_unit_test(options_begin_with_their_size),
		cmocka_unit_test(results_have_the_same_layout_everywhere),
		cmocka_unit_test(flags_keep_their_numbers),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
