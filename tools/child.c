// SPDX-License-Identifier: MIT
/*
 * The counted program: its process is there at once and executes when the
 * events are open. Its signal mask and dispositions are those that upmu was
 * given.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "lib/engine/descriptors.h"

/*
 * What the new process needs, which may run on upmu's own memory: it lives
 * until that has executed. Its stack is behind it.
 */
struct child_start {
	char **command;
	int go[2], failed[2]; /* as pipe(2) has them */
	sigset_t mask;
};

static struct sigaction given_sigchld; /* by default, until it is heeded */

/* Nothing of upmu's changes here but errno, by execvp(), while upmu waits. */
static int run_program(void *data)
{
	const struct child_start *start = data;
	char byte;
	int error;

	sigaction(SIGCHLD, &given_sigchld, NULL);
	engine_descriptors_as_given();
	close(start->go[1]);
	close(start->failed[0]);
	sigprocmask(SIG_SETMASK, &start->mask, NULL);
	/* End of file without a byte: upmu has given up or is dead. */
	if (read(start->go[0], &byte, 1) != 1)
		return EXIT_FAILED;
	execvp(start->command[0], start->command);
	error = errno;
	if (write(start->failed[1], &error, sizeof(error)) < 0)
		return EXIT_FAILED;
	return child_exec_status(-error);
}

/* execvp() keeps a path there, and a script's words once more. */
static size_t stack_for(char **command)
{
	size_t words = 0;

	while (command[words])
		words++;
	return (64 * 1024 + (words + 2) * sizeof(*command)) & ~(size_t)15;
}

/*
 * On upmu's memory: copying it, twice, is a tenth of what it costs to count a
 * short program. Emulators of one program have no such processes.
 */
static pid_t start_beside(struct child_start *start)
{
	char *stack = (char *)start + sizeof(*start);
	size_t size = stack_for(start->command);

	stack += -(uintptr_t)stack & 15;
	return clone(run_program, stack + size, CLONE_VM | SIGCHLD, start);
}

static pid_t start_by_fork(struct child_start *start)
{
	pid_t pid = fork();

	if (!pid)
		_exit(run_program(start));
	return pid;
}

/*
 * As nohup leaves it: what a terminal says when it goes ends nothing. SIGINT is
 * taken all the same, as shells have it ignored in what they start by '&'.
 */
static bool is_unheard(int number)
{
	struct sigaction action;

	return number == SIGHUP && !sigaction(number, NULL, &action) &&
	       action.sa_handler == SIG_IGN;
}

void child_heed_ends(void)
{
	static const struct sigaction defaulted = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &defaulted, &given_sigchld);
}

/*
 * Signals that end or interest upmu are taken by sigtimedwait(), which is
 * also what a slice sleeps in.
 */
static void take_signals(struct child *child)
{
	static const int taken[] = { SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
				     SIGHUP,  SIGUSR1, SIGUSR2 };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!is_unheard(taken[i]))
			sigaddset(&mask, taken[i]);
	sigprocmask(SIG_BLOCK, &mask, &child->old_mask);
}

static int open_pipes(struct child_start *start)
{
	int error;

	if (pipe2(start->go, O_CLOEXEC) < 0)
		return -errno;
	if (!pipe2(start->failed, O_CLOEXEC))
		return 0;
	error = -errno;
	close(start->go[0]);
	close(start->go[1]);
	return error;
}

/* Room for the stack, too. */
static struct child_start *new_start(char **command)
{
	struct child_start *start =
		malloc(sizeof(*start) + stack_for(command) + 15);

	if (start)
		start->command = command;
	return start;
}

static void close_pipes(struct child *child)
{
	close(child->start->go[0]);
	close(child->go);
	close(child->failed);
	child->go = child->failed = -1;
}

/*
 * Not under ThreadSanitizer: what its clone() gives the new process lies on the
 * stack of the caller, who goes on meanwhile. Any program dies of that.
 */
#ifdef __SANITIZE_THREAD__
#define STARTS_BESIDE false
#else
#define STARTS_BESIDE true
#endif

/* Signals first: one that comes between two runs ends upmu without a report. */
static int start_child(struct child *child, char **command, bool beside)
{
	struct child_start *start;
	int error;

	*child = (struct child){ .go = -1, .failed = -1 };
	take_signals(child);
	start = new_start(command);
	error = start ? open_pipes(start) : -ENOMEM;
	if (error)
		goto err_start;
	child->start = start;
	start->mask = child->old_mask;
	child->pid = beside ? start_beside(start) : -1;
	if (child->pid < 0)
		child->pid = start_by_fork(start);
	error = child->pid < 0 ? -errno : 0;
	close(start->failed[1]);
	child->go = start->go[1];
	child->failed = start->failed[0];
	if (!error)
		return 0;

	close_pipes(child);
err_start:
	sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
	free(start);
	child->start = NULL;
	return error;
}

int child_start(struct child *child, char **command)
{
	return start_child(child, command, STARTS_BESIDE);
}

int child_fork(struct child *child, char **command)
{
	return start_child(child, command, false);
}

void child_none(struct child *child)
{
	*child = (struct child){ .go = -1, .failed = -1 };
	take_signals(child);
}

int child_go(struct child *child)
{
	int error = 0;

	/* upmu has an end to read from, too: a child that was killed is found
	 * by waiting for it, and is no SIGPIPE. */
	if (write(child->go, "g", 1) != 1)
		return -errno;
	/* Its end closes on exec: no byte means that the program runs. */
	if (read(child->failed, &error, sizeof(error)) != sizeof(error))
		error = 0;
	close_pipes(child);
	if (error)
		child_reap(child, true);
	return -error;
}

void child_kill(struct child *child)
{
	close_pipes(child);
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
 * The terminal's Ctrl-C has, all of upmu's job; that the terminal has gone is
 * told to the leader of its session alone.
 */
static bool has_reached(const struct child *child, const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL || getpgid(child->pid) != getpgrp())
		return false;
	return info->si_signo != SIGHUP || getsid(0) != getpid();
}

void child_pass_on(const struct child *child, const siginfo_t *info)
{
	if (!has_reached(child, info))
		kill(child->pid, info->si_signo);
}

void child_terminate(const struct child *child)
{
	kill(child->pid, SIGTERM);
	/* One that is stopped would not hear of it. */
	kill(child->pid, SIGCONT);
}

void child_tell_goes_on(const struct child *child)
{
	fprintf(stderr,
		"upmu stat: the program goes on after --timeout's SIGTERM, "
		"and upmu with it\n"
		"hint: kill -KILL %d\n",
		(int)child->pid);
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

int child_late_signal(void)
{
	static const struct timespec none;
	siginfo_t info;
	sigset_t mask;
	int late = 0;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	while (sigtimedwait(&mask, &info, &none) > 0)
		if (info.si_signo != SIGCHLD && info.si_signo != SIGUSR1 &&
		    info.si_signo != SIGUSR2)
			late = info.si_signo;
	return late;
}

void child_done(struct child *child)
{
	free(child->start); /* it has executed, or ended */
	child->start = NULL;
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
	struct sigaction defaulted = { .sa_handler = SIG_DFL }, former;
	struct rlimit none = { 0 };
	sigset_t mask;

	if (!sigaction(signal, NULL, &former) && former.sa_handler != SIG_IGN)
		sigaction(signal, &defaulted, NULL);
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
