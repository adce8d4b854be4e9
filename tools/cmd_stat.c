// SPDX-License-Identifier: MIT
/* upmu stat: count an unmodified program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static const char default_events[] = "cycles,instructions";

static int exec_failed(const char *name, int error)
{
	fprintf(stderr, "upmu stat: cannot execute '%s': %s\n", name,
		strerror(-error));
	return child_exec_status(error);
}

static int write_report(const struct stat_report *report)
{
	const struct stat_options *options = report->options;
	const char *path = options->output;
	FILE *out = stderr;
	int error = 0;

	if (path)
		out = fopen(path, options->append ? "ae" : "we");
	if (out)
		error = stat_write_text(out, report);
	if (!out || error || (path ? fclose(out) : fflush(out))) {
		fprintf(stderr,
			"upmu stat: cannot write the report to '%s': %s\n",
			path ? path : "stderr", strerror(errno));
		return -1;
	}
	return 0;
}

static int count_command(const struct stat_options *options,
			 struct stat_events *events)
{
	struct stat_report report = { .options = options, .events = events };
	int status = EXIT_FAILED, error;

	report.count = calloc(events->n, sizeof(*report.count));
	if (!report.count)
		return EXIT_FAILED;
	error = stat_run_once(&report, events, &status);
	if (error)
		status = exec_failed(options->command[0], error);
	else if (write_report(&report) && !status)
		status = EXIT_FAILED;
	free(report.count);
	if (!error && report.signal)
		return child_end_like(report.signal);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat_options options;
	struct stat_events events;
	bool done;
	int status = EXIT_USAGE;

	if (stat_options_parse(&options, argc, argv, &done))
		return EXIT_USAGE;
	if (done)
		return 0;
	if (!options.command) {
		fputs("upmu stat: no command to count\nhint: upmu stat -- ls\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (!stat_events_parse(&events, options.events ? options.events
						       : default_events))
		status = count_command(&options, &events);
	stat_events_free(&events);
	stat_options_free(&options);
	return status;
}
