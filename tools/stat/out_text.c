// SPDX-License-Identifier: MIT
/* The report for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stat.h"
#include "regions.h"
#include "tools/print.h"

/* Below this an interval is told in events where percents would be silly. */
#define FEW_EVENTS 1e6

char *out_number(char *out, const struct stat_report *report, double value)
{
	if (!report->options->no_big_num)
		return digits_grouped(out, value);
	return digits_fixed(out, value, 0);
}

/* How wide they are: names of unlike cores and of cgroups are long. */
struct columns {
	size_t place, name;
	bool estimates;
};

static void write_place(FILE *out, const struct stat_report *report,
			const struct columns *columns)
{
	size_t length = plain_columns(report->place_name);

	if (!length)
		return;
	plain_write(out, report->place_name);
	fprintf(out, "%*s ", (int)(columns->place - length), "");
}

static void widen(size_t *column, size_t length)
{
	if (*column < length)
		*column = length;
}

static bool has_estimate(const struct stat_report *part)
{
	for (size_t i = 0; i < part->events->n; i++)
		if (part->count[i].estimated && !part->events->event[i].hidden)
			return true;
	return false;
}

/* Of any part: the first may be a thread that slept. */
static bool shows_estimates(const struct stat_report *report)
{
	if (report->options->no_scale || report->options->repeat > 1)
		return false;
	for (size_t i = 0; i < stat_parts(report); i++) {
		const struct stat_report part = stat_part(report, i);

		if (has_estimate(&part))
			return true;
	}
	return false;
}

static struct columns columns_of(const struct stat_report *report)
{
	struct columns columns = {
		.place = 16,
		.name = 26,
		.estimates = shows_estimates(report),
	};

	for (size_t i = 0; i < stat_parts(report); i++) {
		const struct stat_report part = stat_part(report, i);

		widen(&columns.place, plain_columns(part.place_name));
	}
	for (size_t i = 0; i < report->events->n; i++) {
		const struct engine_event *event = &report->events->event[i];

		if (!event->hidden)
			widen(&columns.name,
			      strlen(event->name) + (event->unit[0] ? 3 : 0));
	}
	return columns;
}

/* How far the 95 % interval reaches, in percent of the estimate. */
static void tell_interval(char *text, size_t size, const struct estimate *e)
{
	char low[DIGITS_SIZE], high[DIGITS_SIZE];
	double down, up;

	if (e->high > 2 * e->total && e->high < FEW_EVENTS) {
		snprintf(text, size, "%s to %s", digits_fixed(low, e->low, 0),
			 digits_fixed(high, e->high, 0));
		return;
	}
	down = 100 * (e->total - e->low) / e->total;
	up = 100 * (e->high - e->total) / e->total;
	if (!isfinite(up))
		snprintf(text, size, "unknown");
	else if (fabs(up - down) < fmax(0.1 * (up + down), 0.1))
		snprintf(text, size, "+- %s %%",
			 digits_fixed(low, (up + down) / 2, 2));
	else
		snprintf(text, size, "-%s +%s %%", digits_fixed(low, down, 1),
			 digits_fixed(high, up, 1));
}

static void add_estimate(struct line *line, const struct stat_report *report,
			 const struct engine_count *count)
{
	char text[DIGITS_SIZE];

	text[0] = '\0';
	if (count->estimated && count->estimate.high > 0)
		tell_interval(text, sizeof(text), &count->estimate);
	line_right(line, 16, text);
	line_right(line, 9, digits_fixed(text, 100 * stat_share(count), 1));
	line_put(line, " %");
	line_right(line, 19, out_number(text, report, (double)count->raw));
}

static void add_spread(struct line *line, const struct stat_spread *spread)
{
	char text[DIGITS_SIZE];

	if (spread->n < 2 || !(spread->mean > 0))
		return;
	line_put(line, "  +- ");
	line_right(
		line, 5,
		digits_fixed(text, 100 * spread->deviation / spread->mean, 2));
	line_put(line, " %");
}

/* Runs that were too short for its set, or in which others had the counters. */
static void add_runs(struct line *line, const struct stat_report *report,
		     const struct stat_spread *spread)
{
	char text[DIGITS_SIZE];

	if (spread->n == report->runs || !spread->n)
		return;
	line_put(line, " in ");
	line_put(line, digits_fixed(text, (double)spread->n, 0));
	line_put(line, spread->n == 1 ? " run" : " runs");
}

static void add_metrics(struct line *line, const struct stat_metric *metric,
			size_t n, int event)
{
	const char *mark = "  # ";
	char value[DIGITS_SIZE];

	for (size_t i = 0; i < n; i++) {
		if (metric[i].event != event || metric[i].row)
			continue;
		line_put(line, mark);
		line_put(line, digits_fixed(value, metric[i].value, 3));
		line_put(line, " ");
		line_put(line, metric[i].label);
		line_put(line, metric[i].unsure ? " (unsure)" : "");
		mark = ", ";
	}
}

static void add_share(struct line *line, const struct engine_count *count)
{
	char text[DIGITS_SIZE];

	line_put(line, " in ");
	line_put(line, digits_fixed(text, 100 * stat_share(count), 1));
	line_put(line, " % of the time");
}

/* With its unit, which is ns if any. */
static void add_name(struct line *line, const struct engine_event *event,
		     size_t width)
{
	bool has_unit = event->unit[0];

	line_left(line, width - (has_unit ? 3 : 0), event->name);
	line_put(line, has_unit ? " " : "");
	line_put(line, event->unit);
}

static void write_count(FILE *out, const struct stat_report *report, size_t i,
			const struct stat_metric *metric, size_t metrics,
			const struct columns *columns)
{
	const struct engine_event *event = &report->events->event[i];
	const struct engine_count *count = &report->count[i];
	char text[DIGITS_SIZE];
	struct line line;

	write_place(out, report, columns);
	line_begin(&line, out);
	line_right(&line, 20,
		   count->state == ENGINE_COUNTED
			   ? out_number(text, report, stat_value(report, count))
			   : stat_state_text(count->state));
	line_put(&line, "  ");
	if (count->state != ENGINE_COUNTED) {
		line_put(&line, event->name);
		line_end(&line);
		return;
	}
	add_name(&line, event, columns->name);
	add_spread(&line, stat_spread_of(report, count));
	add_runs(&line, report, stat_spread_of(report, count));
	if (columns->estimates)
		add_estimate(&line, report, count);
	else if (count->estimated && report->options->no_scale)
		add_share(&line, count);
	add_metrics(&line, metric, metrics, (int)i);
	line_end(&line);
}

/* What the numbers are of: not all runs that were wanted need have been. */
static void write_runs(FILE *out, const struct stat_report *report)
{
	unsigned int wanted = report->options->repeat;

	if (wanted < 2)
		return;
	fprintf(out, ", %s", report->runs > 1 ? "mean of " : "");
	if (report->runs == wanted)
		fprintf(out, "%u runs", wanted);
	else
		fprintf(out, "%u of %u runs", report->runs, wanted);
	if (report->signal && !report->interrupted)
		fprintf(out, "; 1 ended by %s",
			child_signal_name(report->signal));
	if (report->timeouts)
		fprintf(out, "; %u ended by --timeout", report->timeouts);
	/* The run that a signal ended is the only one, or not among them. */
	if (report->failed > report->signalled + report->timeouts)
		fprintf(out, "; %u ended with a status that is not 0",
			report->failed - report->signalled - report->timeouts);
	if (report->interrupted)
		fputs("; interrupted", out);
}

static void write_heading(FILE *out, const struct stat_report *report)
{
	const struct stat_options *options = report->options;

	if (report->interval_s > 0) {
		fprintf(out, "\nafter %.3f s\n", report->interval_s);
		return;
	}
	fputs("\nupmu stat:", out);
	for (char **word = options->command; word && *word; word++) {
		fputc(' ', out);
		plain_write(out, *word);
	}
	if (options->pids)
		fprintf(out, " (processes %s)", options->pids);
	if (options->tids)
		fprintf(out, " (threads %s)", options->tids);
	if (options->cpus)
		fprintf(out, " (all of CPUs %s)", options->cpus);
	else if (options->cgroups)
		fprintf(out, " (cgroups %s)", options->cgroups);
	else if (options->all_cpus)
		fputs(" (all CPUs)", out);
	write_runs(out, report);
	fputs("\n\n", out);
}

static void write_time(FILE *out, const char *of, double seconds,
		       const struct stat_spread *spread)
{
	char text[DIGITS_SIZE];
	struct line line;

	line_begin(&line, out);
	line_right(&line, 20, digits_fixed(text, seconds, 6));
	line_put(&line, "  s ");
	line_put(&line, of);
	add_spread(&line, spread);
	line_end(&line);
}

static void write_times(FILE *out, const struct stat_report *report)
{
	if (report->interval_s > 0)
		return;
	fputc('\n', out);
	write_time(out, "elapsed",
		   report->elapsed.n > 1 ? report->elapsed.mean
					 : report->elapsed_s,
		   &report->elapsed);
	if (!report->has_usage)
		return;
	write_time(out, "user", report->user_s, &report->user);
	write_time(out, "sys", report->sys_s, &report->sys);
}

static void write_only_metrics(FILE *out, const struct stat_report *report,
			       const struct stat_metric *metric, size_t n,
			       const struct columns *columns)
{
	if (!n) {
		write_place(out, report, columns);
		fprintf(out, "%20s  of these events\n", "no ratio");
	}
	for (size_t i = 0; i < n; i++) {
		write_place(out, report, columns);
		fprintf(out, "%20.3f  %s%s%s", metric[i].value, metric[i].key,
			metric[i].unit[0] ? " " : "", metric[i].unit);
		out_write_which(out, report, metric, n, i);
		fputc('\n', out);
	}
}

/* The ratios of -M: what each is, and which way is better. */
static void write_chosen(FILE *out, const struct stat_report *report,
			 const struct stat_metric *metric, size_t n,
			 const struct columns *columns)
{
	static const char *const better[] = {
		[METRIC_NEITHER] = "",
		[METRIC_LOW] = "; low is good: else see ",
		[METRIC_HIGH] = "; high is good: else see ",
	};

	for (size_t i = 0; i < n; i++) {
		const struct metric_row *row = metric[i].row;

		if (!row)
			continue;
		write_place(out, report, columns);
		fprintf(out, "%20.3f  %-26s %-3s", metric[i].value, row->key,
			row->unit);
		out_write_kind(out, report, &metric[i]);
		fprintf(out, "  # %s%s%s%s\n",
			metric[i].unsure ? "unsure: " : "", row->text,
			better[row->better], row->better ? row->hint : "");
	}
}

static void write_part(FILE *out, const struct stat_report *report,
		       const struct columns *columns)
{
	static struct stat_metric metric[STAT_METRICS_MOST]; /* large */
	size_t metrics = stat_metrics(report, metric, STAT_METRICS_MOST);

	if (report->options->metric_only) {
		write_only_metrics(out, report, metric, metrics, columns);
		return;
	}
	for (size_t i = 0; i < report->events->n; i++)
		if (!report->events->event[i].hidden)
			write_count(out, report, i, metric, metrics, columns);
	write_chosen(out, report, metric, metrics, columns);
}

static void write_titles(FILE *out, const struct stat_report *report,
			 const struct columns *columns)
{
	if (report->places)
		fprintf(out, "%*s ", (int)columns->place, "");
	fprintf(out, "%20s  %-*s%16s%11s%19s\n", "estimate", (int)columns->name,
		"event", "95 %", "running", "counted");
}

int stat_write_text(FILE *out, const struct stat_report *report)
{
	const struct columns columns = columns_of(report);

	write_heading(out, report);
	if (columns.estimates && !report->options->metric_only)
		write_titles(out, report, &columns);
	for (size_t i = 0; i < stat_parts(report); i++) {
		const struct stat_report part = stat_part(report, i);

		write_part(out, &part, &columns);
	}
	if (report->options->metric_only)
		return ferror(out) ? -1 : 0;
	if (report->regions)
		out_regions_text(out, report);
	else
		out_write_software(out, report);
	write_times(out, report);
	out_write_turns(out, report);
	out_write_notes(out, report);
	stat_write_state(out, report);
	if (report->interval_s <= 0)
		fputc('\n', out);
	return ferror(out) ? -1 : 0;
}
