// SPDX-License-Identifier: MIT
/*
 * kmod_switch - what a context switch costs, with and without a lease held
 *
 * kmod_switch none|other|own|mixed
 *
 * Two processes on one CPU yield to each other. Prints the instructions from
 * one to the next: on board a7 an instruction is one nanosecond, so the clock
 * counts them. "other": a third process, asleep, holds a lease; "own": both of
 * them do; "mixed": one of them does.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "upmu/uapi.h"

#define SWITCHES 20000

static void take(void)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = UPMU_MODE_COUNT };
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UPMU_IOC_LEASE, &lease)) {
		perror("kmod_switch: cannot take a lease");
		exit(1);
	}
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
			take();
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
	volatile int *ready = mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t holder = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (!strcmp(mode, "other")) {
		holder = fork();
		if (!holder) {
			take();
			*ready = 1;
			for (;;)
				pause();
		}
		while (!*ready)
			usleep(1000);
		*ready = 0;
	}
	if (!strcmp(mode, "own") || !strcmp(mode, "mixed"))
		take();
	printf("%.0f\n", yield_to_each_other(ready, !strcmp(mode, "own")));
	if (holder) {
		kill(holder, SIGKILL);
		waitpid(holder, NULL, 0);
	}
	return 0;
}
