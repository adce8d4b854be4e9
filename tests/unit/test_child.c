// SPDX-License-Identifier: MIT
/* The program that upmu runs, where it does not come to run. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_child_killed_before_it_runs_ends_by_its_signal),
		cmocka_unit_test(
			a_signal_behind_the_programs_end_is_taken_and_ends_nothing),
		cmocka_unit_test(
			no_descriptor_is_left_of_a_child_however_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
