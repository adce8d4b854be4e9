// SPDX-License-Identifier: MIT
/*
 * The counted program: it is forked at once and executes when the events are
 * open. Its signal mask and dispositions are those that upmu was given.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

static void run_program(const struct child *child, int go, int failed,
			char **command)
{
	char byte;
	int error;

	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
	/* End of file without a byte: upmu has given up or is dead. */
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILED);
	execvp(command[0], command);
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(EXIT_FAILED);
	_exit(child_exec_status(-error));
}

/*
 * Signals that end or interest upmu are taken by sigtimedwait(), which is
 * also what a slice sleeps in. SIGCHLD that was ignored would leave no
 * status to wait for.
 */
static void take_signals(struct child *child)
{
	static const int taken[] = { SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
				     SIGHUP,  SIGUSR1, SIGUSR2 };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&mask, taken[i]);
	sigprocmask(SIG_BLOCK, &mask, &child->old_mask);
}

int child_start(struct child *child, char **command)
{
	int go[2], failed[2], error;
	struct sigaction defaulted = { .sa_handler = SIG_DFL }, old;

	*child = (struct child){ .go = -1, .failed = -1 };
	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		error = -errno;
		goto err_go;
	}
	take_signals(child);
	sigaction(SIGCHLD, &defaulted, &old);
	child->pid = fork();
	if (child->pid < 0) {
		error = -errno;
		goto err_failed;
	}
	if (!child->pid) {
		sigaction(SIGCHLD, &old, NULL);
		close(go[1]);
		close(failed[0]);
		run_program(child, go[0], failed[1], command);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	return 0;

err_failed:
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
	close(failed[0]);
	close(failed[1]);
err_go:
	close(go[0]);
	close(go[1]);
	return error;
}

void child_none(struct child *child)
{
	*child = (struct child){ .go = -1, .failed = -1 };
	take_signals(child);
}

int child_go(struct child *child)
{
	int error = 0;

	if (write(child->go, "g", 1) != 1)
		return -errno;
	/* Its end closes on exec: no byte means that the program runs. */
	if (read(child->failed, &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(child->go);
	close(child->failed);
	child->go = child->failed = -1;
	if (error)
		child_reap(child, true);
	return -error;
}

void child_kill(struct child *child)
{
	close(child->go);
	close(child->failed);
	child->go = child->failed = -1;
	child_reap(child, true);
}

bool child_reap(struct child *child, bool block)
{
	pid_t pid;

	if (child->ended)
		return true;
	do {
		pid = wait4(child->pid, &child->status, block ? 0 : WNOHANG,
			    &child->usage);
	} while (pid < 0 && errno == EINTR);
	child->ended = pid != 0;
	return child->ended;
}

/*
 * The terminal's Ctrl-C has reached the program by itself, what was sent to
 * upmu alone has not.
 */
void child_pass_on(const struct child *child, const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL)
		kill(child->pid, info->si_signo);
}

void child_wait(struct child *child)
{
	sigset_t mask;
	siginfo_t info;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	while (!child_reap(child, false))
		if (sigwaitinfo(&mask, &info) > 0 && info.si_signo != SIGCHLD)
			child_pass_on(child, &info);
}

void child_done(const struct child *child)
{
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
}

int child_exit_status(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}

int child_end_like(int signal)
{
	struct rlimit none = { 0 };
	sigset_t mask;

	setrlimit(RLIMIT_CORE, &none); /* the program has left its own */
	sigemptyset(&mask);
	sigaddset(&mask, signal);
	fflush(NULL);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	raise(signal);
	return 128 + signal;
}

/* glibc has sigabbrev_np() since 2.32, later than systems that we serve. */
const char *child_signal_name(int signal)
{
#define ROW(name) [name] = #name
	static const char *const names[] = {
		ROW(SIGHUP),	ROW(SIGINT),  ROW(SIGQUIT), ROW(SIGILL),
		ROW(SIGTRAP),	ROW(SIGABRT), ROW(SIGBUS),  ROW(SIGFPE),
		ROW(SIGKILL),	ROW(SIGUSR1), ROW(SIGSEGV), ROW(SIGUSR2),
		ROW(SIGPIPE),	ROW(SIGALRM), ROW(SIGTERM), ROW(SIGXCPU),
		ROW(SIGXFSZ),	ROW(SIGPROF), ROW(SIGIO),   ROW(SIGSYS),
		ROW(SIGVTALRM),
	};
#undef ROW

	if (signal > 0 && (size_t)signal < sizeof(names) / sizeof(names[0]) &&
	    names[signal])
		return names[signal];
	return "a signal";
}

int child_exec_status(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}
