// SPDX-License-Identifier: MIT
/*
 * upmu_measure() and regions where each instruction is one cycle: what they
 * give can be foretold to the last count.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"

/* A thousand instructions and the return, which the empty one has too. */
#ifdef __aarch64__
#define LEAVE "ret"
#else
#define LEAVE "bx lr"
#endif

__asm__(".text\n\t.balign 4\n\t"
#ifdef __arm__
	".arm\n\t"
#endif
	".type thousand_instructions, %function\n"
	"thousand_instructions:\n\t"
	".rept 1000\n\tnop\n\t.endr\n\t" LEAVE "\n\t"
	".size thousand_instructions, . - thousand_instructions\n"
#ifdef __thumb__
	"\t.thumb\n"
#endif
);
void thousand_instructions(void *arg);

static void empty(void *arg)
{
	(void)arg;
}

static void tell(const char *what, const struct upmu_measurement *m)
{
	note("%s: min %" PRIu64 " q1 %" PRIu64 " median %" PRIu64 " q3 %" PRIu64
	     " max %" PRIu64 " overhead %" PRIu64,
	     what, m->min, m->q1, m->median, m->q3, m->max, m->overhead);
}

static bool measure(void (*fn)(void *), const char *events,
		    struct upmu_measurement *results, size_t n)
{
	const struct upmu_measure_options options = {
		.size = sizeof(options),
		.events = events,
	};
	int ret = upmu_measure(fn, NULL, &options, results, n);

	if (ret)
		note("%d: %s", ret, upmu_explain());
	for (size_t i = 0; !ret && i < n; i++)
		tell(events, &results[i]);
	return !ret;
}

static void measure_functions(void)
{
	struct upmu_measurement m[2] = { { .size = sizeof(m[0]) } };

	ok(measure(empty, "cycles", m, 1) && m[0].median <= 1 && m[0].q3 <= 1,
	   "an_empty_function_measures_0_cycles");
	ok(measure(thousand_instructions, "cycles", m, 1) &&
		   m[0].median == 1000 && m[0].q1 == 1000,
	   "a_thousand_instructions_measure_1000_cycles");
	ok(measure(thousand_instructions, "instructions,cycles", m, 2) &&
		   m[0].median == 1000 && m[1].median == 1000,
	   "and_1000_instructions_beside_them");
}

static void call(struct upmu_region *region)
{
	upmu_region_begin(region);
	upmu_region_end(region);
}

/* What a pair costs from outside: the smallest of many. */
static uint64_t pair_cost(struct upmu *set, struct upmu_region *region)
{
	const struct upmu_counter *counter = upmu_counter_at(set, 0);
	uint64_t best = UINT64_MAX, read = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t before = upmu_count(counter);
		uint64_t between = upmu_count(counter);
		uint64_t after;

		call(region);
		after = upmu_count(counter);
		if (between - before < read)
			read = between - before;
		if (after - between < best)
			best = after - between;
	}
	return best - read;
}

/* The fourth count is of what the second counts, under its number. */
static bool count_four(void)
{
	struct upmu_region_stats second = { .size = sizeof(second) };
	struct upmu_region_stats fourth = { .size = sizeof(fourth) };
	struct upmu_region *work;

	if (upmu_regions_init("cycles,instructions,r11,r08", NULL) ||
	    upmu_region_open(&work, "work"))
		return false;
	for (int i = 0; i < 20; i++) {
		upmu_region_begin(work);
		thousand_instructions(NULL);
		upmu_region_end(work);
	}
	if (upmu_region_read(work, 1, &second) ||
	    upmu_region_read(work, 3, &fourth))
		return false;
	return second.min >= 1002 && second.min <= 1004 && fourth.min >= 1002 &&
	       fourth.min <= 1004 && fourth.calls == 20;
}

/* Regions are of a process: one with other events needs its own. */
static bool in_child(bool (*act)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(act() ? 0 : 1);
	return waitpid(child, &status, 0) == child && !status;
}

static void measure_regions(void)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };
	struct upmu_region *work, *nothing;
	struct upmu *set;
	uint64_t cost;

	if (upmu_regions_init("cycles,instructions,r11", NULL) ||
	    upmu_region_open(&work, "work") ||
	    upmu_region_open(&nothing, "nothing") ||
	    upmu_open(&set, "instructions", NULL)) {
		note("%s", upmu_explain());
		ok(false, "regions_open");
		return;
	}
	for (int i = 0; i < 20; i++) {
		upmu_region_begin(work);
		thousand_instructions(NULL);
		upmu_region_end(work);
	}
	upmu_region_read(work, 0, &stats);
	note("work: %" PRIu64 " calls, min %" PRIu64 " max %" PRIu64
	     " overhead %" PRIu64,
	     stats.calls, stats.min, stats.max, stats.overhead);
	/* The body has its argument, is called and returns: 3, or one more. */
	ok(stats.calls == 20 && stats.min >= 1002 && stats.min <= 1004,
	   "a_region_counts_what_is_in_it");
	/* One of the three has the cycle counter, which is read in fewer
	 * instructions than the others: bench/run has none such. */
	cost = pair_cost(set, nothing);
	note("begin and end of a region with 3 events: %" PRIu64
	     " instructions",
	     cost);
	ok(cost > 0 && cost <= 250, "a_pair_costs_250_instructions_at_most");
	upmu_close(set);
}

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	return file && fputs(text, file) >= 0 && !fclose(file);
}

/* As a user who has mapped all that is allowed: no page is left. */
static bool map_no_more(void)
{
	const struct rlimit none = { 0, 0 };
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct of[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (!write_file("/proc/sys/kernel/perf_event_mlock_kb", "0\n") ||
	    setrlimit(RLIMIT_MEMLOCK, &none) || syscall(SYS_capget, &head, of))
		return false;
	of[0].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
	return !syscall(SYS_capset, &head, of);
}

static void *call_twenty_times(void *region)
{
	for (int i = 0; i < 20; i++) {
		upmu_region_begin(region);
		thousand_instructions(NULL);
		upmu_region_end(region);
	}
	return NULL;
}

static void *call_by_system_calls(void *region)
{
	return map_no_more() ? call_twenty_times(region) : NULL;
}

/* Where the first thread has pages and the second has none. */
static bool count_alike_in_both(void)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };
	struct upmu_region *first, *second;
	pthread_t thread;

	if (upmu_region_open(&first, "first") ||
	    upmu_region_open(&second, "second"))
		return false;
	call_twenty_times(first);
	if (pthread_create(&thread, NULL, call_by_system_calls, second) ||
	    pthread_join(thread, NULL) || upmu_region_read(second, 1, &stats))
		return false;
	note("%" PRIu64 " calls, min %" PRIu64 " mean %.1f max %" PRIu64,
	     stats.calls, stats.min, stats.mean, stats.max);
	return stats.calls == 20 && stats.min >= 1000 && stats.min < 1100;
}

static atomic_bool is_over;

static void *call_for_ever(void *region)
{
	const struct sched_param least = { 0 };

	pthread_setschedparam(pthread_self(), SCHED_OTHER, &least);
	while (!is_over)
		call(region);
	return NULL;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* It comes upon the other thread at any instruction, on the only CPU. */
static bool read_in_real_time(void)
{
	const struct sched_param high = { .sched_priority = 50 };
	struct upmu_region_stats stats = { .size = sizeof(stats) };
	struct upmu_region *region;
	double worst = 0;
	pthread_t thread;

	if (upmu_region_open(&region, "busy") ||
	    pthread_create(&thread, NULL, call_for_ever, region) ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &high))
		return false;
	for (long i = 0; i < 300 && worst < 100; i++) {
		const struct timespec wait = { .tv_nsec = 1000000 + i * 7919 };
		double before;

		nanosleep(&wait, NULL);
		before = now_ms();
		upmu_region_read(region, 0, &stats);
		if (now_ms() - before > worst)
			worst = now_ms() - before;
	}
	note("%" PRIu64 " calls, the longest reading took %.3f ms", stats.calls,
	     worst);
	return stats.calls > 1000 && worst < 20;
}

int main(void)
{
	setenv("UPMU_REPORT", "none", 1);
	measure_functions();
	ok(in_child(count_four), "a_region_of_four_events_counts_each");
	ok(in_child(count_alike_in_both),
	   "a_thread_that_reads_by_system_calls_counts_the_same");
	ok(in_child(read_in_real_time),
	   "a_thread_of_real_time_waits_for_no_other_that_it_keeps_from_running");
	measure_regions();
	return tap_done();
}
