/* SPDX-License-Identifier: MIT */
/* Work of known length that moves between unlike cores. */
#ifndef UPMU_TESTS_UNLIKE_H
#define UPMU_TESTS_UNLIKE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Straight to the kernel: a move shall cost few accesses of its own. */
static inline void allow(unsigned long cpus)
{
	if (syscall(SYS_sched_setaffinity, 0, sizeof(cpus), &cpus)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static inline void move_to(unsigned int cpu)
{
	allow(1ul << cpu);
}

static inline void move_freely(void)
{
	allow(3);
}

/* @pairs loads and as many stores. */
static inline void access_memory(uint32_t pairs)
{
	static volatile uint32_t word;

	while (pairs--)
		word = word + 1;
}

/* The same, in parts on CPU 0 and 1 in turn; @moves of them from one to the
 * other, the last at the end of the part before the last. */
static inline void access_and_move(uint32_t pairs, uint32_t moves)
{
	for (uint32_t i = 0; i <= moves; i++) {
		move_to(i % 2);
		access_memory(pairs / (moves + 1));
	}
}

#endif
