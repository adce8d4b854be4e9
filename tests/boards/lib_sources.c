// SPDX-License-Identifier: MIT
/*
 * Which sources are offered here, and does each tell the truth about work whose
 * size is known?
 *
 *	lib_sources [exact] SOURCE...	those named are offered, no others;
 *					"read?" may be or may not
 *
 * `exact`: each instruction is one cycle here (an emulator that says so), so
 * that counts can be foretold to the last one.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib_tap.h"
#include "upmu.h"

/* Short enough for most to run between two ticks of the kernel. */
#define LOOPS 100000u

/* Two instructions each time round, on every architecture that is counted. */
static __attribute__((noinline)) void loop(uint32_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %w0, %w0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__arm__)
	__asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(n) : : "cc");
#else
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
#endif
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int open_by(struct upmu **set, const char *source, const char *events)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = source,
	};
	int ret = upmu_open(set, events, &options);

	if (ret)
		note("%s: %s: %d: %s", source, events, ret, upmu_explain());
	return ret;
}

/* What one loop of @n comes to, in the set's first event. */
static uint64_t cost_of(struct upmu *set, uint32_t n)
{
	const struct upmu_counter *counter = upmu_counter_at(set, 0);
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = upmu_count(counter);

		loop(n);
		before = upmu_count(counter) - before;
		best = before < best ? before : best;
	}
	return best;
}

/* Two lengths, so that what the reading itself costs falls out. */
static bool counts_exactly(const char *source, const char *event)
{
	struct upmu *set;
	uint64_t small, large;

	if (open_by(&set, source, event))
		return false;
	small = cost_of(set, LOOPS);
	large = cost_of(set, 2 * LOOPS);
	upmu_close(set);
	note("%s: %s: %" PRIu64 " and %" PRIu64, source, event, small, large);
	return large - small == 2 * LOOPS;
}

/* One count between two of read(2), and more than @last: 0, or what is wrong.
 */
static int look(struct upmu *set, uint64_t *last)
{
	struct upmu_value before, after;
	uint64_t count;
	int ret;

	ret = upmu_read(set, &before, 1);
	if (ret)
		return ret;
	count = upmu_count(upmu_counter_at(set, 0));
	loop(1000);
	ret = upmu_read(set, &after, 1);
	if (ret)
		return ret;
	if (before.count > count || count > after.count || count <= *last)
		return -ERANGE;
	*last = count;
	return 0;
}

static int look_often(const char *source)
{
	struct upmu *set;
	uint64_t last = 0;
	int ret = open_by(&set, source, "cycles");

	if (ret)
		return ret;
	for (int i = 0; i < 1000 && !ret; i++)
		ret = look(set, &last);
	upmu_close(set);
	return ret;
}

/* Without exact counts. Where the machine is so busy that the registers of raw
 * were not looked at in time, which it says, from the start. */
static bool agrees_with_perf(const char *source)
{
	int ret, tries = 20;

	do
		ret = look_often(source);
	while (ret == -EOVERFLOW && --tries);
	if (ret)
		note("%s: %d: %s", source, ret, upmu_explain());
	return !ret;
}

/* A clock is held against the system's: within what surrounds it. */
static bool tells_time(const char *source, uint64_t hz)
{
	struct upmu *set;
	uint64_t outer[2], inner[2], low, high, first, ticks;

	if (open_by(&set, source, "cycles"))
		return false;
	outer[0] = now_ns();
	first = upmu_count(upmu_counter_at(set, 0));
	inner[0] = now_ns();
	while (now_ns() - inner[0] < 50000000)
		loop(1000);
	inner[1] = now_ns();
	ticks = upmu_count(upmu_counter_at(set, 0)) - first;
	outer[1] = now_ns();
	upmu_close(set);
	if (!hz)
		return ticks > 0;
	low = (inner[1] - inner[0]) / 1000 * hz / 1000000;
	high = (outer[1] - outer[0]) / 1000 * hz / 1000000;
	note("%s: %" PRIu64 " in %" PRIu64 " to %" PRIu64, source, ticks, low,
	     high);
	/* The two clocks' rates are slewed against one another by a little. */
	return ticks + ticks / 100 >= low && ticks <= high + high / 100 + 1;
}

static uint64_t timer_hz(void)
{
#if defined(__aarch64__)
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
#elif defined(__arm__)
	uint32_t hz;

	__asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(hz));
	return hz;
#else
	return 0;
#endif
}

static void check_answer(const char *source, bool is_exact)
{
	char claim[64];
	bool passed;

	if (!strcmp(source, "timer"))
		passed = tells_time(source, timer_hz());
	else if (!strcmp(source, "clock"))
		passed = tells_time(source, 1000000000);
	else if (is_exact)
		passed = counts_exactly(source, "cycles") &&
			 counts_exactly(source, "instructions") &&
			 counts_exactly(source, "r11");
	else
		passed = agrees_with_perf(source);
	snprintf(claim, sizeof(claim), "%s_gives_the_right_answer", source);
	ok(passed, claim);
}

static bool is_named(const char *source, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], source))
			return true;
	return false;
}

/* Raw registers are those of one CPU. */
static void bind_to_cpu_0(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	bool is_exact = is_named("exact", argc, argv);
	struct upmu_verdict verdict = { .size = sizeof(verdict) };

	bind_to_cpu_0();
	for (size_t i = 0; !upmu_probe(i, &verdict); i++) {
		bool wanted = is_named(verdict.source, argc, argv);
		char claim[64];

		note("%s (%s): %d: %.*s", verdict.source, verdict.unit,
		     verdict.error, (int)strcspn(verdict.reason, "\n"),
		     verdict.reason);
		snprintf(claim, sizeof(claim), "%s?", verdict.source);
		if (is_named(claim, argc, argv))
			wanted = !verdict.error;
		snprintf(claim, sizeof(claim), "%s_is_%soffered",
			 verdict.source, wanted ? "" : "not_");
		ok(wanted == !verdict.error, claim);
		if (verdict.error)
			ok(verdict.reason[0], "a_reason_is_given");
		if (!verdict.error)
			check_answer(verdict.source, is_exact);
	}
	return tap_done();
}
