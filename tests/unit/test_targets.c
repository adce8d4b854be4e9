// SPDX-License-Identifier: MIT
/* What upmu stat counts on: -p, -t, -C, each task and CPU once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/sys.h"
#include "tools/stat/stat.h"

static struct engine_targets targets;

/* A machine that does not say which CPUs are online. */
static int no_machine(void **state)
{
	(void)state;
	upmu_sys_set_root("/nonexistent");
	return 0;
}

static int this_machine(void **state)
{
	(void)state;
	upmu_sys_set_root(NULL);
	return 0;
}

static void assert_cpus(const char *list, const int *cpus, size_t n)
{
	const struct stat_options options = { .cpus = list };

	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(targets.target[i].cpu, cpus[i]);
		assert_int_equal(targets.target[i].pid, -1);
	}
	stat_targets_free(&targets);
}

static void a_cpu_named_twice_is_counted_once(void **state)
{
	(void)state;
	assert_cpus("0,0", (int[]){ 0 }, 1);
	assert_cpus("3,0-2,1-4,0", (int[]){ 0, 1, 2, 3, 4 }, 5);
}

/* More of them than there are CPUs overflowed a table. */
static void all_cpus_twice_are_each_counted_once(void **state)
{
	const struct stat_options options = { .cpus = "0-1023,0-1023" };

	(void)state;
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, 1024);
	stat_targets_free(&targets);
}

static sem_t over;

static void *wait_for_the_end(void *unused)
{
	(void)unused;
	sem_wait(&over);
	return NULL;
}

/* Ours, and under qemu-user some of the emulator's. */
static size_t own_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(tasks);
	while ((entry = readdir(tasks)))
		n += entry->d_name[0] != '.';
	closedir(tasks);
	return n;
}

/* -p P,P and -p P -t T, where T is a thread of P. */
static void a_task_named_twice_is_counted_once(void **state)
{
	char twice[64], once[32];
	struct stat_options options = { .pids = twice, .tids = once };
	pthread_t thread;

	(void)state;
	sem_init(&over, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_the_end, NULL),
			 0);
	snprintf(twice, sizeof(twice), "%d,%d", getpid(), getpid());
	snprintf(once, sizeof(once), "%d", getpid());
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, own_threads());
	assert_true(targets.n >= 2);
	for (size_t i = 0; i < targets.n; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(targets.target[i].pid,
					     targets.target[j].pid);
	stat_targets_free(&targets);
	sem_post(&over);
	pthread_join(thread, NULL);
}

static void a_malformed_list_is_refused(void **state)
{
	const struct stat_options options = { .cpus = "0,x" };

	(void)state;
	assert_int_equal(stat_targets_find(&targets, &options), -1);
	stat_targets_free(&targets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_cpu_named_twice_is_counted_once, no_machine,
			this_machine),
		cmocka_unit_test_setup_teardown(
			all_cpus_twice_are_each_counted_once, no_machine,
			this_machine),
		cmocka_unit_test(a_task_named_twice_is_counted_once),
		cmocka_unit_test(a_malformed_list_is_refused),
	};

	return cmocka_run_group_tests_name("targets", tests, NULL, NULL);
}
