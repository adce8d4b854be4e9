// SPDX-License-Identifier: MIT
/* kmod_kept - what was on before a lease is so again after it */
#include "tests/boards/kmod.h"

#define PEEK "/proc/upmu_peek"

#define NOWHERE 0xc0000000u /* PMXEVTYPER.P, .U: counts nothing */

static char before[65536], after[65536];

/* Every register but the counts, which no one can take back. */
static void peek(char *text)
{
	static const char *const counts[] = { " cycles ", " counter" };
	FILE *file = fopen(PEEK, "r");
	size_t got = file ? fread(text, 1, 65535, file) : 0;
	char *found;

	text[got] = '\0';
	if (file)
		fclose(file);
	for (int n = 0; n < 2; n++)
		while ((found = strstr(text, counts[n]))) {
			char *end = found + 10 + strcspn(found + 10, " \n");

			memmove(found, end, strlen(end) + 1);
		}
}

static void nothing_left_test(uint32_t mode, const char *claim)
{
	int lease;

	peek(before);
	lease = take(mode);
	upmu_regs_set_type(1, 0x55);
	upmu_regs_set_type(3, 0x42);
	upmu_regs_set_type(31, NOWHERE);
	upmu_regs_enable(0xf);
	upmu_regs_select(2);
	leave_the_cpu();
	close(lease);
	peek(after);
	if (!tap(!strcmp(before, after), claim, NULL))
		printf("# was %.300s\n# is  %.300s\n", before, after);
}

/* What firmware, or a module of old, had switched on. */
static void kept_test(void)
{
	int cycles, count;
	uint32_t written;

	poke(PEEK, "0 control 0x9");
	poke(PEEK, "0 enabled 0x80000000");
	poke(PEEK, "0 type 0xc0000000 31");
	peek(before);
	close(take(UPMU_MODE_COUNT));
	peek(after);
	tap(!strcmp(before, after), "what_was_on_before_a_lease_stays_on",
	    "was %.300s\n# is  %.300s", before, after);
	cycles = take(UPMU_MODE_CYCLES);
	count = take(UPMU_MODE_COUNT);
	close(cycles);
	leave_the_cpu();
	written = info_of(count).lease_written;
	close(count);
	peek(after);
	tap(!written && !strcmp(before, after),
	    "also_where_a_count_lease_outlives_a_cycles_lease",
	    "%x, was %.300s\n# is  %.300s", written, before, after);
	poke(PEEK, "0 control 0");
	poke(PEEK, "0 enabled 0");
	poke(PEEK, "0 type 0 31");
}

/* The holder does not leave its CPU before CYCLES is taken. */
static void written_before_test(void)
{
	int count, cycles;
	uint32_t written;

	peek(before);
	count = take(UPMU_MODE_COUNT);
	upmu_regs_change_control(0, UPMU_CONTROL_D);
	upmu_regs_enable(UPMU_MASK_CYCLES);
	upmu_regs_set_type(31, NOWHERE);
	upmu_regs_isb();
	cycles = take(UPMU_MODE_CYCLES);
	close(cycles);
	leave_the_cpu();
	written = info_of(count).lease_written;
	close(count);
	peek(after);
	if (!tap(cycles >= 0 && !strcmp(before, after),
		 "what_a_holder_wrote_is_not_kept_for_what_a_cycles_lease_found",
		 NULL))
		printf("# was %.300s\n# is  %.300s\n", before, after);
	tap((written & (UPMU_WRITTEN_CONTROL | UPMU_WRITTEN_ENABLES)) ==
		    (UPMU_WRITTEN_CONTROL | UPMU_WRITTEN_ENABLES),
	    "and_is_told_to_it", "%x", written);
}

/* What was on there is so no longer, by nobody's doing. */
static void unplugged_test(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	int lease;

	if (cpus_online() < 2)
		return;
	poke(PEEK, "1 control 0x9");
	poke(PEEK, "1 enabled 0x80000000");
	lease = take(UPMU_MODE_COUNT);
	poke(online, "0");
	poke(online, "1");
	pin(1);
	leave_the_cpu();
	tap(lease >= 0 && !info_of(lease).lease_written,
	    "what_unplugging_a_cpu_reset_is_nobodys_writing", "%x",
	    info_of(lease).lease_written);
	pin(0);
	close(lease);
}

/* Each lease is looked at from what was on before the first of them. */
static void another_lease_test(void)
{
	int first, second;

	poke(PEEK, "0 enabled 0x80000000");
	peek(before);
	first = take(UPMU_MODE_COUNT);
	upmu_regs_disable(~0u);
	upmu_regs_isb();
	second = take(UPMU_MODE_COUNT);
	tap(second >= 0 && info_of(first).lease_written & UPMU_WRITTEN_ENABLES,
	    "what_a_holder_switched_off_is_told_though_another_lease_follows",
	    "%x", info_of(first).lease_written);
	close(first);
	close(second);
	peek(after);
	tap(!strcmp(before, after), "and_on_again_when_both_have_ended",
	    "was %.300s\n# is  %.300s", before, after);
	poke(PEEK, "0 enabled 0");
}

/* None of its counters counts anything. */
static void make_all_idle(void)
{
	char line[32];

	for (unsigned int n = 0; n < info_of(-1).counters; n++) {
		snprintf(line, sizeof(line), "0 type 0 %u", n);
		poke(PEEK, line); /* software increments, of which are none */
	}
	poke(PEEK, "0 type 0xc0000000 31");
}

/* What was there before perf came is not put back under its event. */
static void opened_meanwhile_test(uint32_t type, uint64_t config,
				  const char *claim)
{
	struct times was, is;
	int lease, perf;

	make_all_idle();
	lease = take(UPMU_MODE_COUNT);
	perf = event_open(type, config, 0, -1, 0, 0);
	leave_the_cpu();
	close(lease);
	was = total(perf);
	spin_loop(200000);
	is = total(perf);
	tap(lease >= 0 && is.value - was.value > 200000, claim, "%llu",
	    (unsigned long long)(is.value - was.value));
	close(perf);
	poke(PEEK, "0 type 0 31");
}

/* perf takes a counter that was on, and switches it off when it is done. */
static void taken_up_test(uint32_t type, uint64_t config, const char *claim)
{
	uint32_t written;
	int lease, perf;

	make_all_idle();
	poke(PEEK, "0 control 0x1");
	poke(PEEK, "0 enabled 0x8000000f");
	lease = take(UPMU_MODE_COUNT);
	perf = event_open(type, config, 0, -1, 0, 0);
	leave_the_cpu();
	close(perf);
	leave_the_cpu();
	written = info_of(lease).lease_written;
	close(lease);
	tap(lease >= 0 && perf >= 0 && !written, claim, "%x", written);
	poke(PEEK, "0 control 0");
	poke(PEEK, "0 enabled 0");
}

int main(void)
{
	pin(0);
	nothing_left_test(UPMU_MODE_COUNT,
			  "nothing_is_left_of_what_a_count_holder_wrote");
	nothing_left_test(UPMU_MODE_CYCLES,
			  "nor_of_what_a_cycles_holder_wrote");
	kept_test();
	written_before_test();
	unplugged_test();
	another_lease_test();
	opened_meanwhile_test(PERF_TYPE_RAW, 0x11,
			      "an_event_opened_under_a_lease_counts_on_after");
	opened_meanwhile_test(PERF_TYPE_HARDWARE, 0,
			      "and_so_does_one_of_the_cycle_counter");
	taken_up_test(PERF_TYPE_RAW, 0x11,
		      "no_holder_is_accused_of_what_perf_switched_off");
	taken_up_test(PERF_TYPE_HARDWARE, 0,
		      "nor_of_the_cycle_counter_that_perf_switched_off");
	return tap_done();
}
