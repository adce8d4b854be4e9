// SPDX-License-Identifier: MIT
/*
 * The overflow of an event counter is not noticed when it happens. Each counter
 * starts 1,000 below its overflow and counts instructions or cycles, which are
 * the same with -icount shift=0. The loop reads the overflow flags alone, so
 * that nothing but QEMU's own timer makes it look at the counters.
 */
#include "bare.h"

#define COUNTER	   0
#define START	   -1000
#define LOOPS_MOST 100000

/* How many loops until the flag of @counter is set; LOOPS_MOST: it was not. */
static unsigned int count(unsigned int counter)
{
	unsigned int loops, flags = 0;

	WRITE(PMOVSR, 1u << counter);
	WRITE(PMCNTENSET, 1u << counter);
	for (loops = 0; loops < LOOPS_MOST && !(flags >> counter & 1); loops++)
		READ(PMOVSR, flags);
	WRITE(PMCNTENCLR, 1u << counter);
	return loops;
}

static void tell(const char *what, unsigned int loops, unsigned int now)
{
	print(what);
	print(loops < LOOPS_MOST ? ": flag after " : ": no flag in ");
	print_number(loops);
	print(" loops, count ");
	print_number(now);
	print("\n");
}

static void run_event(const char *what, unsigned int event)
{
	unsigned int loops, now;

	WRITE(PMSELR, COUNTER);
	WRITE(PMXEVTYPER, event);
	WRITE(PMXEVCNTR, START);
	loops = count(COUNTER);
	READ(PMXEVCNTR, now);
	tell(what, loops, now);
}

void begin(void)
{
	unsigned int loops, now;

	WRITE(PMCR, 1);
	WRITE(PMCCNTR, START);
	loops = count(CYCLE_COUNTER);
	READ(PMCCNTR, now);
	tell("cycle counter      ", loops, now);
	run_event("instructions (0x08)", 0x08);
	run_event("cycles (0x11)      ", 0x11);
}
