// SPDX-License-Identifier: MIT
/*
 * What opening costs, in instructions, on a board where an instruction is a
 * cycle and a nanosecond: the first set of a process, a second one, sets on N
 * threads that live at the same time; and reading a set of 32 events.
 *
 *   opening            first, second, closing; 32 events read
 *   opening N          a set of cycles,instructions on each of N threads
 *   opening target N   be a process of N threads for upmu stat -p to count,
 *                      which ends when its standard input does
 *
 * Prints "NAME NUMBER" for each, user mode and the kernel together.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/perf/perf.h"
#include "upmu.h"

static void die(const char *what)
{
	fprintf(stderr, "opening: %s: %s\n", what, upmu_explain());
	exit(1);
}

/* Instructions of this thread and those that it starts, the kernel's too. */
static int meter;

static void start_meter(void)
{
	static const struct upmu_perf_event instructions = {
		.name = "instructions",
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	const struct upmu_perf_target self = { .cpu = -1,
					       .group_fd = -1,
					       .flags = UPMU_PERF_INHERIT |
							UPMU_PERF_PINNED };

	meter = upmu_perf_open(&instructions, &self);
	if (meter < 0)
		die("the meter");
}

/* A process has 1,024 descriptors unless it asks for more. */
static void ask_for_descriptors(void)
{
	const struct rlimit limit = { 8192, 8192 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("descriptors");
}

static uint64_t metered(void)
{
	struct upmu_value value;

	if (upmu_perf_read(meter, &value))
		die("the meter");
	return value.count;
}

static uint64_t cost_of_metering(void)
{
	uint64_t least = UINT64_MAX, before;

	for (int i = 0; i < 10; i++) {
		before = metered();
		before = metered() - before;
		if (before < least)
			least = before;
	}
	return least;
}

static void print(const char *name, uint64_t number)
{
	printf("%s %llu\n", name, (unsigned long long)number);
}

static struct upmu *open_set(const char *events)
{
	struct upmu *set;

	if (upmu_open(&set, events, NULL))
		die(events);
	return set;
}

/* ---- one thread --------------------------------------------------------- */

static void measure_opening(void)
{
	static const char *const names[] = { "open_first", "open_second",
					     "open_third" };
	uint64_t read = cost_of_metering(), before;
	struct upmu *set[3];

	for (int i = 0; i < 3; i++) {
		before = metered();
		set[i] = open_set("cycles,instructions");
		print(names[i], metered() - before - read);
	}
	before = metered();
	upmu_close(set[2]);
	print("close", metered() - before - read);
	upmu_close(set[1]);
	upmu_close(set[0]);
}

/* A timer interrupt of 2,800 instructions falls into one reading of ten. */
static uint64_t least_of_reading(struct upmu *set)
{
	struct upmu_value values[32];
	uint64_t least = UINT64_MAX, before;

	for (int i = 0; i < 10; i++) {
		before = metered();
		if (upmu_read(set, values, 32))
			die("reading");
		before = metered() - before;
		if (before < least)
			least = before;
	}
	return least;
}

/* Software events: no core has 32 counters. */
static void measure_reading(void)
{
	char list[32 * sizeof("task-clock,")] = "";
	struct upmu *set;

	for (int i = 0; i < 32; i++) {
		strcat(list, i % 2 ? "page-faults" : "task-clock");
		strcat(list, i < 31 ? "," : "");
	}
	set = open_set(list);
	print("read_32", least_of_reading(set) - cost_of_metering());
	upmu_close(set);
}

/* ---- many threads ------------------------------------------------------- */

static pthread_barrier_t all_are_open;
static pthread_attr_t small; /* 1,000 stacks are to fit */

static void *open_and_wait(void *unused)
{
	struct upmu *set = open_set("cycles,instructions");

	pthread_barrier_wait(&all_are_open);
	upmu_close(set);
	return unused;
}

static void *just_wait(void *unused)
{
	pthread_barrier_wait(&all_are_open);
	return unused;
}

static uint64_t run_threads(unsigned int n, void *(*body)(void *))
{
	pthread_t *thread = calloc(n, sizeof(*thread));
	uint64_t before = metered();

	pthread_barrier_init(&all_are_open, NULL, n + 1);
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&thread[i], &small, body, NULL))
			die("a thread");
	pthread_barrier_wait(&all_are_open);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return metered() - before;
}

/* What the threads cost by themselves is taken off. */
static void measure_threads(unsigned int n)
{
	char name[32];
	uint64_t alone;

	upmu_close(open_set("cycles,instructions"));
	run_threads(n, just_wait);
	alone = run_threads(n, just_wait);
	snprintf(name, sizeof(name), "open_each_of_%u", n);
	print(name, (run_threads(n, open_and_wait) - alone) / n);
}

static int be_the_target(unsigned int n)
{
	pthread_t thread;
	char byte;

	pthread_barrier_init(&all_are_open, NULL, n);
	for (unsigned int i = 1; i < n; i++)
		if (pthread_create(&thread, &small, just_wait, NULL))
			die("a thread");
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	ask_for_descriptors();
	if (argc == 3 && !strcmp(argv[1], "target"))
		return be_the_target((unsigned int)atoi(argv[2]));
	start_meter();
	if (argc == 2) {
		measure_threads((unsigned int)atoi(argv[1]));
		return 0;
	}
	measure_opening();
	measure_reading();
	return 0;
}
