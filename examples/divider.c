// SPDX-License-Identifier: MIT
/*
 * The cycle counter's divider and its reset, and the bit that is taken for an
 * enable and is none. Programs the PMU itself:
 *
 *	cc divider.c $(pkg-config --cflags --libs libupmu)
 *	upmu exec --raw -- ./a.out
 */
#include <inttypes.h>
#include <stdio.h>

#include <upmu/raw.h>

#define ROUNDS 100000

static uint32_t cycles_of_loop(void)
{
	uint32_t begin = upmu_raw_cycles();

	for (volatile int n = ROUNDS; n > 0;)
		n--;
	return upmu_raw_cycles() - begin;
}

static void line(const char *what, const char *expected, uint32_t read)
{
	printf("%-32s expected %-18s read %10" PRIu32 "\n", what, expected,
	       read);
}

static void show_divider(void)
{
	uint32_t each = cycles_of_loop(), each_64th;
	char expected[32];

	upmu_raw_divide_by_64(1);
	each_64th = cycles_of_loop();
	upmu_raw_divide_by_64(0);
	line("a loop, each cycle", "its cycles", each);
	snprintf(expected, sizeof(expected), "about %" PRIu32, each / 64);
	line("the same loop, each 64th", expected, each_64th);
	if (each_64th > each / 2)
		puts("this counter has 64 bits (PMCR.LC): it is not divided");
}

static void show_reset(void)
{
	upmu_raw_reset_cycles();
	line("just after a reset", "a few", upmu_raw_cycles());
}

static void show_export(void)
{
	upmu_raw_disable();
	upmu_regs_change_control(UPMU_CONTROL_E, UPMU_CONTROL_X);
	upmu_raw_isb();
	line("a loop with X and without E", "0", cycles_of_loop());
	upmu_raw_enable();
	line("a loop with E", "its cycles", cycles_of_loop());
}

int main(void)
{
	upmu_raw_enable();
	upmu_raw_start(UPMU_RAW_CYCLES_MASK);
	show_divider();
	show_reset();
	show_export();
	return 0;
}
