// SPDX-License-Identifier: MIT
/* The program that upmu runs, where it does not come to run. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/child.h"

static char name[] = "true";
static char *command[] = { name, NULL };

/* As by Ctrl-C, or by the kernel where memory is short. */
static void kill_before_it_runs(int (*start)(struct child *, char **))
{
	struct child child;
	siginfo_t info;

	assert_int_equal(start(&child, command), 0);
	assert_int_equal(kill(child.pid, SIGKILL), 0);
	assert_int_equal(
		waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(child_go(&child), 0);
	child_wait(&child);
	assert_true(WIFSIGNALED(child.status));
	assert_int_equal(child_exit_status(&child), 128 + SIGKILL);
	child_done(&child);
}

static void a_child_killed_before_it_runs_ends_by_its_signal(void **state)
{
	(void)state;
	kill_before_it_runs(child_start);
	kill_before_it_runs(child_fork);
}

/* Between its end and the report: Ctrl-C that was meant for it. */
static void
a_signal_behind_the_programs_end_is_taken_and_ends_nothing(void **state)
{
	struct child child;

	(void)state;
	assert_int_equal(child_start(&child, command), 0);
	assert_int_equal(child_go(&child), 0);
	child_wait(&child);
	assert_int_equal(child_late_signal(), 0);
	kill(getpid(), SIGUSR1);
	assert_int_equal(child_late_signal(), 0);
	kill(getpid(), SIGTERM);
	assert_int_equal(child_late_signal(), SIGTERM);
	child_done(&child);
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += dup2(fd, fd) == fd;
	return n;
}

static void no_descriptor_is_left_of_a_child_however_it_ends(void **state)
{
	int before = count_descriptors();
	struct child child;

	(void)state;
	kill_before_it_runs(child_start);
	assert_int_equal(child_start(&child, command), 0);
	child_kill(&child);
	child_done(&child);
	assert_int_equal(child_start(&child, command), 0);
	assert_int_equal(child_go(&child), 0);
	child_wait(&child);
	assert_int_equal(child_exit_status(&child), 0);
	child_done(&child);
	assert_int_equal(count_descriptors(), before);
}

/* As by kill(1), of upmu alone: the program has its own way to end. */
static void a_signal_for_upmu_is_passed_on_to_the_program(void **state)
{
	static char shell[] = "sh", c[] = "-c",
		    script[] = "trap 'exit 7' TERM; kill -TERM $PPID; "
			       "while :; do sleep 0.01; done";
	char *words[] = { shell, c, script, NULL };
	struct child child;

	(void)state;
	assert_int_equal(child_start(&child, words), 0);
	assert_int_equal(child_go(&child), 0);
	child_wait(&child);
	assert_int_equal(child_exit_status(&child), 7);
	child_done(&child);
}

static void without_descriptors_no_child_starts_and_none_is_left(void **state)
{
	struct rlimit before, few;
	int open = count_descriptors(), error;
	sigset_t now;
	struct child child;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &before);
	for (int left = 0; left < 4; left++) {
		few = before;
		few.rlim_cur = (rlim_t)dup(0) + left;
		close((int)few.rlim_cur - left);
		setrlimit(RLIMIT_NOFILE, &few);
		error = child_start(&child, command);
		setrlimit(RLIMIT_NOFILE, &before);
		assert_int_equal(error, -EMFILE);
		assert_int_equal(count_descriptors(), open);
		sigprocmask(SIG_BLOCK, NULL, &now);
		assert_int_equal(sigismember(&now, SIGTERM), 0);
		assert_int_equal(sigismember(&now, SIGCHLD), 0);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_child_killed_before_it_runs_ends_by_its_signal),
		cmocka_unit_test(
			a_signal_behind_the_programs_end_is_taken_and_ends_nothing),
		cmocka_unit_test(
			no_descriptor_is_left_of_a_child_however_it_ends),
		cmocka_unit_test(a_signal_for_upmu_is_passed_on_to_the_program),
		cmocka_unit_test(
			without_descriptors_no_child_starts_and_none_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
