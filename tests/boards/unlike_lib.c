// SPDX-License-Identifier: MIT
/*
 * libupmu on unlike cores: work of known length that moves between them while
 * a set, a region, a measurement counts its accesses of memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib_tap.h"
#include "unlike.h"
#include "upmu.h"

#define EVENTS "mem_access:u,cpu_cycles"
#define PAIRS  2000000u
#define WANTED (2.0 * PAIRS)

static bool is_right(const char *what, double count)
{
	note("%s: %.0f of %.0f", what, count, WANTED);
	return count / WANTED > 0.999 && count / WANTED < 1.001;
}

static void set_tests(struct upmu *set, uint32_t moves, const char *by_read,
		      const char *by_counts, const char *by_count)
{
	const struct upmu_counter *counter = upmu_counter_at(set, 0);
	uint64_t first[2], last[2], inline_first, inline_last;
	struct upmu_value before[2], after[2];
	int ret;

	move_to(0);
	ret = upmu_read(set, before, 2);
	ret = ret ? ret : upmu_count_all(set, first, 2);
	inline_first = upmu_count(counter);
	access_and_move(PAIRS, moves);
	inline_last = upmu_count(counter);
	ret = ret ? ret : upmu_count_all(set, last, 2);
	ret = ret ? ret : upmu_read(set, after, 2);
	if (ret)
		note("%d: %s", ret, upmu_explain());
	ok(!ret && is_right("upmu_read", after[0].count - before[0].count) &&
		   after[0].running_ns - before[0].running_ns ==
			   after[0].enabled_ns - before[0].enabled_ns,
	   by_read);
	ok(!ret && is_right("upmu_count_all", last[0] - first[0]), by_counts);
	ok(!ret && is_right("upmu_count", inline_last - inline_first),
	   by_count);
}

/* Opened while it may run on one CPU only; then it may on both. */
static void widened(void)
{
	struct upmu_value before[2], after[2];
	struct upmu *set;
	int ret;

	move_to(0);
	ret = upmu_open(&set, EVENTS, NULL);
	if (!ok(!ret, "a_set_opens_on_one_cpu"))
		return;
	ret = upmu_read(set, before, 2);
	access_and_move(PAIRS, 1);
	ret = ret ? ret : upmu_read(set, after, 2);
	ok(!ret && is_right("widened", after[0].count - before[0].count),
	   "a_set_opened_on_one_cpu_counts_on_the_other_later");
	upmu_close(set);
}

static void region_test(void)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };
	struct upmu_region *region;

	move_freely();
	if (upmu_regions_init(EVENTS, NULL) ||
	    upmu_region_open(&region, "moving")) {
		note("%s", upmu_explain());
		ok(false, "regions_open");
		return;
	}
	for (int i = 0; i < 10; i++) {
		upmu_region_begin(region);
		access_and_move(PAIRS / 10, 1);
		upmu_region_end(region);
	}
	upmu_region_read(region, 0, &stats);
	ok(stats.calls == 10 && is_right("region", stats.total),
	   "a_region_counts_what_moves_inside_it");
}

static void touch_100_pages(void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, 100 * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	for (size_t i = 0; memory != MAP_FAILED && i < 100; i++)
		memory[i * page] = 1;
	munmap((void *)(uintptr_t)memory, 100 * page);
}

/* No core counts them: they are the kernel's own. */
static void faults(void)
{
	const struct upmu_measure_options options = {
		.size = sizeof(options),
		.events = "page-faults",
	};
	struct upmu_measurement m = { .size = sizeof(m) };
	uint64_t before = 0, after = 0;
	struct upmu *set;
	int ret;

	move_freely();
	ret = upmu_open(&set, "page-faults", NULL);
	if (!ok(!ret, "a_set_of_page_faults_opens"))
		return;
	ret = upmu_count_all(set, &before, 1);
	touch_100_pages(NULL);
	ret = ret ? ret : upmu_count_all(set, &after, 1);
	note("%" PRIu64 " page faults of 100", after - before);
	ok(!ret && after - before >= 100 && after - before < 110,
	   "a_page_fault_is_counted_once");
	upmu_close(set);
	ret = upmu_measure(touch_100_pages, NULL, &options, &m, 1);
	note("median %" PRIu64, m.median);
	ok(!ret && m.median >= 100 && m.median < 110, "and_is_measured_once");
}

static void thousand_accesses(void *arg)
{
	(void)arg;
	access_memory(500);
}

static void measured_on(unsigned int cpu, const char *claim)
{
	const struct upmu_measure_options options = {
		.size = sizeof(options),
		.events = EVENTS,
	};
	struct upmu_measurement m[2] = { { .size = sizeof(m[0]) } };
	int ret;

	move_to(cpu);
	ret = upmu_measure(thousand_accesses, NULL, &options, m, 2);
	if (ret)
		note("%d: %s", ret, upmu_explain());
	else
		note("median %" PRIu64 " min %" PRIu64 " q3 %" PRIu64,
		     m[0].median, m[0].min, m[0].q3);
	/* the loop is compiled as it likes, and the call keeps a register */
	ok(!ret && m[0].median >= 1000 && m[0].median <= 1008, claim);
}

/* Of user mode, where no tick of the clock comes in between. */
static uint64_t cost_of_opening(unsigned int cpu)
{
	uint64_t before = 0, after = 0;
	struct upmu *meter, *set;
	int ret;

	move_to(cpu);
	ret = upmu_open(&meter, "instructions:u", NULL);
	if (ret)
		return 0;
	ret = upmu_count_all(meter, &before, 1);
	ret = ret ? ret : upmu_open(&set, EVENTS, NULL);
	if (!ret) {
		ret = upmu_count_all(meter, &after, 1);
		upmu_close(set);
	}
	upmu_close(meter);
	note("CPU %u: opening takes %" PRIu64 " instructions of user mode", cpu,
	     after - before);
	return ret ? 0 : after - before;
}

/* The process has been on no other core yet: perf's own cycles are of one. */
static void opened_on_the_other_core_first(void)
{
	uint64_t other = cost_of_opening(1), first = cost_of_opening(0);

	ok(first && other && other < first + first / 2,
	   "a_set_opens_as_cheaply_on_the_other_core");
}

static bool runs_all_the_time(struct upmu *set)
{
	struct upmu_value values[3] = { { .count = 0 } };
	int ret = upmu_read(set, values, upmu_size(set));

	note("%s: running %" PRIu64 " of %" PRIu64 " ns",
	     upmu_event_name(set, 0), values[0].running_ns,
	     values[0].enabled_ns);
	return !ret && values[0].running_ns &&
	       values[0].running_ns == values[0].enabled_ns;
}

/* Four events beside cycles, for which each core has the counters. */
static void that_fit_on(unsigned int cpu, const char *claim)
{
	struct upmu *with_cycles, *others = NULL;
	bool passed;

	move_to(cpu);
	if (upmu_open(&with_cycles, "cycles,instructions,mem_access", NULL)) {
		note("%s", upmu_explain());
		ok(false, claim);
		return;
	}
	passed = !upmu_open(&others, "br_pred,l1d_cache", NULL);
	access_memory(20 * PAIRS);
	passed = passed && runs_all_the_time(with_cycles) &&
		 runs_all_the_time(others);
	ok(passed, claim);
	upmu_close(others);
	upmu_close(with_cycles);
}

int main(void)
{
	struct upmu *set;

	setenv("UPMU_REPORT", "none", 1);
	opened_on_the_other_core_first();
	move_freely();
	if (upmu_open(&set, EVENTS, NULL)) {
		note("%s", upmu_explain());
		ok(false, "a_set_opens_on_unlike_cores");
		return tap_done();
	}
	note("source %s", upmu_source(set));
	set_tests(set, 1, "a_move_half_way_counts_right_by_read",
		  "a_move_half_way_counts_right_by_counts",
		  "a_move_half_way_counts_right_inline");
	set_tests(set, 100, "a_hundred_moves_count_right_by_read",
		  "a_hundred_moves_count_right_by_counts",
		  "a_hundred_moves_count_right_inline");
	upmu_close(set);
	widened();
	measured_on(0, "the_first_core_measures_a_thousand_accesses");
	measured_on(1, "the_other_core_measures_a_thousand_accesses");
	that_fit_on(0, "two_sets_that_fit_run_all_the_time");
	that_fit_on(1, "also_on_the_other_core");
	region_test();
	faults();
	return tap_done();
}
