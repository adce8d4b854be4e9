// SPDX-License-Identifier: MIT
/*
 * hold_counters N [COMMAND...]: another user of the PMU. It has N counters of
 * CPU 0 to itself, in pinned events that count the CPU, while COMMAND runs,
 * and says on the standard error how many of them were counted to the end.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST  8
#define LOADS 0x06

static int hold(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = LOADS,
		.pinned = 1,
	};

	return (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, 0);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, fds[MOST], held = 0, status = 0;
	unsigned long long count;
	pid_t child;

	if (n < 1 || n > MOST)
		return 2;
	for (int i = 0; i < n; i++)
		fds[i] = hold();
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
