// SPDX-License-Identifier: MIT
/*
 * kmod_switch - what a context switch costs, with and without a lease held
 *
 * kmod_switch none|other|ended|own|mixed|child|chain|shared|over|
 *             beside|cycles|crowd|once|taken|taker
 *
 * Two processes on one CPU yield to each other. Prints the instructions from
 * one to the next: on board a7 an instruction is one nanosecond, so the clock
 * counts them. "other": a third process, asleep, holds a lease; "ended": and
 * one of the two has had one, which ended; "own": both of them hold one;
 * "mixed": one of them does. "child": one of another, which covers both.
 * "chain", "shared": as "own", where one of them was forked under leases within
 * leases that ended, or shares its memory with hundreds that are covered.
 * "over": as "other", where one shares its memory with hundreds that a lease
 * covered until it ended. "beside": as "other", where that one does so, and one
 * of the two has its place in the module's table; upmu_peek.ko tells which
 * processes have the same. "cycles", "crowd": as "own" and "shared", under
 * CYCLES while a third process holds COUNT, which may permit more. "once": as
 * "crowd", where one of the hundreds held COUNT, too, for a moment. "taken",
 * "taker": as "own" and "mixed", under CYCLES.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "upmu/uapi.h"

#define SWITCHES    20000
#define GENERATIONS 60
#define SHARERS	    300
#define STACK	    4096
#define TRIED	    2000
#define PLACES	    8192
#define PLACE	    "/proc/upmu_place"

static uint32_t mode_to_take = UPMU_MODE_COUNT;

static int take(uint32_t flags)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = mode_to_take,
				    .flags = flags };
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UPMU_IOC_LEASE, &lease)) {
		perror("kmod_switch: cannot take a lease");
		exit(1);
	}
	return fd;
}

/* A third process, asleep. */
static pid_t another_holds(volatile int *ready)
{
	pid_t holder = fork();

	if (!holder) {
		take(0);
		*ready = 1;
		for (;;)
			pause();
	}
	while (!*ready)
		usleep(1000);
	*ready = 0;
	return holder;
}

/* Goes on as the last of so many, whose parents' leases have all ended. */
static void descend(void)
{
	for (int n = 0; n < GENERATIONS; n++) {
		pid_t parent = getpid();

		take(UPMU_LEASE_CHILDREN);
		if (fork())
			_exit(0);
		while (getppid() == parent)
			usleep(1000);
	}
}

/* Goes on as what a holder forked, which lives as long. */
static void be_forked(void)
{
	take(UPMU_LEASE_CHILDREN);
	if (fork()) {
		wait(NULL);
		_exit(0);
	}
}

static volatile int sharers;

static int sleeps(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	__atomic_add_fetch(&sharers, 1, __ATOMIC_SEQ_CST);
	while (pause() < 0)
		;
	return 0;
}

/* The lease that covers them. */
static int share_memory(void)
{
	char *stacks = calloc(SHARERS, STACK);
	int fd = take(UPMU_LEASE_CHILDREN);

	for (int n = 1; n <= SHARERS; n++)
		if (clone(sleeps, stacks + n * STACK, CLONE_VM | SIGCHLD,
			  NULL) < 0) {
			perror("kmod_switch: cannot share its memory");
			exit(1);
		}
	while (sharers < SHARERS)
		usleep(1000);
	return fd;
}

static int own_place(void)
{
	int place = PLACES;
	FILE *file = fopen(PLACE, "r");

	if (!file || fscanf(file, "%d", &place) != 1 || place < 0 ||
	    place >= PLACES) {
		perror("kmod_switch: " PLACE);
		exit(1);
	}
	fclose(file);
	return place;
}

/* Stopped, and ends with its parent. */
static pid_t fork_stopped(volatile int *place)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*place = own_place();
		raise(SIGSTOP);
	} else if (waitpid(pid, NULL, WUNTRACED) != pid) {
		perror("kmod_switch: cannot have another process");
		exit(1);
	}
	return pid;
}

/*
 * Goes on in a process whose place is that of one that shares its memory. Which
 * place one has is chance: many are tried.
 */
static void be_beside(volatile int *ready)
{
	static pid_t at[PLACES];
	volatile int *place = ready + 1;
	pid_t pid = 0, sharer = 0;

	for (int n = 0; n < TRIED && !sharer; n++) {
		pid = fork_stopped(place);
		if (!pid && *place < PLACES)
			return;
		if (!pid) {
			share_memory();
			*ready = 1;
			for (;;)
				pause();
		}
		sharer = at[*place];
		at[*place] = pid;
	}
	if (sharer) {
		*place = PLACES;
		kill(sharer, SIGCONT);
		while (!*ready)
			usleep(1000);
		*ready = *place = 0;
		kill(pid, SIGCONT);
		waitpid(pid, NULL, 0);
	}
	_exit(!sharer);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double yield_to_each_other(volatile int *ready, int both)
{
	struct sched_param param = { .sched_priority = 1 };
	pid_t other;
	double start;

	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("kmod_switch: cannot have a real-time priority");
		exit(1);
	}
	other = fork();
	if (!other) {
		if (both)
			take(0);
		*ready = 1;
		for (;;)
			sched_yield();
	}
	while (!*ready)
		sched_yield();
	start = now_ns();
	for (int n = 0; n < SWITCHES / 2; n++)
		sched_yield();
	start = now_ns() - start;
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return start / SWITCHES;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "none";
	volatile int *ready =
		mmap(NULL, 2 * sizeof(*ready), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t holder = 0;
	int both;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (strstr("other ended over cycles crowd once", mode))
		holder = another_holds(ready);
	if (strstr("cycles crowd once taken taker", mode))
		mode_to_take = UPMU_MODE_CYCLES;
	if (!strcmp(mode, "ended"))
		close(take(0));
	if (!strcmp(mode, "chain"))
		descend();
	if (!strcmp(mode, "beside"))
		be_beside(ready);
	else if (strstr("shared crowd once", mode))
		share_memory();
	else if (!strcmp(mode, "over"))
		close(share_memory());
	else if (!strcmp(mode, "child"))
		be_forked();
	else if (!strstr("none other ended over beside", mode))
		take(0);
	if (!strcmp(mode, "once")) {
		mode_to_take = UPMU_MODE_COUNT;
		close(take(0));
	}
	both = strstr("own chain shared cycles crowd once taken", mode) != NULL;
	printf("%.0f\n", yield_to_each_other(ready, both));
	if (holder) {
		kill(holder, SIGKILL);
		waitpid(holder, NULL, 0);
	}
	return 0;
}
