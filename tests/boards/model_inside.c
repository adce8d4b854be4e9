// SPDX-License-Identifier: MIT
/*
 * model_inside : two readings of PMXEVCNTR a few instructions apart, that the
 * emulator has in one block. Prints "instructions N" and "data N", of events
 * 0x08 and 0x73: the second reading or the first, two NOPs and an ADD. Runs
 * where user mode may write the PMU's registers (upmu exec --raw), on one CPU.
 */
#include <stdint.h>
#include <stdio.h>

static void count_event(uint32_t event)
{
	/* armel is built for ARMv6, and does not run this */
	__asm__ volatile(".arch armv7-a\n"
			 "mcr p15, 0, %0, c9, c12, 5\n isb\n" /* PMSELR */
			 "mcr p15, 0, %1, c9, c13, 1\n"	      /* PMXEVTYPER */
			 "mcr p15, 0, %2, c9, c12, 1\n"	      /* PMCNTENSET */
			 "mcr p15, 0, %2, c9, c12, 0\n isb"   /* PMCR.E */
			 :
			 : "r"(0), "r"(event), "r"(1));
}

static uint32_t between(void)
{
	uint32_t before, after;

	__asm__ volatile("mrc p15, 0, %0, c9, c13, 2\n"
			 "nop\n"
			 "add %1, %0, #1\n"
			 "nop\n"
			 "mrc p15, 0, %1, c9, c13, 2"
			 : "=&r"(before), "=&r"(after));
	return after - before;
}

int main(void)
{
	count_event(0x08);
	printf("instructions %u\n", between());
	count_event(0x73);
	printf("data %u\n", between());
	return 0;
}
