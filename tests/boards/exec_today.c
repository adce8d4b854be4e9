// SPDX-License-Identifier: MIT
/*
 * exec_today [HOW] - uses the cycle counter as today's benchmarks do
 *
 * exec_today         mlkem-native's: sets PMCR.E and bit 31 of PMCNTENSET in
 *                    what they are, switches all counters off at the end
 * exec_today leave   does not switch them off
 * exec_today whole   liboqs's: writes PMCR and PMCNTENSET as a whole, leaves
 * exec_today reads   pqax's and x264's: their kernel module writes, they don't
 *
 * PMCCNTR is read around what is timed. They neither ask whether they may nor
 * bind themselves to a CPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regs/regs.h"

#define ROUNDS 1001
#define OFF    (UPMU_MASK_CYCLES | 0x3f)

static void enable(const char *how)
{
	if (!strcmp(how, "reads"))
		return;
	if (!strcmp(how, "whole")) {
		upmu_regs_write_control(UPMU_CONTROL_E);
		upmu_regs_enable(UPMU_MASK_CYCLES);
		return;
	}
	upmu_regs_write_control(upmu_regs_control() | UPMU_CONTROL_E);
	upmu_regs_enable(upmu_regs_enabled() | UPMU_MASK_CYCLES);
}

static void work(void)
{
	for (volatile int n = 100; n; n--)
		;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	static uint64_t spent[ROUNDS];
	uint64_t first, stopped;

	enable(argc > 1 ? argv[1] : "");
	first = upmu_regs_cycles64();
	for (int n = 0; n < ROUNDS; n++) {
		uint64_t before = upmu_regs_cycles64();

		work();
		spent[n] = upmu_regs_cycles64() - before;
	}
	qsort(spent, ROUNDS, sizeof(spent[0]), compare);
	printf("median %llu\n", (unsigned long long)spent[ROUNDS / 2]);
	printf("least %llu\n", (unsigned long long)spent[0]);
	printf("all %llu\n",
	       (unsigned long long)(upmu_regs_cycles64() - first));
	if (argc > 1)
		return 0;
	upmu_regs_disable(OFF);
	upmu_regs_isb();
	stopped = upmu_regs_cycles64();
	work();
	printf("stopped %llu\n",
	       (unsigned long long)(upmu_regs_cycles64() - stopped));
	return 0;
}
