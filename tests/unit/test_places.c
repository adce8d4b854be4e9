// SPDX-License-Identifier: MIT
/* What has rows of its own: which CPUs are together, how places are called. */
#include "own_root.h"

#include "tools/stat/stat.h"

static struct engine_events events; /* large */
static struct stat_report report;
static struct stat_options options;

static void topology(int cpu, const char *file, const char *list)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/%s",
		 cpu, file);
	put(path, list);
}

/* Places of @cpus CPUs, or of the threads that are named. */
static int make(struct engine_target *target, size_t n)
{
	const struct engine_targets targets = { .target = target, .n = n };
	struct upmu_events_error why;

	assert_int_equal(engine_events_resolve(&events, "task-clock", &why), 0);
	report = (struct stat_report){ .options = &options, .events = &events };
	return stat_places_make(&report, &events, &targets);
}

static void make_of_cpus(enum stat_per per, int cpus)
{
	struct engine_target target[8];

	for (int cpu = 0; cpu < cpus; cpu++)
		target[cpu] = (struct engine_target){ .pid = -1, .cpu = cpu };
	options = (struct stat_options){ .all_cpus = true };
	options.per[per] = true;
	assert_int_equal(make(target, (size_t)cpus), 0);
}

static void assert_place(size_t i, const char *name, size_t n, int first)
{
	assert_true(i < report.places);
	assert_string_equal(report.place[i].name, name);
	assert_int_equal(report.place[i].own.n, n);
	assert_int_equal(report.place[i].own.target[0].cpu, first);
	assert_ptr_equal(report.place[i].targets, &report.place[i].own);
	assert_string_equal(stat_part(&report, i).place_name, name);
}

static void drop(void)
{
	stat_places_free(&report);
	assert_int_equal(report.places, 0);
	assert_null(report.place);
	engine_events_free(&events);
}

static void each_cpu_is_a_place(void **state)
{
	(void)state;
	topology(0, "core_cpus_list", "0-1\n");
	make_of_cpus(STAT_PER_CPU, 3);
	assert_int_equal(report.places, 3);
	assert_int_equal(stat_parts(&report), 3);
	assert_place(0, "CPU0", 1, 0);
	assert_place(1, "CPU1", 1, 1);
	assert_place(2, "CPU2", 1, 2);
	drop();
}

static void cpus_are_together_as_the_kernel_lists_them(void **state)
{
	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		topology(cpu, "core_cpus_list", cpu < 2 ? "0-1" : "2-3");
		topology(cpu, "thread_siblings_list", "9");
		topology(cpu, "cluster_cpus_list", cpu < 3 ? "0-2" : "3");
		topology(cpu, "die_cpus_list", cpu < 1 ? "0" : "1-3");
		topology(cpu, "package_cpus_list", "0-3");
		topology(cpu, "core_siblings_list", "8");
	}
	make_of_cpus(STAT_PER_CORE, 4);
	assert_int_equal(report.places, 2);
	assert_place(0, "core 0-1", 2, 0);
	assert_place(1, "core 2-3", 2, 2);
	drop();
	make_of_cpus(STAT_PER_CLUSTER, 4);
	assert_place(0, "cluster 0-2", 3, 0);
	assert_place(1, "cluster 3", 1, 3);
	drop();
	make_of_cpus(STAT_PER_DIE, 4);
	assert_place(0, "die 0", 1, 0);
	assert_place(1, "die 1-3", 3, 1);
	drop();
	make_of_cpus(STAT_PER_SOCKET, 4);
	assert_int_equal(report.places, 1);
	assert_place(0, "socket 0-3", 4, 0);
	drop();
}

static void older_kernels_have_older_names_and_none_has_none(void **state)
{
	(void)state;
	topology(0, "thread_siblings_list", "0-1");
	topology(1, "thread_siblings_list", "0-1");
	topology(0, "core_siblings_list", "0-2");
	topology(1, "core_siblings_list", "0-2");
	make_of_cpus(STAT_PER_CORE, 3);
	assert_int_equal(report.places, 2);
	assert_place(0, "core 0-1", 2, 0);
	assert_place(1, "CPU2", 1, 2);
	drop();
	make_of_cpus(STAT_PER_CLUSTER, 3);
	assert_place(0, "cluster 0-2", 2, 0);
	assert_place(1, "CPU2", 1, 2);
	drop();
	make_of_cpus(STAT_PER_DIE, 1);
	assert_place(0, "die 0-2", 1, 0);
	drop();
	make_of_cpus(STAT_PER_SOCKET, 1);
	assert_place(0, "socket 0-2", 1, 0);
	drop();
	topology(0, "package_cpus_list", "0-5");
	make_of_cpus(STAT_PER_DIE, 1);
	assert_place(0, "die 0-5", 1, 0);
	drop();
	make_of_cpus(STAT_PER_CLUSTER, 1);
	assert_place(0, "cluster 0-5", 1, 0);
	drop();
}

static void a_thread_is_called_by_its_name_without_signs(void **state)
{
	struct engine_target target[] = { { .pid = 12, .cpu = -1 },
					  { .pid = 13, .cpu = -1 } };

	(void)state;
	put("proc/12/comm", "a\033[2Jb\n");
	options = (struct stat_options){ .pids = "12" };
	options.per[STAT_PER_THREAD] = true;
	assert_int_equal(make(target, 2), 0);
	assert_int_equal(report.places, 2);
	assert_string_equal(report.place[0].name, "a?[2Jb-12");
	assert_string_equal(report.place[1].name, "13");
	assert_int_equal(report.place[1].own.target[0].pid, 13);
	drop();
}

static void without_rows_of_their_own_the_whole_is_a_part(void **state)
{
	struct engine_target target = { .pid = -1, .cpu = 0 };

	(void)state;
	options = (struct stat_options){ .all_cpus = true };
	assert_int_equal(make(&target, 1), 0);
	assert_int_equal(report.places, 0);
	assert_int_equal(stat_parts(&report), 1);
	assert_ptr_equal(stat_part(&report, 0).events, &events);
	drop();
}

static void a_reason_is_that_of_the_first_place_that_has_one(void **state)
{
	(void)state;
	make_of_cpus(STAT_PER_CPU, 3);
	assert_string_equal(stat_reason(&report), "");
	assert_false(stat_is_user_only(&report));
	strcpy(report.place[1].events->reason, "one");
	strcpy(report.place[2].events->reason, "other");
	report.place[2].events->user_only = true;
	assert_string_equal(stat_reason(&report), "one");
	assert_true(stat_is_user_only(&report));
	assert_null(report.place[0].sum);
	drop();
}

static void a_cgroup_that_is_none_is_refused(void **state)
{
	static char *const bad[] = { "upmu-nonexistent", "", ",",
				     "../../kernel", "../../../tmp" };
	struct engine_target target = { .pid = -1, .cpu = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options = (struct stat_options){ .cgroups = bad[i] };
		if (make(&target, 1) != -1)
			fail_msg("'%s'", bad[i]);
		drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_ROOT_TEST(each_cpu_is_a_place),
		OWN_ROOT_TEST(cpus_are_together_as_the_kernel_lists_them),
		OWN_ROOT_TEST(older_kernels_have_older_names_and_none_has_none),
		OWN_ROOT_TEST(a_thread_is_called_by_its_name_without_signs),
		OWN_ROOT_TEST(without_rows_of_their_own_the_whole_is_a_part),
		OWN_ROOT_TEST(a_reason_is_that_of_the_first_place_that_has_one),
		OWN_ROOT_TEST(a_cgroup_that_is_none_is_refused),
	};

	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
