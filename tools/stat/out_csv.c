// SPDX-License-Identifier: MIT
/*
 * CSV: perf stat's columns in perf stat's order, then what it does not have.
 * docs/schema/stat-csv.json describes each; the two are tested together.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/region/region.h"
#include "stat.h"
#include "regions.h"
#include "tools/print.h"

static const char *const columns[] = {
	"value",     "unit",	    "event",   "running_ns", "running_percent",
	"metric",    "metric_unit", "counted", "low",	     "high",
	"deviation", "runs",
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
/* How many a row without a value leaves empty before its metric. */
#define BEFORE_METRIC 5

struct table {
	FILE *out;
	const char *separator;
	const struct stat_report *report;
};

static void part(const struct table *t)
{
	fputs(t->separator, t->out);
}

/* pmu/a=1,b=2/, "core 0,1", a region of whatever name, "<not counted>" */
static void write_name(const struct table *t, const char *name)
{
	csv_text(t->out, name, t->separator);
}

static void write_header(const struct table *t)
{
	if (t->report->interval_s > 0) {
		fputs("interval_s", t->out);
		part(t);
	}
	if (t->report->places) {
		fputs("place", t->out);
		part(t);
	}
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(t->out, "%s%s", i ? t->separator : "", columns[i]);
	fputc('\n', t->out);
}

/* An interval's summary has an empty time. */
static void start_row(const struct table *t)
{
	if (t->report->interval_s > 0)
		fprintf(t->out, "%.9f", t->report->interval_s);
	if (t->report->options->interval_ms)
		part(t);
	if (!t->report->places)
		return;
	write_name(t, t->report->place_name);
	part(t);
}

static void empty(const struct table *t, size_t n)
{
	while (n--)
		part(t);
}

static void write_value(const struct table *t, double value)
{
	if (isfinite(value))
		fprintf(t->out, "%.0f", value);
}

/* The columns that perf stat does not have. */
static void write_more(const struct table *t, const struct engine_count *count)
{
	const struct stat_spread *spread = stat_spread_of(t->report, count);
	bool interval = count->estimated && spread->n < 2 &&
			!t->report->options->no_scale;

	fprintf(t->out, "%" PRIu64, count->raw);
	part(t);
	if (interval)
		write_value(t, count->estimate.low);
	part(t);
	if (interval)
		write_value(t, count->estimate.high);
	part(t);
	if (spread->n > 1)
		fprintf(t->out, "%.3f", spread->deviation);
	part(t);
	fprintf(t->out, "%zu", spread->n > 1 ? spread->n : 1);
}

static void write_metric(const struct table *t, const struct stat_metric *m)
{
	if (m)
		fprintf(t->out, "%.6g", m->value);
	part(t);
	if (m)
		write_name(t, m->key);
}

static const struct stat_metric *next_metric(const struct stat_metric *metric,
					     size_t n, size_t *at, int event)
{
	while (*at < n)
		if (metric[(*at)++].event == event)
			return &metric[*at - 1];
	return NULL;
}

static void write_event(const struct table *t, size_t i,
			const struct stat_metric *metric, size_t metrics)
{
	const struct engine_event *event = &t->report->events->event[i];
	const struct engine_count *count = &t->report->count[i];
	bool counted = count->state == ENGINE_COUNTED;
	const struct stat_metric *m;
	size_t at = 0;

	m = next_metric(metric, metrics, &at, (int)i);
	start_row(t);
	if (counted)
		write_value(t, stat_value(t->report, count));
	else
		write_name(t, stat_state_text(count->state));
	part(t);
	fprintf(t->out, "%s%s", event->unit, t->separator);
	write_name(t, event->name);
	part(t);
	fprintf(t->out, "%" PRIu64 "%s%.2f%s", count->running_ns, t->separator,
		100 * stat_share(count), t->separator);
	write_metric(t, m);
	part(t);
	if (counted)
		write_more(t, count);
	else
		empty(t, 4);
	fputc('\n', t->out);
	while ((m = next_metric(metric, metrics, &at, (int)i))) {
		start_row(t);
		empty(t, BEFORE_METRIC);
		write_metric(t, m);
		empty(t, 5);
		fputc('\n', t->out);
	}
}

static void write_plain(const struct table *t, const char *name,
			const char *unit, double value,
			const struct stat_spread *spread)
{
	start_row(t);
	fprintf(t->out, "%.*f%s", unit[0] == '%' ? 3 : 0, value, t->separator);
	write_name(t, unit);
	part(t);
	write_name(t, name);
	empty(t, COLUMNS - 3 - (spread ? 1 : 0));
	/* As in the rows of events: the deviation, and of how many runs. */
	if (spread) {
		if (spread->n > 1)
			fprintf(t->out, "%.3f", 1e9 * spread->deviation);
		part(t);
		fprintf(t->out, "%zu", spread->n > 1 ? spread->n : 1);
	}
	fputc('\n', t->out);
}

/* A region's events are called REGION/EVENT; REGION/calls is how often. */
static void write_region(const struct table *t, const char *region)
{
	const struct stat_regions *regions = t->report->regions;
	bool is_first = true;
	char name[200];

	for (size_t i = 0; i < regions->n; i++) {
		const struct stat_region_row *row = &regions->row[i];

		if (strcmp(row->region, region))
			continue;
		snprintf(name, sizeof(name), "%s/calls", region);
		if (is_first)
			write_plain(t, name, "", (double)row->calls, NULL);
		is_first = false;
		snprintf(name, sizeof(name), "%s/%s", region, row->event);
		write_plain(t, name, upmu_region_unit(row->unit),
			    (double)row->total, NULL);
	}
}

/* As a row of stat's that was not counted. */
static void write_missing(const struct table *t,
			  const struct engine_event *event)
{
	start_row(t);
	write_name(t, out_regions_missing(event));
	empty(t, 2);
	write_name(t, event->name);
	fprintf(t->out, "%s0%s0.00", t->separator, t->separator);
	empty(t, COLUMNS - BEFORE_METRIC);
	fputc('\n', t->out);
}

static void write_regions(const struct table *t)
{
	const struct stat_regions *regions = t->report->regions;
	const char *region = NULL;

	while ((region = stat_regions_next(regions, region)))
		write_region(t, region);
	for (size_t i = 0; i < regions->n_missing; i++)
		write_missing(t, regions->missing[i]);
}

static void write_uncounted(const struct table *t)
{
	if (t->report->uncounted_s > 0)
		write_plain(t, "uncounted_time", "ns",
			    1e9 * t->report->uncounted_s, NULL);
}

/* perf has events of these names and units. */
static void write_times(const struct table *t)
{
	const struct stat_report *r = t->report;

	write_plain(t, "duration_time", "ns",
		    1e9 * (r->elapsed.n > 1 ? r->elapsed.mean : r->elapsed_s),
		    &r->elapsed);
	if (r->has_usage) {
		write_plain(t, "user_time", "ns", 1e9 * r->user_s, &r->user);
		write_plain(t, "system_time", "ns", 1e9 * r->sys_s, &r->sys);
	}
	/* Only where the runs are not what was asked for. */
	if (r->runs != r->options->repeat)
		write_plain(t, "runs_wanted", "", r->options->repeat, NULL);
	if (r->failed)
		write_plain(t, "failed_runs", "", r->failed, NULL);
	if (r->signal)
		write_plain(t, "ended_by_signal", "", r->signal, NULL);
	if (r->pace.turns && !r->options->passes) {
		write_plain(t, "slices", "", (double)r->pace.slices, NULL);
		write_plain(t, "switching", "%", 100 * r->pace.switching, NULL);
	}
	if (r->source[0])
		write_plain(t, "by_registers", "", 1, NULL);
	write_uncounted(t);
}

static void write_others(const struct table *t)
{
	const struct engine_others *others = &t->report->others;

	if (others->taken)
		write_plain(t, "counters_taken", "", others->taken, NULL);
	if (others->lost > 0)
		write_plain(t, "time_lost", "%", 100 * others->lost, NULL);
	if (others->unseen)
		write_plain(t, "registers_unseen", "", 1, NULL);
}

/* How many went off; which ones is for people. */
static void write_lost(const struct table *t)
{
	char cpus[OUT_CPUS_SIZE];
	size_t n = out_lost_cpus(cpus, t->report);

	if (n)
		write_plain(t, "cpus_lost", "", (double)n, NULL);
	n = out_missed_cpus(cpus, t->report);
	if (n)
		write_plain(t, "cpus_missed", "", (double)n, NULL);
}

/* What the machine did to itself, where it did. */
static void write_disturbed(const struct table *t)
{
	const struct stat_disturbed *told = &t->report->disturbed;

	if (told->under_voltage)
		write_plain(t, "under_voltage", "", 1, NULL);
	if (told->throttled)
		write_plain(t, "throttled", "", 1, NULL);
	if (told->governors)
		write_plain(t, "governors_changed", "", told->governors, NULL);
}

static void write_part(struct table t, const struct stat_report *report)
{
	struct stat_metric metric[STAT_METRICS_MOST];
	size_t metrics = stat_metrics(report, metric, STAT_METRICS_MOST);

	t.report = report;
	for (size_t i = 0; i < report->events->n; i++)
		if (!report->events->event[i].hidden)
			write_event(&t, i, metric, metrics);
}

static struct table table_of(FILE *out, const struct stat_report *report)
{
	const char *separator = report->options->separator;

	return (struct table){ .out = out,
			       .separator = separator ? separator : ",",
			       .report = report };
}

int stat_write_csv_state(FILE *out, const struct stat_report *report)
{
	const struct table t = table_of(out, report);

	write_uncounted(&t);
	write_disturbed(&t);
	return ferror(out) ? -1 : 0;
}

int stat_write_csv(FILE *out, const struct stat_report *report)
{
	static bool has_header;
	const struct table t = table_of(out, report);

	/* perf's -x has none, and scripts do without. */
	if (!report->options->separator && !has_header)
		write_header(&t);
	has_header = true;
	for (size_t i = 0; i < stat_parts(report); i++) {
		const struct stat_report one = stat_part(report, i);

		write_part(t, &one);
	}
	if (report->regions)
		write_regions(&t);
	if (report->interval_s <= 0)
		write_times(&t);
	write_others(&t);
	write_lost(&t);
	write_disturbed(&t);
	return ferror(out) ? -1 : 0;
}
