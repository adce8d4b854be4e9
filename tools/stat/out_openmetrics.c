// SPDX-License-Identifier: MIT
/*
 * --openmetrics: a file for the textfile collector of Prometheus's
 * node_exporter: its text format 0.0.4, without timestamps (the collector
 * refuses them), names and units by the rules of OpenMetrics. docs/fleets.md.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/events/resolve.h"
#include "stat.h"
#include "tools/replace.h"
#include "tools/version.h"

#define FAMILY_MAX (UPMU_EVENT_NAME_MAX + 32)
#define LABELS_MAX (2 * UPMU_EVENT_NAME_MAX + 160)

/** One event as Prometheus knows it, and what it came to since the start. */
struct series {
	char family[FAMILY_MAX];
	char labels[LABELS_MAX]; /* without braces; "" for none */
	bool is_repeated;	 /* wanted twice: written once */
	bool was_counted;
	double sum;
};

static struct series *series; /* one per event, until the end */
static double counted_s;

/* ---- names --------------------------------------------------------------- */

/* What is no letter or digit parts words: page-faults, pmu/event=0x3/. */
static void put_word(char *out, const char *text, size_t length)
{
	size_t n = strlen(out);

	for (size_t i = 0; i < length; i++) {
		if (isalnum((unsigned char)text[i]))
			out[n++] = (char)tolower((unsigned char)text[i]);
		else if (out[n - 1] != '_')
			out[n++] = '_';
	}
	while (out[n - 1] == '_')
		n--;
	out[n] = 0;
}

/* Counters end in _total, their unit before it. */
static void name_family(struct series *s, const struct engine_event *event,
			const char *label)
{
	const char *name = event->name, *end;
	size_t length = label ? strlen(label) : 0;
	bool is_time = !strcmp(event->unit, "ns");

	if (label && !strncmp(name, label, length) && name[length] == '/') {
		name += length + 1;
		end = strchr(name, '/');
	} else {
		end = strrchr(name, ':');
	}
	_Static_assert(sizeof("upmu_") + sizeof(event->name) +
				       sizeof("_seconds_total") <=
			       sizeof(s->family),
		       "the longest name has room");
	strcpy(s->family, "upmu_");
	put_word(s->family, name, end ? (size_t)(end - name) : strlen(name));
	strcat(s->family, is_time ? "_seconds_total" : "_total");
}

/* As the format wants the value of a label, or with @help a text. */
static void put_text(FILE *out, const char *text, bool help)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || (*text == '"' && !help))
			fprintf(out, "\\%c", *text);
		else
			putc(*text, out);
	}
}

static void put_label(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s%s=\"", ftell(out) ? "," : "", key);
	put_text(out, value, false);
	putc('"', out);
}

static const char *mode_of(const struct engine_event *event, bool user_only)
{
	static const char *const mode[8] = {
		[UPMU_EVENT_USER] = "user",
		[UPMU_EVENT_KERNEL] = "kernel",
		[UPMU_EVENT_HYP] = "hypervisor",
		[UPMU_EVENT_USER | UPMU_EVENT_KERNEL] = "user+kernel",
		[UPMU_EVENT_USER | UPMU_EVENT_HYP] = "user+hypervisor",
		[UPMU_EVENT_KERNEL | UPMU_EVENT_HYP] = "kernel+hypervisor",
		[7] = "user+kernel+hypervisor",
	};
	unsigned int modifiers = event->parsed ? event->parsed->modifiers : 0;

	if (!modifiers && user_only && event->lane >= 0)
		modifiers = UPMU_EVENT_USER;
	return mode[modifiers & 7];
}

static void write_labels(struct series *s, const struct engine_event *event,
			 const char *core, bool user_only, bool by_name)
{
	FILE *out = fmemopen(s->labels, sizeof(s->labels), "w");
	const char *mode = mode_of(event, user_only);

	if (!out)
		return;
	if (core)
		put_label(out, "core", core);
	if (mode)
		put_label(out, "mode", mode);
	if (event->modelled)
		put_label(out, "modelled", "true");
	if (by_name)
		put_label(out, "event", event->name);
	fclose(out);
}

/* The one before it that has the same name and labels. */
static const struct series *find_same(size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(series[j].family, series[i].family) &&
		    !strcmp(series[j].labels, series[i].labels))
			return &series[j];
	return NULL;
}

static void make_series(const struct stat_report *report, size_t i)
{
	const struct engine_events *events = report->events;
	const struct engine_event *event = &events->event[i];
	const char *core = NULL;
	const struct series *same;

	if (event->lane >= 0 && (size_t)event->lane < events->machine.n_kinds)
		core = upmu_kind_label(&events->machine.kinds[event->lane]);
	name_family(&series[i], event, core);
	write_labels(&series[i], event, core, events->user_only, false);
	same = find_same(i);
	if (!same)
		return;
	series[i].is_repeated =
		!strcmp(event->name, events->event[same - series].name);
	if (!series[i].is_repeated)
		write_labels(&series[i], event, core, events->user_only, true);
}

static bool is_written(const struct stat_report *report, size_t i)
{
	return !report->events->event[i].hidden && !series[i].is_repeated;
}

/* ---- sums ---------------------------------------------------------------- */

/* An interval in which an event had no counter adds nothing to it. */
static int add_up(const struct stat_report *report)
{
	if (!series) {
		series = calloc(report->events->n + 1, sizeof(*series));
		if (!series)
			return -1;
		for (size_t i = 0; i < report->events->n; i++)
			make_series(report, i);
	}
	for (size_t i = 0; i < report->events->n; i++) {
		double value = stat_value(report, &report->count[i]);

		if (report->count[i].state != ENGINE_COUNTED ||
		    !isfinite(value) || value < 0)
			continue;
		series[i].sum += value;
		series[i].was_counted = true;
	}
	/* Neither before -D nor while --control has it off. */
	counted_s += report->length_s;
	return 0;
}

/* ---- the file ------------------------------------------------------------ */

static void put_head(FILE *out, const char *family, const char *type,
		     const char *help)
{
	fprintf(out, "# HELP %s ", family);
	put_text(out, help, true);
	fprintf(out, "\n# TYPE %s %s\n", family, type);
}

/* Times to the nanosecond; an estimate of events is no more than whole. */
static void put_number(FILE *out, const char *name, const char *labels,
		       double value, bool is_time)
{
	fprintf(out, labels[0] ? "%s{%s} " : "%s%s ", name, labels);
	fprintf(out, "%.*f\n", is_time ? 9 : 0, value);
}

static const char *help_of(const struct engine_event *event, char *text,
			   size_t size)
{
	const struct upmu_event_row *row =
		event->parsed ? event->parsed->row : NULL;

	if (row)
		return upmu_row_text(row);
	snprintf(text, size, "Event %s of perf.", event->name);
	return text;
}

/* All of a family stand together: the kinds of core, the modes. */
static void put_family(FILE *out, const struct stat_report *report,
		       size_t first)
{
	const struct engine_event *event = report->events->event;
	bool is_time = !strcmp(event[first].unit, "ns");
	char text[UPMU_EVENT_NAME_MAX + 32];
	bool has_head = false;

	for (size_t i = first; i < report->events->n; i++) {
		if (strcmp(series[i].family, series[first].family) ||
		    !is_written(report, i) || !series[i].was_counted)
			continue;
		if (!has_head)
			put_head(out, series[i].family, "counter",
				 help_of(&event[i], text, sizeof(text)));
		has_head = true;
		put_number(out, series[i].family, series[i].labels,
			   series[i].sum / (is_time ? 1e9 : 1), is_time);
	}
}

static bool is_first_of_family(size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(series[j].family, series[i].family))
			return false;
	return true;
}

static double tell_counted(const struct stat_report *report, size_t i)
{
	return report->count[i].state == ENGINE_COUNTED;
}

static double tell_running(const struct stat_report *report, size_t i)
{
	return report->count[i].state == ENGINE_COUNTED
		       ? stat_share(&report->count[i])
		       : 0;
}

static double tell_error(const struct stat_report *report, size_t i)
{
	const struct engine_count *count = &report->count[i];
	const struct estimate *e = &count->estimate;

	if (count->state != ENGINE_COUNTED || !count->estimated ||
	    !(e->total > 0))
		return NAN;
	return (e->high - e->low) / 2 / e->total;
}

/* What is told of each event's last interval. */
static const struct about {
	const char *name, *help;
	double (*tell)(const struct stat_report *report, size_t event);
} abouts[] = {
	{ "upmu_event_counted",
	  "1 where the event was counted in the last interval, 0 where not.",
	  tell_counted },
	{ "upmu_event_running_ratio",
	  "Share of the last interval in which the event had a counter.",
	  tell_running },
	{ "upmu_event_error_ratio",
	  "Half of the 95 % interval of the last estimate, over the estimate.",
	  tell_error },
};

static void put_about(FILE *out, const struct stat_report *report,
		      const struct about *about)
{
	bool has_head = false;

	for (size_t i = 0; i < report->events->n; i++) {
		double value = about->tell(report, i);

		if (!is_written(report, i) || !isfinite(value))
			continue;
		if (!has_head)
			put_head(out, about->name, "gauge", about->help);
		has_head = true;
		fprintf(out, "%s{event=\"", about->name);
		put_text(out, report->events->event[i].name, false);
		fprintf(out, "\"} %.6g\n", value);
	}
}

/* A rule can wait for it to leave 0; of tasks no CPU is counted. */
static void put_lost(FILE *out, const struct stat_report *report)
{
	char cpus[OUT_CPUS_SIZE];
	size_t missed = out_missed_cpus(cpus, report);

	if (!report->options->all_cpus && !report->options->cpus)
		return;
	if (missed) {
		put_head(out, "upmu_cpus_missed", "gauge",
			 "CPUs that came on since upmu was started: they are "
			 "not counted.");
		put_number(out, "upmu_cpus_missed", "", (double)missed, false);
	}
	put_head(out, "upmu_cpus_lost", "gauge",
		 "CPUs that went off: nothing is counted there since.");
	put_number(out, "upmu_cpus_lost", "",
		   (double)out_lost_cpus(cpus, report), false);
}

static void put_info(FILE *out, const struct stat_report *report)
{
	struct utsname host;
	char *labels = NULL; /* -C takes a list of any length */
	size_t size;
	FILE *text = open_memstream(&labels, &size);

	if (!text)
		return;
	put_label(text, "version", UPMU_VERSION_TEXT);
	put_label(text, "kernel", uname(&host) ? "" : host.release);
	put_label(text, "cpus",
		  report->options->cpus	      ? report->options->cpus
		  : report->options->all_cpus ? "all"
					      : "tasks");
	if (!fclose(text)) {
		put_head(out, "upmu_info", "gauge",
			 "Who counted, and on what.");
		put_number(out, "upmu_info", labels, 1, false);
	}
	free(labels);
}

static int write_metrics(FILE *out, const void *what)
{
	const struct stat_report *report = what;

	for (size_t i = 0; i < report->events->n; i++)
		if (is_first_of_family(i))
			put_family(out, report, i);
	for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++)
		put_about(out, report, &abouts[i]);
	put_lost(out, report);
	put_head(out, "upmu_counted_seconds_total", "counter",
		 "Time in which upmu counted.");
	put_number(out, "upmu_counted_seconds_total", "", counted_s, true);
	put_head(out, "upmu_start_time_seconds", "gauge",
		 "When counting began, since 1970: counters were 0 then.");
	put_number(out, "upmu_start_time_seconds", "", (double)report->when,
		   false);
	put_info(out, report);
	return ferror(out) ? -1 : 0;
}

int stat_write_openmetrics(const struct stat_report *report)
{
	static bool is_failing;
	const char *path = report->options->openmetrics;
	int error = add_up(report) ||
		    replace_file(path, write_metrics, report, REPLACE_PLAIN);

	/* Once, and not each interval: the next file has the sums so far. */
	if (error && !is_failing)
		fprintf(stderr, "upmu stat: cannot write '%s': %s\n", path,
			strerror(errno));
	if (!error && is_failing)
		fprintf(stderr, "upmu stat: '%s' is written again\n", path);
	is_failing = error;
	return error ? -1 : 0;
}
