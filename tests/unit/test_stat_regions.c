// SPDX-License-Identifier: MIT
/* upmu stat --regions: which events a run counts, what its processes wrote. */
#include "fake_kernel.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/stat/regions.h"

static struct stat_regions regions; /* large */
static struct engine_events events; /* large */
static struct stat_report report;
static struct engine_targets targets;

/* ---- a program that writes what a test wants ---- */

static struct {
	const char *const *write; /* of each pass, up to NULL */
	size_t passes;
	char list[4][512]; /* UPMU_EVENTS that it was given */
	int error, error_at;
} program;

static void write_report(const char *text, int number)
{
	const char *path = getenv("UPMU_REPORT");
	const char *sign = path ? strstr(path, "%p") : NULL;
	char own[1024];
	FILE *file;

	assert_non_null(sign);
	snprintf(own, sizeof(own), "%.*s%d%s", (int)(sign - path), path, number,
		 sign + 2);
	file = fopen(own, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

int stat_run_once(struct stat_report *of, struct engine_events *counted,
		  struct engine_targets *on, int pass,
		  stat_interval_fn *interval, int *exit_status)
{
	size_t now = program.passes++;

	(void)of, (void)interval;
	assert_ptr_equal(counted, &regions.none);
	assert_ptr_equal(on, &targets);
	assert_int_equal(pass, -1);
	assert_true(now < 4);
	snprintf(program.list[now], sizeof(program.list[now]), "%s",
		 getenv("UPMU_EVENTS"));
	for (int i = 0; program.write && *program.write; i++)
		write_report(*program.write++, i);
	if (program.write)
		program.write++;
	*exit_status = 3;
	return program.error_at == (int)now + 1 ? program.error : 0;
}

static void open_on(const char *board, const char *list)
{
	struct upmu_events_error why;

	fake_boot(board);
	memset(&program, 0, sizeof(program));
	assert_int_equal(engine_events_resolve(&events, list, &why), 0);
	assert_int_equal(stat_regions_open(&regions, &events), 0);
	report = (struct stat_report){ .regions = &regions };
}

static int run(void)
{
	for (; report.passes < regions.passes; report.passes++) {
		int status = 0;
		int error = stat_regions_run(&report, &targets, &status);

		if (error)
			return error;
		assert_int_equal(status, 3);
	}
	return 0;
}

static void close_all(void)
{
	stat_regions_close(&regions);
	engine_events_free(&events);
	fake_assert_closed();
}

/* ---- passes ---- */

static void a_run_counts_what_the_counters_hold(void **state)
{
	(void)state;
	open_on("pi2", "cycles,r1,r2,r3,r4");
	assert_int_equal(regions.passes, 1);
	assert_string_equal(regions.list[0], "cycles,r1,r2,r3,r4");
	assert_int_equal(run(), 0);
	assert_int_equal(program.passes, 1);
	assert_string_equal(program.list[0], "cycles,r1,r2,r3,r4");
	close_all();
}

static size_t words_of(const char *list)
{
	size_t n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static void no_run_counts_more_than_eight_events(void **state)
{
	(void)state;
	open_on("pc", "r1,r2,r3,r4,r5,r6,r7,r8,r9,r10,r11");
	assert_true(regions.passes >= 2);
	for (size_t i = 0; i < regions.passes; i++)
		assert_in_range(words_of(regions.list[i]), 1, 8);
	assert_int_equal(regions.n_missing, 0);
	close_all();
}

static void what_does_not_fit_has_a_run_of_its_own(void **state)
{
	(void)state;
	fake_boot("pi2");
	open_on("pi2", "cycles,r1,r2,r3,r4,r5");
	assert_int_equal(run(), 0);
	assert_int_equal(program.passes, regions.passes);
	for (size_t i = 0; i < regions.passes; i++)
		assert_string_equal(program.list[i], regions.list[i]);
	close_all();
}

/* ---- what processes wrote ---- */

#define REPORT(running, regions) \
	"{\"running\": " running ", \"regions\": [" regions "]}"
#define REGION(name, calls, events)                         \
	"{\"region\": \"" name "\", \"calls\": " calls ", " \
	"\"events\": [" events "]}"
#define EVENT(name, total, min, max, overhead)                          \
	"{\"event\": \"" name "\", \"unit\": \"ns\", \"total\": " total \
	", \"min\": " min ", \"max\": " max ", \"overhead\": " overhead "}"

static void assert_row(size_t i, const char *region, const char *event,
		       uint64_t calls, uint64_t total)
{
	assert_true(i < regions.n);
	assert_string_equal(regions.row[i].region, region);
	assert_string_equal(regions.row[i].event, event);
	assert_string_equal(regions.row[i].unit, "ns");
	assert_int_equal(regions.row[i].calls, calls);
	assert_int_equal(regions.row[i].total, total);
}

static void rows_are_of_all_processes_of_a_run(void **state)
{
	static const char *const write[] = {
		REPORT("0.75",
		       REGION("a", "2",
			      EVENT("r1", "10", "4", "6",
				    "1") "," EVENT("r2", "5", "2", "3", "1"))),
		REPORT("0.5",
		       REGION("a", "1",
			      EVENT("r1", "7", "7", "7",
				    "1")) "," REGION("b", "1",
						     EVENT("r1", "3", "3", "3",
							   "2"))),
		REPORT("1.0",
		       REGION("a", "1", EVENT("r1", "1", "1", "1", "1"))),
		NULL
	};

	(void)state;
	open_on("pi2", "r1,r2");
	program.write = write;
	assert_int_equal(run(), 0);
	assert_int_equal(regions.n, 3);
	assert_true(regions.running == 0.5);
	assert_int_equal(regions.unread, 0);
	for (size_t i = 0; i < regions.n; i++) {
		const struct stat_region_row *row = &regions.row[i];

		if (!strcmp(row->region, "b"))
			assert_row(i, "b", "r1", 1, 3);
		else if (!strcmp(row->event, "r2"))
			assert_row(i, "a", "r2", 2, 5);
		else {
			assert_row(i, "a", "r1", 4, 18);
			assert_int_equal(row->min, 1);
			assert_int_equal(row->max, 7);
			assert_int_equal(row->overhead, 1);
		}
	}
	close_all();
}

static void what_is_in_two_runs_stays_as_the_first_had_it(void **state)
{
	static const char *const write[] = {
		REPORT("1.0",
		       REGION("a", "2", EVENT("r1", "10", "4", "6", "1"))),
		NULL,
		REPORT("1.0",
		       REGION("a", "9",
			      EVENT("r1", "99", "1", "90",
				    "9") "," EVENT("r5", "7", "7", "7", "1"))),
		NULL,
		NULL,
		NULL,
		NULL
	};

	(void)state;
	open_on("pc", "r1,r2,r3,r4,r5,r6,r7,r8,r9,r10,r11");
	program.write = write;
	assert_int_equal(run(), 0);
	assert_true(program.passes >= 2);
	assert_int_equal(regions.n, 2);
	assert_row(0, "a", "r1", 2, 10);
	assert_int_equal(regions.row[0].pass, 0);
	assert_row(1, "a", "r5", 9, 7);
	assert_int_equal(regions.row[1].pass, 1);
	close_all();
}

static void what_is_not_whole_is_counted_and_the_rest_taken(void **state)
{
	static const char *const write[] = {
		"{",
		"{\"regions\": []}",
		"{\"running\": 0.1}",
		REPORT("1.0", "{\"region\": \"a\"}"),
		REPORT("1.0", REGION("b", "1", "{\"event\": \"r1\"}")),
		REPORT("1.0",
		       REGION("c", "1", EVENT("r1", "3", "3", "3", "2"))),
		NULL
	};

	(void)state;
	open_on("pi2", "r1");
	program.write = write;
	assert_int_equal(run(), 0);
	assert_int_equal(regions.unread, 5);
	assert_int_equal(regions.n, 1);
	assert_row(0, "c", "r1", 1, 3);
	assert_true(regions.running == 1);
	close_all();
}

static void what_went_wrong_in_a_run_is_told(void **state)
{
	(void)state;
	open_on("pc", "r1,r2,r3,r4,r5,r6,r7,r8,r9,r10,r11");
	program.error = -ENOENT;
	program.error_at = 1;
	assert_int_equal(run(), -ENOENT);
	assert_int_equal(program.passes, 1);
	close_all();
}

static void a_folder_that_cannot_be_made_is_told(void **state)
{
	char before[512] = "";

	(void)state;
	if (getenv("TMPDIR"))
		snprintf(before, sizeof(before), "%s", getenv("TMPDIR"));
	open_on("pi2", "r1");
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(run(), -ECANCELED);
	assert_int_equal(program.passes, 0);
	setenv("TMPDIR", "", 1);
	assert_int_equal(run(), 0);
	assert_int_equal(strncmp(regions.folder, "/tmp/upmu-", 10), 0);
	assert_int_equal(access(regions.folder, F_OK), -1);
	if (before[0])
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	close_all();
}

/* Just as long as what there is room for: without a name of its own. */
static void a_temporary_folder_with_a_long_name_stays(void **state)
{
	char path[sizeof(regions.folder)] = "/tmp/upmu-long-XXXXXX", top[32];
	char command[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	strcpy(top, path);
	while (strlen(path) < sizeof(path) - 1) {
		size_t used = strlen(path), room = sizeof(path) - 1 - used;
		size_t length = room > 201 ? 200 : room;

		memset(path + used, 'x', length);
		path[used] = '/';
		path[used + length] = '\0';
		assert_int_equal(mkdir(path, 0700), 0);
	}
	open_on("pi2", "r1");
	setenv("TMPDIR", path, 1);
	assert_int_equal(run(), -ECANCELED);
	unsetenv("TMPDIR");
	close_all();
	assert_int_equal(access(path, F_OK), 0);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_counts_what_the_counters_hold),
		cmocka_unit_test(no_run_counts_more_than_eight_events),
		cmocka_unit_test(what_does_not_fit_has_a_run_of_its_own),
		cmocka_unit_test(rows_are_of_all_processes_of_a_run),
		cmocka_unit_test(what_is_in_two_runs_stays_as_the_first_had_it),
		cmocka_unit_test(
			what_is_not_whole_is_counted_and_the_rest_taken),
		cmocka_unit_test(what_went_wrong_in_a_run_is_told),
		cmocka_unit_test(a_folder_that_cannot_be_made_is_told),
		cmocka_unit_test(a_temporary_folder_with_a_long_name_stays),
	};

	return cmocka_run_group_tests_name("stat_regions", tests, NULL, NULL);
}
