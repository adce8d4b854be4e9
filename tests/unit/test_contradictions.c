// SPDX-License-Identifier: MIT
/* Which options of upmu stat go together, each pair that is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/stat/stat.h"

static char *command[] = { "true", NULL };
static char one[] = "1", file[] = "file";

#define OF(...)                                                            \
	{                                                                  \
		.repeat = 1, .log_fd = -1, .command = command, __VA_ARGS__ \
	}
#define ATTACHED(...)                                  \
	{                                              \
		.repeat = 1, .log_fd = -1, __VA_ARGS__ \
	}
#define PER(which) .per[STAT_PER_##which] = true

/* As upmu stat says them: how each begins. */
static const char no_command[] = "no command to count",
		  tasks_or_cpus[] = "-p and -t count tasks",
		  groups_and_cpus[] = "--for-each-cgroup counts on every",
		  to_run_again[] = "-r and --passes need a command",
		  passes_alone[] = "--passes counts a command alone",
		  nothing_left[] = "--all-user and --all-kernel",
		  no_start[] = "with -D -1 nothing says when",
		  many_parts[] = "-A, --per-... and --for-each-cgroup each",
		  no_threads[] = "--per-thread wants threads",
		  no_cpus[] = "-A and --per-... are of CPUs",
		  metrics_whole[] = "--openmetrics is of the whole",
		  runs_whole[] = "-r and rpistat's report are of the whole",
		  of_intervals[] = "--summary and --interval-count are of -I",
		  one_run[] = "-I prints one run",
		  rpistat_whole[] = "rpistat's report is of a whole run",
		  adds_up[] = "--openmetrics adds up by itself",
		  own_summary[] = "--plot and --live end with a summary",
		  plot_text[] = "--plot and --live are of the text report",
		  metric_text[] = "--metric-only is of the text report",
		  rpistat_one[] = "rpistat's report is of one run",
		  live_wants[] = "--live wants -I and no -q",
		  sums_or_mean[] = "--openmetrics has sums, -r a mean",
		  same_file[] = "--openmetrics and -o name the same file",
		  no_file[] = "--append has no file",
		  two_places[] = "-o and --log-fd are two places",
		  regions_one[] = "--regions is of one run of a command";

static const struct row {
	struct stat_options options;
	const char *said; /* or NULL: they go together */
} rows[] = {
	/* what is counted */
	{ OF(.quiet = false), NULL },
	{ ATTACHED(.quiet = false), no_command },
	{ ATTACHED(.pids = one), NULL },
	{ ATTACHED(.tids = one), NULL },
	{ ATTACHED(.cpus = one), NULL },
	{ ATTACHED(.cgroups = one), NULL },
	{ ATTACHED(.all_cpus = true), NULL },
	{ ATTACHED(.pids = one, .tids = one), NULL },
	{ ATTACHED(.pids = one, .cpus = one), tasks_or_cpus },
	{ ATTACHED(.tids = one, .all_cpus = true), tasks_or_cpus },
	{ OF(.pids = one, .cgroups = one), tasks_or_cpus },
	{ OF(.cgroups = one, .cpus = one), groups_and_cpus },
	{ OF(.cgroups = one, .all_cpus = true), NULL },
	{ ATTACHED(.pids = one, .passes = true), to_run_again },
	{ { .repeat = 2, .log_fd = -1, .cpus = one }, to_run_again },
	{ { .repeat = 2, .log_fd = -1, .cpus = one, .command = command },
	  NULL },
	{ { .repeat = 2, .log_fd = -1, .command = command }, NULL },
	{ OF(.passes = true), NULL },
	{ OF(.passes = true, .cpus = one), passes_alone },
	{ OF(.passes = true, .pids = one), passes_alone },
	{ OF(.all_user = true), NULL },
	{ OF(.all_kernel = true), NULL },
	{ OF(.all_user = true, .all_kernel = true), nothing_left },
	{ OF(.starts_off = true), no_start },
	{ OF(.starts_off = true, .control = "fd:3"), NULL },
	/* rows of their own */
	{ OF(PER(CPU), .all_cpus = true), NULL },
	{ OF(PER(CPU), .cpus = one), NULL },
	{ OF(PER(CPU)), no_cpus },
	{ OF(PER(SOCKET), .pids = one), no_cpus },
	{ OF(PER(CPU), PER(CORE), .all_cpus = true), many_parts },
	{ OF(PER(CORE), .cgroups = one), many_parts },
	{ OF(PER(THREAD), PER(DIE), .pids = one), many_parts },
	{ OF(PER(THREAD)), no_threads },
	{ OF(PER(THREAD), .all_cpus = true), no_threads },
	{ OF(PER(THREAD), .pids = one), NULL },
	{ OF(PER(THREAD), .tids = one), NULL },
	{ OF(PER(CLUSTER), .cpus = one, .openmetrics = file), metrics_whole },
	{ OF(.cgroups = one, .openmetrics = file), metrics_whole },
	{ OF(PER(CLUSTER), .cpus = one, .format = STAT_FORMAT_RPISTAT),
	  runs_whole },
	{ { .repeat = 2, .log_fd = -1, .command = command, .cgroups = one },
	  runs_whole },
	{ OF(PER(CLUSTER), .cpus = one, .format = STAT_FORMAT_JSON), NULL },
	/* intervals */
	{ OF(.summary = true), of_intervals },
	{ OF(.interval_count = 1), of_intervals },
	{ OF(.interval_ms = 1, .summary = true, .interval_count = 1), NULL },
	{ OF(.interval_ms = 1, .passes = true), one_run },
	{ { .repeat = 2, .log_fd = -1, .command = command, .interval_ms = 1 },
	  one_run },
	{ OF(.interval_ms = 1, .format = STAT_FORMAT_RPISTAT), rpistat_whole },
	{ OF(.interval_ms = 1, .format = STAT_FORMAT_CSV), NULL },
	{ OF(.interval_ms = 1, .summary = true, .openmetrics = file), adds_up },
	{ OF(.interval_ms = 1, .openmetrics = file), NULL },
	{ OF(.interval_ms = 1, .summary = true, .plot = true), own_summary },
	{ OF(.interval_ms = 1, .summary = true, .live = true), own_summary },
	{ OF(.interval_ms = 1, .plot = true), NULL },
	{ OF(.interval_ms = 1, .live = true), NULL },
	/* where it goes */
	{ OF(.plot = true), NULL },
	{ OF(.plot = true, .format = STAT_FORMAT_JSON), plot_text },
	{ OF(.interval_ms = 1, .live = true, .format = STAT_FORMAT_CSV),
	  plot_text },
	{ OF(.metric_only = true), NULL },
	{ OF(.metric_only = true, .format = STAT_FORMAT_CSV), metric_text },
	{ OF(.format = STAT_FORMAT_RPISTAT), NULL },
	{ { .repeat = 2,
	    .log_fd = -1,
	    .command = command,
	    .format = STAT_FORMAT_RPISTAT },
	  rpistat_one },
	{ OF(.live = true), live_wants },
	{ OF(.interval_ms = 1, .live = true, .quiet = true), live_wants },
	{ OF(.openmetrics = file), NULL },
	{ { .repeat = 2,
	    .log_fd = -1,
	    .command = command,
	    .openmetrics = file },
	  sums_or_mean },
	{ OF(.openmetrics = file, .output = file), same_file },
	{ OF(.openmetrics = file, .output = one), NULL },
	{ OF(.append = true), no_file },
	{ OF(.append = true, .output = file), NULL },
	{ { .repeat = 1, .log_fd = 0, .command = command }, NULL },
	{ { .repeat = 1, .log_fd = 0, .command = command, .output = file },
	  two_places },
	{ { .repeat = 1, .log_fd = 5, .command = command, .output = file },
	  two_places },
	{ OF(.output = file), NULL },
	/* regions */
	{ OF(.regions = true), NULL },
	{ OF(.regions = true, .passes = true), NULL },
	{ OF(.regions = true, .format = STAT_FORMAT_JSON), NULL },
	{ ATTACHED(.regions = true, .pids = one), regions_one },
	{ OF(.regions = true, .all_cpus = true), regions_one },
	{ { .repeat = 2, .log_fd = -1, .command = command, .regions = true },
	  regions_one },
	{ OF(.regions = true, .interval_ms = 1), regions_one },
	{ OF(.regions = true, .delay_ms = 1), regions_one },
	{ OF(.regions = true, .control = "fd:3"), regions_one },
	{ OF(.regions = true, .control = "fd:3", .starts_off = true),
	  regions_one },
	{ OF(.regions = true, .openmetrics = file), regions_one },
	{ OF(.regions = true, .plot = true), regions_one },
	{ OF(.regions = true, .live = true), regions_one },
	{ OF(.regions = true, .metric_only = true), regions_one },
	{ OF(.regions = true, .metrics = one), regions_one },
	{ OF(.regions = true, .detailed = 1), regions_one },
	{ OF(.regions = true, .format = STAT_FORMAT_RPISTAT), regions_one },
};

static int check(const struct stat_options *options, char *said, size_t size)
{
	FILE *out = fmemopen(said, size, "w"), *usual = stderr;
	int error;

	assert_non_null(out);
	memset(said, 0, size);
	stderr = out;
	error = stat_options_check(options);
	stderr = usual;
	fclose(out);
	return error;
}

static void each_contradiction_is_told_and_nothing_else(void **state)
{
	static const char who[] = "upmu stat: ";

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *said = rows[i].said;
		char text[512];
		int error = check(&rows[i].options, text, sizeof(text));

		if (!said ? error || text[0]
			  : error != -1 || strncmp(text, who, strlen(who)) ||
				    strncmp(text + strlen(who), said,
					    strlen(said)) ||
				    !strstr(text, "\nhint: "))
			fail_msg("row %zu: %d, %s", i, error, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_contradiction_is_told_and_nothing_else),
	};

	return cmocka_run_group_tests_name("contradictions", tests, NULL, NULL);
}
