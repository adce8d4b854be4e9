// SPDX-License-Identifier: MIT
/* upmu_open(): what it takes, what it refuses and with which words. */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib/set/wanted.h"
#include "said.h"

#define SENTINEL   ((struct upmu *)0x5a5a)
#define PMU_OF_PI2 8u /* its number, in the fixture */

static struct upmu *set;

static int boot_pi2(void **state)
{
	(void)state;
	fake_boot("pi2");
	set = SENTINEL;
	return 0;
}

/* Whatever a test opened must be gone when its sets are. */
static int nothing_is_left(void **state)
{
	(void)state;
	if (set != SENTINEL)
		upmu_close(set);
	fake_assert_closed();
	return 0;
}

static void assert_opens(const char *events, const struct upmu_options *options)
{
	int ret = upmu_open(&set, events, options);

	if (ret)
		fail_msg("%s: %d: %s", events, ret, upmu_explain());
	assert_string_equal(upmu_explain(), "");
}

static void assert_refused(const char *events,
			   const struct upmu_options *options, int error,
			   const char *words)
{
	assert_int_equal(upmu_open(&set, events, options), error);
	assert_ptr_equal(set, SENTINEL);
	assert_said(words);
	assert_int_equal(fake_open_fds(), 0);
	assert_int_equal(fake_open_pages(), 0);
}

static int lowest_free_descriptor(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

static struct upmu_options options_of(const char *source, uint32_t flags)
{
	return (struct upmu_options){
		.size = sizeof(struct upmu_options),
		.source = source,
		.flags = flags,
	};
}

/* ---- options ---- */

static void no_options_are_the_defaults(void **state)
{
	(void)state;
	assert_opens("cycles,instructions", NULL);
	assert_string_equal(upmu_source(set), "page");
	assert_int_equal(upmu_size(set), 2);
}

static void an_options_struct_without_size_is_refused(void **state)
{
	const struct upmu_options options = { .size = 0 };

	(void)state;
	assert_refused("cycles", &options, -EINVAL, "options.size is 0");
}

/* Nobody has set it: what is behind the struct is not looked at. */
static void an_options_struct_whose_size_is_by_chance_is_refused(void **state)
{
	const struct upmu_options options = { .size = 1u << 31 };

	(void)state;
	assert_refused("cycles", &options, -EINVAL, "options.size is 2147");
}

static void a_longer_options_struct_passes_with_a_zero_tail(void **state)
{
	struct {
		struct upmu_options options;
		uint64_t newer;
	} longer = { .options = { .size = sizeof(longer) } };

	(void)state;
	assert_opens("cycles", &longer.options);
	upmu_close(set);
	set = SENTINEL;
	longer.newer = 1;
	assert_refused("cycles", &longer.options, -EINVAL, "unknown to this");
}

static void unknown_flags_and_reserved_fields_are_refused(void **state)
{
	struct upmu_options options = options_of(NULL, 1u << 20);

	(void)state;
	assert_refused("cycles", &options, -EINVAL, "unknown flags 0x100000");
	options = options_of(NULL, 0);
	options.reserved = 1;
	assert_refused("cycles", &options, -EINVAL, "reserved");
	/* A tail that the first form does not have. */
	options.size = UPMU_OPTIONS_SIZE_1;
	assert_opens("cycles", &options);
	upmu_close(set);
	set = SENTINEL;
	options.size = UPMU_OPTIONS_SIZE_1 - 1;
	assert_refused("cycles", &options, -EINVAL, "options.size is");
}

static void an_unknown_source_lists_those_that_there_are(void **state)
{
	const struct upmu_options options = options_of("paeg", 0);

	(void)state;
	assert_refused("cycles", &options, -EINVAL,
		       "'paeg'; there are: page, read, raw, timer, clock");
}

static void the_environment_names_a_source(void **state)
{
	(void)state;
	setenv("UPMU_SOURCE", "read", 1);
	assert_opens("cycles", NULL);
	assert_string_equal(upmu_source(set), "read");
	upmu_close(set);
	setenv("UPMU_SOURCE", "", 1);
	assert_opens("cycles", NULL);
	assert_string_equal(upmu_source(set), "page");
}

static void options_win_over_the_environment(void **state)
{
	const struct upmu_options options = options_of("clock", 0);

	(void)state;
	setenv("UPMU_SOURCE", "read", 1);
	assert_opens("cycles", &options);
	assert_string_equal(upmu_source(set), "clock");
	assert_string_equal(upmu_unit(set, 0), "ns");
}

static void a_stopped_set_waits_for_start(void **state)
{
	const struct upmu_options options = options_of(NULL, UPMU_OPEN_STOPPED);

	(void)state;
	assert_opens("cycles,instructions", &options);
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && !fake.events[i].is_device &&
		    fake.events[i].group_fd < 0)
			assert_int_equal(fake.events[i].attr.disabled, 1);
	assert_int_equal(upmu_start(set), 0);
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && !fake.events[i].is_device)
			assert_int_equal(fake.events[i].attr.disabled, 0);
}

static void user_only_and_the_kernel_contradict(void **state)
{
	const struct upmu_options options =
		options_of(NULL, UPMU_OPEN_USER_ONLY);

	(void)state;
	assert_refused("cycles,instructions:k", &options, -EINVAL,
		       "'instructions:k' counts the kernel");
}

static void user_only_excludes_the_kernel(void **state)
{
	const struct upmu_options options =
		options_of(NULL, UPMU_OPEN_USER_ONLY);

	(void)state;
	assert_opens("cycles,instructions", &options);
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && !fake.events[i].is_device)
			assert_int_equal(fake.events[i].attr.exclude_kernel, 1);
}

/* ---- event lists ---- */

static void an_unknown_event_names_itself_and_the_nearest(void **state)
{
	(void)state;
	assert_refused("cycles,l1d_cahce", NULL, -ENOENT, "l1d_cahce");
	assert_said("event 2");
	assert_said("hint: did you mean l1d_cache");
}

static void an_empty_list_is_refused(void **state)
{
	(void)state;
	assert_refused("", NULL, -EINVAL, "event 1");
	assert_refused("cycles,,cycles", NULL, -EINVAL, "event 2");
}

static void a_list_longer_than_a_set_is_refused(void **state)
{
	char list[33 * 3] = "";

	(void)state;
	for (int i = 0; i < 33; i++)
		strcat(list, i ? ",r8" : "r8");
	assert_refused(list, NULL, -EINVAL, "33 events");
}

static void units_tell_cycles_from_events_and_nanoseconds(void **state)
{
	(void)state;
	assert_opens("cycles,instructions,task-clock", NULL);
	assert_string_equal(upmu_unit(set, 0), "cycles");
	assert_string_equal(upmu_unit(set, 1), "events");
	assert_string_equal(upmu_unit(set, 2), "ns");
}

/* ---- what the system refuses ---- */

static void out_of_descriptors_tells_the_limit(void **state)
{
	struct rlimit limit;
	char text[64];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	fake.perf_error = -EMFILE;
	snprintf(text, sizeof(text), "the limit is %llu per process",
		 (unsigned long long)limit.rlim_cur);
	assert_refused("cycles,instructions", NULL, -EMFILE, text);
	snprintf(text, sizeof(text), "hint: ulimit -n %llu",
		 2 * (unsigned long long)limit.rlim_cur);
	assert_said(text);
}

static void descriptors_that_run_out_half_way_are_given_back(void **state)
{
	const struct upmu_options options = options_of("read", 0);

	(void)state;
	fake.perf_error = -EMFILE;
	fake.perf_error_from = 3;
	assert_refused("cycles,r8,r9,ra", &options, -EMFILE, "'r9'");
}

/* The machine's PMUs are asked for once, and here that fails. */
static void descriptors_that_run_out_at_first_are_not_remembered(void **state)
{
	struct rlimit before, none;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	/* Not even the folder can be opened; then none of the files in it. */
	for (int i = 0; i < 2; i++) {
		none.rlim_cur = (rlim_t)lowest_free_descriptor() + (rlim_t)i;
		setrlimit(RLIMIT_NOFILE, &none);
		assert_refused("cycles", NULL, -EMFILE,
			       "out of file descriptors for the list of PMUs");
		assert_said("hint: ulimit -n");
		setrlimit(RLIMIT_NOFILE, &before);
	}
	assert_opens("cycles", NULL);
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && !fake.events[i].is_device)
			assert_int_equal(fake.events[i].attr.type, PMU_OF_PI2);
}

static void more_events_than_counters_is_enospc(void **state)
{
	const struct upmu_options options = options_of("read", 0);

	(void)state;
	fake.counters = 3;
	assert_refused("cycles,r8,r9,ra", &options, -ENOSPC,
		       "more counters than the PMU has");
	assert_said("hint: ask for fewer events");
}

/* The first is off at first, and arm_pmu reckons with what is on. */
static void one_event_too_many_is_enospc_where_cycles_do_not_lead(void **state)
{
	const struct upmu_options options = options_of("read", 0);

	(void)state;
	fake.counters = 3;
	assert_opens("r1,r8,r9", &options);
	upmu_close(set);
	set = SENTINEL;
	fake.counters = 2;
	assert_refused("r1,r8,r9", &options, -ENOSPC,
		       "more counters than the PMU has");
	fake.counters = 1;
	assert_refused("r1,r8", &options, -ENOSPC,
		       "more counters than the PMU has");
}

/* Of none of them another's number is told, nor of what lies behind. */
static void a_list_as_long_as_a_set_has_each_its_count(void **state)
{
	struct upmu_options options = options_of("read", 0);
	struct upmu_value values[UPMU_EVENTS_MAX];
	uint64_t counts[UPMU_EVENTS_MAX];
	char list[UPMU_EVENTS_MAX * 6] = "";

	(void)state;
	for (unsigned int i = 0; i < UPMU_EVENTS_MAX; i++)
		sprintf(list + strlen(list), "%sr%x", i ? "," : "", 32 + i);
	fake.by_code = true;
	assert_opens(list, &options);
	assert_int_equal(upmu_size(set), UPMU_EVENTS_MAX);
	assert_int_equal(upmu_read(set, values, UPMU_EVENTS_MAX), 0);
	assert_int_equal(upmu_count_all(set, counts, UPMU_EVENTS_MAX), 0);
	for (size_t i = 0; i < UPMU_EVENTS_MAX; i++)
		assert_int_equal(counts[i] - values[i].count,
				 FAKE_STEP + 32 + i);
}

static void a_group_larger_than_the_pmu_is_enospc(void **state)
{
	(void)state;
	assert_refused("{cycles,r1,r2,r3,r4,r5,r6,r7,r8,r9}", NULL, -ENOSPC,
		       "'r5'");
	assert_said("counters");
}

/* CLOCK_MONOTONIC_RAW itself is the time since the machine was started. */
static void a_clock_counts_from_opening(void **state)
{
	const struct upmu_options options = options_of("clock", 0);
	struct upmu_value value;
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	assert_opens("cycles", &options);
	assert_int_equal(upmu_read(set, &value, 1), 0);
	assert_true(value.count < (uint64_t)now.tv_sec * 1000000000);
	assert_true(value.count < 60 * (uint64_t)1000000000);
}

static void an_event_of_one_kind_of_core_is_exdev(void **state)
{
	(void)state;
	fake_boot("rk3399");
	fake.registers = 8;
	assert_refused("cycles,l1i_cache_access_prefetch_none,cycles", NULL,
		       -ENOENT, "event 2");
	assert_refused("l1d_cache_rd", NULL, -EXDEV, "l1d_cache_rd");
	assert_said("hint: bind the thread");
}

static void a_filter_that_the_core_lacks_is_einval(void **state)
{
	const struct upmu_options options = options_of("read", 0);

	(void)state;
	fake.has_no_filter = true;
	assert_refused("cycles:u", &options, -EINVAL,
		       "cannot count user or kernel mode alone");
}

static void no_pmu_is_enodev(void **state)
{
	(void)state;
	fake_boot("pi3-32-bare");
	fake.perf_error = -ENOENT;
	assert_refused("cycles", NULL, -ENODEV, "no CPU PMU is registered");
	assert_said("hint: upmu check");
}

static void no_pmu_is_enodev_also_where_paranoid_refuses(void **state)
{
	(void)state;
	fake_boot("pi3-32-bare");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	fake.perf_error = -EACCES;
	assert_refused("cycles", NULL, -ENODEV, "no CPU PMU is registered");
	assert_refused("task-clock", NULL, -EACCES, "perf_event_paranoid is 3");
}

static void a_pmu_that_stands_still_gives_no_numbers(void **state)
{
	(void)state;
	fake.stands_still = true;
	assert_refused("cycles", NULL, -ENODEV, "the PMU does not count");
}

static void a_pmu_that_never_had_its_turn_is_not_called_dead(void **state)
{
	(void)state;
	fake.stands_still = true;
	fake.never_runs = true;
	assert_opens("cycles", NULL);
}

static void software_events_need_no_pmu(void **state)
{
	(void)state;
	fake.stands_still = true;
	assert_opens("task-clock", NULL);
	assert_string_equal(upmu_source(set), "read");
}

static void a_kernel_without_perf_is_enosys(void **state)
{
	(void)state;
	fake.perf_error = -ENOSYS;
	assert_refused("cycles", NULL, -ENOSYS, "CONFIG_PERF_EVENTS");
}

static void another_holder_is_ebusy(void **state)
{
	(void)state;
	fake.perf_error = -EBUSY;
	assert_refused("cycles", NULL, -EBUSY, "another user holds the PMU");
}

static void events_that_an_emulator_leaves_at_0_are_refused(void **state)
{
	(void)state;
	fake_boot("qemu-virt-32");
	assert_refused("cycles,l1d_cache", NULL, -EOPNOTSUPP, "'l1d_cache'");
	assert_said("emulated");
	assert_opens("cycles", NULL);
}

static void instructions_that_an_emulator_leaves_at_0_are_refused(void **state)
{
	(void)state;
	fake_boot("qemu-virt-32");
	fake.still_config = 8;
	assert_refused("cycles,instructions", NULL, -EOPNOTSUPP,
		       "with -icount only");
	assert_opens("cycles,r11", NULL);
}

static void any_clock_is_taken_only_where_asked_for(void **state)
{
	const struct upmu_options options =
		options_of(NULL, UPMU_OPEN_ANY_CLOCK);

	(void)state;
	fake.perf_error = -ENOENT;
	assert_refused("cycles", NULL, -ENOENT, "does not know");
	assert_opens("cycles", &options);
	assert_true(!strcmp(upmu_unit(set, 0), "ticks") ||
		    !strcmp(upmu_unit(set, 0), "ns"));
}

static void a_clock_stands_in_for_cycles_alone(void **state)
{
	const struct upmu_options options = options_of("clock", 0);
	const struct upmu_options user =
		options_of("clock", UPMU_OPEN_USER_ONLY);

	(void)state;
	assert_refused("cycles", &user, -EOPNOTSUPP,
		       "not for 'cycles' of user mode");
	assert_refused("instructions", &options, -EOPNOTSUPP,
		       "not for 'instructions'");
	assert_refused("cycles,r8", &options, -EOPNOTSUPP, "not for 'r8'");
	assert_refused("cycles:u", &options, -EOPNOTSUPP, "cycles:u");
}

static void a_clock_cannot_be_stopped(void **state)
{
	const struct upmu_options options = options_of("clock", 0);

	(void)state;
	assert_opens("cycles", &options);
	assert_int_equal(upmu_stop(set), -EOPNOTSUPP);
	assert_said("the source 'clock' cannot be started and stopped");
	assert_int_equal(upmu_start(set), -EOPNOTSUPP);
}

static void a_system_out_of_descriptors_is_enfile(void **state)
{
	(void)state;
	fake.perf_error = -ENFILE;
	assert_refused("cycles", NULL, -ENFILE, "the system has none left");
}

/* By name, what keeps a source from serving is the error of the call. */
static void a_source_by_name_tells_its_own_error(void **state)
{
	const struct upmu_options page = options_of("page", 0);

	(void)state;
	fake.device_error = -ENOENT;
	assert_refused("cycles", &page, -ENXIO, "hint: sudo modprobe upmu");
	fake.device_error = -EACCES;
	assert_refused("cycles", &page, -EPERM, "not in the group upmu");
	fake.device_error = 0;
	fake.info_error = -ENOTTY;
	assert_refused("cycles", &page, -EPROTO, "another ABI");
	fake.info_error = 0;
	fake.lease_error = -EBUSY;
	assert_refused("cycles", &page, -EBUSY, "hint: cat /proc/upmu");
}

static void without_sysfs_the_mount_is_asked_for(void **state)
{
	(void)state;
	fake_remove("/sys");
	upmu_wanted_forget_machine();
	fake.perf_error = -ENOENT;
	assert_refused("cycles", NULL, -ENODEV, "without /sys");
	assert_said("hint: sudo mount -t sysfs sysfs /sys");
}

static void closing_nothing_is_a_no_op(void **state)
{
	(void)state;
	errno = ERANGE;
	upmu_close(NULL);
	assert_int_equal(errno, ERANGE);
}

#define OPEN_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPEN_TEST(no_options_are_the_defaults),
		OPEN_TEST(an_options_struct_without_size_is_refused),
		OPEN_TEST(an_options_struct_whose_size_is_by_chance_is_refused),
		OPEN_TEST(a_longer_options_struct_passes_with_a_zero_tail),
		OPEN_TEST(unknown_flags_and_reserved_fields_are_refused),
		OPEN_TEST(an_unknown_source_lists_those_that_there_are),
		OPEN_TEST(the_environment_names_a_source),
		OPEN_TEST(options_win_over_the_environment),
		OPEN_TEST(a_stopped_set_waits_for_start),
		OPEN_TEST(user_only_and_the_kernel_contradict),
		OPEN_TEST(user_only_excludes_the_kernel),
		OPEN_TEST(an_unknown_event_names_itself_and_the_nearest),
		OPEN_TEST(an_empty_list_is_refused),
		OPEN_TEST(a_list_longer_than_a_set_is_refused),
		OPEN_TEST(units_tell_cycles_from_events_and_nanoseconds),
		OPEN_TEST(out_of_descriptors_tells_the_limit),
		OPEN_TEST(descriptors_that_run_out_half_way_are_given_back),
		OPEN_TEST(descriptors_that_run_out_at_first_are_not_remembered),
		OPEN_TEST(more_events_than_counters_is_enospc),
		OPEN_TEST(
			one_event_too_many_is_enospc_where_cycles_do_not_lead),
		OPEN_TEST(a_list_as_long_as_a_set_has_each_its_count),
		OPEN_TEST(an_event_of_one_kind_of_core_is_exdev),
		OPEN_TEST(a_filter_that_the_core_lacks_is_einval),
		OPEN_TEST(no_pmu_is_enodev),
		OPEN_TEST(no_pmu_is_enodev_also_where_paranoid_refuses),
		OPEN_TEST(a_pmu_that_stands_still_gives_no_numbers),
		OPEN_TEST(a_pmu_that_never_had_its_turn_is_not_called_dead),
		OPEN_TEST(software_events_need_no_pmu),
		OPEN_TEST(a_kernel_without_perf_is_enosys),
		OPEN_TEST(another_holder_is_ebusy),
		OPEN_TEST(events_that_an_emulator_leaves_at_0_are_refused),
		OPEN_TEST(
			instructions_that_an_emulator_leaves_at_0_are_refused),
		OPEN_TEST(any_clock_is_taken_only_where_asked_for),
		OPEN_TEST(a_clock_stands_in_for_cycles_alone),
		OPEN_TEST(a_clock_cannot_be_stopped),
		OPEN_TEST(a_system_out_of_descriptors_is_enfile),
		OPEN_TEST(a_source_by_name_tells_its_own_error),
		OPEN_TEST(without_sysfs_the_mount_is_asked_for),
		OPEN_TEST(closing_nothing_is_a_no_op),
		OPEN_TEST(a_group_larger_than_the_pmu_is_enospc),
		OPEN_TEST(a_clock_counts_from_opening),
	};

	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
