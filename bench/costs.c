// SPDX-License-Identifier: MIT
/*
 * What each thing costs, in instructions, on a board where an instruction is a
 * cycle and a nanosecond (-icount): bench/run starts it and knows the budgets.
 *
 *   costs reads       the ways to read counters
 *   costs switch WHO  one context switch: WHO holds a COUNT lease meanwhile:
 *                     nobody, another, self
 *   costs command C.. what command C executed, in user mode and the kernel
 *   costs median C..  the same of 31 starts: they differ by up to a tenth with
 *                     where pages lie and ticks fall
 *
 * Prints "NAME NUMBER" for each.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/perf/perf.h"
#include "upmu.h"
#include "upmu/raw.h"
#include "upmu/uapi.h"

#define TRIES 1000

static void die(const char *what)
{
	fprintf(stderr, "costs: %s: %s\n", what, upmu_explain());
	exit(1);
}

static struct upmu *open_set(const char *events)
{
	struct upmu_options options = { .size = sizeof(options),
					.source = "page" };
	struct upmu *set;

	if (upmu_open(&set, events, &options))
		die(events);
	return set;
}

static void print(const char *name, uint64_t cost)
{
	printf("%s %llu\n", name, (unsigned long long)cost);
	fflush(stdout);
}

/* The least of many: what is over it is an interrupt in the middle. */
#define LEAST(least, cost)                   \
	do {                                 \
		uint64_t cost_once = (cost); \
		if (cost_once < (least))     \
			(least) = cost_once; \
	} while (0)

static uint64_t between_raw_reads(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint32_t before = upmu_raw_cycles();
		uint32_t after = upmu_raw_cycles();

		LEAST(least, after - before);
	}
	return least;
}

static uint64_t between_counts(const struct upmu_counter *counter)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = upmu_count(counter);
		uint64_t after = upmu_count(counter);

		LEAST(least, after - before);
	}
	return least;
}

/* By cycles that are counted beside; what reading those costs is taken off. */
static uint64_t cost_of(const struct upmu_counter *cycles,
			void (*act)(void *argument), void *argument)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = upmu_count(cycles);

		act(argument);
		LEAST(least, upmu_count(cycles) - before);
	}
	return least - between_counts(cycles);
}

static void read_five(void *argument)
{
	uint64_t counts[5];

	if (upmu_count_all(argument, counts, 5))
		die("upmu_count_all");
}

static void read_by_call(void *argument)
{
	struct upmu_value values[5];

	if (upmu_read(argument, values, 5))
		die("upmu_read");
}

static void read_clock(void *argument)
{
	clock_gettime(CLOCK_MONOTONIC, argument);
}

static void pass_region(void *argument)
{
	upmu_region_begin(argument);
	upmu_region_end(argument);
}

static void nothing(void *argument)
{
	(void)argument;
}

static void measure_region(void)
{
	struct upmu *set = open_set("cycles");
	const struct upmu_counter *cycles = upmu_counter_at(set, 0);
	struct upmu_region *region;
	uint64_t call;

	if (upmu_regions_init("instructions,r00,r08", NULL) ||
	    upmu_region_open(&region, "costs"))
		die("region");
	call = cost_of(cycles, nothing, NULL);
	print("region_3", cost_of(cycles, pass_region, region) - call);
	upmu_close(set);
}

static int measure_reads(void)
{
	/* what QEMU counts, and one that it counts twice */
	static const char *const five = "cycles,instructions,r00,r08,r11";
	struct upmu *set = open_set(five);
	const struct upmu_counter *cycles = upmu_counter_at(set, 0);
	struct timespec now;
	uint64_t call;

	print("raw_cycles", between_raw_reads());
	print("count_cycles", between_counts(cycles));
	print("count_event", between_counts(upmu_counter_at(set, 1)));
	call = cost_of(cycles, nothing, NULL);
	print("counts_5", cost_of(cycles, read_five, set) - call);
	print("read_5", cost_of(cycles, read_by_call, set) - call);
	print("clock_gettime", cost_of(cycles, read_clock, &now) - call);
	upmu_close(set);
	measure_region();
	setenv("UPMU_REPORT", "none", 1);
	return 0;
}

/* ---- context switches ---------------------------------------------------- */

#define BLOCKS 200
#define TURNS  60

static void take_lease(void)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = UPMU_MODE_COUNT };
	int fd = open("/dev/upmu", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UPMU_IOC_LEASE, &lease)) {
		perror("costs: lease");
		exit(1);
	}
}

static void pass(int from, int to)
{
	char token;

	if (read(from, &token, 1) != 1 || write(to, &token, 1) != 1)
		exit(0); /* the other one has ended */
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/*
 * Each turn of the token is two switches, and the clock counts instructions, in
 * steps of 16. The least of many blocks is one without a timer interrupt.
 */
static double ns_of_switch(int from, int to)
{
	double least = 1e18;

	if (write(to, "t", 1) != 1)
		exit(1);
	for (int block = 0; block < BLOCKS; block++) {
		double begin = now_ns(), ns;

		for (int i = 0; i < TURNS; i++)
			pass(from, to);
		ns = (now_ns() - begin) / (2 * TURNS);
		if (ns < least)
			least = ns;
	}
	return least;
}

static pid_t start_other(int from, int to)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("costs: fork");
		exit(1);
	}
	while (pid == 0)
		pass(from, to);
	return pid;
}

static pid_t start_holder(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		exit(1);
	pid = fork();
	if (pid == 0) {
		take_lease();
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	return pid;
}

static int measure_switch(const char *who)
{
	int there[2], back[2];
	pid_t holder = -1, other;
	double ns;

	if (!strcmp(who, "another"))
		holder = start_holder();
	if (pipe(there) || pipe(back))
		return 1;
	other = start_other(there[0], back[1]);
	if (!strcmp(who, "self"))
		take_lease();
	ns = ns_of_switch(back[0], there[1]);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	if (holder > 0) {
		kill(holder, SIGKILL);
		waitpid(holder, NULL, 0);
	}
	printf("switch_%s %.1f\n", who, ns);
	return 0;
}

/* ---- a command ---------------------------------------------------------- */

#define STARTS 31

static uint64_t run_command(char **words)
{
	struct upmu_perf_event event = { .name = "instructions",
					 .type = PERF_TYPE_HARDWARE,
					 .config = PERF_COUNT_HW_INSTRUCTIONS };
	struct upmu_perf_target target = {
		.cpu = -1,
		.group_fd = -1,
		.flags = UPMU_PERF_INHERIT | UPMU_PERF_ENABLE_ON_EXEC |
			 UPMU_PERF_PINNED,
	};
	struct upmu_value value;
	int go[2], fd, status;
	char byte;

	if (pipe(go))
		exit(1);
	target.pid = fork();
	if (target.pid == 0) {
		if (read(go[0], &byte, 1) != 1)
			_exit(126);
		execvp(words[0], words);
		_exit(127);
	}
	fd = upmu_perf_open(&event, &target);
	if (fd < 0)
		die("perf");
	if (write(go[1], "g", 1) != 1 ||
	    waitpid(target.pid, &status, 0) != target.pid || status)
		exit(1);
	if (read(fd, &value, sizeof(value)) != (ssize_t)sizeof(value) ||
	    value.enabled_ns != value.running_ns) {
		fputs("costs: the count is not whole\n", stderr);
		exit(1);
	}
	close(fd);
	close(go[0]);
	close(go[1]);
	return value.count;
}

static int by_size(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static int measure_command(char **words, size_t starts)
{
	uint64_t count[STARTS];

	for (size_t i = 0; i < starts; i++) {
		/* the kernel is still freeing what the last one had */
		usleep(50000);
		count[i] = run_command(words);
	}
	qsort(count, starts, sizeof(count[0]), by_size);
	print("command", count[starts / 2]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "reads"))
		return measure_reads();
	if (argc == 3 && !strcmp(argv[1], "switch"))
		return measure_switch(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "command"))
		return measure_command(argv + 2, 1);
	if (argc > 2 && !strcmp(argv[1], "median"))
		return measure_command(argv + 2, STARTS);
	fputs("usage: costs reads | switch nobody|another|self | "
	      "command COMMAND... | median COMMAND...\n",
	      stderr);
	return 2;
}
