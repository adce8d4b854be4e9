// SPDX-License-Identifier: MIT
/*
 * upmu_count() in C, on pages and registers that change while it looks. What
 * compilers that know asm goto get instead is in test_trap.c.
 */
#include "tests/model/current.h"
#include "tests/model/page.h"

static void a_cycle_count_is_offset_and_register(void **state)
{
	(void)state;
	page_at(32, 1000);
	upmu_regs_set_cycles(234);
	assert_int_equal(upmu_count(&counter), 1234);
	assert_int_equal(slow_calls, 0);
}

static void an_event_count_is_of_the_counter_before_the_index(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N; i++)
		upmu_regs_set_counter(i, 50 + i);
	for (unsigned int i = 0; i < N; i++) {
		page_at(i + 1, 7);
		assert_int_equal(upmu_count(&counter), 57 + i);
	}
}

static void an_event_off_the_hardware_is_read_by_the_kernel(void **state)
{
	(void)state;
	page_at(0, 1000);
	assert_int_equal(upmu_count(&counter), SLOW_COUNT);
	assert_int_equal(model.accesses, 0);
}

static void an_unknown_index_is_read_by_the_kernel(void **state)
{
	(void)state;
	page_at(33, 1000);
	assert_int_equal(upmu_count(&counter), SLOW_COUNT);
	assert_int_equal(model.accesses, 0);
}

static void another_thread_is_served_by_the_kernel(void **state)
{
	(void)state;
	page_at(32, 0);
	model_thread_pointer += 0x1000;
	assert_int_equal(upmu_count(&counter), SLOW_COUNT);
	model_thread_pointer -= 0x2000;
	assert_int_equal(upmu_count(&counter), SLOW_COUNT);
	model_thread_pointer += 0x1000;
	assert_int_equal(model.accesses, 0);
}

/* perf starts a counter at -2^31 and lets offset make up for it. */
static void a_32_bit_register_is_extended_by_its_sign(void **state)
{
	(void)state;
	page_at(1, INT64_C(0x80000000));
	upmu_regs_set_counter(0, 0x80000000);
	assert_int_equal(upmu_count(&counter), 0);
	upmu_regs_set_counter(0, 0xffffffff);
	assert_int_equal(upmu_count(&counter), 0x7fffffff);
	upmu_regs_set_counter(0, 0);
	assert_int_equal(upmu_count(&counter), 0x80000000);
	upmu_regs_set_counter(0, 0x7fffffff);
	assert_int_equal(upmu_count(&counter), 0xffffffff);
}

static void counts_go_on_past_2_to_the_32(void **state)
{
	(void)state;
	page_at(1, INT64_C(0x500000000));
	upmu_regs_set_counter(0, 0xfffffff0);
	assert_int_equal(upmu_count(&counter), 0x4fffffff0);
	page_at(1, INT64_MAX);
	upmu_regs_set_counter(0, 0);
	assert_int_equal(upmu_count(&counter), INT64_MAX);
}

static void a_64_bit_register_is_taken_whole(void **state)
{
	(void)state;
	if (upmu_regs_cycle_bits() < 64) {
		assert_true(IS_V6 || IS_V7);
		return;
	}
	page_at(32, -1);
	page.pmc_width = 64;
	counter.thread = upmu_thread_key(1);
	upmu_regs_set_cycles(0x123456789);
	assert_int_equal(upmu_count(&counter), 0x123456788);
}

static void a_32_bit_width_ignores_what_is_above(void **state)
{
	(void)state;
	if (upmu_regs_cycle_bits() < 64) {
		assert_true(IS_V6 || IS_V7);
		return;
	}
	page_at(32, 0);
	page.pmc_width = 32;
	upmu_regs_set_cycles(0xffffffff00000005);
	assert_int_equal(upmu_count(&counter), 5);
}

/* ---- what an interrupt does between two instructions --------------------- */

static void fold(struct model_pmu *pmu, const struct model_access *next)
{
	if (next->reg != reading || changes == 0)
		return;
	changes--;
	page.lock += 2;
	page.offset += 0x100000000;
	if (reading == MODEL_PMCCNTR || reading == MODEL_CCNT)
		pmu->cycles = 0x10;
	else
		pmu->counter[0] = 0x10;
}

static void a_fold_in_the_middle_is_seen_and_read_again(void **state)
{
	(void)state;
	page_at(1, 0);
	upmu_regs_set_counter(0, 0x7ffffff0);
	reading = register_of_event;
	changes = 3;
	model.before = fold;
	assert_int_equal(upmu_count(&counter), 0x300000010);

	page_at(32, 0);
	upmu_regs_set_cycles(0x7ffffff0);
	reading = register_of_cycles;
	changes = 1;
	assert_int_equal(upmu_count(&counter), 0x100000010);
	assert_int_equal(slow_calls, 0);
}

static void move_to_counter_1(struct model_pmu *pmu,
			      const struct model_access *next)
{
	if (next->reg != reading || changes == 0)
		return;
	changes--;
	page.lock++;
	page.index = 2;
	page.offset = 5000;
	pmu->counter[0] = 0xbad;
	pmu->counter[1] = 11;
}

static void an_event_moved_to_another_counter_is_read_there(void **state)
{
	(void)state;
	page_at(1, 0);
	reading = register_of_event;
	changes = 1;
	model.before = move_to_counter_1;
	assert_int_equal(upmu_count(&counter), 5011);
}

static void take_off(struct model_pmu *pmu, const struct model_access *next)
{
	(void)pmu;
	if (next->reg != reading)
		return;
	page.lock++;
	page.index = 0;
}

static void an_event_taken_off_in_the_middle_is_read_by_the_kernel(void **state)
{
	(void)state;
	page_at(1, 0);
	reading = register_of_event;
	model.before = take_off;
	assert_int_equal(upmu_count(&counter), SLOW_COUNT);
	assert_int_equal(slow_calls, 1);
}

/* perf's handler, for another event: our page does not change. */
static void select_another(struct model_pmu *pmu,
			   const struct model_access *next)
{
	if (next->reg != MODEL_PMXEVCNTR || next->write || changes == 0)
		return;
	changes--;
	pmu->select = 3;
}

static void pmselr_changed_in_the_middle_is_no_harm(void **state)
{
	uint64_t count;

	(void)state;
	if (!IS_V7) {
		/* no selection that could be changed */
		assert_int_not_equal(reading, MODEL_PMXEVCNTR);
		return;
	}
	page_at(1, 0);
	upmu_regs_set_counter(0, 100);
	upmu_regs_set_counter(3, 0xbad);
	changes = 2;
	model.before = select_another;
	count = upmu_count(&counter);
#ifdef MODEL_BELIEVES_PMSELR
	/* Built without the second look, the wrong counter is believed. */
	assert_int_equal(count, 0xbad);
#else
	assert_int_equal(changes, 0);
	assert_int_equal(count, 100);
#endif
}

/* ---- the set ------------------------------------------------------------ */

static void one_look_tells_what_became_of_the_page(void **state)
{
	uint64_t count = 42;
	uint32_t lock = 43;

	(void)state;
	page_at(0, 0);
	assert_int_equal(upmu_page_try(&page, &lock, &count), -ENODATA);
	page_at(1, 1);
	upmu_regs_set_counter(0, 2);
	reading = register_of_event;
	changes = 1;
	model.before = fold;
	assert_int_equal(upmu_page_try(&page, &lock, &count), -EAGAIN);
	assert_int_equal(count, 42);
	assert_int_equal(lock, 43);
	model.before = NULL;
	page_at(1, 1);
	assert_int_equal(upmu_page_try(&page, &lock, &count), 0);
	assert_int_equal(count, 17);
	assert_int_equal(lock, page.lock);
}

static struct upmu_page second;

static void switch_out_once(struct model_pmu *pmu,
			    const struct model_access *next)
{
	if (next->reg != reading || changes == 0)
		return;
	changes--;
	page.lock++;
	second.lock++;
	pmu->counter[0] += 1000;
	pmu->counter[1] += 1000;
}

/* Each with a page and a counter of its own. */
static void make_pair(struct upmu_counter pair[2])
{
	page_at(1, 0);
	second = page;
	second.index = 2;
	pair[0] = pair[1] = counter;
	pair[1].page = &second;
}

static void a_set_is_of_one_instant(void **state)
{
	struct upmu_counter pair[2];
	uint64_t counts[2];

	(void)state;
	make_pair(pair);
	upmu_regs_set_counter(0, 1);
	upmu_regs_set_counter(1, 1);
	/* after the first has been read, before the second */
	reading = IS_V6 ? MODEL_PMN1 : register_of_event;
	changes = 1;
	model.before = switch_out_once;
	assert_int_equal(upmu_fast_counts(pair, counts, 2), 0);
	assert_int_equal(counts[0], counts[1]);

	second.index = 0;
	model.before = NULL;
	assert_int_equal(upmu_fast_counts(pair, counts, 2), -EAGAIN);
}

/* What regions read: as few as these in one piece. */
static int read_few(struct upmu_page pages[3], uint64_t *counts, size_t n)
{
	struct upmu_counter three[3];

	for (size_t i = 0; i < 3; i++) {
		three[i] = counter;
		three[i].page = &pages[i];
		counts[i] = 42;
	}
	return upmu_fast_few(three, counts, n);
}

static void few_are_each_read_from_its_own_page(void **state)
{
	const uint64_t right[] = { 10, 20, 30 };
	struct upmu_page pages[3];
	uint64_t counts[3];

	(void)state;
	page_at(1, 1);
	pages[0] = pages[1] = pages[2] = page;
	pages[1].index = 2;
	pages[2].index = 32;
	upmu_regs_set_counter(0, 9);
	upmu_regs_set_counter(1, 19);
	upmu_regs_set_cycles(29);
	for (size_t n = 1; n <= 3; n++) {
		assert_int_equal(read_few(pages, counts, n), 0);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(counts[i], i < n ? right[i] : 42);
	}
	for (size_t off = 0; off < 3; off++) {
		uint32_t index = pages[off].index;

		pages[off].index = 0;
		for (size_t n = 1; n <= 3; n++)
			assert_int_equal(read_few(pages, counts, n),
					 off < n ? -EAGAIN : 0);
		pages[off].index = index;
	}
}

/* before the last of so many reads */
static void switch_out_late(struct model_pmu *pmu,
			    const struct model_access *next)
{
	if (next->reg == reading && changes > 1)
		changes--;
	else
		switch_out_once(pmu, next);
}

static void few_that_are_switched_out_are_of_no_instant(void **state)
{
	struct upmu_counter pair[2];
	uint64_t counts[2];

	(void)state;
	make_pair(pair);
	reading = IS_V6 ? MODEL_PMN1 : register_of_event;
	changes = IS_V6 ? 1 : 2;
	model.before = switch_out_late;
	assert_int_equal(upmu_fast_few(pair, counts, 2), -EAGAIN);
	assert_int_equal(changes, 0);
	assert_int_equal(upmu_fast_few(pair, counts, 2), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_page, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cycle_count_is_offset_and_register),
		CASE(an_event_count_is_of_the_counter_before_the_index),
		CASE(an_event_off_the_hardware_is_read_by_the_kernel),
		CASE(an_unknown_index_is_read_by_the_kernel),
		CASE(another_thread_is_served_by_the_kernel),
		CASE(a_32_bit_register_is_extended_by_its_sign),
		CASE(counts_go_on_past_2_to_the_32),
		CASE(a_64_bit_register_is_taken_whole),
		CASE(a_32_bit_width_ignores_what_is_above),
		CASE(a_fold_in_the_middle_is_seen_and_read_again),
		CASE(an_event_moved_to_another_counter_is_read_there),
		CASE(an_event_taken_off_in_the_middle_is_read_by_the_kernel),
		CASE(pmselr_changed_in_the_middle_is_no_harm),
		CASE(one_look_tells_what_became_of_the_page),
		CASE(a_set_is_of_one_instant),
		CASE(few_are_each_read_from_its_own_page),
		CASE(few_that_are_switched_out_are_of_no_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
