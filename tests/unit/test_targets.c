// SPDX-License-Identifier: MIT
/* What upmu stat counts on: -p, -t, -C, each once; the CPUs that were lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/engine/engine.h"
#include "lib/sys.h"
#include "own_root.h"
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

static void assert_cpus(char *list, const int *cpus, size_t n)
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

static bool is_alive(pid_t pid)
{
	struct engine_target target = { .pid = pid, .cpu = -1 };
	const struct engine_targets one = { .target = &target, .n = 1 };

	return stat_targets_alive(&one);
}

/* Whoever started it may ask only later, or wait for upmu first. */
static void a_process_that_nobody_waited_for_is_over(void **state)
{
	pid_t pid = fork();
	siginfo_t info;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(is_alive(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(is_alive(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(is_alive(pid));
}

static void *stay(void *unused)
{
	pause();
	return unused;
}

static bool is_first_thread_over(pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
	return !upmu_sys_read_text(path, text, sizeof(text)) &&
	       strstr(text, ") Z ");
}

static void a_process_goes_on_without_its_first_thread(void **state)
{
	pthread_t thread;
	pid_t pid = fork();
	int tries = 0;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		if (pthread_create(&thread, NULL, stay, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	while (!is_first_thread_over(pid) && tries++ < 5000)
		usleep(1000);
	assert_true(is_first_thread_over(pid));
	assert_true(is_alive(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void lost_cpus_are_told_by_their_numbers(void **state)
{
	struct engine_cpu cpus[] = { { .number = 0 },
				     { .number = 5, .lost = true },
				     { .number = 63, .lost = true },
				     { .number = 64, .lost = true },
				     { .number = 130, .lost = true } };
	const struct engine engine = {
		.sets = { .cpu = cpus, .targets = sizeof(cpus) / sizeof(*cpus) }
	};
	uint64_t lost[3] = { 2 };

	(void)state;
	engine_tell_lost(&engine, lost);
	assert_true(lost[0] == (UINT64_C(1) << 63 | 1 << 5 | 2));
	assert_true(lost[1] == 1);
	assert_true(lost[2] == 4);
}

static int find_cpus(char *list)
{
	const struct stat_options options = { .cpus = list };
	int error = stat_targets_find(&targets, &options);

	stat_targets_free(&targets);
	return error;
}

static void a_list_of_cpus_is_whole_and_in_order_or_refused(void **state)
{
	static char *const good[] = { "7", "1023", "5-5", "0-1,1023" };
	static char *const bad[] = { "",     "-",    "-1",     "1-",	"1-x",
				     "3-2",  "1024", "0-1024", "0,",	",0",
				     "0,,1", "0 ",   " 0",     "0-1-2", "+1",
				     "0x1",  "0,1-", "0,2-1" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (find_cpus(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (find_cpus(bad[i]) != -1)
			fail_msg("'%s'", bad[i]);
}

static void a_cpu_that_is_not_online_is_refused(void **state)
{
	(void)state;
	put("sys/devices/system/cpu/online", "1-3,6\n");
	assert_int_equal(find_cpus("1"), 0);
	assert_int_equal(find_cpus("1-3,6"), 0);
	assert_int_equal(find_cpus("0"), -1);
	assert_int_equal(find_cpus("4"), -1);
	assert_int_equal(find_cpus("1,7"), -1);
	assert_int_equal(find_cpus("0-3"), -1);
}

static void cpus_that_come_on_are_told_and_no_others(void **state)
{
	struct stat_options options = { .all_cpus = true };
	uint64_t missed[UPMU_CPUS_MAX / 64] = { 0 };

	(void)state;
	put("sys/devices/system/cpu/online", "1-2,64\n");
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	stat_targets_missed(&targets, &options, missed);
	assert_true(!missed[0] && !missed[1]);
	/* CPU 2 went off, that is another matter */
	put("sys/devices/system/cpu/online", "0-1,64-65\n");
	stat_targets_missed(&targets, &options, missed);
	assert_true(missed[0] == 1 && missed[1] == 2);
	/* and stays missed */
	put("sys/devices/system/cpu/online", "1-2,64\n");
	stat_targets_missed(&targets, &options, missed);
	assert_true(missed[0] == 1 && missed[1] == 2);
	stat_targets_free(&targets);
}

/* A task is counted on each CPU that it runs on. */
static void of_tasks_no_cpu_comes_on(void **state)
{
	char self[16];
	struct stat_options options = { .tids = self };
	uint64_t missed[UPMU_CPUS_MAX / 64] = { 0 };

	(void)state;
	snprintf(self, sizeof(self), "%ld", (long)getpid());
	put("sys/devices/system/cpu/online", "0-1\n");
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	stat_targets_missed(&targets, &options, missed);
	assert_true(!missed[0]);
	stat_targets_free(&targets);
}

static void all_cpus_are_those_that_are_online(void **state)
{
	struct stat_options options = { .all_cpus = true };

	(void)state;
	/* without /sys: as many as the C library knows of */
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(targets.target[0].cpu, 0);
	assert_int_equal(targets.target[targets.n - 1].cpu, targets.n - 1);
	stat_targets_free(&targets);
	put("sys/devices/system/cpu/online", "2,5\n");
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, 2);
	assert_int_equal(targets.target[0].cpu, 2);
	assert_int_equal(targets.target[1].cpu, 5);
	assert_int_equal(targets.target[1].pid, -1);
	stat_targets_free(&targets);
	options = (struct stat_options){ .cgroups = "a" };
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, 2);
	stat_targets_free(&targets);
	/* neither: what is started is counted */
	options = (struct stat_options){ 0 };
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	assert_int_equal(targets.n, 0);
	stat_targets_free(&targets);
}

static void a_list_of_tasks_is_of_those_that_are_there(void **state)
{
	static char *const bad[] = { "",	  ",",		"0",
				     "-1",	  "x",		"1x",
				     "999999999", "1000000001", "00000000001" };
	char some[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct stat_options options = { .pids = bad[i] };

		if (stat_targets_find(&targets, &options) != -1)
			fail_msg("-p '%s'", bad[i]);
		stat_targets_free(&targets);
		options = (struct stat_options){ .tids = bad[i] };
		if (stat_targets_find(&targets, &options) != -1)
			fail_msg("-t '%s'", bad[i]);
		stat_targets_free(&targets);
		snprintf(some, sizeof(some), "%d,%s", getpid(), bad[i]);
		options.tids = some;
		if (bad[i][0] && bad[i][0] != ',' &&
		    stat_targets_find(&targets, &options) != -1)
			fail_msg("-t '%s'", some);
		stat_targets_free(&targets);
	}
}

static void *start_thread(pthread_t *thread)
{
	assert_int_equal(pthread_create(thread, NULL, wait_for_the_end, NULL),
			 0);
	return thread;
}

static void a_process_grows_by_the_threads_that_came_since(void **state)
{
	char own[32];
	struct stat_options options = { .pids = own };
	const struct stat_options other = { .tids = own };
	pthread_t thread;
	size_t before;

	(void)state;
	sem_init(&over, 0, 0);
	snprintf(own, sizeof(own), "%d", getpid());
	assert_int_equal(stat_targets_find(&targets, &options), 0);
	before = targets.n;
	assert_int_equal(stat_targets_grow(&targets, &options), 0);
	assert_int_equal(targets.n, before);
	start_thread(&thread);
	assert_int_equal(stat_targets_grow(&targets, &other), 0);
	assert_int_equal(targets.n, before);
	assert_int_equal(stat_targets_grow(&targets, &options), 1);
	assert_int_equal(targets.n, before + 1);
	sem_post(&over);
	pthread_join(thread, NULL);
	/* One that has ended stays, and a process that has is no mistake. */
	assert_int_equal(stat_targets_grow(&targets, &options), 0);
	assert_int_equal(targets.n, before + 1);
	options.pids = "999999999";
	assert_int_equal(stat_targets_grow(&targets, &options), 0);
	stat_targets_free(&targets);
}

static void one_that_is_alive_is_enough(void **state)
{
	struct engine_target two[] = { { .pid = 999999999, .cpu = -1 },
				       { .pid = getpid(), .cpu = -1 } };
	const struct engine_target cpu = { .pid = -1, .cpu = 0 };
	struct engine_targets some = { .target = two, .n = 2 };

	(void)state;
	assert_true(stat_targets_alive(&some));
	some.n = 1;
	assert_false(stat_targets_alive(&some));
	two[0] = cpu;
	assert_true(stat_targets_alive(&some));
	some.n = 0;
	assert_false(stat_targets_alive(&some));
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
		cmocka_unit_test(a_process_that_nobody_waited_for_is_over),
		cmocka_unit_test(a_process_goes_on_without_its_first_thread),
		cmocka_unit_test(lost_cpus_are_told_by_their_numbers),
		cmocka_unit_test_setup_teardown(
			a_list_of_cpus_is_whole_and_in_order_or_refused,
			no_machine, this_machine),
		OWN_ROOT_TEST(a_cpu_that_is_not_online_is_refused),
		OWN_ROOT_TEST(all_cpus_are_those_that_are_online),
		OWN_ROOT_TEST(cpus_that_come_on_are_told_and_no_others),
		OWN_ROOT_TEST(of_tasks_no_cpu_comes_on),
		cmocka_unit_test(a_list_of_tasks_is_of_those_that_are_there),
		cmocka_unit_test(
			a_process_grows_by_the_threads_that_came_since),
		cmocka_unit_test(one_that_is_alive_is_enough),
	};

	return cmocka_run_group_tests_name("targets", tests, NULL, NULL);
}
