// SPDX-License-Identifier: MIT
/* The program that upmu runs, where it does not come to run. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

static int run(struct child *child, const char *script)
{
	char shell[] = "sh", c[] = "-c", *words[] = { shell, c, NULL, NULL };
	char *text = strdup(script);
	int error;

	words[2] = text;
	assert_int_equal(child_start(child, words), 0);
	error = child_go(child);
	if (!error)
		child_wait(child);
	child_done(child);
	free(text);
	return error;
}

static void the_status_is_what_a_shell_would_say(void **state)
{
	static const struct {
		const char *script;
		int status;
	} ends[] = {
		{ "exit 0", 0 },	  { "exit 3", 3 },
		{ "exit 255", 255 },	  { "kill -TERM $$", 143 },
		{ "kill -KILL $$", 137 },
	};
	struct child child;

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_int_equal(run(&child, ends[i].script), 0);
		assert_true(child.ended);
		assert_int_equal(child_exit_status(&child), ends[i].status);
	}
	assert_int_equal(run(&child, "i=0; while [ $i -lt 9999 ]; do "
				     "i=$((i + 1)); done"),
			 0);
	assert_true(child.usage.ru_utime.tv_usec + child.usage.ru_utime.tv_sec +
			    child.usage.ru_stime.tv_usec >
		    0);
}

static void what_cannot_be_executed_is_told_by_its_errno(void **state)
{
	static char none[] = "/nonexistent/program", folder[] = "/";
	char *words[] = { none, NULL };
	struct child child;

	(void)state;
	assert_int_equal(child_start(&child, words), 0);
	assert_int_equal(child_go(&child), -ENOENT);
	assert_true(child.ended);
	assert_int_equal(child_exit_status(&child), 127);
	child_done(&child);
	words[0] = folder;
	assert_int_equal(child_fork(&child, words), 0);
	assert_int_equal(child_go(&child), -EACCES);
	assert_true(child.ended);
	assert_int_equal(child_exit_status(&child), 126);
	child_done(&child);
	assert_int_equal(child_exec_status(-ENOENT), 127);
	assert_int_equal(child_exec_status(-EACCES), 126);
	assert_int_equal(child_exec_status(-ENOEXEC), 126);
}

/* As nohup and shells leave them: what upmu was given, the program is. */
static void the_program_has_the_signals_that_upmu_was_given(void **state)
{
	static const char blocks_none[] =
		"exec grep -q '^SigBlk:[^1-9a-f]*$' /proc/self/status";
	struct sigaction ignored = { .sa_handler = SIG_IGN }, before, now;
	struct sigaction given; /* a script's "&" has it ignored */
	sigset_t mask;
	struct child child;

	(void)state;
	sigaction(SIGINT, NULL, &given);
	assert_int_equal(run(&child, blocks_none), 0);
	assert_int_equal(child_exit_status(&child), 0);
	sigaction(SIGCHLD, &ignored, &before);
	child_heed_ends();
	assert_int_equal(run(&child, "exit 5"), 0);
	assert_int_equal(child_exit_status(&child), 5);
	sigaction(SIGCHLD, &before, NULL);
	child_heed_ends();
	sigaction(SIGINT, NULL, &now);
	assert_ptr_equal(now.sa_handler, given.sa_handler);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number < 32; number++)
		assert_int_equal(sigismember(&mask, number), 0);
}

static void only_a_hangup_may_stay_ignored(void **state)
{
	static const int taken[] = { SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
				     SIGHUP,  SIGUSR1, SIGUSR2 };
	struct sigaction ignored = { .sa_handler = SIG_IGN }, before;
	struct child child;
	sigset_t mask;

	(void)state;
	child_none(&child);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		assert_int_equal(sigismember(&mask, taken[i]), 1);
	assert_int_equal(sigismember(&mask, SIGSEGV), 0);
	child_done(&child);
	for (size_t i = 1; i < sizeof(taken) / sizeof(taken[0]); i++) {
		sigaction(taken[i], &ignored, &before);
		child_none(&child);
		sigprocmask(SIG_BLOCK, NULL, &mask);
		assert_int_equal(sigismember(&mask, taken[i]),
				 taken[i] != SIGHUP);
		child_done(&child);
		sigaction(taken[i], &before, NULL);
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

static void of_late_signals_only_those_that_end_upmu_are_told(void **state)
{
	static const int none[] = { SIGCHLD, SIGUSR1, SIGUSR2 };
	static const int some[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct child child;

	(void)state;
	child_none(&child);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		raise(none[i]);
		assert_int_equal(child_late_signal(), 0);
	}
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		raise(some[i]);
		raise(SIGUSR2);
		assert_int_equal(child_late_signal(), some[i]);
		assert_int_equal(child_late_signal(), 0);
	}
	child_done(&child);
}

static void start_sleeper(struct child *child)
{
	static char sleeper[] = "sleep", long_time[] = "100";
	char *words[] = { sleeper, long_time, NULL };

	assert_int_equal(child_start(child, words), 0);
	assert_int_equal(child_go(child), 0);
	assert_false(child_reap(child, false));
	assert_false(child->ended);
}

static void a_terminals_signal_is_not_passed_on_twice(void **state)
{
	siginfo_t info = { .si_signo = SIGTERM, .si_code = SI_KERNEL };
	struct child child;

	(void)state;
	start_sleeper(&child);
	child_pass_on(&child, &info);
	usleep(20000);
	assert_false(child_reap(&child, false));
	info.si_code = SI_USER;
	child_pass_on(&child, &info);
	assert_true(child_reap(&child, true));
	assert_int_equal(child_exit_status(&child), 128 + SIGTERM);
	assert_true(child_reap(&child, false));
	assert_int_equal(child_exit_status(&child), 128 + SIGTERM);
	child_done(&child);
}

static void one_that_is_stopped_ends_too(void **state)
{
	struct child child;
	siginfo_t info;

	(void)state;
	start_sleeper(&child);
	kill(child.pid, SIGSTOP);
	assert_int_equal(
		waitid(P_PID, (id_t)child.pid, &info, WSTOPPED | WNOWAIT), 0);
	child_terminate(&child);
	assert_true(child_reap(&child, true));
	assert_int_equal(child_exit_status(&child), 128 + SIGTERM);
	child_done(&child);
}

static void one_that_is_killed_before_never_runs(void **state)
{
	char path[] = "/tmp/upmu-child-XXXXXX";
	static char remove[] = "rm";
	char *words[] = { remove, path, NULL };
	struct child child;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(child_start(&child, words), 0);
	child_kill(&child);
	assert_true(child.ended);
	assert_int_equal(child_exit_status(&child), EXIT_FAILED);
	child_done(&child);
	assert_int_equal(unlink(path), 0);
}

/* How a process ends that has itself ended so, with the signal ignored? */
static int end_like(int number, bool is_ignored)
{
	pid_t pid = fork();
	sigset_t mask;
	int status;

	if (!pid) {
		signal(number, is_ignored ? SIG_IGN : exit);
		sigemptyset(&mask);
		sigaddset(&mask, number);
		sigprocmask(SIG_BLOCK, &mask, NULL);
		_exit(child_end_like(number));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void upmu_ends_like_its_program(void **state)
{
	int status;

	(void)state;
	status = end_like(SIGTERM, false);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	status = end_like(SIGABRT, false);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_false(WCOREDUMP(status));
	status = end_like(SIGHUP, true);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGHUP);
}

static void a_signal_is_told_by_its_name(void **state)
{
#define NAMED(name) assert_string_equal(child_signal_name(name), #name)
	static const int none[] = { 0, -1, SIGCHLD, SIGCONT, 40, 64, 9999 };

	(void)state;
	NAMED(SIGHUP), NAMED(SIGINT), NAMED(SIGQUIT), NAMED(SIGILL);
	NAMED(SIGTRAP), NAMED(SIGABRT), NAMED(SIGBUS), NAMED(SIGFPE);
	NAMED(SIGKILL), NAMED(SIGUSR1), NAMED(SIGSEGV), NAMED(SIGUSR2);
	NAMED(SIGPIPE), NAMED(SIGALRM), NAMED(SIGTERM), NAMED(SIGXCPU);
	NAMED(SIGXFSZ), NAMED(SIGPROF), NAMED(SIGIO), NAMED(SIGSYS);
	NAMED(SIGVTALRM);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_string_equal(child_signal_name(none[i]), "a signal");
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
		cmocka_unit_test(the_status_is_what_a_shell_would_say),
		cmocka_unit_test(what_cannot_be_executed_is_told_by_its_errno),
		cmocka_unit_test(
			the_program_has_the_signals_that_upmu_was_given),
		cmocka_unit_test(only_a_hangup_may_stay_ignored),
		cmocka_unit_test(
			of_late_signals_only_those_that_end_upmu_are_told),
		cmocka_unit_test(a_terminals_signal_is_not_passed_on_twice),
		cmocka_unit_test(one_that_is_stopped_ends_too),
		cmocka_unit_test(one_that_is_killed_before_never_runs),
		cmocka_unit_test(upmu_ends_like_its_program),
		cmocka_unit_test(a_signal_is_told_by_its_name),
	};

	/* nohup has it ignored, and what it runs inherits that */
	signal(SIGHUP, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
