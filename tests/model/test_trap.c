// SPDX-License-Identifier: MIT
/*
 * The machine code of upmu_count() and of raw.h, instruction by instruction:
 * each that reaches the PMU traps and is done by the model (trap.h).
 */
#include "tests/model/current.h"
#include "tests/model/page.h"
#include "tests/model/trap.h"

#include <upmu/raw.h>

#define WIDE (sizeof(void *) == 8)

/* cmocka has a SIGILL handler of its own, set before each test. */
#define TEST(name)                     \
	static void do_##name(void);   \
	static void name(void **state) \
	{                              \
		(void)state;           \
		trap_start();          \
		do_##name();           \
	}                              \
	static void do_##name(void)

static int begin_user(void **state)
{
	begin_page(state);
	if (!IS_V6)
		model_init(&model, MODEL_KIND, 31);
	model.user_access = UPMU_USER_EN;
	model.is_user = true;
	model.select = 9;
	trap_believes_pmselr = false;
	upmu_raw_last_cycles = 0;
	return 0;
}

TEST(the_cycle_counter_is_read_by_one_access)
{
	model.cycles = 12345;
	assert_int_equal(upmu_raw_cycles(), 12345);
	assert_int_equal(model.accesses, 1);
	page_at(32, 1000);
	if (WIDE)
		counter.thread = upmu_thread_key(1);
	assert_int_equal(upmu_count(&counter), 13345);
	assert_int_equal(model.accesses, 1);
}

/* As one event, and as one of a set. */
static void assert_counted(uint64_t wanted)
{
	uint64_t count = 0;

	assert_int_equal(upmu_count(&counter), wanted);
	assert_int_equal(upmu_fast_counts(&counter, &count, 1), 0);
	assert_int_equal(count, wanted);
}

TEST(every_index_reads_its_own_register)
{
	for (unsigned int i = 0; i < model.n; i++)
		model.counter[i] = 0x100 + i;
	for (unsigned int i = 0; i < model.n; i++) {
		page_at(i + 1, 0x1000);
		assert_counted(0x1100 + i);
		assert_int_equal(upmu_raw_counter(i), 0x100 + i);
	}
	model.cycles = 5;
	page_at(32, 0x1000);
	assert_counted(0x1005);
	assert_int_equal(slow_calls, 0);
}

TEST(every_index_reads_64_bits_where_they_are_wanted)
{
	if (!WIDE)
		return;
	model.is_long = true;
	model.cycles = 0x123456789;
	for (unsigned int i = 0; i < model.n; i++)
		model.counter[i] = 0x700000000 + i;
	for (unsigned int i = 0; i <= model.n; i++) {
		page_at(i + 1, -1);
		page.pmc_width = 64;
		counter.thread = upmu_thread_key(1);
		assert_counted(i == 31 ? 0x123456788 : 0x6ffffffff + i);
	}
	assert_int_equal(slow_calls, 0);
}

TEST(registers_of_32_bits_are_extended_by_their_sign)
{
	static const uint32_t values[] = { 0, 1, 0x7fffffff, 0x80000000,
					   0xffffffff };

	for (unsigned int i = 0; i < 5; i++) {
		uint64_t expected = 0x500000000 + (uint64_t)(int32_t)values[i];

		model.counter[0] = values[i];
		model.cycles = values[i];
		page_at(1, 0x500000000);
		assert_counted(expected);
		page_at(32, 0x500000000);
		assert_counted(expected);
	}
}

TEST(no_index_and_unknown_ones_go_to_the_kernel)
{
	for (int wide = 0; wide <= (int)WIDE; wide++)
		for (uint32_t index = 0; index <= 33; index += 33) {
			uint64_t count = 7;

			page_at(index, 1);
			counter.thread = upmu_thread_key(wide);
			assert_int_equal(upmu_count(&counter), SLOW_COUNT);
			assert_int_equal(upmu_fast_counts(&counter, &count, 1),
					 -EAGAIN);
			assert_int_equal(count, 7);
		}
	assert_int_equal(model.accesses, 0);
}

/* Each index, from a thread whose control block is near or far */
TEST(another_thread_goes_to_the_kernel)
{
	static const int64_t distance[] = { -0x10000000, -4096, -256,
					    256,	 4096,	0x10000000 };

	for (uint32_t index = 0; index <= 32; index++)
		for (unsigned int i = 0; i < 6; i++) {
			page_at(index, 1);
			counter.thread = (const char *)counter.thread +
					 (intptr_t)distance[i];
			assert_int_equal(upmu_count(&counter), SLOW_COUNT);
		}
	assert_int_equal(model.accesses, 0);
}

/* ---- an interrupt before the n-th access -------------------------------- */

static void fold(struct model_pmu *pmu, const struct model_access *next)
{
	(void)next;
	if (changes == 0)
		return;
	changes--;
	page.lock++;
	page.offset += 0x100000000;
	pmu->cycles = 0x10;
	pmu->counter[0] = 0x10;
}

TEST(a_page_that_changes_is_read_again)
{
	for (unsigned int times = 1; times < 4; times++) {
		page_at(1, 0);
		model.counter[0] = 0x7ffffff0;
		changes = times;
		model.before = fold;
		assert_int_equal(upmu_count(&counter),
				 0x100000000ull * times + 0x10);
		page_at(32, 0);
		model.cycles = 0x7ffffff0;
		changes = times;
		assert_int_equal(upmu_count(&counter),
				 0x100000000ull * times + 0x10);
	}
	assert_int_equal(slow_calls, 0);
}

static void move(struct model_pmu *pmu, const struct model_access *next)
{
	(void)next;
	if (changes == 0 || --changes)
		return;
	page.lock++;
	page.index = 2;
	page.offset = 5000;
	pmu->counter[0] = 0xbad;
	pmu->counter[1] = 11;
}

/* Whichever of its accesses the interrupt precedes */
TEST(an_event_that_moves_is_read_where_it_went)
{
	for (unsigned int access = 1; access <= (IS_V7 ? 3u : 1u); access++) {
		page_at(1, 0);
		changes = access;
		model.before = move;
		assert_int_equal(upmu_count(&counter), 5011);
		assert_int_equal(changes, 0);
	}
}

static void take_off(struct model_pmu *pmu, const struct model_access *next)
{
	(void)pmu;
	(void)next;
	page.lock++;
	page.index = 0;
}

TEST(an_event_taken_off_is_read_by_the_kernel)
{
	page_at(1, 0);
	model.before = take_off;
	assert_int_equal(upmu_count(&counter), SLOW_COUNT);
}

/* perf's handler for another event selects a counter, our page stays. */
static void select_another(struct model_pmu *pmu,
			   const struct model_access *next)
{
	if (next->reg != MODEL_PMXEVCNTR || changes == 0)
		return;
	changes--;
	pmu->select = 3;
}

static void select_before_reading(void)
{
	page_at(1, 0);
	model.counter[0] = 100;
	model.counter[3] = 0xbad;
	changes = 2;
	model.before = select_another;
}

TEST(pmselr_changed_in_the_middle_is_no_harm)
{
	uint64_t counts[1] = { 0 };

	if (!IS_V7)
		return;
	select_before_reading();
	assert_int_equal(upmu_count(&counter), 100);
	assert_int_equal(changes, 0);
	select_before_reading();
	assert_int_equal(upmu_raw_counter(0), 100);
	assert_int_equal(changes, 0);
	select_before_reading();
	assert_int_equal(upmu_fast_counts(&counter, counts, 1), 0);
	assert_int_equal(counts[0], 100);
	assert_int_equal(changes, 0);
}

TEST(without_the_second_look_the_wrong_counter_is_read)
{
	if (!IS_V7)
		return;
	trap_believes_pmselr = true;
	select_before_reading();
	assert_int_equal(upmu_count(&counter), 0xbad);
	select_before_reading();
	assert_int_equal(upmu_raw_counter(0), 0xbad);
}

/* ---- raw.h --------------------------------------------------------------- */

TEST(a_program_counts_its_own_stores)
{
	unsigned int last = upmu_regs_counters() - 1;

	upmu_raw_disable();
	for (unsigned int i = 0; i <= last; i++)
		upmu_raw_set_event(i, 8);
	upmu_raw_set_event(last, 7);
	upmu_raw_reset_counters();
	upmu_raw_reset_cycles();
	upmu_raw_clear_overflow(~0u);
	upmu_raw_start(~0u);
	upmu_raw_enable();
	model_happen(&model, 7, 200, false);
	assert_int_equal(upmu_raw_counter(last), 200);
	assert_int_equal(upmu_raw_counter(0), 0);
	assert_int_equal(upmu_raw_event(last), 7);
	assert_int_equal(upmu_raw_overflow(), 0);
	upmu_raw_set_counter(last, 77);
	assert_int_equal(model.counter[last], 77);
	upmu_raw_divide_by_64(1);
	assert_int_equal(model.control & UPMU_CONTROL_D, UPMU_CONTROL_D);
	upmu_raw_set_cycles(99);
	assert_int_equal((uint32_t)upmu_raw_cycles64(), 99);
}

TEST(a_closed_pmu_traps)
{
	volatile int traps = 0;

	model.user_access = 0;
	if (sigsetjmp(trap_undefined, 1) == 0)
		upmu_raw_cycles();
	else
		traps++;
	assert_int_equal(traps, 1);
	expect_undefined(1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_user, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_cycle_counter_is_read_by_one_access),
		CASE(every_index_reads_its_own_register),
		CASE(every_index_reads_64_bits_where_they_are_wanted),
		CASE(registers_of_32_bits_are_extended_by_their_sign),
		CASE(no_index_and_unknown_ones_go_to_the_kernel),
		CASE(another_thread_goes_to_the_kernel),
		CASE(a_page_that_changes_is_read_again),
		CASE(an_event_that_moves_is_read_where_it_went),
		CASE(an_event_taken_off_is_read_by_the_kernel),
		CASE(pmselr_changed_in_the_middle_is_no_harm),
		CASE(without_the_second_look_the_wrong_counter_is_read),
		CASE(a_program_counts_its_own_stores),
		CASE(a_closed_pmu_traps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
