/* SPDX-License-Identifier: MIT */
/*
 * The reports that test_printed has written: of every kind, and each made from
 * one that is whole and plain.
 */
#ifndef UPMU_TESTS_PRINTED_PAGES_H
#define UPMU_TESTS_PRINTED_PAGES_H

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tools/stat/regions.h"
#include "tools/stat/stat.h"

#define RUNS	5
#define EACH_NS 250000000u
#define LISTED                                                        \
	"cycles,instructions,l1d_cache,l1d_cache_refill,br_mis_pred," \
	"task-clock,page-faults"

/* What a case may differ in; each gets a report that is whole and plain. */
struct page {
	struct stat_options options;
	struct stat_report report;
	struct stat_groups groups;
	struct stat_regions regions;
	struct engine_events events; /* large */
	struct engine_count *count;
	struct stat_spread *spread;
	size_t intervals;
};

struct printed {
	const char *name, *board, *list;
	void (*change)(struct page *page);
};

static void nothing(struct page *page)
{
	(void)page;
}

/* The first is counted all the time; the last slices are few. */
static void estimate(struct page *page)
{
	static const double below[] = { 0.5, 0.9, 0.99, 1.0 };
	static const double above[] = { 1.5, 1.1, 1.3, INFINITY };

	for (size_t i = 1; i < page->events.n; i++) {
		struct engine_count *count = &page->count[i];

		count->estimated = true;
		count->running_ns = EACH_NS / (i % 3 + 2);
		count->estimate.total =
			(double)count->raw * (double)(i % 3 + 2);
		count->estimate.low = count->estimate.total * below[i % 4];
		count->estimate.high = count->estimate.total * above[i % 4];
		count->estimate.slices = 7 * i;
	}
	page->report.pace = (struct engine_pace){
		.turns = 3, .slices = 59, .slice_ms = 4.125, .switching = 0.0042
	};
}

static void enough_slices(struct page *page)
{
	estimate(page);
	page->report.pace.slices = 60;
}

static void unscaled(struct page *page)
{
	estimate(page);
	page->options.no_scale = true;
	page->options.no_big_num = true;
}

static void miss(struct page *page)
{
	static const enum engine_state states[] = { ENGINE_NOT_SUPPORTED,
						    ENGINE_NOT_COUNTED,
						    ENGINE_NOT_EMULATED };

	for (size_t i = 1; i < page->events.n; i += 2)
		page->count[i] = (struct engine_count){
			.state = states[i / 2 % 3],
			.enabled_ns = EACH_NS,
		};
	strcpy(page->events.reason, "'x' cannot be counted: for no reason");
}

static void miss_all(struct page *page)
{
	for (size_t i = 0; i < page->events.n; i++)
		page->count[i].state = ENGINE_NOT_SUPPORTED;
}

static void repeat(struct page *page, unsigned int runs)
{
	page->options.repeat = RUNS;
	page->report.runs = runs;
	page->report.spread = page->spread;
	for (unsigned int run = 0; run < runs; run++) {
		for (size_t i = 0; i < page->events.n; i++)
			stat_spread_add(&page->spread[i],
					(double)(page->count[i].raw +
						 run * run * 1000));
		stat_spread_add(&page->report.elapsed, 0.25 + run / 100.0);
		stat_spread_add(&page->report.user, 0.125 + run / 100.0);
		stat_spread_add(&page->report.sys, 0.0625 + run / 200.0);
	}
}

static void all_runs(struct page *page)
{
	repeat(page, RUNS);
}

static void failed_runs(struct page *page)
{
	repeat(page, RUNS);
	page->report.failed = 2;
}

static void one_run_of_five(struct page *page)
{
	repeat(page, 1);
	page->report.interrupted = SIGINT;
	page->report.signal = SIGINT;
}

static void ended_by_a_signal(struct page *page)
{
	repeat(page, 3);
	page->report.failed = 1;
	page->report.signal = SIGSEGV;
}

static void in_intervals(struct page *page)
{
	page->options.interval_ms = 500;
	page->intervals = 3;
}

static void others_have_some(struct page *page)
{
	page->report.others = (struct engine_others){ .taken = 2,
						      .counters = 4,
						      .lost = 0.004 };
	page->report.notes = "hot\n";
	strcpy(page->report.source, "by the registers\n");
}

static void others_have_all(struct page *page)
{
	page->report.others = (struct engine_others){ .taken = 4,
						      .counters = 4,
						      .lost = 0.25 };
	page->events.user_only = true;
}

static void a_cgroup_loses_time(struct page *page)
{
	page->options.cgroups = "busy";
	page->report.others.lost = 0.06;
}

static void others_lose_time(struct page *page)
{
	page->report.others.lost = 0.005;
}

static void some_went_off(struct page *page)
{
	page->options.command = NULL;
	page->options.all_cpus = true;
	page->report.lost[0] = UINT64_C(0x17) | UINT64_C(1) << 63;
	page->report.lost[1] = 1;
}

static void some_go_off_meanwhile(struct page *page)
{
	in_intervals(page);
	some_went_off(page);
}

static void of_processes(struct page *page)
{
	page->options.command = NULL;
	page->options.pids = "12,34";
	page->report.has_usage = false;
}

static void of_threads(struct page *page)
{
	page->options.command = NULL;
	page->options.tids = "56";
	page->options.separator = ";";
	miss_all(page);
}

static void of_all_cpus(struct page *page)
{
	page->options.command = NULL;
	page->options.all_cpus = true;
}

static void of_some_cpus(struct page *page)
{
	of_all_cpus(page);
	page->options.cpus = "0,2";
}

static void of_cgroups(struct page *page)
{
	page->options.command = NULL;
	page->options.cgroups = "a,b";
	page->options.separator = "\t";
}

static void only_metrics(struct page *page)
{
	page->options.metric_only = true;
}

static void by_passes(struct page *page)
{
	page->options.passes = true;
	page->report.passes = 2;
	page->report.pace.turns = 2;
}

static void with_groups(struct page *page)
{
	static char names[] = "cache,branch";

	page->options.metrics = names;
	assert_int_equal(stat_groups_choose(&page->groups, &page->options), 0);
	page->report.groups = &page->groups;
}

static void with_regions(struct page *page)
{
	static struct stat_region_row rows[] = {
		{ .region = "outer",
		  .event = "cycles",
		  .unit = "",
		  .calls = 3,
		  .total = 3000,
		  .min = 900,
		  .max = 1100,
		  .overhead = 5 },
		{ .region = "outer",
		  .event = "r8",
		  .unit = "",
		  .pass = 1,
		  .calls = 3,
		  .total = 1500,
		  .min = 450,
		  .max = 550,
		  .overhead = 4 },
		{ .region = "in,ner \"one\"",
		  .event = "cycles",
		  .unit = "ns",
		  .calls = 1,
		  .total = 77,
		  .min = 77,
		  .max = 77 },
	};

	page->regions = (struct stat_regions){
		.passes = 2, .row = rows, .n = 3, .running = 0.5
	};
	page->report.regions = &page->regions;
	page->report.passes = page->regions.passes;
}

static const struct printed cases[] = {
	{ "plain", "pi2", LISTED, nothing },
	{ "the default list", "pi2", NULL, nothing },
	{ "an ARM1176", "pi1", NULL, nothing },
	{ "unlike cores", "odroid-xu4", NULL, nothing },
	{ "64 bits", "rk3399", LISTED, nothing },
	{ "no PMU", "pc", "task-clock,context-switches", nothing },
	{ "estimates", "pi2", LISTED, estimate },
	{ "estimates of the default list", "pi2", NULL, enough_slices },
	{ "unscaled", "pi2", LISTED, unscaled },
	{ "some are missing", "pi2", LISTED, miss },
	{ "none is counted", "pi2", LISTED, miss_all },
	{ "five runs", "pi2", LISTED, all_runs },
	{ "five runs, two failed", "pi2", LISTED, failed_runs },
	{ "one run of five", "pi2", LISTED, one_run_of_five },
	{ "ended by a signal", "pi2", LISTED, ended_by_a_signal },
	{ "intervals", "pi2", LISTED, in_intervals },
	{ "others have some counters", "pi2", LISTED, others_have_some },
	{ "others have all counters", "pi2", LISTED, others_have_all },
	{ "a cgroup is without them for a time", "pi2", LISTED,
	  a_cgroup_loses_time },
	{ "others have them for a time", "pi2", LISTED, others_lose_time },
	{ "CPUs went off", "pi2", LISTED, some_went_off },
	{ "CPUs went off in intervals", "pi2", "r8", some_go_off_meanwhile },
	{ "processes", "pi2", LISTED, of_processes },
	{ "threads", "pi2", LISTED, of_threads },
	{ "all CPUs", "pi2", LISTED, of_all_cpus },
	{ "some CPUs", "pi2", LISTED, of_some_cpus },
	{ "cgroups", "pi2", "task-clock,r8", of_cgroups },
	{ "metrics alone", "pi2", NULL, only_metrics },
	{ "passes", "pi2", LISTED, by_passes },
	{ "groups of metrics", "rk3399", NULL, with_groups },
	{ "regions", "pi2", LISTED, with_regions },
};

#endif
