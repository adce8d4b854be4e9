// SPDX-License-Identifier: MIT
/*
 * --plot and --live: bars below a report, a sparkline for each event over the
 * intervals of -I. A long run's points are joined two by two, so that memory
 * stays bounded.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <unistd.h>

#include "stat.h"
#include "tools/bars.h"
#include "tools/print.h"

#define POINTS	    1024
#define BAR_WIDTH   30
#define BAR_USED    53 /* by what stands around it */
#define KIND_USED   16 /* "  # cortex-a15", where cores are unlike */
#define NAME_USUAL  22
#define NAME_LEAST  8
#define RATE_USED   14 /* "0.000329 s/s", and a space at each side */
#define LIMITS_USED 24
#define SPARK_LEAST 10 /* with limits; without them SHORT_LEAST */
#define SHORT_LEAST 5
#define WIDTH_ELSE  100

/* The rates of one event: each point the mean of @joined intervals. */
struct plot_line {
	double point[POINTS];
	double sum, last, low, high, total, time;
	size_t n, waiting; /* points; intervals in the next one */
	size_t known;	   /* of the latter, that were counted */
};

static struct plot_line *lines;
static size_t joined = 1;

static void join_points(size_t events)
{
	for (size_t i = 0; i < events; i++) {
		struct plot_line *line = &lines[i];

		for (size_t p = 0; p < POINTS / 2; p++) {
			double a = line->point[2 * p];
			double b = line->point[2 * p + 1];

			line->point[p] = isnan(a)   ? b
					 : isnan(b) ? a
						    : (a + b) / 2;
		}
		line->n = POINTS / 2;
	}
	joined *= 2;
}

/* What was not counted leaves a gap, not a 0. */
static void add_point(struct plot_line *line, double value, double time)
{
	line->last = time > 0 ? value / time : NAN;
	if (!isnan(line->last)) {
		line->low = fmin(line->low, line->last);
		line->high = fmax(line->high, line->last);
		line->total += value;
		line->time += time;
		line->sum += line->last;
		line->known++;
	}
	if (++line->waiting < joined)
		return;
	/* Of none it is NAN. */
	line->point[line->n++] = line->sum / (double)line->known;
	line->sum = 0;
	line->known = line->waiting = 0;
}

static int start_lines(size_t events)
{
	lines = calloc(events + 1, sizeof(*lines));
	for (size_t i = 0; lines && i < events; i++) {
		lines[i].low = INFINITY;
		lines[i].high = -INFINITY;
	}
	return lines ? 0 : -ENOMEM;
}

/* Where nothing ran that could have been counted there is a 0 after all. */
static double value_of(const struct stat_report *report,
		       const struct engine_count *count)
{
	if (count->state == ENGINE_COUNTED)
		return stat_value(report, count);
	return stat_is_idle(report, count) ? 0 : NAN;
}

/* Over the time in which it was counted: -D and --control cut into intervals.
 */
static void take_part(const struct stat_report *report, struct plot_line *line)
{
	for (size_t i = 0; i < report->events->n; i++)
		add_point(&line[i], value_of(report, &report->count[i]),
			  report->length_s);
}

/* A place may have fewer events, the first none: its lines stay empty. */
static bool is_full(size_t events)
{
	for (size_t i = 0; i < events; i++)
		if (lines[i].n == POINTS)
			return true;
	return false;
}

int stat_plot_take(const struct stat_report *report)
{
	size_t n = report->events->n, events = n * stat_parts(report);

	if (!lines && start_lines(events)) {
		errno = ENOMEM;
		return -1;
	}
	for (size_t p = 0; p < stat_parts(report); p++) {
		const struct stat_report part = stat_part(report, p);

		take_part(&part, &lines[p * n]);
	}
	if (is_full(events))
		join_points(events);
	return 0;
}

/* 1.23 G: three digits are what a line can show. */
static const char *short_number(double value, char *out, size_t size)
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	size_t unit = 0;

	while (fabs(value) >= 999.5 && unit < 4) {
		value /= 1000;
		unit++;
	}
	snprintf(out, size, "%.3g%s", value, units[unit]);
	return out;
}

/* Of --live, whose screen is written into memory first; else -1. */
static int terminal = -1;

static int line_width(FILE *out)
{
	int fd = terminal >= 0 ? terminal : fileno(out);
	struct winsize window = { 0 };

	if (!ioctl(fd, TIOCGWINSZ, &window) && window.ws_col)
		return window.ws_col;
	return WIDTH_ELSE;
}

/* How wide what stands in a line is, after its name. */
struct layout {
	int name, spark;
	bool has_limits;
};

static int longest_name(const struct stat_report *report)
{
	size_t longest = NAME_USUAL;

	for (size_t p = 0; p < stat_parts(report); p++) {
		const struct engine_events *events =
			stat_part(report, p).events;

		for (size_t i = 0; i < events->n; i++)
			if (!events->event[i].hidden)
				longest = MAX(longest,
					      strlen(events->event[i].name));
	}
	return (int)longest;
}

/*
 * Long names tell events apart by their ends. Of a narrow terminal the
 * sparkline has what the limits would take, then names are cut, not rates.
 */
static struct layout lay_out(FILE *out, const struct stat_report *report)
{
	int width = line_width(out) - RATE_USED;
	int room = MAX(width - SHORT_LEAST, NAME_LEAST);
	struct layout layout = { .name = MIN(longest_name(report), room) };

	layout.spark = MAX(width - layout.name, SHORT_LEAST);
	layout.has_limits = layout.spark - LIMITS_USED >= SPARK_LEAST;
	if (layout.has_limits)
		layout.spark -= LIMITS_USED;
	return layout;
}

static int bar_width(FILE *out, const struct stat_report *report)
{
	int width = line_width(out) - BAR_USED;

	if (report->events->lanes > 1)
		width -= KIND_USED;
	if (width > BAR_WIDTH)
		return BAR_WIDTH;
	return width < SHORT_LEAST ? SHORT_LEAST : width;
}

static void write_rate(FILE *out, const struct plot_line *line, double scale,
		       const char *unit)
{
	double shown = terminal >= 0 ? line->last : line->total / line->time;
	char rate[48];

	if (isnan(shown))
		strcpy(rate, "-");
	else
		short_number(scale * shown, rate, sizeof(rate) - strlen(unit));
	fprintf(out, "%12s ", strcat(rate, unit));
}

static void write_line(FILE *out, const struct layout *layout,
		       const struct stat_report *report, size_t i,
		       const struct plot_line *line, const char *end)
{
	const struct engine_event *event = &report->events->event[i];
	bool is_time = event->unit[0];
	double scale = is_time ? 1e-9 : 1;
	char low[32], high[32];

	fprintf(out, "%-*.*s ", layout->name, layout->name, event->name);
	if (!(line->time > 0)) {
		fprintf(out, "%s%s\n", stat_state_text(report->count[i].state),
			end);
		return;
	}
	/* Seconds of a clock in a second: of two CPUs 2. */
	write_rate(out, line, scale, is_time ? " s/s" : "/s");
	bars_spark(out, line->point, line->n, layout->spark);
	if (layout->has_limits)
		fprintf(out, " %s to %s",
			short_number(scale * line->low, low, sizeof(low)),
			short_number(scale * line->high, high, sizeof(high)));
	fprintf(out, "%s\n", end);
}

static void write_place(FILE *out, const struct stat_report *part,
			const char *end)
{
	if (!part->places)
		return;
	plain_write(out, part->place_name);
	fprintf(out, "%s\n", end);
}

static void write_lines(FILE *out, const struct stat_report *report,
			const char *end)
{
	const struct layout layout = lay_out(out, report);
	size_t n = report->events->n;

	for (size_t p = 0; lines && p < stat_parts(report); p++) {
		const struct stat_report part = stat_part(report, p);

		write_place(out, &part, end);
		for (size_t i = 0; i < part.events->n; i++)
			if (!part.events->event[i].hidden)
				write_line(out, &layout, &part, i,
					   &lines[p * n + i], end);
	}
}

static void write_ratios(FILE *out, const struct stat_report *whole,
			 const char *end)
{
	/* Of several places the first: a screen has no room for all. */
	const struct stat_report first = stat_part(whole, 0), *report = &first;
	struct stat_metric metric[STAT_METRICS_MOST];
	size_t n = stat_metrics(report, metric, STAT_METRICS_MOST);

	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%-22s %8.3f %-4s", metric[i].key, metric[i].value,
			metric[i].unit);
		if (metric[i].unit[0] == '%')
			bars_draw(out, metric[i].value / 100,
				  bar_width(out, report));
		out_write_which(out, report, metric, n, i);
		fprintf(out, "%s\n", end);
	}
}

/* As many lines as the screen has: one more would push the first one out. */
static void cut_lines(char *text, int screen)
{
	struct winsize window = { 0 };
	int lines_left = INT_MAX;

	if (!ioctl(screen, TIOCGWINSZ, &window) && window.ws_row > 1)
		lines_left = window.ws_row - 1;
	while ((text = strchr(text, '\n')) && --lines_left)
		text++;
	if (text)
		text[1] = 0;
}

static void write_screen(FILE *out, const struct stat_report *report)
{
	/* What a longer line left there is erased. */
	static const char end[] = "\033[K";

	fputs("upmu stat:", out);
	for (char **word = report->options->command; word && *word; word++) {
		fputc(' ', out);
		plain_write(out, *word);
	}
	fprintf(out, "  %.1f s", report->interval_s);
	out_name_lost(out, report, "  ");
	out_name_missed(out, report, "  ");
	fprintf(out, "%s\n%s\n", end, end);
	write_lines(out, report, end);
	fprintf(out, "%s\n", end);
	write_ratios(out, report, end);
}

/* From the screen's corner on, its right edge cutting what is too long. */
int stat_live_draw(FILE *out, const struct stat_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *memory;

	if (stat_plot_take(report))
		return -1;
	memory = open_memstream(&text, &size);
	if (!memory)
		return -1;
	terminal = fileno(out);
	write_screen(memory, report);
	terminal = -1;
	fclose(memory);
	if (!text)
		return -1;
	cut_lines(text, fileno(out));
	fprintf(out, "%s\033[?7l%s\033[J\033[?7h",
		report->intervals == 1 ? "\033[H\033[2J" : "\033[H", text);
	free(text);
	return ferror(out) ? -1 : 0;
}

static double largest_pti(const struct stat_metric *metric, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(metric[i].unit, "PTI"))
			most = fmax(most, metric[i].value);
	return most;
}

/* Percents of their whole, the rest per thousand instructions. */
static void write_bars(FILE *out, const struct stat_report *report)
{
	struct stat_metric metric[STAT_METRICS_MOST];
	size_t n = stat_metrics(report, metric, STAT_METRICS_MOST);
	double most = largest_pti(metric, n);

	for (size_t i = 0; i < n; i++) {
		bool pti = !strcmp(metric[i].unit, "PTI");

		if (!pti && metric[i].unit[0] != '%')
			continue;
		fprintf(out, "%-22s ", metric[i].key);
		bars_draw(out, metric[i].value / (pti ? most : 100),
			  bar_width(out, report));
		fprintf(out, " %.3f %s", metric[i].value, metric[i].unit);
		out_write_which(out, report, metric, n, i);
		fputc('\n', out);
	}
}

static void write_parts_bars(FILE *out, const struct stat_report *report)
{
	for (size_t p = 0; p < stat_parts(report); p++) {
		const struct stat_report part = stat_part(report, p);

		write_place(out, &part, "");
		write_bars(out, &part);
	}
}

/* User and system time are of all its threads; the rest it waited. */
static void write_shares(FILE *out, const struct stat_report *report)
{
	/* As those are: of -r the mean. */
	double time = report->elapsed.n > 1 ? report->elapsed.mean
					    : report->elapsed_s;

	if (!report->has_usage || !(time > 0))
		return;
	for (int system = 0; system < 2; system++) {
		double used = system ? report->sys_s : report->user_s;

		fprintf(out, "%-22s ", system ? "sys" : "user");
		bars_draw(out, used / time, bar_width(out, report));
		fprintf(out, " %.1f %% of elapsed\n", 100 * used / time);
	}
}

static void write_heading(FILE *out, const struct stat_report *report)
{
	fprintf(out, "%zu interval%s in %.3f s; mean rate, over time%s\n",
		report->intervals, report->intervals == 1 ? "" : "s",
		report->interval_s,
		lay_out(out, report).has_limits ? ", least to most" : "");
}

int stat_write_plot(FILE *out, const struct stat_report *report)
{
	fputc('\n', out);
	if (report->options->interval_ms) {
		if (lines)
			write_heading(out, report);
		write_lines(out, report, "");
		out_write_lost(out, report);
		if (stat_reason(report)[0])
			fprintf(out, "\nupmu stat: %s\n", stat_reason(report));
		stat_write_state(out, report);
	} else {
		write_parts_bars(out, report);
		write_shares(out, report);
	}
	fputc('\n', out);
	free(lines);
	lines = NULL;
	return ferror(out) ? -1 : 0;
}
