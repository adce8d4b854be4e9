// SPDX-License-Identifier: MIT
/*
 * Several sets on one thread. Each counts cycles, of which a core has one
 * counter; where ordinary counters suffice all run all the time, and where
 * they do not, running_ns tells.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"

#define SETS_MAX 8
#define LOOPS	 8000000u

static struct upmu *sets[SETS_MAX];

static void spin(unsigned int n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}

static size_t open_sets(size_t n, const char *source)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .source = source };
	size_t opened = 0;

	while (opened < n && !upmu_open(&sets[opened], "cycles", &options))
		opened++;
	if (opened < n)
		note("set %zu of %zu: %s", opened, n, upmu_explain());
	return opened;
}

static void close_sets(size_t n)
{
	while (n)
		upmu_close(sets[--n]);
}

struct span {
	uint64_t count, enabled_ns, running_ns;
};

static void read_span(struct upmu *set, struct span *span)
{
	struct upmu_value value = { 0, 0, 0 };

	if (upmu_read(set, &value, 1))
		note("%s", upmu_explain());
	span->count = value.count - span->count;
	span->enabled_ns = value.enabled_ns - span->enabled_ns;
	span->running_ns = value.running_ns - span->running_ns;
}

static void measure(size_t n, struct span *spans)
{
	for (size_t i = 0; i < n; i++) {
		spans[i] = (struct span){ 0, 0, 0 };
		read_span(sets[i], &spans[i]);
	}
	spin(LOOPS);
	for (size_t i = 0; i < n; i++) {
		read_span(sets[i], &spans[i]);
		note("set %zu: %" PRIu64 " cycles, %" PRIu64 " of %" PRIu64
		     " ns",
		     i, spans[i].count, spans[i].running_ns,
		     spans[i].enabled_ns);
	}
}

/* Both boards' clocks have a cycle in a nanosecond, as QEMU makes them. */
static bool counts_its_time(const struct span *span)
{
	return span->count >= span->running_ns / 2 &&
	       span->count <= span->running_ns * 2;
}

/* No host turns the loop eight times in a nanosecond. */
static bool is_whole(const struct span *span)
{
	return span->running_ns >= LOOPS / 8 &&
	       span->running_ns == span->enabled_ns && counts_its_time(span);
}

static bool tells_its_share(const struct span *span)
{
	return span->running_ns < span->enabled_ns && counts_its_time(span);
}

static void all_run(size_t n, const char *source, const char *claim)
{
	struct span spans[SETS_MAX];
	size_t opened = open_sets(n, source);
	bool passed = opened == n;

	measure(opened, spans);
	for (size_t i = 0; i < opened; i++)
		passed = passed && is_whole(&spans[i]);
	ok(passed, claim);
	close_sets(opened);
}

static void too_many_tell(void)
{
	struct span spans[SETS_MAX];
	size_t opened = open_sets(SETS_MAX, NULL);
	bool passed = opened == SETS_MAX;

	measure(opened, spans);
	for (size_t i = 0; i < opened; i++)
		passed = passed &&
			 (is_whole(&spans[i]) || tells_its_share(&spans[i]));
	ok(passed, "of_eight_sets_each_runs_or_says_for_how_long");
	close_sets(opened);
}

/* As a program does that has its sets ready beforehand. */
static void stopped_ones_take_nothing(void)
{
	const struct upmu_options stopped = { .size = sizeof(stopped),
					      .flags = UPMU_OPEN_STOPPED };
	struct upmu_value value = { 0, 0, 0 };
	size_t opened = open_sets(1, NULL);
	bool passed = opened == 1;

	for (int i = 0; passed && i < 500; i++) {
		passed =
			!upmu_open(&sets[1], "cycles,instructions", &stopped) &&
			!upmu_start(sets[1]);
		if (passed)
			upmu_close(sets[1]);
	}
	passed = passed && !upmu_read(sets[0], &value, 1);
	note("running %" PRIu64 " of %" PRIu64 " ns", value.running_ns,
	     value.enabled_ns);
	ok(passed && value.running_ns && value.running_ns == value.enabled_ns,
	   "sets_that_are_opened_stopped_take_no_time_of_one_that_runs");
	close_sets(opened);
}

/* One as any program opens it, and one that names whom it counts: the thread
 * by its number, or the CPU. Each was the first. */
static void run_beside(const struct upmu_options *named, const char *claim)
{
	const struct upmu_options *const both[] = { NULL, named };
	/* arm64 gives a CPU's cycles the cycle counter, whoever had it. */
	bool may_lose = sizeof(void *) == 8 && named->flags == UPMU_OPEN_CPU;
	struct span spans[2];
	bool passed = true;

	for (size_t first = 0; first < 2; first++) {
		size_t n = 0;

		while (n < 2 && !upmu_open(&sets[n], "cycles", both[first ^ n]))
			n++;
		if (n < 2)
			note("%s", upmu_explain());
		measure(n, spans);
		passed = passed && n == 2 && is_whole(&spans[1]) &&
			 (is_whole(&spans[0]) ||
			  (may_lose && !first && tells_its_share(&spans[0])));
		close_sets(n);
	}
	ok(passed, claim);
}

static void name_it_otherwise(void)
{
	struct upmu_options named = { .size = sizeof(named) };
	cpu_set_t cpu, before;

	named.pid = (int32_t)syscall(SYS_gettid);
	run_beside(&named, "a_thread_that_names_itself_runs_all_the_time");
	named.pid = 0;
	named.flags = UPMU_OPEN_CPU;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_getaffinity(0, sizeof(before), &before);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	run_beside(&named, "a_thread_and_its_cpu_are_counted_at_the_same_time");
	sched_setaffinity(0, sizeof(before), &before);
}

static void empty(void *unused)
{
	(void)unused;
}

static void measure_beside(void)
{
	struct upmu_measurement result = { .size = sizeof(result) };
	size_t opened = open_sets(2, NULL);
	int ret = upmu_measure(empty, NULL, NULL, &result, 1);

	if (ret)
		note("%s", upmu_explain());
	ok(opened == 2 && !ret, "a_function_is_measured_beside_open_sets");
	close_sets(opened);
}

/* The first is closed, the second stays, a third comes. */
static void one_goes_one_comes(void)
{
	struct span spans[SETS_MAX];
	size_t opened = open_sets(2, NULL);
	bool passed = opened == 2;

	if (passed) {
		upmu_close(sets[0]);
		passed = open_sets(1, NULL) == 1;
		measure(2, spans);
		passed = passed && is_whole(&spans[0]) && is_whole(&spans[1]);
	}
	ok(passed, "a_set_opened_in_place_of_another_runs_all_the_time");
	close_sets(opened);
}

/* The least of many: what is over it is an interrupt in the middle. */
static void count_by_call(bool is_exact)
{
	uint64_t least = UINT64_MAX, first;
	size_t opened = open_sets(1, "page");
	const struct upmu_counter *cycles;

	if (!opened) {
		ok(false, "a_count_by_call_costs_30_instructions_at_most");
		return;
	}
	cycles = upmu_counter_at(sets[0], 0);
	first = upmu_count(cycles);
	for (int i = 0; i < 100; i++) {
		uint64_t before = upmu_count_by_call(cycles);
		uint64_t after = upmu_count_by_call(cycles);

		if (after - before < least)
			least = after - before;
	}
	ok(first < upmu_count_by_call(cycles), "a_count_by_call_goes_on");
	note("%" PRIu64 " cycles from one count by call to the next", least);
	if (is_exact)
		ok(least <= 30,
		   "a_count_by_call_costs_30_instructions_at_most");
	close_sets(opened);
}

int main(int argc, char **argv)
{
	(void)argv;
	all_run(2, NULL, "two_sets_of_a_thread_run_all_the_time");
	all_run(3, NULL, "three_sets_of_a_thread_run_all_the_time");
	all_run(3, "read", "three_sets_by_system_call_run_all_the_time");
	one_goes_one_comes();
	stopped_ones_take_nothing();
	name_it_otherwise();
	measure_beside();
	too_many_tell();
	count_by_call(argc > 1);
	return tap_done();
}
