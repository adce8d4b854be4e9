// SPDX-License-Identifier: MIT
/* fork() while a set is half open, in another thread and in this one. */
#include "one_set.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static void open_set(void)
{
	int ret = upmu_open(&set, "cycles,r8,r9", NULL);

	if (ret)
		fail_msg("%d: %s", ret, upmu_explain());
}

/* ---- before the first set ---- */

static atomic_bool is_over;

static void *open_regions(void *unused)
{
	struct upmu_region *region;

	while (!is_over)
		upmu_region_open(&region, "last");
	return unused;
}

static int fork_into_a_region(void)
{
	struct upmu_region *region;
	pid_t child = fork();
	int status = -1;

	if (!child) {
		alarm(10);
		_exit(upmu_region_open(&region, "last") ? 1 : 0);
	}
	waitpid(child, &status, 0);
	return status;
}

/* Tried first: no set has been opened yet. */
static void a_child_opens_regions_beside_a_thread_that_does(void **state)
{
	struct upmu_region *region;
	pthread_t opener;
	int status = 0;

	(void)state;
	for (char name[] = "a"; name[0] < 'a' + 30; name[0]++)
		upmu_region_open(&region, name);
	pthread_create(&opener, NULL, open_regions, NULL);
	for (int i = 0; !status && i < 50; i++)
		status = fork_into_a_region();
	is_over = true;
	pthread_join(opener, NULL);
	assert_int_equal(status, 0);
}

static pthread_mutex_t programs = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, is_forked;

static void lock_programs(void)
{
	pthread_mutex_lock(&programs);
}

static void unlock_programs(void)
{
	pthread_mutex_unlock(&programs);
}

/* Of a program with the library in it its own constructors come first. */
__attribute__((constructor)) static void go_around_forks(void)
{
	pthread_atfork(lock_programs, unlock_programs, unlock_programs);
}

static void *open_under_the_programs_lock(void *unused)
{
	lock_programs();
	sem_post(&is_held);
	usleep(50000);
	open_set();
	unlock_programs();
	/* A thread that has ended is a leak of the child's to TSan. */
	sem_wait(&is_forked);
	return unused;
}

static void a_programs_own_lock_around_an_open_keeps_no_fork(void **state)
{
	pthread_t opener;
	int status = -1;
	pid_t child;

	(void)state;
	sem_init(&is_held, 0, 0);
	sem_init(&is_forked, 0, 0);
	open_set();
	upmu_close(set);
	pthread_create(&opener, NULL, open_under_the_programs_lock, NULL);
	sem_wait(&is_held);
	alarm(10);
	child = fork();
	if (!child)
		_exit(0);
	sem_post(&is_forked);
	waitpid(child, &status, 0);
	pthread_join(opener, NULL);
	alarm(0);
	assert_int_equal(status, 0);
}

/* ---- in the middle ---- */

static sem_t fork_now;

/* Half of the set is open: another thread is asked to fork, and has time to. */
static void ask_for_a_fork(void)
{
	if (fake_open_fds() < 3)
		return;
	sem_post(&fork_now);
	usleep(50000);
}

/* The child knows no set, so it has no descriptors: none, or all of those of a
 * set that the program can close. */
static void *fork_when_asked(void *out)
{
	int *status = out;
	pid_t child;

	sem_wait(&fork_now);
	child = fork();
	if (!child) {
		upmu_close(set);
		_exit((int)fake_open_fds());
	}
	waitpid(child, status, 0);
	return NULL;
}

static void a_fork_waits_for_the_end_of_an_open(void **state)
{
	pthread_t forker;
	int status = -1;

	(void)state;
	sem_init(&fork_now, 0, 0);
	fake.in_perf_open = ask_for_a_fork;
	pthread_create(&forker, NULL, fork_when_asked, &status);
	open_set();
	pthread_join(forker, NULL);
	assert_int_equal(status, 0);
}

static int status_of_handlers_child = -1;

static void fork_in_a_handler(int signal)
{
	pid_t child = fork();

	(void)signal;
	if (!child)
		_exit(0);
	waitpid(child, &status_of_handlers_child, 0);
}

static void interrupt_once(void)
{
	fake.in_perf_open = NULL;
	raise(SIGUSR1);
}

/* What it waits for would never come. */
static void a_signal_handler_forks_in_the_middle_of_an_open(void **state)
{
	(void)state;
	signal(SIGUSR1, fork_in_a_handler);
	fake.in_perf_open = interrupt_once;
	open_set();
	signal(SIGUSR1, SIG_DFL);
	assert_int_equal(status_of_handlers_child, 0);
}

static pthread_t waiter;
static pid_t half_opened_child = -1;

/* A set that names whom it counts is opened alone. */
static void *open_alone(void *unused)
{
	const struct upmu_options itself = { .size = sizeof(itself),
					     .pid = getpid() };
	struct upmu *own = NULL;

	assert_int_equal(upmu_open(&own, "cycles", &itself), 0);
	upmu_close(own);
	return unused;
}

static void fork_and_go_on(int signal)
{
	(void)signal;
	half_opened_child = fork();
}

static void interrupt_beside_a_waiter(void)
{
	fake.in_perf_open = NULL;
	pthread_create(&waiter, NULL, open_alone, NULL);
	usleep(50000); /* it waits by now */
	raise(SIGUSR1);
}

/* Who waits in the parent is not in the child. */
static void a_child_waits_for_nobody_who_is_not_there(void **state)
{
	int status = -1;

	(void)state;
	signal(SIGUSR1, fork_and_go_on);
	fake.in_perf_open = interrupt_beside_a_waiter;
	open_set();
	signal(SIGUSR1, SIG_DFL);
	if (!half_opened_child) {
		alarm(10);
		upmu_close(set);
		open_set();
		open_alone(NULL);
		_exit(0);
	}
	pthread_join(waiter, NULL);
	waitpid(half_opened_child, &status, 0);
	assert_int_equal(status, 0);
}

static void probe_page(void)
{
	struct upmu_verdict verdict = { .size = sizeof(verdict) };

	assert_int_equal(upmu_probe(0, &verdict), 0);
	assert_string_equal(verdict.source, "page");
	assert_int_equal(verdict.error, 0);
}

static void *probe_and_be_cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	probe_page();
	return unused;
}

/* What it held would be held for ever, and so would the lock of the lease. */
static void a_thread_that_is_cancelled_in_a_probe_ends_it_first(void **state)
{
	pthread_t thread;

	(void)state;
	fake.in_perf_open = pthread_testcancel;
	pthread_create(&thread, NULL, probe_and_be_cancelled, NULL);
	pthread_join(thread, NULL);
	fake_assert_closed();
	fake.in_perf_open = NULL;
	open_set();
}

static bool has_cancel_state(int wanted)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	return state == wanted;
}

static void assert_kept_by_a_fork(int wanted)
{
	pid_t child;
	int status = -1;

	pthread_setcancelstate(wanted, NULL);
	child = fork();
	if (!child)
		_exit(has_cancel_state(wanted) ? 0 : 1);
	assert_true(has_cancel_state(wanted));
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

static void a_fork_lets_a_thread_be_cancelled_as_before(void **state)
{
	(void)state;
	open_set();
	assert_kept_by_a_fork(PTHREAD_CANCEL_ENABLE);
	assert_kept_by_a_fork(PTHREAD_CANCEL_DISABLE);
}

static sem_t is_measuring, may_return;

static void wait_in_the_first_run(void *first)
{
	if (!*(int *)first)
		return;
	*(int *)first = 0;
	sem_post(&is_measuring);
	sem_wait(&may_return);
}

/* By read(2): pages name registers that are not there. */
static void *measure_something(void *first)
{
	const struct upmu_options by_read = { .size = sizeof(by_read),
					      .source = "read" };
	const struct upmu_measure_options options = { .size = sizeof(options),
						      .runs = 1,
						      .open = &by_read };
	struct upmu_measurement result = { .size = sizeof(result) };
	int ret = upmu_measure(wait_in_the_first_run, first, &options, &result,
			       1);

	return (void *)(intptr_t)ret;
}

/* As long as the child lives its copies would have counters of this thread. */
static void a_child_keeps_nothing_of_another_threads_measuring(void **state)
{
	int status = -1, first = 1;
	pthread_t thread;
	void *ret;
	pid_t child;

	(void)state;
	sem_init(&is_measuring, 0, 0);
	sem_init(&may_return, 0, 0);
	pthread_create(&thread, NULL, measure_something, &first);
	sem_wait(&is_measuring);
	child = fork();
	if (!child)
		_exit((int)fake_open_fds());
	waitpid(child, &status, 0);
	sem_post(&may_return);
	pthread_join(thread, &ret);
	assert_int_equal(status, 0);
	assert_null(ret);
}

static atomic_bool is_enough;

static void *measure_until_enough(void *unused)
{
	void *ret = NULL;
	int first = 0;

	(void)unused;
	while (!ret && !is_enough)
		ret = measure_something(&first);
	return ret;
}

static void ask_for_one_of_many_forks(void)
{
	sem_post(&fork_now);
	usleep(1000);
}

/* Each fork waits for the end of an upmu_open(), and goes on at once. */
static void a_child_keeps_nothing_of_what_was_just_opened(void **state)
{
	pthread_t thread;
	int kept = 0;
	void *ret;

	(void)state;
	sem_init(&fork_now, 0, 0);
	fake.in_perf_open = ask_for_one_of_many_forks;
	pthread_create(&thread, NULL, measure_until_enough, NULL);
	for (int i = 0; i < 100; i++) {
		int status = -1;
		pid_t child;

		sem_wait(&fork_now);
		child = fork();
		if (!child)
			_exit((int)fake_open_fds());
		waitpid(child, &status, 0);
		kept += status != 0;
	}
	is_enough = true;
	pthread_join(thread, &ret);
	assert_int_equal(kept, 0);
	assert_null(ret);
}

#define FORK_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FORK_TEST(a_child_opens_regions_beside_a_thread_that_does),
		FORK_TEST(a_programs_own_lock_around_an_open_keeps_no_fork),
		FORK_TEST(a_fork_waits_for_the_end_of_an_open),
		FORK_TEST(a_signal_handler_forks_in_the_middle_of_an_open),
		FORK_TEST(a_child_waits_for_nobody_who_is_not_there),
		FORK_TEST(a_thread_that_is_cancelled_in_a_probe_ends_it_first),
		FORK_TEST(a_fork_lets_a_thread_be_cancelled_as_before),
		FORK_TEST(a_child_keeps_nothing_of_another_threads_measuring),
		FORK_TEST(a_child_keeps_nothing_of_what_was_just_opened),
	};

	return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
