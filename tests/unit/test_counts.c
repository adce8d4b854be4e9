// SPDX-License-Identifier: MIT
/* Counts that are not to be had: no counter, not started, closed, no mode; and
 * what asking for them reads. */
#include "one_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/set/set.h"
#include "lib/sys.h"
#include "said.h"

#define PMU_OF_PI2 8u /* its number, in the fixture */

static struct upmu_options options_of(const char *source, uint32_t flags)
{
	return (struct upmu_options){
		.size = sizeof(struct upmu_options),
		.source = source,
		.flags = flags,
	};
}

static void open_set(const char *events, const struct upmu_options *options)
{
	int ret = upmu_open(&set, events, options);

	if (ret)
		fail_msg("%s: %d: %s", events, ret, upmu_explain());
}

static size_t files_for(const char *events)
{
	fake.failure =
		(struct fake_failure){ .call = FAKE_FILE, .at = SIZE_MAX };
	open_set(events, NULL);
	upmu_close(set);
	set = NULL;
	return fake.failure.seen;
}

static void the_machine_is_read_by_the_first_set_alone(void **state)
{
	(void)state;
	assert_true(files_for("cycles,instructions,l1d_cache_refill") > 0);
	assert_int_equal(files_for("cycles,instructions"), 0);
	assert_int_equal(files_for("l1d_cache,br_mis_pred,page-faults"), 0);
}

/* It would want the cycle counter that the first has. */
static void no_trial_is_made_for_a_set_that_is_opened_stopped(void **state)
{
	const struct upmu_options stopped =
		options_of("page", UPMU_OPEN_STOPPED);
	struct upmu *second;
	size_t before;

	(void)state;
	open_set("cycles", NULL);
	assert_string_equal(upmu_source(set), "page");
	before = fake.perf_opens;
	assert_int_equal(upmu_open(&second, "cycles,r8", &stopped), 0);
	assert_int_equal(fake.perf_opens, before + 2);
	upmu_close(second);
}

static void what_calls_read_asks_perf_for_no_register(void **state)
{
	const struct upmu_options options = options_of("read", 0);

	(void)state;
	open_set("cycles,r8", &options);
	for (size_t i = 0; i < FAKE_FDS; i++)
		assert_int_equal(fake.events[i].attr.config1, 0);
}

static void
an_emulator_is_asked_once_whether_it_counts_instructions(void **state)
{
	size_t opens[3];

	(void)state;
	fake_boot("qemu-virt-32");
	for (size_t i = 0; i < 3; i++) {
		opens[i] = fake.perf_opens;
		open_set("cycles,instructions", NULL);
		upmu_close(set);
		opens[i] = fake.perf_opens - opens[i];
	}
	set = NULL;
	assert_true(opens[0] > opens[1]);
	assert_int_equal(opens[1], 2);
	assert_int_equal(opens[2], 2);
}

static uint64_t config_of(const struct upmu *of)
{
	return fake.events[of->groups[0].fd[0] - FAKE_FD].attr.config;
}

/* perf stat -a, say, that ends later. */
static void who_left_cycles_to_others_keeps_no_later_set_from_them(void **state)
{
	static const char *const boards[] = { "odroid-xu4", "pi2" };
	const struct upmu_options page = options_of("page", 0);
	struct upmu *second;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		fake_boot(boards[i]);
		open_set("cycles", &page);
		upmu_close(set);
		fake.never_runs = true;
		fake.index = 0;
		open_set("cycles,r8", &page);
		assert_int_equal(config_of(set), 0x11);
		fake.never_runs = false;
		fake.index = 1;
		assert_int_equal(upmu_open(&second, "cycles,r8", &page), 0);
		assert_int_equal(config_of(second), 0xff);
		upmu_close(second);
		upmu_close(set);
		set = NULL;
	}
}

/* As Linux has it on OMAP, whose clock goes at 32 kHz. */
static void a_pmu_that_stands_still_is_told_by_a_coarse_clock(void **state)
{
	(void)state;
	fake.stands_still = true;
	fake.tick_ns = 2 * FAKE_STEP;
	assert_int_equal(upmu_open(&set, "cycles", NULL), -ENODEV);
	assert_said("the PMU does not count");
}

/* Beside another's RAW lease: perf opens it, and has no counter for it. */
static void a_set_that_never_had_a_counter_has_no_count(void **state)
{
	const struct upmu_options options = options_of("read", 0);
	struct upmu_value values[2];
	uint64_t counts[2] = { 7, 7 };

	(void)state;
	open_set("cycles,r8", &options);
	fake.never_runs = true;
	fake.info.leases = 1;
	fake.info.holder_pid = 77;
	fake.info.holder_mode = UPMU_MODE_RAW;
	strcpy(fake.info.holder_comm, "holder");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(~upmu_count(upmu_counter_at(set, i)), 0);
		assert_said("process 77 (holder) holds a RAW lease");
	}
	assert_int_equal(upmu_count_all(set, counts, 2), -EBUSY);
	assert_said("process 77 (holder) holds a RAW lease");
	assert_int_equal(counts[0], 7);
	fake.info.holder_pid = 0;
	assert_int_equal(upmu_count_all(set, counts, 2), -EBUSY);
	assert_said("process 0 (holder) of another PID namespace holds a RAW");
	fake.info.holder_mode = UPMU_MODE_COUNT;
	assert_int_equal(upmu_count_all(set, counts, 2), -EBUSY);
	assert_said("had no counter until now: others count");
	/* Its times tell the same. */
	assert_int_equal(upmu_read(set, values, 2), 0);
	assert_int_equal(values[0].running_ns, 0);
	fake.never_runs = false;
	assert_int_equal(upmu_count_all(set, counts, 2), 0);
	assert_true(~upmu_count(upmu_counter_at(set, 0)) != 0);
}

static unsigned int files;

/* fopen() is called so where files may be large. */
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode)
{
	files++;
	return __real_fopen64(path, mode);
}

/* It takes memory, and a signal's handler may have come upon malloc(). */
static void nobody_looks_into_files_for_why(void **state)
{
	const struct upmu_options options = options_of("read", 0);
	uint64_t counts[2] = { 7, 7 };

	(void)state;
	open_set("cycles,r8", &options);
	fake.never_runs = true;
	fake.device_error = -EACCES;
	fake_write("/dev/upmu", "");
	files = 0;
	assert_int_equal(upmu_count_all(set, counts, 2), -EBUSY);
	assert_said("had no counter until now");
	assert_int_equal(~upmu_count(upmu_counter_at(set, 0)), 0);
	assert_int_equal(files, 0);
	fake_remove("/dev/upmu");
}

static void a_set_that_was_not_started_has_counted_nothing(void **state)
{
	const struct upmu_options options =
		options_of("read", UPMU_OPEN_STOPPED);
	uint64_t count = 7;

	(void)state;
	fake.on_type = PMU_OF_PI2;
	open_set("cycles", &options);
	assert_int_equal(upmu_count(upmu_counter_at(set, 0)), 0);
	assert_int_equal(upmu_count_all(set, &count, 1), 0);
	assert_int_equal(count, 0);
}

/* It would count at once, and upmu_start() fail. */
static void nothing_that_cannot_wait_is_opened_stopped(void **state)
{
	static const char *const clocks[] = { "timer", "clock" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct upmu_options options =
			options_of(clocks[i], UPMU_OPEN_STOPPED);

		assert_int_equal(upmu_open(&set, "cycles", &options),
				 -EOPNOTSUPP);
		assert_said("cannot be started and stopped");
		assert_null(set);
	}
}

/* As a daemon's closefrom(3) does. */
static void descriptors_that_the_program_closed_give_no_count(void **state)
{
	const struct upmu_options options = options_of("read", 0);
	struct upmu_value values[2] = { { 7, 7, 7 }, { 7, 7, 7 } };
	uint64_t counts[2] = { 7, 7 };

	(void)state;
	open_set("cycles,r8", &options);
	for (int fd = FAKE_FD; fd < FAKE_FD + FAKE_FDS; fd++)
		upmu_sys_close(fd);
	assert_int_equal(upmu_read(set, values, 2), -EBADF);
	assert_said("perf gives no numbers");
	assert_int_equal(upmu_count_all(set, counts, 2), -EBADF);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(~upmu_count(upmu_counter_at(set, i)), 0);
	assert_int_equal(values[0].count, 7);
	assert_int_equal(counts[0], 7);
}

/*
 * perf takes the group apart: its first is then a group of one, or still has
 * some whom it does not tell of.
 */
static void take_apart(bool whole)
{
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (whole || fake.events[i].attr.type != PERF_TYPE_SOFTWARE)
			fake.events[i].group_fd = -1;
}

static void leaves_its_counts(const char *events, bool whole)
{
	const struct upmu_options options = options_of("read", UPMU_OPEN_CPU);
	struct upmu_value values[3];
	uint64_t counts[3] = { 0 };

	open_set(events, &options);
	take_apart(whole);
	assert_int_equal(upmu_read(set, values, 3), 0);
	assert_int_equal(upmu_count_all(set, counts, 3), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_true(counts[i] > values[i].count);
		assert_true(upmu_count(upmu_counter_at(set, i)) > counts[i]);
		assert_true(~upmu_count(upmu_counter_at(set, i)) != 0);
	}
	upmu_close(set);
	set = NULL;
}

static void a_cpu_that_goes_off_leaves_its_counts(void **state)
{
	(void)state;
	leaves_its_counts("cycles,r8,page-faults", true);
	leaves_its_counts("task-clock,page-faults,cycles", false);
}

/* The groups of unlike cores are switched and read one after another. */
static void on_unlike_cores_switching_and_reading_is_no_lost_time(void **state)
{
	const struct upmu_options options = options_of("read", 0);
	struct upmu_value values[2];
	uint64_t clock = 1000;

	(void)state;
	for (uint32_t type = 8; type <= 9; type++) {
		fake_boot("rk3399");
		fake.clock_ns = &clock;
		fake.on_type = type;
		open_set("cycles,instructions", &options);
		assert_int_equal(set->pmus, 2);
		fake_work(100000);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(upmu_read(set, values, 2), 0);
			assert_true(values[1].running_ns >= 100000);
			assert_int_equal(values[1].enabled_ns,
					 values[1].running_ns);
			assert_int_equal(upmu_stop(set), 0);
			assert_int_equal(upmu_start(set), 0);
		}
		/* Others have the counters. */
		fake.on_type = FAKE_NOWHERE;
		fake_work(100000);
		assert_int_equal(upmu_read(set, values, 2), 0);
		assert_true(values[1].enabled_ns >=
			    values[1].running_ns + 100000);
		upmu_close(set);
		set = NULL;
	}
}

static void numbers_that_perf_refuses_are_eio(void **state)
{
	struct upmu_value values[2] = { { 7, 7, 7 }, { 7, 7, 7 } };
	const struct upmu_options options = options_of("read", 0);
	static const int errors[] = { FAKE_END, -EINVAL, -EIO };
	uint64_t counts[2] = { 7, 7 };

	(void)state;
	open_set("cycles,r8", &options);
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		fake.read_error = errors[i];
		assert_int_equal(upmu_read(set, values, 2), -EIO);
		assert_said("perf gives no numbers");
		assert_int_equal(upmu_count_all(set, counts, 2), -EIO);
		assert_int_equal(~upmu_count(upmu_counter_at(set, 0)), 0);
		assert_int_equal(~upmu_count(upmu_counter_at(set, 1)), 0);
		assert_int_equal(values[0].count, 7);
		assert_int_equal(counts[0], 7);
	}
}

static const struct perf_event_attr *attr_of_the_first(void)
{
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && !fake.events[i].is_device)
			return &fake.events[i].attr;
	fail_msg("none is open");
	return NULL;
}

/* As perf stat has it: cycles:h was excluded whole, and stayed 0. */
static void a_mode_that_no_letter_names_is_excluded(void **state)
{
	static const struct {
		const char *event;
		unsigned int user, kernel, hypervisor;
	} cases[] = {
		{ "cycles", 0, 0, 0 },	  { "cycles:u", 0, 1, 1 },
		{ "cycles:k", 1, 0, 1 },  { "cycles:h", 1, 1, 0 },
		{ "cycles:uh", 0, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct perf_event_attr *attr;

		open_set(cases[i].event, NULL);
		attr = attr_of_the_first();
		assert_int_equal(attr->exclude_user, cases[i].user);
		assert_int_equal(attr->exclude_kernel, cases[i].kernel);
		assert_int_equal(attr->exclude_hv, cases[i].hypervisor);
		upmu_close(set);
		set = NULL;
	}
}

/* It has no hypervisor to leave out, and perf refuses to be asked for that. */
static void both_modes_are_counted_by_a_core_that_cannot_part_them(void **state)
{
	(void)state;
	fake_boot("pi1");
	fake.has_no_filter = true;
	open_set("cycles:uk", NULL);
}

static void the_kernels_own_events_are_of_no_hypervisor(void **state)
{
	(void)state;
	assert_int_equal(upmu_open(&set, "page-faults:h", NULL), -EOPNOTSUPP);
	assert_said("would stay 0");
	open_set("task-clock:h", NULL);
}

#define COUNTS_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNTS_TEST(the_machine_is_read_by_the_first_set_alone),
		COUNTS_TEST(no_trial_is_made_for_a_set_that_is_opened_stopped),
		COUNTS_TEST(what_calls_read_asks_perf_for_no_register),
		COUNTS_TEST(
			an_emulator_is_asked_once_whether_it_counts_instructions),
		COUNTS_TEST(
			who_left_cycles_to_others_keeps_no_later_set_from_them),
		COUNTS_TEST(a_pmu_that_stands_still_is_told_by_a_coarse_clock),
		COUNTS_TEST(a_set_that_never_had_a_counter_has_no_count),
		COUNTS_TEST(nobody_looks_into_files_for_why),
		COUNTS_TEST(a_set_that_was_not_started_has_counted_nothing),
		COUNTS_TEST(nothing_that_cannot_wait_is_opened_stopped),
		COUNTS_TEST(descriptors_that_the_program_closed_give_no_count),
		COUNTS_TEST(numbers_that_perf_refuses_are_eio),
		COUNTS_TEST(
			on_unlike_cores_switching_and_reading_is_no_lost_time),
		COUNTS_TEST(a_cpu_that_goes_off_leaves_its_counts),
		COUNTS_TEST(a_mode_that_no_letter_names_is_excluded),
		COUNTS_TEST(
			both_modes_are_counted_by_a_core_that_cannot_part_them),
		COUNTS_TEST(the_kernels_own_events_are_of_no_hypervisor),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
