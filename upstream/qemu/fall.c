// SPDX-License-Identifier: MIT
/*
 * A running counter falls to 0 when QEMU's overflow timer fires within an
 * exception return. The cycle counter is watched over system calls; another
 * counter overflows each 20,000 cycles, so that the timer fires.
 */
#include "bare.h"

#define COUNTER 0
#define PERIOD	-20000
#define ROUNDS	2000000
#define START	0x40000000u /* some seconds below its own overflow */
#define HIGH	0xc0000000u

static void begin_period(void)
{
	WRITE(PMOVSR, 1u << COUNTER);
	WRITE(PMXEVCNTR, PERIOD);
}

static void tell(unsigned int round, unsigned int before, unsigned int after)
{
	print("round ");
	print_number(round);
	print(": ");
	print_number(before);
	print(", after a system call ");
	print_number(after);
	print("\n");
}

void begin(void)
{
	unsigned int before, after, flags, falls = 0, periods = 0;

	WRITE(PMCR, 1);
	WRITE(PMSELR, COUNTER);
	WRITE(PMXEVTYPER, 0x11);
	begin_period();
	WRITE(PMCCNTR, START);
	WRITE(PMCNTENSET, 1u << COUNTER | 1u << CYCLE_COUNTER);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		READ(PMCCNTR, before);
		call();
		READ(PMCCNTR, after);
		if (after < before && ++falls <= 5)
			tell(round, before, after);
		if (after < before || after > HIGH)
			WRITE(PMCCNTR, START);
		READ(PMOVSR, flags);
		if (!(flags & 1u << COUNTER))
			continue;
		periods++;
		begin_period();
	}
	print_number(falls);
	print(" falls in ");
	print_number(ROUNDS);
	print(" system calls, ");
	print_number(periods);
	print(" overflows\n");
}
