// SPDX-License-Identifier: MIT
/*
 * Set up every event counter by hand, as the F28HS tutorial does: choose the
 * counter, give it an event, set it to 0, let it run, read it.
 *
 *	cc four_counters.c $(pkg-config --cflags --libs libupmu)
 *	upmu exec --raw -- ./a.out [ROUNDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <upmu/raw.h>

/* Architectural numbers, ARM ARM (DDI 0406) C12.8: the same on every ARMv7. */
static const struct event {
	unsigned int code;
	const char *name;
} events[] = {
	{ 0x11, "cpu_cycles" },
	{ 0x08, "inst_retired" },
	{ 0x0D, "br_immed_retired" },
	{ 0x04, "l1d_cache" },
};

#define EVENTS ((int)(sizeof(events) / sizeof(events[0])))

static int set_up(void)
{
	int there = (int)upmu_raw_counters(),
	    n = there < EVENTS ? there : EVENTS;
	unsigned int mask = UPMU_RAW_CYCLES_MASK;

	printf("this core has %d event counters, %d are set up\n", there, n);
	for (int i = 0; i < n; i++) {
		upmu_raw_set_event(i, events[i].code);
		mask |= 1u << i;
	}
	upmu_raw_reset_counters();
	upmu_raw_reset_cycles();
	upmu_raw_start(mask);
	upmu_raw_enable();
	upmu_raw_isb();
	return n;
}

int main(int argc, char **argv)
{
	volatile long n = argc > 1 ? atol(argv[1]) : 10;
	uint32_t before[EVENTS], after[EVENTS], cycles;
	int counters = set_up();

	for (int i = 0; i < counters; i++)
		before[i] = (uint32_t)upmu_raw_counter(i);
	cycles = upmu_raw_cycles();
	while (n > 0)
		n--;
	cycles = upmu_raw_cycles() - cycles;
	for (int i = 0; i < counters; i++)
		after[i] = (uint32_t)upmu_raw_counter(i);

	printf("ccr %10" PRIu32 "  cycles\n", cycles);
	for (int i = 0; i < counters; i++)
		printf("cr%d %10" PRIu32 "  (before %" PRIu32 ", after %" PRIu32
		       ")  0x%02x %s\n",
		       i, after[i] - before[i], before[i], after[i],
		       events[i].code, events[i].name);
	return 0;
}
