// SPDX-License-Identifier: MIT
/* Counts that are not to be had: no counter, not started, closed. */
#include "one_set.h"

#include <errno.h>
#include <string.h>

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

#define COUNTS_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNTS_TEST(a_set_that_never_had_a_counter_has_no_count),
		COUNTS_TEST(a_set_that_was_not_started_has_counted_nothing),
		COUNTS_TEST(descriptors_that_the_program_closed_give_no_count),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
