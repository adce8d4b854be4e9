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
	uint64_t apart; /* least that the two counts past 2^32 differed by */
	bool is_blind;	/* raw was not read for too long, and said so */
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

static void fail(struct tally *tally, int error)
{
	tally->errors++;
	tally->is_blind = error == -EOVERFLOW;
	note("%s", upmu_explain());
}

/* Two counters of the same thing: neither may have lost 2^32. */
static void compare(struct tally *tally, const uint64_t *counts)
{
	uint64_t apart = counts[0] > counts[1] ? counts[0] - counts[1]
					       : counts[1] - counts[0];

	if (counts[0] <= PAST || counts[1] <= PAST)
		return;
	if (!tally->beyond || apart < tally->apart)
		tally->apart = apart;
	tally->beyond++;
}

static void look(struct upmu *set, uint64_t *last, struct tally *tally)
{
	struct upmu_value before[EVENTS], after[EVENTS];
	uint64_t counts[EVENTS];
	int ret;

	tally->reads++;
	ret = upmu_read(set, before, EVENTS);
	for (int i = 0; !ret && i < EVENTS; i++) {
		counts[i] = upmu_count(upmu_counter_at(set, (size_t)i));
		tally->backwards += counts[i] < last[i];
		last[i] = counts[i];
	}
	if (!ret)
		ret = upmu_read(set, after, EVENTS);
	if (ret) {
		fail(tally, ret);
		return;
	}
	for (int i = 0; i < EVENTS; i++)
		tally->outside += counts[i] < before[i].count ||
				  counts[i] > after[i].count;
	compare(tally, counts);
}

static void bind_to_cpu_0(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Until counts are well past 2^32, or the time is over. */
static bool count_past(const char *source, uint64_t end, struct tally *tally)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = source,
	};
	uint64_t last[EVENTS] = { 0 };
	struct upmu *set;

	memset(tally, 0, sizeof(*tally));
	if (upmu_open(&set, "cycles,r11", &options)) {
		note("%s", upmu_explain());
		return false;
	}
	while (last[0] < END && !tally->errors && now_s() < end) {
		look(set, last, tally);
		spin(300000);
	}
	note("%" PRIu64 " and %" PRIu64, last[0], last[1]);
	upmu_close(set);
	return true;
}

int main(int argc, char **argv)
{
	const char *source = argc > 1 ? argv[1] : "page";
	uint64_t end = now_s() + 400;
	struct tally tally;
	bool is_open;

	bind_to_cpu_0();
	/* Another machine's load may keep this one from reading in time. */
	do
		is_open = count_past(source, end, &tally);
	while (is_open && tally.is_blind && now_s() < end);
	if (!ok(is_open, "the_set_opens"))
		return tap_done();
	note("%" PRIu64 " reads, %" PRIu64 " of them past 2^32", tally.reads,
	     tally.beyond);
	ok(tally.beyond > 10, "counts_went_past_2_to_the_32");
	ok(!tally.errors, "each_reading_gave_a_count");
	ok(!tally.backwards, "counts_never_ran_backwards_past_2_to_the_32");
	ok(!tally.outside, "counts_lay_between_two_calls_past_2_to_the_32");
	note("two counters of cycles: %" PRIu64 " apart", tally.apart);
	ok(tally.beyond && tally.apart < PAST / 64,
	   "two_counters_of_cycles_agree");
	return tap_done();
}
