// SPDX-License-Identifier: MIT
/* upmu stat: count an unmodified program. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/engine/clock.h"
#include "regions.h"
#include "tools/replace.h"

/* A terminal is told how far a repeated run is, if it takes longer. */
#define PROGRESS_AFTER_NS 2e9

static int run_failed(const struct stat_report *report, int error)
{
	const struct stat_options *options = report->options;

	if (error == -ECANCELED || error == -EBADF)
		return EXIT_FAILED;
	if (error == -EOPNOTSUPP) {
		fputs("upmu stat: -A and its like want perf, and perf has no "
		      "PMU here\nhint: upmu check\n",
		      stderr);
		return EXIT_FAILED;
	}
	if (error == -ENOMEM || !report->not_executed) {
		fprintf(stderr, "upmu stat: cannot count: %s\n",
			strerror(-error));
		return EXIT_FAILED;
	}
	fprintf(stderr, "upmu stat: cannot execute '%s': %s\n",
		options->command[0], strerror(-error));
	return child_exec_status(error);
}

static bool is_complete = true; /* --openmetrics: with the last interval */

/* Nobody reads a service's reports: the file is what is wanted. */
static bool is_for_prometheus(const struct stat_options *options)
{
	return options->openmetrics && !options->output && !options->live &&
	       !options->plot && options->format == STAT_FORMAT_TEXT;
}

static int write_report(const struct stat_report *report)
{
	static int (*const writers[])(FILE *, const struct stat_report *) = {
		[STAT_FORMAT_TEXT] = stat_write_text,
		[STAT_FORMAT_RPISTAT] = stat_write_rpistat,
		[STAT_FORMAT_CSV] = stat_write_csv,
		[STAT_FORMAT_JSON] = stat_write_json,
	};

	if (report->options->openmetrics)
		is_complete = !stat_write_openmetrics(report);
	if (report->options->quiet || is_for_prometheus(report->options))
		return 0;
	if (report->options->live)
		return stat_output_put(stat_live_draw, report);
	if (report->options->plot && report->interval_s > 0)
		return stat_plot_take(report) ? stat_output_lose() : 0;
	return stat_output_put(writers[report->options->format], report);
}

static void show_progress(const struct stat_options *options, unsigned int run,
			  double start_ns)
{
	if (options->repeat < 2 || options->quiet || !isatty(STDERR_FILENO))
		return;
	if (run == options->repeat)
		fputs("\r\033[K", stderr);
	else if (engine_now_ns() - start_ns > PROGRESS_AFTER_NS)
		fprintf(stderr, "\rupmu stat: run %u of %u", run + 1,
			options->repeat);
}

/* With the first of the sets the kernel counts its own events: its times. */
static void keep_times(struct stat_report *report,
		       const struct stat_report *first)
{
	report->elapsed_s = first->elapsed_s;
	report->length_s = first->length_s;
	report->user_s = first->user_s;
	report->sys_s = first->sys_s;
	report->page_faults = first->page_faults;
	report->context_switches = first->context_switches;
	report->max_rss_kb = first->max_rss_kb;
}

/* The single values too, for upmu compare; NAN: not counted. */
static void add_value(struct stat_report *report, size_t event, double value)
{
	size_t repeat = report->options->repeat;

	if (report->value)
		report->value[event * repeat + report->runs] = value;
}

static void add_run(struct stat_report *report, int status)
{
	for (size_t i = 0; i < report->events->n; i++) {
		struct engine_count *count = &report->count[i];
		struct stat_spread spread = report->spread[i];
		bool counted = count->state == ENGINE_COUNTED;

		/* This run's value, not the mean. */
		report->spread[i].n = 0;
		add_value(report, i, counted ? stat_value(report, count) : NAN);
		if (counted) {
			stat_spread_add(&spread, stat_value(report, count));
			/* What an estimate was extended to. */
			spread.time_ns +=
				count->estimated && !report->options->no_scale
					? (double)count->enabled_ns
					: (double)count->running_ns;
		}
		report->spread[i] = spread;
	}
	stat_spread_add(&report->elapsed, report->elapsed_s);
	stat_spread_add(&report->user, report->user_s);
	stat_spread_add(&report->sys, report->sys_s);
	stat_spread_add(&report->faults, report->page_faults);
	stat_spread_add(&report->switches, report->context_switches);
	stat_spread_add(&report->length, report->length_s);
	report->runs++;
	report->failed += status != 0;
	report->timeouts += report->timed_out;
	report->signalled = report->signal != 0;
}

/*
 * -ECANCELED: it failed, and that was told. Of a terminal's Ctrl-C system(3)
 * leaves no more to upmu than that the shell ended by it.
 */
static int run_shell(struct stat_report *report, const char *option,
		     const char *command)
{
	int status, signal;

	if (!command)
		return 0;
	/* A shell's command, as perf stat's. NOLINTNEXTLINE(cert-env33-c) */
	status = system(command);
	signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (!status)
		return 0;
	if (signal == SIGINT || signal == SIGQUIT) {
		report->interrupted = signal;
		return 0;
	}
	fprintf(stderr, "upmu stat: %s '%s' failed\n", option, command);
	return -ECANCELED;
}

/* With what stands before and after it; *lost: it has no numbers. */
static int run_between(struct stat_report *report, struct engine_events *events,
		       struct engine_targets *targets, int *status, bool *lost)
{
	const struct stat_options *options = report->options;
	int pass = options->passes ? (int)report->passes : -1, error;

	*lost = true;
	report->timed_out = false;
	if (options->sync)
		sync();
	error = run_shell(report, "--pre", options->pre);
	if (!error && report->interrupted)
		return report->runs || report->passes ? 0 : -ECANCELED;
	if (!error && report->regions)
		error = stat_regions_run(report, targets, status);
	else if (!error)
		error = stat_run_once(report, events, targets, pass,
				      write_report, status);
	report->passes++;
	*lost = report->interrupted || report->signal;
	if (error || report->interrupted)
		return error;
	return run_shell(report, "--post", options->post);
}

static size_t passes_of(const struct stat_report *report)
{
	if (report->regions)
		return report->regions->passes;
	return report->options->passes ? report->pace.turns : 0;
}

/* One run, or one for each set of --passes and of --regions. */
static int run_passes(struct stat_report *report, struct engine_events *events,
		      struct engine_targets *targets, int *status, bool *lost)
{
	struct stat_report first = { 0 };
	struct engine_others others = { 0 };
	bool timed_out = false;
	int error;

	report->passes = 0;
	do {
		error = run_between(report, events, targets, status, lost);
		timed_out = timed_out || report->timed_out;
		engine_others_most(&others, &report->others);
		if (report->passes > 1)
			keep_times(report, &first);
		else
			first = *report;
	} while (!error && report->passes < passes_of(report) &&
		 !report->signal && !report->interrupted);
	report->others = others;
	report->timed_out = timed_out;
	if (timed_out && report->options->command)
		*status = EXIT_TIMED_OUT;
	*lost = *lost || report->passes < passes_of(report);
	return error;
}

/* What a run leaves in the report goes back to what the last one left. */
static void take_back(struct stat_report *report,
		      const struct stat_report *before)
{
	struct stat_report now = *report;

	*report = *before;
	report->signal = now.signal;
	report->interrupted = now.interrupted;
}

/* What a run did not count stays as the last one had it that did. */
static void keep_counted(struct stat_report *report,
			 const struct engine_count *kept, bool is_first)
{
	for (size_t i = 0; !is_first && i < report->events->n; i++)
		if (report->count[i].state != ENGINE_COUNTED &&
		    kept[i].state == ENGINE_COUNTED)
			report->count[i] = kept[i];
}

/* A run that was cut off is in no mean; alone it is all that there is. */
static int run_again(struct stat_report *report, struct engine_events *events,
		     struct engine_targets *targets, int *status)
{
	size_t size = events->n * sizeof(*report->count);
	struct engine_count *kept = malloc(size + 1);
	struct stat_report before = *report;
	bool lost;
	int error;

	if (!kept)
		return -ENOMEM;
	memcpy(kept, report->count, size);
	error = run_passes(report, events, targets, status, &lost);
	if (!error && report->runs && lost) {
		memcpy(report->count, kept, size);
		take_back(report, &before);
	} else if (!error) {
		add_run(report, *status);
		engine_others_most(&report->others, &before.others);
		keep_counted(report, kept, !before.runs);
	}
	free(kept);
	return error;
}

/* Below the last of its intervals; a plot has it of its own. */
static void tell_state(const struct stat_report *report)
{
	static int (*const writers[])(FILE *, const struct stat_report *) = {
		[STAT_FORMAT_TEXT] = stat_write_state,
		[STAT_FORMAT_RPISTAT] = stat_write_state,
		[STAT_FORMAT_CSV] = stat_write_csv_state,
		[STAT_FORMAT_JSON] = stat_write_json_state,
	};
	const struct stat_options *options = report->options;

	if ((report->notes || report->uncounted_s > 0) &&
	    !options->metric_only && !options->plot && !options->live &&
	    !options->quiet && !is_for_prometheus(options))
		stat_output_put(writers[options->format], report);
}

static void look_back(struct stat_report *report,
		      const struct stat_machine *before)
{
	struct stat_machine after;
	size_t size;
	FILE *notes;

	if (!before->tells)
		return;
	notes = open_memstream(&report->notes, &size);
	if (!notes)
		return;
	stat_machine_look(&after);
	report->disturbed = stat_machine_compare(notes, before, &after);
	fclose(notes);
	if (size)
		return;
	free(report->notes);
	report->notes = NULL;
}

static void tell_means(struct stat_report *report)
{
	if (report->runs < 2)
		return;
	report->user_s = report->user.mean;
	report->sys_s = report->sys.mean;
	report->page_faults = report->faults.mean;
	report->context_switches = report->switches.mean;
}

static int run_all(struct stat_report *report, struct engine_events *events,
		   struct engine_targets *targets)
{
	const struct stat_options *options = report->options;
	double start_ns = engine_now_ns();
	int status = EXIT_FAILED, error;
	struct stat_machine before = { 0 };

	/* An emulated board is neither hot nor slow. */
	if (!events->emulated)
		stat_machine_look(&before);
	for (unsigned int run = 0; run < options->repeat; run++) {
		show_progress(options, run, start_ns);
		error = run_again(report, events, targets, &status);
		if (error)
			return run_failed(report, error);
		if (report->signal || report->interrupted)
			break;
	}
	tell_means(report);
	show_progress(options, options->repeat, start_ns);
	look_back(report, &before);
	if (options->summary)
		stat_sum_up(report);
	if (!options->interval_ms || options->summary)
		write_report(report);
	else
		tell_state(report);
	if ((options->plot || options->live) && !options->quiet)
		stat_output_put(stat_write_plot, report);
	return status;
}

static size_t count_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (size_t)cpus : 1;
}

/* Told before the program runs, as with open_output(). */
static int try_openmetrics(const struct stat_options *options)
{
	if (!options->openmetrics || !replace_try(options->openmetrics))
		return 0;
	fprintf(stderr, "upmu stat: cannot write '%s': %s\n",
		options->openmetrics, strerror(errno));
	return -1;
}

static int make_counts(struct stat_report *report)
{
	const struct stat_options *options = report->options;
	size_t n = report->events->n;

	report->count = calloc(n + 1, sizeof(*report->count));
	report->spread = calloc(n + 1, sizeof(*report->spread));
	if (options->repeat > 1)
		report->value = calloc(options->repeat,
				       (n + 1) * sizeof(*report->value));
	if (options->summary)
		report->sum = calloc(n + 1, sizeof(*report->sum));
	if (report->count && report->spread &&
	    (report->sum || !options->summary))
		return 0;
	fputs("upmu stat: out of memory\n", stderr);
	return -1;
}

static int run_with_output(struct stat_report *report,
			   struct engine_events *events,
			   struct engine_targets *targets)
{
	int status = EXIT_USAGE;

	if (stat_output_open(report->options))
		return EXIT_FAILED;
	if (report->options->live && !stat_output_is_terminal())
		fputs("upmu stat: --live wants a terminal\n"
		      "hint: --plot draws at the end, anywhere\n",
		      stderr);
	else
		status = run_all(report, events, targets);
	if ((stat_output_close() || !is_complete) && !status)
		status = EXIT_FAILED;
	return status;
}

/* Runs that were wanted never began or were cut off. */
static bool lacks_runs(const struct stat_report *report)
{
	return report->runs < report->options->repeat ||
	       report->passes < passes_of(report);
}

static int count_events(const struct stat_options *options,
			struct engine_events *events,
			const struct stat_groups *groups,
			struct stat_regions *regions)
{
	struct stat_report report = { .options = options,
				      .events = events,
				      .groups = groups,
				      .regions = regions,
				      .place_name = "",
				      .when = time(NULL) };
	struct engine_targets targets;
	int status = EXIT_FAILED;

	if (stat_targets_find(&targets, options) ||
	    stat_places_make(&report, events, &targets)) {
		stat_places_free(&report);
		stat_targets_free(&targets);
		return EXIT_FAILED;
	}
	if (options->format == STAT_FORMAT_RPISTAT)
		report.cpus = count_cpus();
	if (!make_counts(&report) && !try_openmetrics(options))
		status = run_with_output(&report, events, &targets);
	free(report.count);
	free(report.spread);
	free(report.value);
	free(report.notes);
	free(report.sum);
	stat_places_free(&report);
	stat_targets_free(&targets);
	if (report.signal)
		return child_end_like(report.signal);
	/* That is no success, whatever the last run said. */
	if (report.interrupted && lacks_runs(&report))
		return child_end_like(report.interrupted);
	return status;
}

/* Then upmu itself counts nothing: the counters are the program's. */
static int count_regions(const struct stat_options *options,
			 struct engine_events *events)
{
	static struct stat_regions regions; /* large */
	int error = stat_regions_open(&regions, events), status = EXIT_FAILED;

	if (error)
		fprintf(stderr, "upmu stat: cannot count: %s\n",
			strerror(-error));
	else
		status = count_events(options, &regions.none, NULL, &regions);
	if (!status && regions.unread)
		status = EXIT_FAILED;
	/* Text says it by itself, and JSON for programs. */
	if (regions.unread && options->format != STAT_FORMAT_TEXT)
		out_regions_unread(stderr, "upmu stat: ", &regions);
	if (regions.missed && options->format != STAT_FORMAT_TEXT)
		out_regions_missed(stderr, "upmu stat: ", &regions);
	stat_regions_close(&regions);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	/* Large; of pages that nothing is written to it takes none. */
	static _Alignas(4096) struct engine_events events;
	struct stat_options options;
	struct stat_groups groups;
	int status = EXIT_USAGE;
	bool done;

	if (stat_options_parse(&options, argc, argv, &done)) {
		stat_options_free(&options);
		return EXIT_USAGE;
	}
	if (done)
		return 0;
	if (options.regions && !stat_resolve(&events, options.events))
		status = count_regions(&options, &events);
	else if (!options.regions && !stat_groups_choose(&groups, &options) &&
		 !stat_resolve_all(&events, &options, &groups))
		status = count_events(&options, &events, &groups, NULL);
	else if (events.failed)
		status = EXIT_FAILED;
	engine_events_free(&events);
	stat_options_free(&options);
	return status;
}
