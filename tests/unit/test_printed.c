// SPDX-License-Identifier: MIT
/*
 * Each format of "upmu stat", as it was: reports of every kind are written by
 * each writer and held against tests/fixtures/printed/FORMAT.txt.
 *
 * test_printed --renew writes these files; read what git then shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sys.h"
#include "tools/stat/regions.h"
#include "tools/stat/stat.h"
#include "tools/version.h"

#define RUNS	5
#define MOST	(1 << 20)
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

int __wrap_uname(struct utsname *name);
int __wrap_uname(struct utsname *name)
{
	*name = (struct utsname){ .sysname = "Linux",
				  .nodename = "board",
				  .release = "6.1.0",
				  .machine = "armv7l" };
	return 0;
}

/* ---- reports ---- */

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

/* ---- the same in each format ---- */

static void fill_counts(struct page *page, size_t interval)
{
	for (size_t i = 0; i < page->events.n; i++)
		page->count[i] = (struct engine_count){
			.raw = (page->events.n - i) * 1234567u +
			       interval * 1111u * i,
			.enabled_ns = EACH_NS,
			.running_ns = EACH_NS,
		};
}

static struct page *open_page(const struct printed *one)
{
	static char *command[] = { "./naive", "400", NULL };
	struct page *page = calloc(1, sizeof(*page));
	struct upmu_events_error why;
	static char root[512];

	snprintf(root, sizeof(root), "%s/%s", FIXTURES, one->board);
	upmu_sys_set_root(root);
	if (!page || engine_events_resolve(&page->events, one->list, &why))
		fail_msg("%s: %s", one->name, why.text);
	page->count = calloc(page->events.n + 1, sizeof(*page->count));
	page->spread = calloc(page->events.n + 1, sizeof(*page->spread));
	page->intervals = 1;
	page->options = (struct stat_options){ .command = command,
					       .repeat = 1,
					       .log_fd = -1 };
	page->report = (struct stat_report){
		.options = &page->options,
		.events = &page->events,
		.count = page->count,
		.place_name = "",
		.elapsed_s = 0.5,
		.length_s = 0.5,
		.user_s = 0.25,
		.sys_s = 0.0625,
		.runs = 1,
		.page_faults = 1234,
		.context_switches = 56,
		.max_rss_kb = 7890,
		.has_usage = true,
		.cpus = 4,
		.when = 1372327088,
	};
	fill_counts(page, 0);
	return page;
}

typedef int write_fn(FILE *out, const struct stat_report *report);

static int write_plot(FILE *out, const struct stat_report *report)
{
	bool is_last = report->intervals == 3;

	if (report->options->interval_ms && stat_plot_take(report))
		return -1;
	return report->options->interval_ms && !is_last
		       ? 0
		       : stat_write_plot(out, report);
}

/* The terminal is a pipe here: it cuts nothing off. */
static int write_live(FILE *out, const struct stat_report *report)
{
	return report->options->interval_ms ? stat_live_draw(out, report) : 0;
}

static int copy(FILE *out, const char *path)
{
	FILE *in = fopen(path, "re");
	int c;

	if (!in)
		return -1;
	while ((c = getc(in)) != EOF)
		putc(c, out);
	return fclose(in);
}

/* It writes a file of its own. */
static int write_openmetrics(FILE *out, const struct stat_report *report)
{
	char path[] = "/tmp/upmu-printed-XXXXXX";
	struct stat_options options = *report->options;
	struct stat_report here = *report;
	int fd = mkstemp(path), error;

	if (fd < 0)
		return -1;
	close(fd);
	options.openmetrics = path;
	here.options = &options;
	error = stat_write_openmetrics(&here) || copy(out, path);
	remove(path);
	return error;
}

/* In a child: what a writer keeps from one report to the next is each one's. */
static int write_case(int fd, const struct printed *one, write_fn *write)
{
	struct page *page = open_page(one);
	FILE *out = fdopen(fd, "w");
	int error = 0;

	one->change(page);
	for (size_t i = 1; i <= page->intervals && !error; i++) {
		page->report.intervals = i;
		if (page->intervals > 1) {
			page->report.interval_s = 0.5 * (double)i;
			fill_counts(page, i);
		}
		error = write(out, &page->report);
	}
	return error || fclose(out);
}

static size_t take_case(char *text, const struct printed *one, write_fn *write)
{
	int ends[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		_exit(write_case(ends[1], one, write) ? 1 : 0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + n, MOST - 1)) > 0)
		n += (size_t)got;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("%s: status %d", one->name, status);
	return n;
}

/* A release changes no golden file. */
static void hide_version(char *text)
{
	static const char *const before[] = { "\"version\": \"",
					      "\"version\":\"", "{version=\"" };
	const char *version = UPMU_VERSION_TEXT;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		for (char *at = text; (at = strstr(at, before[i])); at++) {
			char *begin = at + strlen(before[i]);

			assert_memory_equal(begin, version, strlen(version));
			memset(begin, '#', strlen(version));
		}
	}
}

struct format {
	const char *name;
	write_fn *write;
	const char *only; /* how the names of its cases begin; NULL: all */
};

static bool is_of(const struct format *format, const struct printed *one)
{
	return !format->only ||
	       !strncmp(one->name, format->only, strlen(format->only));
}

static char *write_all(const struct format *format)
{
	char *text = calloc(2, MOST);
	size_t n = 0;

	assert_non_null(text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!is_of(format, &cases[i]))
			continue;
		n += (size_t)sprintf(text + n, "=== %s\n", cases[i].name);
		n += take_case(text + n, &cases[i], format->write);
		assert_true(n < MOST);
	}
	hide_version(text);
	return text;
}

static struct format formats[] = {
	{ "text", stat_write_text, NULL },
	{ "csv", stat_write_csv, NULL },
	{ "json", stat_write_json, NULL },
	{ "rpistat", stat_write_rpistat, NULL },
	{ "plot", write_plot, NULL },
	{ "live", write_live, "CPUs went off" },
	{ "openmetrics", write_openmetrics, "CPUs went off" },
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static FILE *open_golden(const struct format *format, const char *how)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), PRINTED "/%s.txt", format->name);
	file = fopen(path, how);
	if (!file)
		fail_msg("%s", path);
	return file;
}

static void fail_at_difference(const char *golden, const char *text)
{
	const char *line = text, *section = text;

	while (*golden == *text) {
		if (*text == '\n')
			line = text + 1;
		if (!strncmp(line, "===", 3))
			section = line;
		golden++;
		text++;
	}
	fail_msg("in %.*s: %.*s (from '%.60s' on; it was '%.60s')",
		 (int)strcspn(section, "\n"), section, (int)strcspn(line, "\n"),
		 line, text, golden);
}

static void each_report_is_as_it_was(void **state)
{
	char *text, *golden = calloc(2, MOST);
	const struct format *format = *state;
	FILE *file = open_golden(format, "re");

	assert_true(fread(golden, 1, MOST, file) > 0);
	fclose(file);
	text = write_all(format);
	if (strcmp(text, golden))
		fail_at_difference(golden, text);
	free(text);
	free(golden);
}

static int renew(void)
{
	for (size_t i = 0; i < FORMATS; i++) {
		char *text = write_all(&formats[i]);
		FILE *file = open_golden(&formats[i], "we");

		fputs(text, file);
		fclose(file);
		free(text);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[FORMATS];

	setenv("TZ", "UTC", 1);
	setenv("LC_ALL", "C", 1); /* bars of '#' */
	if (argc > 1 && !strcmp(argv[1], "--renew"))
		return renew();
	for (size_t i = 0; i < FORMATS; i++)
		tests[i] = (struct CMUnitTest){
			.name = formats[i].name,
			.test_func = each_report_is_as_it_was,
			.initial_state = &formats[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
