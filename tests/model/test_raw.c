// SPDX-License-Identifier: MIT
/* upmu/raw.h on the model: what the articles' programs do with it. */
#include "tests/model/current.h"

#include <errno.h>

#include <upmu/cpucycles.h>
#include <upmu/raw.h>
#include <upmu/rdtsc32.h>

#define STORES 7 /* the event of the article that counts 100 stores */

static int begin_user(void **state)
{
	upmu_raw_last_cycles = 0;
	begin(state);
	upmu_regs_set_user_access(UPMU_USER_EN);
	model.is_user = true;
	return 0;
}

static void a_program_counts_its_own_stores(void **state)
{
	(void)state;
	upmu_raw_disable();
	upmu_raw_set_event(0, STORES);
	upmu_raw_reset_counters();
	upmu_raw_start(1);
	upmu_raw_enable();
	model_happen(&model, STORES, 200, false);
	upmu_raw_disable();
	model_happen(&model, STORES, 50, false);
	assert_int_equal(upmu_raw_counter(0), 200);
	assert_int_equal(upmu_raw_event(0), STORES);
}

static void a_stopped_counter_stands_still_and_others_run(void **state)
{
	(void)state;
	upmu_raw_set_event(0, STORES);
	upmu_raw_set_event(1, STORES);
	upmu_raw_reset_counters();
	assert_int_equal(upmu_raw_start(3), 0);
	upmu_raw_enable();
	if (IS_V6) {
		assert_int_equal(upmu_raw_stop(1), -EOPNOTSUPP);
		return;
	}
	assert_int_equal(upmu_raw_stop(1), 0);
	model_happen(&model, STORES, 5, false);
	assert_int_equal(upmu_raw_counter(0), 0);
	assert_int_equal(upmu_raw_counter(1), 5);
}

static void start_cycles(void)
{
	if (!IS_V6 && model.kind >= MODEL_PMUV2)
		upmu_raw_set_event(31, 0);
	upmu_raw_reset_cycles();
	upmu_raw_start(UPMU_RAW_CYCLES_MASK);
	upmu_raw_enable();
}

static void cycles_are_counted_and_reset(void **state)
{
	uint32_t before;

	(void)state;
	start_cycles();
	model_pass(&model, 1000, false);
	before = rdtsc32();
	model_pass(&model, 300, false);
	assert_int_equal(upmu_raw_cycles() - before, 300);
	upmu_raw_reset_cycles();
	assert_int_equal(upmu_raw_cycles(), 0);
	upmu_raw_set_cycles(77);
	assert_int_equal(upmu_raw_cycles(), 77);
}

static void cycles_go_on_in_64_bits(void **state)
{
	uint64_t first;

	(void)state;
	start_cycles();
	first = upmu_raw_cycles64();
	for (int i = 0; i < 9; i++) {
		model_pass(&model, 0xf0000000, false);
		upmu_raw_cycles64();
	}
	assert_int_equal(upmu_raw_cycles64() - first, 9 * 0xf0000000ull);
	assert_int_equal((uint64_t)cpucycles() - first, 9 * 0xf0000000ull);
}

static void the_divider_can_be_switched(void **state)
{
	(void)state;
	start_cycles();
	upmu_raw_divide_by_64(1);
	model_pass(&model, 640, false);
	assert_int_equal(upmu_raw_cycles(), 10);
	upmu_raw_divide_by_64(0);
	model_pass(&model, 640, false);
	assert_int_equal(upmu_raw_cycles(), 650);
}

static void overflow_is_seen_and_forgotten_one_by_one(void **state)
{
	(void)state;
	upmu_raw_clear_overflow(~0u);
	upmu_raw_set_event(0, STORES);
	upmu_raw_set_event(1, STORES);
	upmu_raw_start(3);
	upmu_raw_enable();
	upmu_raw_set_counter(0, 0xffffffff);
	upmu_raw_set_counter(1, 0xffffffff);
	assert_int_equal(upmu_raw_overflow(), 0);
	model_happen(&model, STORES, 1, false);
	assert_int_equal(upmu_raw_overflow(), 3);
	upmu_raw_clear_overflow(1);
	assert_int_equal(upmu_raw_overflow(), 2);
}

static void the_number_of_counters_is_told(void **state)
{
	(void)state;
	assert_int_equal(upmu_raw_counters(), N);
	upmu_raw_select(1);
	assert_int_equal(upmu_raw_selected(), IS_V6 ? 0 : 1);
}

static void access_is_asked_for_without_a_trap(void **state)
{
	(void)state;
	if (IS_V6) {
		assert_int_equal(upmu_raw_access(), -EOPNOTSUPP);
		return;
	}
	assert_int_equal(upmu_raw_access(), 1);
	model.user_access = 0;
	assert_int_equal(upmu_raw_access(), 0);
	model.is_user = false;
	upmu_regs_set_user_access(UPMU_USER_CR);
	model.is_user = true;
	assert_int_equal(upmu_raw_access(), model.kind == MODEL_PMUV3);
}

static void the_implementation_is_named(void **state)
{
	(void)state;
	assert_string_equal(cpucycles_implementation(), "upmu-" UPMU_REGS_NAME);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_user, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_program_counts_its_own_stores),
		CASE(a_stopped_counter_stands_still_and_others_run),
		CASE(cycles_are_counted_and_reset),
		CASE(cycles_go_on_in_64_bits),
		CASE(the_divider_can_be_switched),
		CASE(overflow_is_seen_and_forgotten_one_by_one),
		CASE(the_number_of_counters_is_told),
		CASE(access_is_asked_for_without_a_trap),
		CASE(the_implementation_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
