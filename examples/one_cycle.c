// SPDX-License-Identifier: MIT
/*
 * Two reads of the cycle counter with nothing between them, then a loop, or a
 * sleep, on one CPU. After the article "Using the Cycle Counter Registers on
 * the Raspberry Pi 3", which reads 1 and 805314304.
 *
 *	cc one_cycle.c $(pkg-config --cflags --libs libupmu)
 *	upmu exec -- ./a.out [ROUNDS | sleep]
 *
 * Without `upmu exec` it dies of SIGILL, as every program must that reads the
 * register and was not permitted to.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity() */
#endif

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <upmu/raw.h>

#define ROUNDS 100000000

/* Each CPU has its own counter: stay where we are. */
static void pin(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("one_cycle: cannot stay on one CPU");
		exit(1);
	}
	printf("on CPU %d\n", cpu);
}

static void adjacent(void)
{
	uint32_t first = upmu_raw_cycles();
	uint32_t second = upmu_raw_cycles();

	printf("%-28s expected %14s   read %14" PRIu32 "\n", "two reads",
	       "1 or a few", second - first);
}

/* 32 bits of cycles last 3 seconds at 1.4 GHz; a round is a few cycles. */
static void loop(unsigned long rounds)
{
	volatile unsigned long n = rounds;
	uint32_t begin = upmu_raw_cycles(), cycles;

	while (n > 0)
		n--;
	cycles = upmu_raw_cycles() - begin;
	printf("%-28s expected %14s   read %14" PRIu32 "\n", "a loop",
	       "rounds x a few", cycles);
	printf("%lu rounds, %.3f cycles each\n", rounds,
	       (double)cycles / (double)rounds);
}

static void sleep_instead(void)
{
	uint32_t begin = upmu_raw_cycles();

	usleep(100000);
	printf("%-28s expected %14s   read %14" PRIu32 "\n", "100 ms of sleep",
	       "see the course", upmu_raw_cycles() - begin);
}

int main(int argc, char **argv)
{
	pin();
	adjacent();
	if (argc > 1 && !strcmp(argv[1], "sleep"))
		sleep_instead();
	else
		loop(argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS);
	return 0;
}
