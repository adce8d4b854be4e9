// SPDX-License-Identifier: MIT
/*
 * hold_counters N [COMMAND...]: another user of the PMU. It has N counters of
 * CPU 0 to itself, in pinned events that count the CPU, while COMMAND runs,
 * and says on the standard error how many of them were counted to the end.
 * "cycles" in place of N: the cycle counter of each CPU.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST   8
#define LOADS  0x06
#define CYCLES 0x11

static int hold(int cpu, unsigned int event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = event,
		.pinned = 1,
	};

	return (int)syscall(__NR_perf_event_open, &attr, -1, cpu, -1, 0);
}

int main(int argc, char **argv)
{
	bool cycles = argc > 2 && !strcmp(argv[1], "cycles");
	int n = argc > 2 ? atoi(argv[1]) : 0, fds[MOST], held = 0, status = 0;
	unsigned long long count;
	pid_t child;

	if (cycles)
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (n < 1 || n > MOST)
		return 2;
	for (int i = 0; i < n; i++)
		fds[i] = hold(cycles ? i : 0, cycles ? CYCLES : LOADS);
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(child, &status, 0);
	/* An event that could not stay on its counter reads as the end. */
	for (int i = 0; i < n; i++)
		held += read(fds[i], &count, sizeof(count)) == sizeof(count) &&
			count > 0;
	fprintf(stderr, "held %d\n", held);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
