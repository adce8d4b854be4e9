// SPDX-License-Identifier: MIT
/*
 * A set on two kinds of core: each event has a page for each PMU, and its count
 * is the sum of both. The thread runs on one kind at a time, so one page has a
 * counter's number and the other what that PMU counted before. No board is
 * emulated with unlike cores; here the kernel and the registers are made up.
 */
#include "tests/unit/fake_kernel.h"

#include <errno.h>

#include "lib/set/set.h"
#include "tests/model/current.h"
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
	return upmu_count(upmu_counter(set, position));
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
	assert_int_equal(upmu_counts(set, counts, 2), 0);
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
	assert_int_equal(upmu_counts(set, counts, 2), 0);
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
	assert_int_equal(upmu_counts(set, counts, 2), 0);
	assert_int_equal(fake.reads, 2);
	assert_true(counts[0] < 50000 && counts[1] < 2000000);
}

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
	};

	return cmocka_run_group_tests_name("big_little", tests, NULL, NULL);
}
