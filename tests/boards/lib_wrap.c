// SPDX-License-Identifier: MIT
/*
 * Past 2^32: a register of 32 bits has gone round, the counts have not. Held
 * against upmu_read() all the way, and one counter against another.
 *
 *	lib_wrap SOURCE
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib_tap.h"
#include "upmu.h"

#define EVENTS 2
#define PAST   (UINT64_C(1) << 32)
#define END    (PAST + PAST / 16)

struct tally {
	uint64_t reads, backwards, outside, errors, beyond;
};

static void spin(unsigned int n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}

static uint64_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static void look(struct upmu *set, uint64_t *last, struct tally *tally)
{
	struct upmu_value before[EVENTS], after[EVENTS];
	uint64_t counts[EVENTS];

	tally->reads++;
	if (upmu_read(set, before, EVENTS)) {
		tally->errors++;
		return;
	}
	for (int i = 0; i < EVENTS; i++) {
		counts[i] = upmu_count(upmu_counter(set, (size_t)i));
		tally->backwards += counts[i] < last[i];
		last[i] = counts[i];
	}
	if (upmu_read(set, after, EVENTS)) {
		tally->errors++;
		return;
	}
	for (int i = 0; i < EVENTS; i++)
		tally->outside += counts[i] < before[i].count ||
				  counts[i] > after[i].count;
	tally->beyond += counts[0] > PAST && counts[1] > PAST;
}

static void bind_to_cpu_0(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Two counters of the same thing: neither may have lost 2^32. */
static bool agree(const uint64_t *last)
{
	uint64_t apart =
		last[0] > last[1] ? last[0] - last[1] : last[1] - last[0];

	note("%" PRIu64 " and %" PRIu64, last[0], last[1]);
	return apart < PAST / 64;
}

int main(int argc, char **argv)
{
	struct upmu_options options = { .size = sizeof(options) };
	uint64_t last[EVENTS] = { 0 }, end = now_s() + 400;
	struct tally tally = { 0 };
	struct upmu *set;

	options.source = argc > 1 ? argv[1] : "page";
	bind_to_cpu_0();
	if (upmu_open(&set, "cycles,r11", &options)) {
		note("%s", upmu_explain());
		ok(false, "the_set_opens");
		return tap_done();
	}
	while (last[0] < END && !tally.errors && now_s() < end) {
		look(set, last, &tally);
		spin(300000);
	}
	note("%" PRIu64 " reads, %" PRIu64 " of them past 2^32", tally.reads,
	     tally.beyond);
	ok(tally.beyond > 10, "counts_went_past_2_to_the_32");
	ok(!tally.errors, "each_reading_gave_a_count");
	ok(!tally.backwards, "counts_never_ran_backwards_past_2_to_the_32");
	ok(!tally.outside, "counts_lay_between_two_calls_past_2_to_the_32");
	ok(agree(last), "two_counters_of_cycles_agree");
	upmu_close(set);
	return tap_done();
}
