// SPDX-License-Identifier: MIT
/*
 * A set on two kinds of core: each event has a page for each PMU, and its count
 * is the sum of both. The thread runs on one kind at a time, so one page has a
 * counter's number and the other what that PMU counted before. No board is
 * emulated with unlike cores; here the kernel and the registers are made up.
 */
#include "tests/unit/fake_kernel.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/set/set.h"
#include "tests/model/current.h"
#include "tests/model/own_time.h"
#include "tests/unit/said.h"

enum { LITTLE, BIG };

#define IDLE	0u /* the index of a page whose PMU does not count now */
#define COUNTER 3u /* the register that the model is read by */
#define INDEX	(COUNTER + 1u)

static struct upmu *set;

static struct perf_event_mmap_page *page_of(size_t position, size_t pmu)
{
	return set->slots[position].page[pmu];
}

/* As the kernel changes a page: odd in between, even afterwards. */
static void tell(size_t position, size_t pmu, uint32_t index, int64_t offset)
{
	struct perf_event_mmap_page *page = page_of(position, pmu);

	page->lock += 2;
	page->index = index;
	page->offset = offset;
	page->pmc_width = 32;
}

static int open_on_both(void **state)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = "page",
	};

	begin(state);
	model_init(&model, MODEL_KIND, 6);
	model.user_access = UPMU_USER_EN;
	model.is_user = true;
	fake_boot("rk3399");
	fake_write("/proc/sys/kernel/perf_user_access", "1\n");
	fake.registers = 8;
	fake.cpus = 0x3f;
	if (upmu_open(&set, "cycles,instructions", &options))
		return -1;
	fake_leave_hardware();
	fake.reads = 0;
	return set->pmus != 2;
}

static int close_both(void **state)
{
	upmu_close(set);
	assert_int_equal(fake_open_fds(), 0);
	assert_int_equal(fake_open_pages(), 0);
	return end(state);
}

static uint64_t count_of(size_t position)
{
	return upmu_count(upmu_counter_at(set, position));
}

/* ---- the thread stays where it is --------------------------------------- */

static void on_little_cores_both_pages_add_up(void **state)
{
	(void)state;
	tell(0, LITTLE, INDEX, 1000);
	tell(0, BIG, IDLE, 50000);
	model.counter[COUNTER] = 7;
	assert_int_equal(count_of(0), 51007);
	assert_int_equal(fake.reads, 0);
}

static void on_big_cores_both_pages_add_up(void **state)
{
	(void)state;
	tell(1, LITTLE, IDLE, 1000);
	tell(1, BIG, INDEX, 50000);
	model.counter[COUNTER] = 9;
	assert_int_equal(count_of(1), 51009);
	assert_int_equal(fake.reads, 0);
}

static void the_sum_goes_past_2_to_the_32(void **state)
{
	(void)state;
	tell(0, LITTLE, INDEX, INT64_C(0x280000000));
	tell(0, BIG, IDLE, INT64_C(0x90000000));
	model.counter[COUNTER] = 0x80000001;
	assert_int_equal(count_of(0), UINT64_C(0x290000001));
	assert_int_equal(fake.reads, 0);
}

/* Both read(2)s of the fake go on by a step. */
static void off_the_hardware_it_is_read_by_system_calls(void **state)
{
	uint64_t first;

	(void)state;
	tell(0, LITTLE, IDLE, 1000);
	tell(0, BIG, IDLE, 50000);
	first = count_of(0);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(count_of(0) - first, 2 * FAKE_STEP);
	assert_int_equal(model.accesses, 0);
}

/* perf never says so; a register read on the wrong core would be wrong. */
static void two_numbers_at_once_are_not_believed(void **state)
{
	(void)state;
	tell(0, LITTLE, INDEX, 1000000);
	tell(0, BIG, INDEX, 50000000);
	assert_true(count_of(0) < 1000000);
	assert_int_equal(fake.reads, 2);
}

static void a_number_that_no_counter_has_is_not_believed(void **state)
{
	(void)state;
	tell(0, LITTLE, 33, 1000000);
	tell(0, BIG, IDLE, 50000000);
	assert_true(count_of(0) < 1000000);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(model.accesses, 0);
}

static void another_thread_is_served_by_system_calls(void **state)
{
	(void)state;
	tell(0, LITTLE, INDEX, 1000000);
	model_thread_pointer += 0x1000;
	assert_true(count_of(0) < 1000000);
	model_thread_pointer -= 0x1000;
	assert_int_equal(fake.reads, 2);
	assert_int_equal(model.accesses, 0);
}

/* ---- the thread moves while it reads ------------------------------------- */

static unsigned int moves, seen;
static void (*move)(void);

/* Before the @seen-th reading of the register, and @moves times from there. */
static void interrupt(struct model_pmu *pmu, const struct model_access *next)
{
	(void)pmu;
	if (next->reg != MODEL_PMEVCNTR || next->write)
		return;
	if (seen && --seen)
		return;
	if (!moves)
		return;
	moves--;
	move();
}

static void move_before(unsigned int reading, unsigned int times,
			void (*how)(void))
{
	seen = reading;
	moves = times;
	move = how;
	model.before = interrupt;
}

/* From the small core, which had come to 1107, to a big one. */
static void to_a_big_core(void)
{
	tell(0, LITTLE, IDLE, 1107);
	tell(0, BIG, INDEX, 50000);
	tell(1, LITTLE, IDLE, 2107);
	tell(1, BIG, INDEX, 60000);
	model.counter[COUNTER] = 11;
}

static void start_on_a_small_core(void)
{
	tell(0, LITTLE, INDEX, 1000);
	tell(0, BIG, IDLE, 50000);
	tell(1, LITTLE, INDEX, 2000);
	tell(1, BIG, IDLE, 60000);
	model.counter[COUNTER] = 100;
}

static void a_move_in_the_middle_is_seen_and_read_again(void **state)
{
	(void)state;
	start_on_a_small_core();
	move_before(1, 1, to_a_big_core);
	assert_int_equal(count_of(0), 1107 + 50000 + 11);
	assert_int_equal(moves, 0);
	assert_int_equal(fake.reads, 0);
}

/* The page of the PMU that has been read already: only its lock tells. */
static void the_little_page_goes_on(void)
{
	tell(0, LITTLE, IDLE, 1500);
}

static void a_page_that_changes_behind_the_reader_is_seen(void **state)
{
	(void)state;
	tell(0, LITTLE, IDLE, 1000);
	tell(0, BIG, INDEX, 50000);
	model.counter[COUNTER] = 1;
	move_before(1, 1, the_little_page_goes_on);
	assert_int_equal(count_of(0), 51501);
	assert_int_equal(fake.reads, 0);
}

static void to_and_fro(void)
{
	page_of(0, LITTLE)->lock += 2;
}

static void a_page_that_never_rests_is_read_by_system_calls(void **state)
{
	(void)state;
	tell(0, LITTLE, INDEX, 1000000);
	tell(0, BIG, IDLE, 50000000);
	move_before(1, 1000000, to_and_fro);
	assert_true(count_of(0) < 1000000);
	assert_int_equal(fake.reads, 2);
}

/* ---- all events of the set ----------------------------------------------- */

static void counts_of_a_set_add_up_without_system_calls(void **state)
{
	uint64_t counts[2];

	(void)state;
	start_on_a_small_core();
	assert_int_equal(upmu_count_all(set, counts, 2), 0);
	assert_int_equal(counts[0], 1000 + 100 + 50000);
	assert_int_equal(counts[1], 2000 + 100 + 60000);
	assert_int_equal(fake.reads, 0);
}

/* Between the readings of the first event and of the second. */
static void counts_of_a_set_are_of_one_instant(void **state)
{
	uint64_t counts[2];

	(void)state;
	start_on_a_small_core();
	move_before(2, 1, to_a_big_core);
	assert_int_equal(upmu_count_all(set, counts, 2), 0);
	assert_int_equal(moves, 0);
	assert_int_equal(counts[0], 1107 + 50000 + 11);
	assert_int_equal(counts[1], 2107 + 60000 + 11);
	assert_int_equal(fake.reads, 0);
}

static void a_set_half_on_the_hardware_is_read_by_system_calls(void **state)
{
	uint64_t counts[2];

	(void)state;
	start_on_a_small_core();
	tell(1, LITTLE, IDLE, 2000000);
	assert_int_equal(upmu_count_all(set, counts, 2), 0);
	assert_int_equal(fake.reads, 2);
	assert_true(counts[0] < 50000 && counts[1] < 2000000);
}

/* ---- times ----------------------------------------------------------------
 */

#define LITTLE_TYPE 8u /* numbers of the PMUs, in the fixture */
#define BIG_TYPE    9u
#define MS	    1000000u

/* The time that the thread is on each kind of core goes to that kind's PMU. */
static int open_on_a_clock(void **state)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = "read",
	};

	begin(state);
	fake_boot("rk3399");
	fake.cpus = 0x3f;
	fake.clock_ns = &now_ns;
	fake.on_type = LITTLE_TYPE;
	return upmu_open(&set, "cycles,instructions", &options);
}

static void work_on(uint32_t type, uint64_t ns)
{
	fake.on_type = type;
	fake_work(ns);
}

static struct upmu_value read_first(void)
{
	struct upmu_value values[2];

	assert_int_equal(upmu_read(set, values, 2), 0);
	assert_int_equal(values[1].count, values[0].count);
	assert_int_equal(values[1].running_ns, values[0].running_ns);
	return values[0];
}

static void assert_whole(uint64_t least)
{
	const struct upmu_value value = read_first();
	uint64_t estimate = 0;

	assert_int_equal(value.running_ns, value.enabled_ns);
	assert_in_range(value.running_ns, least, least + 10 * FAKE_STEP);
	assert_int_equal(value.count, value.running_ns);
	assert_int_equal(upmu_scale(&value, &estimate), 0);
	assert_int_equal(estimate, value.count);
}

static void a_thread_on_one_kind_lost_no_time(void **state)
{
	(void)state;
	work_on(LITTLE_TYPE, 5 * MS);
	assert_whole(5 * MS);
}

/* The second PMU's group was started last and is read last. */
static void a_thread_on_the_other_kind_lost_no_time(void **state)
{
	(void)state;
	fake.on_type = BIG_TYPE;
	work_on(BIG_TYPE, 5 * MS);
	assert_whole(5 * MS);
}

static void a_thread_that_moves_lost_no_time(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		work_on(i % 2 ? LITTLE_TYPE : BIG_TYPE, MS / 100);
		assert_whole((i + 1) * MS / 100 + i * 2 * FAKE_STEP);
	}
}

static void a_set_stopped_and_started_lost_no_time(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		work_on(i % 2 ? BIG_TYPE : LITTLE_TYPE, MS);
		assert_int_equal(upmu_stop(set), 0);
		work_on(i % 2 ? LITTLE_TYPE : BIG_TYPE, MS);
		assert_int_equal(upmu_start(set), 0);
	}
	assert_whole(4 * MS);
}

/* Of 8 ms others had the counters for 4. */
static void time_that_was_lost_is_told(void **state)
{
	struct upmu_value value;
	uint64_t estimate = 0;

	(void)state;
	work_on(LITTLE_TYPE, 3 * MS);
	work_on(FAKE_NOWHERE, 4 * MS);
	work_on(BIG_TYPE, MS);
	value = read_first();
	assert_in_range(value.enabled_ns, 8 * MS, 8 * MS + 10 * FAKE_STEP);
	assert_in_range(value.running_ns, 4 * MS, 4 * MS + 10 * FAKE_STEP);
	assert_int_equal(upmu_scale(&value, &estimate), 0);
	assert_in_range(estimate, 79 * MS / 10, 81 * MS / 10);
}

static void a_set_that_never_ran_has_no_estimate(void **state)
{
	struct upmu_value value;
	uint64_t estimate;

	(void)state;
	upmu_stop(set);
	upmu_close(set);
	fake.on_type = FAKE_NOWHERE;
	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	assert_int_equal(upmu_read(set, &value, 1), 0);
	assert_int_equal(value.running_ns, 0);
	assert_true(value.enabled_ns > 0);
	assert_int_equal(upmu_scale(&value, &estimate), -ENODATA);
}

static void move_to_and_fro(void *unused)
{
	(void)unused;
	work_on(fake.on_type == BIG_TYPE ? LITTLE_TYPE : BIG_TYPE, MS / 10);
}

static void stay(void *unused)
{
	(void)unused;
	fake_work(MS / 10);
}

static void a_function_is_measured_wherever_the_thread_is(void **state)
{
	static const uint32_t types[] = { LITTLE_TYPE, BIG_TYPE };
	const struct upmu_measure_options options = { .size = sizeof(options),
						      .runs = 11 };
	struct upmu_measurement result = { .size = sizeof(result) };

	(void)state;
	setenv("UPMU_SOURCE", "read", 1);
	for (size_t i = 0; i < 2; i++) {
		fake.on_type = types[i];
		assert_int_equal(upmu_measure(stay, NULL, &options, &result, 1),
				 0);
		assert_int_equal(result.median, MS / 10);
	}
	assert_int_equal(
		upmu_measure(move_to_and_fro, NULL, &options, &result, 1), 0);
	assert_in_range(result.median, MS / 10 - 5 * FAKE_STEP,
			MS / 10 + 5 * FAKE_STEP);
	unsetenv("UPMU_SOURCE");
}

#define TIMES(name) \
	cmocka_unit_test_setup_teardown(name, open_on_a_clock, close_both)

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, open_on_both, close_both)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(on_little_cores_both_pages_add_up),
		CASE(on_big_cores_both_pages_add_up),
		CASE(the_sum_goes_past_2_to_the_32),
		CASE(off_the_hardware_it_is_read_by_system_calls),
		CASE(two_numbers_at_once_are_not_believed),
		CASE(a_number_that_no_counter_has_is_not_believed),
		CASE(another_thread_is_served_by_system_calls),
		CASE(a_move_in_the_middle_is_seen_and_read_again),
		CASE(a_page_that_changes_behind_the_reader_is_seen),
		CASE(a_page_that_never_rests_is_read_by_system_calls),
		CASE(counts_of_a_set_add_up_without_system_calls),
		CASE(counts_of_a_set_are_of_one_instant),
		CASE(a_set_half_on_the_hardware_is_read_by_system_calls),
		TIMES(a_thread_on_one_kind_lost_no_time),
		TIMES(a_thread_on_the_other_kind_lost_no_time),
		TIMES(a_thread_that_moves_lost_no_time),
		TIMES(a_set_stopped_and_started_lost_no_time),
		TIMES(time_that_was_lost_is_told),
		TIMES(a_set_that_never_ran_has_no_estimate),
		TIMES(a_function_is_measured_wherever_the_thread_is),
	};

	return cmocka_run_group_tests_name("big_little", tests, NULL, NULL);
}
