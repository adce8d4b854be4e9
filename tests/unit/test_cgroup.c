// SPDX-License-Identifier: MIT
/* A cgroup that perf cannot count: what its hierarchy lacks, and what to do. */
#include "one_set.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/perf/perf.h"
#include "said.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CGROUP_TEST(without_either_the_one_for_perf_is_mounted),
		CGROUP_TEST(version_1_has_a_hierarchy_for_perf),
		CGROUP_TEST(version_2_gets_perf_with_any_controller),
		CGROUP_TEST(a_user_needs_the_setting_of_a_cpu),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
