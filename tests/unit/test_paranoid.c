// SPDX-License-Identifier: MIT
/*
 * What perf_event_paranoid lets upmu_open() do, and how it tells; and the words
 * for whatever else perf refuses.
 */
#include "one_set.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/perf/perf.h"
#include "regions.h"

#define PMU_OF_PI2 8u /* its number, in the fixture */

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
	assert_said("(2 or less would do)");
	assert_said("hint: sudo sysctl kernel.perf_event_paranoid=2");
	/* It cannot leave the kernel out. */
	fake_boot("pi1");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	fake.perf_error = -EACCES;
	assert_refused("perf_event_paranoid is 3");
	assert_said("hint: sudo sysctl kernel.perf_event_paranoid=1");
}

/* Of the source read. */
static void a_probe_tells_what_would_be_enough(void **state)
{
	struct upmu_verdict verdict = { .size = sizeof(verdict) };

	(void)state;
	fake.perf_error = -EACCES;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	assert_int_equal(upmu_probe(1, &verdict), 0);
	assert_non_null(strstr(verdict.reason, "(2 or less would do)"));
	/* By seccomp(2), say, of a container. */
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	assert_int_equal(upmu_probe(1, &verdict), 0);
	assert_int_equal(verdict.error, -EACCES);
	assert_non_null(strstr(verdict.reason, "although"));
}

static void paranoid_2_counts_user_mode_and_says_so(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake.only_user = true;
	assert_int_equal(upmu_open(&set, "cycles,instructions", NULL), 0);
	assert_string_equal(upmu_event_name(set, 0), "cycles:u");
	assert_string_equal(upmu_event_name(set, 1), "instructions:u");
	upmu_close(set);
	set = NULL;
	assert_int_equal(upmu_open(&set,
				   "armv7_cortex_a7/event=0x8/u,"
				   "armv7_cortex_a7/event=0x11/,r8:u",
				   NULL),
			 0);
	assert_string_equal(upmu_event_name(set, 0),
			    "armv7_cortex_a7/event=0x8/u");
	assert_string_equal(upmu_event_name(set, 1),
			    "armv7_cortex_a7/event=0x11/u");
	assert_string_equal(upmu_event_name(set, 2), "r8:u");
}

/* Of neither mode an event would stay 0. */
static void paranoid_2_counts_no_event_of_the_kernel(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake.only_user = true;
	assert_int_equal(upmu_open(&set, "cycles,instructions:k", NULL),
			 -EACCES);
	assert_null(set);
	assert_said("perf_event_paranoid is 2");
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

static void assert_refused_of_user_mode(const char *list, int error,
					const char *words)
{
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake.only_user = true;
	assert_int_equal(upmu_open(&set, list, NULL), error);
	assert_null(set);
	assert_said(words);
}

/* Another setting would help nobody. */
static void paranoid_2_is_not_blamed_for_what_user_mode_lacks_too(void **state)
{
	(void)state;
	fake.counters = 2;
	assert_refused_of_user_mode("cycles,r1,r2", -ENOSPC, "'r2");
	fake.counters = 0;
	fake.failure = (struct fake_failure){ .call = FAKE_PERF_OPEN,
					      .at = 4,
					      .goes_on = true,
					      .error = -EMFILE };
	assert_refused_of_user_mode("cycles,r1,r2", -EMFILE,
				    "out of file descriptors");
}

/* Another user's process, a filter of system calls: no setting helps. */
static void
paranoid_2_is_not_blamed_for_what_is_refused_in_any_mode(void **state)
{
	(void)state;
	fake.perf_error = -EACCES;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	assert_refused("although perf_event_paranoid is 2: a security policy, "
		       "or another user's process");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	assert_refused("perf_event_paranoid is 3");
}

/* As a user who may count both modes. */
static void paranoid_2_lets_a_second_full_set_take_turns(void **state)
{
	static const char list[] = "cycles,r1,r2,r3,r4";
	const struct upmu_options read_only = { .size = sizeof(read_only),
						.source = "read" };
	struct upmu *second;

	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake.only_user = true;
	fake.ordinary = 4;
	assert_int_equal(upmu_open(&set, list, &read_only), 0);
	if (upmu_open(&second, list, &read_only))
		fail_msg("%s", upmu_explain());
	assert_string_equal(upmu_event_name(second, 0), "cycles:u");
	upmu_close(second);
}

/* Of names that no table has; the kinds of core are known by then. */
static void what_sysfs_cannot_be_asked_for_is_no_unknown_event(void **state)
{
	static const char *const lists[] = { "armv8_cortex_a53/event=0x11/",
					     "ccn/event=1/", "of_no_table" };

	(void)state;
	fake_boot("pi3-64");
	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	upmu_close(set);
	set = NULL;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		fake.failure = (struct fake_failure){ .call = FAKE_FILE,
						      .at = 1,
						      .goes_on = true,
						      .error = -EMFILE };
		assert_int_equal(upmu_open(&set, lists[i], NULL), -EMFILE);
		assert_said("out of file descriptors");
		fake.failure.call = FAKE_NONE;
		assert_int_not_equal(upmu_open(&set, lists[i], NULL), -EMFILE);
		upmu_close(set);
		set = NULL;
	}
}

/* ---- regions of a process that gives up a right ------------------------ */

static void *refused_region(void *region)
{
	CHECK(upmu_region_begin(region) == -EXDEV);
	CHECK(strstr(upmu_explain(), "'cycles:u'") &&
	      strstr(upmu_explain(), "'cycles'"));
	return NULL;
}

static void assert_reported(const char *name)
{
	char text[4096] = "";
	FILE *file = tmpfile();

	CHECK(file && !upmu_regions_report(fileno(file), UPMU_REGION_JSON));
	rewind(file);
	CHECK(fread(text, 1, sizeof(text) - 1, file) > 0);
	CHECK(strstr(text, name));
	fclose(file);
}

static void lose_the_right(void)
{
	struct upmu_region *work = region_of("work");
	pthread_t thread;

	call(work);
	fake.only_user = true;
	CHECK(!pthread_create(&thread, NULL, refused_region, work));
	CHECK(!pthread_join(thread, NULL));
	call(work);
	assert_reported("\"cycles\"");
}

/* As servers do before they work. */
static void fork_and_lose_the_right(void)
{
	struct upmu_region *work = region_of("work");
	int status;
	pid_t child;

	call(work);
	child = fork();
	if (!child) {
		fake.only_user = true;
		call(work);
		assert_reported("\"cycles:u\"");
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void run_by_read(void (*body)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		/* No register is there to be read where tests run. */
		setenv("UPMU_SOURCE", "read", 1);
		alarm(60);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void what_a_thread_may_not_count_whole_is_not_added(void **state)
{
	(void)state;
	run_by_read(lose_the_right);
}

static void a_forked_child_names_what_it_may_count_itself(void **state)
{
	(void)state;
	run_by_read(fork_and_lose_the_right);
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
	assert_no_hint();
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3 or so\n");
	assert_refused("this user may not count 'cycles'");
}

/* ---- each error of perf, as a whole ---------------------------------------
 */

#define CPU	"/sys/devices/system/cpu/"
#define DEVICES "/sys/bus/event_source/devices/"

static struct upmu_perf_event event;
static struct upmu_perf_target target;
static struct perf_event_attr attr;

static int boot_refused(void **state)
{
	event = (struct upmu_perf_event){ .name = "x", .type = PMU_OF_PI2 };
	target = (struct upmu_perf_target){ .cpu = -1, .group_fd = -1 };
	attr = (struct perf_event_attr){ .size = sizeof(attr) };
	return boot_pi2(state);
}

static void assert_told(int error, int told, const char *text)
{
	assert_int_equal(upmu_perf_explain(error, &event, &target, &attr),
			 told);
	assert_string_equal(upmu_explain(), text);
	assert_int_equal(fake_open_fds(), 0);
}

static void assert_paranoid(const char *setting, const char *wanted)
{
	char text[256];

	fake_write("/proc/sys/kernel/perf_event_paranoid", setting);
	snprintf(text, sizeof(text),
		 "perf_event_paranoid is %s: this user may not count 'x' (%s "
		 "or less would do)\nhint: sudo sysctl "
		 "kernel.perf_event_paranoid=%s",
		 setting, wanted, wanted);
	assert_told(-EACCES, -EACCES, text);
	assert_told(-EPERM, -EACCES, text);
}

static void the_highest_setting_that_would_do_is_told(void **state)
{
	(void)state;
	assert_paranoid("3", "1");
	assert_paranoid("2", "1");
	attr.exclude_kernel = 1;
	assert_paranoid("3", "2");
	target.flags = UPMU_PERF_CGROUP;
	assert_paranoid("1", "0");
	target = (struct upmu_perf_target){ .pid = -1, .group_fd = -1 };
	assert_paranoid("1", "0");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "0");
	assert_told(-EACCES, -EACCES,
		    "perf refuses 'x' although perf_event_paranoid is 0: a "
		    "security policy, or another user's process\n"
		    "hint: run it as root, in a container with --cap-add "
		    "PERFMON, or see dmesg");
}

static void what_a_pmu_does_not_know_names_the_pmu(void **state)
{
	static const int errors[] = { -ENOENT, -EOPNOTSUPP, -ENODEV, -ENXIO };

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		assert_told(errors[i], errors[i],
			    "the PMU 'armv7_cortex_a7' does not know the event "
			    "'x'\nhint: upmu list");
	fake_boot("pi3-32-bare");
	assert_told(-ENOENT, -ENODEV,
		    "no CPU PMU is registered with perf on this machine\n"
		    "hint: upmu check");
	event.type = PERF_TYPE_SOFTWARE;
	assert_told(-ENOENT, -ENOENT,
		    "the PMU 'software' does not know the event 'x'\n"
		    "hint: upmu list");
}

static void what_keeps_the_pmus_from_being_listed_is_told(void **state)
{
	static const struct {
		int error, told;
		const char *text;
	} rows[] = {
		{ -EMFILE, -EMFILE,
		  "it cannot be told which PMUs there are: Too many open "
		  "files\nhint: ulimit -n 1024" },
		{ -EACCES, -EACCES,
		  "it cannot be told which PMUs there are: Permission denied" },
		{ -ENOENT, -ENODEV,
		  "perf knows no 'x' here, and without /sys it cannot be told "
		  "which PMUs there are\nhint: sudo mount -t sysfs sysfs /sys" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fake.failure = (struct fake_failure){ .call = FAKE_OPEN,
						      .at = 1,
						      .goes_on = true,
						      .error = rows[i].error };
		assert_told(-ENOENT, rows[i].told, rows[i].text);
	}
	fake.failure = (struct fake_failure){ 0 };
}

/* None has a file, one is off, one is on, the last is not there. */
static void a_cpu_that_is_off_or_not_there_is_told(void **state)
{
	static const int errors[] = { -ENODEV, -EINVAL };
	char text[128];

	(void)state;
	fake_remove("/sys");
	fake_write(DEVICES "pmu/cpus", "0-3\n");
	fake_write(DEVICES "pmu/type", "8\n");
	fake_write(CPU "cpu0/x", "");
	fake_write(CPU "cpu1/online", "0\n");
	fake_write(CPU "cpu2/online", "1\n");
	for (int cpu = 0; cpu < 4; cpu++) {
		for (size_t i = 0; i < 2; i++) {
			bool is_there = cpu == 0 || cpu == 2;

			target = (struct upmu_perf_target){ .pid = -1,
							    .cpu = cpu,
							    .group_fd = -1 };
			snprintf(text, sizeof(text),
				 is_there && i
					 ? "perf refuses 'x': Invalid argument"
				 : is_there
					 ? "the PMU 'pmu' does not know the "
					   "event 'x'\nhint: upmu list"
					 : "CPU %d is not there or not online\n"
					   "hint: cat " CPU "online",
				 cpu);
			assert_told(errors[i], errors[i], text);
		}
	}
}

static void what_does_not_fit_is_told_from_what_is_refused_alone(void **state)
{
	static const char fits_not[] =
		"'x' does not fit: the events wanted together need more "
		"counters than the PMU has\n"
		"hint: ask for fewer events in one set";
	static const char refused[] = "perf refuses 'x': Invalid argument";

	(void)state;
	/* Of a group of which descriptor 0 leads, too. */
	for (int leader = 0; leader < 2; leader++) {
		target.group_fd = leader;
		assert_told(-EINVAL, -ENOSPC, fits_not);
		assert_told(-ENOSPC, -ENOSPC, fits_not);
	}
	fake.perf_error = -EINVAL;
	assert_told(-EINVAL, -EINVAL, refused);
	fake.perf_error = 0;
	target.group_fd = -1;
	assert_told(-EINVAL, -EINVAL, refused);
	for (int kernel = 0; kernel < 2; kernel++) {
		attr.exclude_kernel = kernel;
		attr.exclude_user = !kernel;
		fake.has_no_filter = true;
		assert_told(-EINVAL, -EINVAL,
			    "this core's PMU cannot count user or kernel mode "
			    "alone: 'x' without :u and :k would do");
		fake.perf_error = -EINVAL;
		assert_told(-EINVAL, -EINVAL, refused);
		fake.perf_error = 0;
	}
}

static void the_rest_has_words_of_its_own(void **state)
{
	(void)state;
	target.pid = 77;
	assert_told(-ESRCH, -ESRCH, "no process or thread 77");
	assert_told(-EBUSY, -EBUSY,
		    "another user holds the PMU: 'x' cannot be had\n"
		    "hint: upmu check");
	assert_told(-ENOSYS, -ENOSYS,
		    "this kernel was built without CONFIG_PERF_EVENTS\n"
		    "hint: upmu check");
	assert_told(-EIO, -EIO, "perf refuses 'x': Input/output error");
	assert_told(-EBADF, -EBADF, "perf refuses 'x': Bad file descriptor");
	target.flags = UPMU_PERF_CGROUP;
	assert_told(-EIO, -EIO, "perf refuses 'x': Input/output error");
	assert_int_equal(upmu_perf_explain(-EBADF, &event, &target, &attr),
			 -EBADF);
	assert_said("its hierarchy has no perf_event");
}

#define PARANOID_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

#define REFUSED_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_refused, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PARANOID_TEST(paranoid_3_tells_the_value_and_the_command),
		PARANOID_TEST(a_probe_tells_what_would_be_enough),
		PARANOID_TEST(paranoid_2_counts_user_mode_and_says_so),
		PARANOID_TEST(paranoid_2_counts_no_event_of_the_kernel),
		PARANOID_TEST(paranoid_2_on_a_core_without_filters_is_eacces),
		PARANOID_TEST(
			paranoid_2_is_not_blamed_for_what_user_mode_lacks_too),
		PARANOID_TEST(
			paranoid_2_is_not_blamed_for_what_is_refused_in_any_mode),
		PARANOID_TEST(paranoid_2_lets_a_second_full_set_take_turns),
		PARANOID_TEST(
			what_sysfs_cannot_be_asked_for_is_no_unknown_event),
		PARANOID_TEST(what_a_thread_may_not_count_whole_is_not_added),
		PARANOID_TEST(a_forked_child_names_what_it_may_count_itself),
		PARANOID_TEST(
			a_policy_that_refuses_although_paranoid_permits_is_told),
		PARANOID_TEST(a_setting_that_is_no_number_is_not_told),
		REFUSED_TEST(the_highest_setting_that_would_do_is_told),
		REFUSED_TEST(what_a_pmu_does_not_know_names_the_pmu),
		REFUSED_TEST(what_keeps_the_pmus_from_being_listed_is_told),
		REFUSED_TEST(
			what_does_not_fit_is_told_from_what_is_refused_alone),
		REFUSED_TEST(the_rest_has_words_of_its_own),
		/* Last: /sys is no fixture's any more. */
		REFUSED_TEST(a_cpu_that_is_off_or_not_there_is_told),
	};

	return cmocka_run_group_tests_name("paranoid", tests, NULL, NULL);
}
