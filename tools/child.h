/* SPDX-License-Identifier: MIT */
/**
 * child.h - the program that a command of upmu runs for the user
 *
 * child_start() makes its process and blocks the signals that child_wait()
 * takes; whatever must be ready before it executes is done then; child_go()
 * lets it execute. child_done() gives upmu its own signals back.
 */
#ifndef UPMU_TOOLS_CHILD_H
#define UPMU_TOOLS_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Statuses of upmu itself, as env(1) and timeout(1) have them. */
enum child_exit {
	EXIT_USAGE = 2,
	EXIT_TIMED_OUT = 124,
	EXIT_FAILED = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

struct child {
	pid_t pid;
	int go, failed; /* pipes: start now; errno of a failed exec */
	bool ended;
	int status; /* of wait(2), once ended */
	struct rusage usage;
	sigset_t old_mask;
	struct child_start *start; /* what the new process runs on */
};

/**
 * SIGCHLD that upmu was given ignored would leave no status to wait for. Called
 * once, when upmu starts; the programs of the next two have it as it was given.
 */
void child_heed_ends(void);

/** Return 0 or a negative errno, and then there is no child. */
int child_start(struct child *child, char **command);

/** The same with memory of its own: what a lease passes to is a process's. */
int child_fork(struct child *child, char **command);

/** No program, only the signals: for what runs until it is interrupted. */
void child_none(struct child *child);

/** Let the program execute. Return 0, or the negative errno of its exec. */
int child_go(struct child *child);

/** Give up before the program ran. */
void child_kill(struct child *child);

/** Whether the program has ended; its status and usage are kept. */
bool child_reap(struct child *child, bool block);

/** Hand on a signal that was sent to upmu alone. */
void child_pass_on(const struct child *child, const siginfo_t *info);

/** Let the program end itself, be it stopped. */
void child_terminate(const struct child *child);

/** It has not; nobody but its user may do more. */
void child_tell_goes_on(const struct child *child);

/** Until the program ends; signals sent to upmu are passed on to it. */
void child_wait(struct child *child);

/**
 * Take the signals that came when the program had ended, by which upmu would
 * end without a report once it has its mask back. Return the last one, or 0.
 */
int child_late_signal(void);

/** Give upmu the mask back that it had before child_start(). */
void child_done(struct child *child);

/** What a shell would say: the exit status, or 128 and the signal. */
int child_exit_status(const struct child *child);

/**
 * End upmu by the signal that ended the program, so that a shell says what it
 * always says. Returns a status only where the signal does not end it.
 */
int child_end_like(int signal);

/** "SIGABRT"; a constant; "a signal" for one without a name. */
const char *child_signal_name(int signal);

/** The status for a child_go() that returned @error: 126 or 127. */
int child_exec_status(int error);

#endif
