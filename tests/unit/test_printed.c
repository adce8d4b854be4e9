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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sys.h"
#include "tests/unit/lossy.h"
#include "tests/unit/printed_pages.h"
#include "tools/version.h"

#define MOST (1 << 20)

int __wrap_uname(struct utsname *name);
int __wrap_uname(struct utsname *name)
{
	*name = (struct utsname){ .sysname = "Linux",
				  .nodename = "board",
				  .release = "6.1.0",
				  .machine = "armv7l" };
	return 0;
}

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

/* AddressSanitizer's, where it is there: it exits where something leaks. */
void __lsan_do_leak_check(void) __attribute__((weak));

/* In a child: what a writer keeps from one report to the next is each one's. */
static int write_case(int fd, const struct printed *one, write_fn *write)
{
	static struct page *page;
	FILE *out = fdopen(fd, "w");
	int error = 0;

	page = open_page(one);
	one->change(page);
	for (size_t i = 1; i <= page->intervals && !error; i++) {
		page->report.intervals = i;
		if (page->intervals > 1) {
			page->report.interval_s = 0.5 * (double)i;
			fill_counts(page, i);
		}
		error = write(out, &page->report);
	}
	error = error || fclose(out);
	if (__lsan_do_leak_check)
		__lsan_do_leak_check();
	return error;
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
	const char *lost; /* a claim; NULL: it opens a file of its own */
};

static bool is_of(const struct format *format, const struct printed *one)
{
	return !format->only ||
	       !strncmp(one->name, format->only, strlen(format->only));
}

static char *write_all(const struct format *format)
{
	/* static: a compiler keeps its inside alone, which is a leak to ASan */
	static char *text;
	size_t n = 0;

	text = calloc(2, MOST);
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
	{ "text", stat_write_text, NULL, "a_lost_part_of_text_is_told" },
	{ "csv", stat_write_csv, NULL, "a_lost_part_of_csv_is_told" },
	{ "json", stat_write_json, NULL, "a_lost_part_of_json_is_told" },
	{ "rpistat", stat_write_rpistat, NULL,
	  "a_lost_part_of_rpistat_is_told" },
	{ "plot", write_plot, NULL, "a_lost_part_of_plot_is_told" },
	{ "live", write_live, "CPUs went off", NULL },
	{ "openmetrics", write_openmetrics, "CPUs went off", NULL },
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))
#define LOSSY	5 /* so many have a claim about losses */

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

static int lose_case(const struct printed *one, write_fn *write)
{
	struct page *page = open_page(one);
	FILE *out = open_lossy();

	one->change(page);
	return write(out, &page->report) == -1 && is_lost ? 0 : 1;
}

static void a_lost_part_is_told(void **state)
{
	const struct format *format = *state;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(lose_case(&cases[0], format->write));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
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
	struct CMUnitTest tests[FORMATS + LOSSY];

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
	for (size_t i = 0; i < LOSSY; i++)
		tests[FORMATS + i] = (struct CMUnitTest){
			.name = formats[i].lost,
			.test_func = a_lost_part_is_told,
			.initial_state = &formats[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
