// SPDX-License-Identifier: MIT
/* Sets that count others: a thread, what it starts, a CPU, a cgroup. */
#include "one_set.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "lib/perf/perf.h"
#include "lib/set/set.h"
#include "lib/sys.h"
#include "said.h"

#define TID 4242

static struct upmu_options others(int32_t pid, uint32_t flags)
{
	return (struct upmu_options){ .size = sizeof(struct upmu_options),
				      .pid = pid,
				      .flags = flags };
}

static const struct fake_event *event_of(const struct upmu *of, size_t i,
					 size_t pmu)
{
	return &fake.events[of->groups[pmu].fd[i] - FAKE_FD];
}

static void assert_refused(const struct upmu_options *options, int error,
			   const char *words)
{
	assert_int_equal(upmu_open(&set, "cycles", options), error);
	assert_said(words);
	assert_null(set);
}

static void another_thread_is_counted_by_system_calls(void **state)
{
	const struct upmu_options options = others(TID, 0);
	struct upmu_value values[2];

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles,r8", &options), 0);
	assert_string_equal(upmu_source(set), "read");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(event_of(set, i, 0)->pid, TID);
		assert_int_equal(event_of(set, i, 0)->cpu, -1);
		assert_int_equal(event_of(set, i, 0)->attr.inherit, 0);
		assert_int_equal(event_of(set, i, 0)->attr.disabled, 0);
	}
	assert_int_equal(upmu_read(set, values, 2), 0);
	assert_true(upmu_count(upmu_counter_at(set, 0)) > values[0].count);
}

static void what_it_starts_is_counted_where_asked_for(void **state)
{
	const struct upmu_options options = others(TID, UPMU_OPEN_INHERIT);

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles,r8", &options), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(event_of(set, i, 0)->attr.inherit, 1);
}

/* Linux refuses a group that a thread being born has but half. */
static void a_birth_is_waited_for_and_not_for_ever(void **state)
{
	const struct upmu_options options = others(TID, UPMU_OPEN_INHERIT);
	struct upmu_value values[2];

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles,r8", &options), 0);
	fake.failure = (struct fake_failure){ .call = FAKE_READ,
					      .at = 1,
					      .error = -ECHILD };
	assert_int_equal(upmu_read(set, values, 2), 0);
	assert_int_equal(fake.failure.seen, 2);
	fake.failure = (struct fake_failure){
		.call = FAKE_READ, .at = 1, .goes_on = true, .error = -ECHILD
	};
	assert_int_equal(upmu_read(set, values, 2), -EIO);
	assert_true(fake.failure.seen > 2);
	fake.failure = (struct fake_failure){ 0 };
	assert_int_equal(upmu_read(set, values, 2), 0);
}

static void on_alarm(int number)
{
	(void)number;
}

static void set_timer(suseconds_t us)
{
	const struct itimerval each = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &each, NULL);
}

/* Of some 0.8 s nothing is lost where signals come each millisecond. */
static void signals_do_not_cut_that_short(void **state)
{
	const struct upmu_options options = others(TID, UPMU_OPEN_INHERIT);
	struct sigaction act = { .sa_handler = on_alarm };
	struct upmu_value value;
	uint64_t begun;
	int ret;

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	fake.failure = (struct fake_failure){
		.call = FAKE_READ, .at = 1, .goes_on = true, .error = -ECHILD
	};
	sigaction(SIGALRM, &act, NULL);
	set_timer(1000);
	begun = upmu_sys_clock_ns();
	ret = upmu_read(set, &value, 1);
	set_timer(0);
	assert_int_equal(ret, -EIO);
	assert_true(upmu_sys_clock_ns() - begun > 500000000);
	fake.failure = (struct fake_failure){ 0 };
}

/* The first waits to be started: arm_pmu does not reckon with it. */
static void one_event_too_many_of_another_is_enospc(void **state)
{
	const struct upmu_options options = others(TID, 0);

	(void)state;
	fake.counters = 2;
	assert_int_equal(upmu_open(&set, "r1,r8", &options), 0);
	upmu_close(set);
	set = NULL;
	assert_int_equal(upmu_open(&set, "r1,r8,r9", &options), -ENOSPC);
}

/* The leader waits for the exec, the others follow it. */
static void a_program_is_counted_from_its_exec_on(void **state)
{
	const struct upmu_options options =
		others(TID, UPMU_OPEN_INHERIT | UPMU_OPEN_ON_EXEC);

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles,r8", &options), 0);
	assert_int_equal(event_of(set, 0, 0)->attr.enable_on_exec, 1);
	assert_int_equal(event_of(set, 0, 0)->attr.disabled, 1);
	assert_int_equal(event_of(set, 1, 0)->attr.enable_on_exec, 0);
	assert_int_equal(event_of(set, 1, 0)->attr.disabled, 0);
}

static void all_that_runs_on_a_cpu_is_counted(void **state)
{
	struct upmu_options options = others(0, UPMU_OPEN_CPU);

	(void)state;
	options.cpu = 3;
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	assert_int_equal(event_of(set, 0, 0)->pid, -1);
	assert_int_equal(event_of(set, 0, 0)->cpu, 3);
}

static void of_unlike_cores_the_cpus_own_kind_counts_it(void **state)
{
	struct upmu_options options = others(0, UPMU_OPEN_CPU);

	(void)state;
	fake_boot("rk3399");
	for (uint32_t cpu = 0; cpu < 6; cpu++) {
		options.cpu = cpu;
		assert_int_equal(upmu_open(&set, "cycles", &options), 0);
		assert_int_equal(set->pmus, 1);
		assert_int_equal(event_of(set, 0, 0)->attr.type,
				 cpu < 4 ? 8 : 9);
		upmu_close(set);
		set = NULL;
	}
}

static void on_unlike_cores_a_thread_is_counted_on_all(void **state)
{
	const struct upmu_options options = others(TID, 0);

	(void)state;
	fake_boot("rk3399");
	fake.cpus = 1;
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	assert_int_equal(set->pmus, 2);
	for (size_t pmu = 0; pmu < 2; pmu++)
		assert_int_equal(event_of(set, 0, pmu)->pid, TID);
}

/* They count on any core: one for each kind would make it twice as many. */
static void on_unlike_cores_the_kernels_own_events_count_once(void **state)
{
	static const char *const lists[] = { "page-faults",
					     "task-clock,page-faults:u" };

	(void)state;
	fake_boot("rk3399");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(upmu_open(&set, lists[i], NULL), 0);
		assert_int_equal(fake_open_fds(), upmu_size(set));
		upmu_close(set);
		set = NULL;
	}
	/* In a group that some core counts they count where that does. */
	assert_int_equal(upmu_open(&set, "page-faults,cycles", NULL), 0);
	assert_int_equal(set->pmus, 2);
}

/* One cycle counter for each thread that is counted. */
static void two_sets_on_a_thread_share_its_counters(void **state)
{
	const struct upmu_options options = others(TID, 0);
	const struct upmu_options other = others(TID + 1, 0);
	struct upmu *second;

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	assert_int_equal(event_of(set, 0, 0)->attr.config, 0xff);
	assert_int_equal(upmu_open(&second, "cycles", &options), 0);
	assert_int_equal(event_of(second, 0, 0)->attr.config, 0x11);
	upmu_close(second);
	assert_int_equal(upmu_open(&second, "cycles", &other), 0);
	assert_int_equal(event_of(second, 0, 0)->attr.config, 0xff);
	upmu_close(second);
	assert_int_equal(upmu_open(&second, "cycles", NULL), 0);
	assert_int_equal(event_of(second, 0, 0)->attr.config, 0xff);
	upmu_close(second);
}

static uint64_t cycles_of_second(const struct upmu_options *options)
{
	struct upmu *second = NULL;
	uint64_t config;

	assert_int_equal(upmu_open(&second, "cycles", options), 0);
	config = event_of(second, 0, 0)->attr.config;
	upmu_close(second);
	return config;
}

static void a_thread_that_names_itself_is_the_same_thread(void **state)
{
	const struct upmu_options itself = others(gettid(), 0);

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	assert_int_equal(cycles_of_second(&itself), 0x11);
	upmu_close(set);
	assert_int_equal(upmu_open(&set, "cycles", &itself), 0);
	assert_int_equal(cycles_of_second(NULL), 0x11);
}

/* perf never takes turns between the two: the thread's would never run. */
static void a_cpu_and_a_thread_do_not_want_the_same_counter(void **state)
{
	const struct upmu_options cpu = others(0, UPMU_OPEN_CPU);
	const struct upmu_options other = others(TID, 0);

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles", &other), 0);
	assert_int_equal(cycles_of_second(&cpu), 0x11);
	upmu_close(set);
	assert_int_equal(upmu_open(&set, "cycles", &cpu), 0);
	assert_int_equal(cycles_of_second(&other), 0x11);
	assert_int_equal(cycles_of_second(NULL), 0x11);
	upmu_close(set);
	set = NULL;
	assert_int_equal(cycles_of_second(&other), 0xff);
	assert_int_equal(cycles_of_second(&cpu), 0xff);
}

static struct upmu *late;
static const struct upmu_options *late_options;
static pthread_t late_thread;

static void *open_late(void *unused)
{
	if (upmu_open(&late, "cycles", late_options))
		late = NULL;
	return unused;
}

/* Half of the first is open: another thread opens one, and has time to. */
static void open_another(void)
{
	fake.in_perf_open = NULL;
	pthread_create(&late_thread, NULL, open_late, NULL);
	usleep(50000);
}

static void assert_late_leaves_cycles(const struct upmu_options *first,
				      const struct upmu_options *second)
{
	late_options = second;
	fake.in_perf_open = open_another;
	assert_int_equal(upmu_open(&set, "cycles", first), 0);
	pthread_join(late_thread, NULL);
	assert_non_null(late);
	assert_int_equal(event_of(set, 0, 0)->attr.config, 0xff);
	assert_int_equal(event_of(late, 0, 0)->attr.config, 0x11);
	upmu_close(late);
	upmu_close(set);
	set = NULL;
}

static void nor_do_those_that_are_opened_at_once(void **state)
{
	const struct upmu_options cpu = others(0, UPMU_OPEN_CPU);

	(void)state;
	assert_late_leaves_cycles(&cpu, NULL);
	assert_late_leaves_cycles(NULL, &cpu);
}

/* Five events on four counters and the cycle counter, twice. */
static void assert_both_need_the_cycle_counter(struct upmu_options options)
{
	static const char list[] = "cycles,r1,r2,r3,r4";
	struct upmu *second;

	fake.ordinary = 4;
	assert_int_equal(upmu_open(&set, list, &options), 0);
	assert_int_equal(upmu_open(&second, list, &options), 0);
	assert_int_equal(event_of(second, 0, 0)->attr.config, 0xff);
	assert_int_equal(fake_open_fds(), 10);
	upmu_close(second);
	/* What has room beside the first leaves it alone. */
	fake.ordinary = 5;
	assert_int_equal(upmu_open(&second, list, &options), 0);
	assert_int_equal(event_of(second, 0, 0)->attr.config, 0x11);
	upmu_close(second);
}

static void a_second_full_set_on_a_thread_takes_turns(void **state)
{
	(void)state;
	assert_both_need_the_cycle_counter(others(TID, 0));
}

static void a_second_full_set_on_a_cpu_takes_turns(void **state)
{
	(void)state;
	assert_both_need_the_cycle_counter(others(0, UPMU_OPEN_CPU));
}

static void a_thread_that_is_not_there_is_esrch(void **state)
{
	const struct upmu_options options = others(TID, 0);

	(void)state;
	fake.perf_error = -ESRCH;
	assert_refused(&options, -ESRCH, "no process or thread 4242");
}

static void a_cpu_that_is_not_there_is_named(void **state)
{
	struct upmu_options options = others(0, UPMU_OPEN_CPU);

	(void)state;
	fake.perf_error = -EINVAL;
	options.cpu = 9;
	assert_refused(&options, -EINVAL, "CPU 9 is not there or not online");
	assert_said("hint: cat /sys/devices/system/cpu/online");
	/* Of one that is there perf has another reason. */
	options.cpu = 3;
	assert_refused(&options, -EINVAL, "perf refuses 'cycles'");
}

static void nor_is_one_of_unlike_cores(void **state)
{
	struct upmu_options options = others(0, UPMU_OPEN_CPU);

	(void)state;
	fake_boot("rk3399");
	fake.perf_error = -EINVAL;
	options.cpu = 9;
	assert_refused(&options, -EINVAL, "CPU 9 is not there or not online");
}

static void a_thread_is_counted_where_cpu_0_is_off(void **state)
{
	const struct upmu_options options = others(TID, 0);

	(void)state;
	fake_boot("pc"); /* no core is known there, so any may be meant */
	fake_write("/sys/devices/system/cpu/cpu0/online", "0\n");
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	assert_int_equal(event_of(set, 0, 0)->cpu, -1);
}

static void registers_are_the_callers_own(void **state)
{
	static const char *const sources[] = { "page", "raw", "timer",
					       "clock" };
	struct upmu_options options = others(TID, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		options.source = sources[i];
		assert_refused(&options, -EOPNOTSUPP,
			       "counts the calling thread only");
	}
}

static void targets_that_contradict_are_einval(void **state)
{
	struct upmu_options options = others(-1, 0);

	(void)state;
	assert_refused(&options, -EINVAL, "options.pid is -1");
	options = others(TID, UPMU_OPEN_CPU);
	assert_refused(&options, -EINVAL, "no pid");
	options = others(0, UPMU_OPEN_CPU | UPMU_OPEN_INHERIT);
	assert_refused(&options, -EINVAL, "UPMU_OPEN_INHERIT");
	options = others(0, 0);
	options.cpu = 1;
	assert_refused(&options, -EINVAL, "without UPMU_OPEN_CPU");
	options = others(0, UPMU_OPEN_CPU);
	options.cpu = CPU_SETSIZE;
	assert_refused(&options, -EINVAL, "options.cpu is 1024");
}

static void nothing(void *unused)
{
	(void)unused;
}

static void regions_and_measured_functions_are_the_callers_own(void **state)
{
	const struct upmu_options options = others(TID, 0);
	const struct upmu_measure_options measure = { .size = sizeof(measure),
						      .open = &options };
	struct upmu_measurement result = { .size = sizeof(result) };

	(void)state;
	assert_int_equal(upmu_measure(nothing, NULL, &measure, &result, 1),
			 -EINVAL);
	assert_said("measured functions count the calling thread");
	assert_int_equal(upmu_regions_init("cycles", &options), -EINVAL);
	assert_said("regions count the calling thread");
}

/* They were counted as 0. */
static void nor_are_they_stopped_for_ever(void **state)
{
	const struct upmu_options options = others(0, UPMU_OPEN_STOPPED);
	const struct upmu_measure_options measure = { .size = sizeof(measure),
						      .open = &options };
	struct upmu_measurement result = { .size = sizeof(result) };

	(void)state;
	assert_int_equal(upmu_measure(nothing, NULL, &measure, &result, 1),
			 -EINVAL);
	assert_said("could start what measured functions count");
	assert_int_equal(upmu_regions_init("cycles", &options), -EINVAL);
	assert_said("could start what regions count");
}

/* ---- cgroups: what a hierarchy lacks, and what to do ------------------- */

#define CGROUPS "/sys/fs/cgroup"

static void assert_hint(const char *hint)
{
	const struct upmu_perf_event event = { .name = "cpu-clock",
					       .type = PERF_TYPE_SOFTWARE };
	const struct upmu_perf_target target = {
		.pid = 3, .cpu = 0, .group_fd = -1, .flags = UPMU_PERF_CGROUP
	};

	fake.perf_error = -ENOENT;
	assert_true(upmu_perf_open(&event, &target) < 0);
	assert_said("'cpu-clock' in that cgroup: its hierarchy has no "
		    "perf_event");
	assert_said(hint);
}

/* The tree of files outlives a test. */
static int boot_without_cgroups(void **state)
{
	boot_pi2(state);
	fake_remove(CGROUPS "/cgroup.subtree_control");
	fake_remove(CGROUPS "/perf_event/cgroup.procs");
	return 0;
}

static void without_either_the_one_for_perf_is_mounted(void **state)
{
	(void)state;
	assert_hint("mount -t cgroup -o perf_event none " CGROUPS
		    "/perf_event");
}

static void version_1_has_a_hierarchy_for_perf(void **state)
{
	(void)state;
	fake_write(CGROUPS "/perf_event/cgroup.procs", "1\n");
	assert_hint("hint: a cgroup of 'ls " CGROUPS "/perf_event'");
}

static void version_2_gets_perf_with_any_controller(void **state)
{
	(void)state;
	fake_write(CGROUPS "/cgroup.subtree_control", "\n");
	assert_hint("hint: echo +pids | sudo tee " CGROUPS
		    "/cgroup.subtree_control");
}

/* Whose tasks are anybody's: it wants what a CPU does. */
static void a_user_needs_the_setting_of_a_cpu(void **state)
{
	const struct upmu_perf_event event = { .name = "cpu-clock",
					       .type = PERF_TYPE_SOFTWARE };
	const struct upmu_perf_target target = {
		.pid = 3, .cpu = 0, .group_fd = -1, .flags = UPMU_PERF_CGROUP
	};

	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "1\n");
	fake.perf_error = -EACCES;
	assert_true(upmu_perf_open(&event, &target) < 0);
	assert_said("perf_event_paranoid is 1");
	assert_said("hint: sudo sysctl kernel.perf_event_paranoid=0");
}

#define CGROUP_TEST(name)                                           \
	cmocka_unit_test_setup_teardown(name, boot_without_cgroups, \
					nothing_is_left)

#define ATTACH_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ATTACH_TEST(another_thread_is_counted_by_system_calls),
		ATTACH_TEST(what_it_starts_is_counted_where_asked_for),
		ATTACH_TEST(a_birth_is_waited_for_and_not_for_ever),
		ATTACH_TEST(signals_do_not_cut_that_short),
		ATTACH_TEST(one_event_too_many_of_another_is_enospc),
		ATTACH_TEST(a_program_is_counted_from_its_exec_on),
		ATTACH_TEST(all_that_runs_on_a_cpu_is_counted),
		ATTACH_TEST(of_unlike_cores_the_cpus_own_kind_counts_it),
		ATTACH_TEST(on_unlike_cores_a_thread_is_counted_on_all),
		ATTACH_TEST(on_unlike_cores_the_kernels_own_events_count_once),
		ATTACH_TEST(two_sets_on_a_thread_share_its_counters),
		ATTACH_TEST(a_thread_that_names_itself_is_the_same_thread),
		ATTACH_TEST(a_cpu_and_a_thread_do_not_want_the_same_counter),
		ATTACH_TEST(nor_do_those_that_are_opened_at_once),
		ATTACH_TEST(a_second_full_set_on_a_thread_takes_turns),
		ATTACH_TEST(a_second_full_set_on_a_cpu_takes_turns),
		ATTACH_TEST(a_thread_that_is_not_there_is_esrch),
		ATTACH_TEST(a_cpu_that_is_not_there_is_named),
		ATTACH_TEST(nor_is_one_of_unlike_cores),
		ATTACH_TEST(a_thread_is_counted_where_cpu_0_is_off),
		ATTACH_TEST(registers_are_the_callers_own),
		ATTACH_TEST(targets_that_contradict_are_einval),
		ATTACH_TEST(regions_and_measured_functions_are_the_callers_own),
		ATTACH_TEST(nor_are_they_stopped_for_ever),
		CGROUP_TEST(without_either_the_one_for_perf_is_mounted),
		CGROUP_TEST(version_1_has_a_hierarchy_for_perf),
		CGROUP_TEST(version_2_gets_perf_with_any_controller),
		CGROUP_TEST(a_user_needs_the_setting_of_a_cpu),
	};

	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
