// SPDX-License-Identifier: MIT
/* JSON: docs/schema/stat.schema.json is the contract, and tested. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "stat.h"
#include "regions.h"
#include "tools/rank.h"
#include "tools/version.h"

#define SCHEMA_VERSION 1

/* What has no number is null: never 0. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static const char *state_key(enum engine_state state)
{
	static const char *const key[] = {
		[ENGINE_COUNTED] = "counted",
		[ENGINE_NOT_SUPPORTED] = "not supported",
		[ENGINE_NOT_COUNTED] = "not counted",
		[ENGINE_NOT_EMULATED] = "not emulated",
	};

	return key[state];
}

static void add_counts(json_t *to, const struct stat_report *report,
		       const struct engine_count *count)
{
	const struct stat_spread *spread = stat_spread_of(report, count);

	json_object_set_new(to, "value", number(stat_value(report, count)));
	json_object_set_new(to, "counted", integer(count->raw));
	json_object_set_new(to, "running_ns", integer(count->running_ns));
	json_object_set_new(to, "enabled_ns", integer(count->enabled_ns));
	json_object_set_new(to, "running_percent",
			    number(100 * stat_share(count)));
	json_object_set_new(to, "estimated", json_boolean(count->estimated));
	/* An estimate is of one run; of several there is the mean. */
	if (count->estimated && spread->n < 2 && !report->options->no_scale) {
		json_object_set_new(to, "estimate",
				    number(count->estimate.total));
		json_object_set_new(to, "low_95", number(count->estimate.low));
		json_object_set_new(to, "high_95",
				    number(count->estimate.high));
		json_object_set_new(to, "slices",
				    integer(count->estimate.slices));
	}
	if (spread->n > 1) {
		json_object_set_new(to, "mean", number(spread->mean));
		json_object_set_new(to, "deviation", number(spread->deviation));
	}
}

static json_t *make_values(const struct stat_report *report, size_t event)
{
	const double *value = &report->value[event * report->options->repeat];
	json_t *list = json_array();

	for (size_t i = 0; i < report->runs; i++)
		json_array_append_new(list, number(value[i]));
	return list;
}

/* On unlike cores names stand there once for each kind. */
static const char *core_of(const struct stat_report *report,
			   const struct engine_event *event)
{
	const struct upmu_machine *machine = &report->events->machine;
	const struct upmu_core *core =
		(size_t)event->lane < machine->n_kinds
			? machine->kinds[event->lane].core
			: NULL;

	return core ? upmu_core_name(core) : "unknown";
}

/* A thread calls itself as it likes, and JSON is UTF-8. */
static json_t *place_of(const struct stat_report *report)
{
	json_t *out = json_string(report->place_name);
	char *ascii = out ? NULL : strdup(report->place_name);

	for (char *at = ascii; at && *at; at++)
		if (*at & 0x80)
			*at = '?';
	if (ascii)
		out = json_string(ascii);
	free(ascii);
	return out;
}

static json_t *make_event(const struct stat_report *report, size_t i)
{
	const struct engine_event *event = &report->events->event[i];
	const struct engine_count *count = &report->count[i];
	json_t *out = json_object();

	json_object_set_new(out, "event", json_string(event->name));
	if (report->places)
		json_object_set_new(out, "place", place_of(report));
	json_object_set_new(out, "state", json_string(state_key(count->state)));
	json_object_set_new(
		out, "unit",
		json_string(event->unit[0] ? event->unit : "events"));
	if (event->lane >= 0 && report->events->lanes > 1)
		json_object_set_new(out, "core",
				    json_string(core_of(report, event)));
	if (event->role >= 0)
		json_object_set_new(out, "role",
				    json_string(upmu_default_key(event->role)));
	if (stat_is_idle(report, count))
		json_object_set_new(out, "idle", json_true());
	if (count->state == ENGINE_COUNTED && event->modelled)
		json_object_set_new(out, "modelled", json_true());
	if (count->state == ENGINE_COUNTED)
		add_counts(out, report, count);
	if (count->state == ENGINE_COUNTED && report->value && report->runs > 1)
		json_object_set_new(out, "values", make_values(report, i));
	return out;
}

static json_t *make_events(const struct stat_report *report)
{
	json_t *list = json_array();

	for (size_t p = 0; p < stat_parts(report); p++) {
		const struct stat_report part = stat_part(report, p);

		for (size_t i = 0; i < part.events->n; i++)
			if (!part.events->event[i].hidden)
				json_array_append_new(list,
						      make_event(&part, i));
	}
	return list;
}

static json_t *make_metric(const struct stat_report *report,
			   const struct stat_metric *metric)
{
	static const char *const better[] = {
		[METRIC_LOW] = "low", [METRIC_HIGH] = "high"
	};
	const struct metric_row *row = metric->row;
	json_t *out =
		json_pack("{s:s, s:f, s:s, s:s}", "metric", metric->key,
			  "value", metric->value, "unit", metric->unit, "event",
			  report->events->event[metric->event].name);

	if (report->places)
		json_object_set_new(out, "place", place_of(report));
	if (metric->unsure)
		json_object_set_new(out, "unsure", json_true());
	if (!row)
		return out;
	json_object_set_new(out, "formula", json_string(row->formula));
	json_object_set_new(out, "text", json_string(row->text));
	if (row->better)
		json_object_set_new(out, "better",
				    json_string(better[row->better]));
	return out;
}

static json_t *make_metrics(const struct stat_report *report)
{
	json_t *list = json_array();

	for (size_t p = 0; p < stat_parts(report); p++) {
		const struct stat_report part = stat_part(report, p);
		struct stat_metric metric[STAT_METRICS_MOST];
		size_t n = stat_metrics(&part, metric, STAT_METRICS_MOST);

		for (size_t i = 0; i < n; i++)
			json_array_append_new(list,
					      make_metric(&part, &metric[i]));
	}
	return list;
}

static void add_command(json_t *to, const struct stat_report *report)
{
	json_t *words = json_array();

	for (char **word = report->options->command; word && *word; word++)
		/* A word that is no UTF-8 has no JSON; its place stays. */
		if (json_array_append_new(words, json_string(*word)))
			json_array_append_new(words, json_null());
	json_object_set_new(to, "command", words);
}

/* Of an interval too: it tells runs in one file apart. */
static void add_began(json_t *to, const struct stat_report *report)
{
	if (report->when)
		json_object_set_new(to, "began_unix_s",
				    integer((uint64_t)report->when));
}

/* Where that is more than a process uses before its program. */
static void add_uncounted(json_t *to, const struct stat_report *report)
{
	if (report->uncounted_s > 0)
		json_object_set_new(to, "uncounted_s",
				    number(report->uncounted_s));
}

/* Whole in one run. */
static json_t *mean_of(const struct stat_report *report, double count)
{
	return report->runs > 1 ? number(count) : integer((uint64_t)count);
}

static void add_times(json_t *to, const struct stat_report *report)
{
	json_object_set_new(to, "runs", integer(report->runs));
	if (report->runs != report->options->repeat)
		json_object_set_new(to, "runs_wanted",
				    integer(report->options->repeat));
	if (report->failed)
		json_object_set_new(to, "failed", integer(report->failed));
	if (report->signal)
		json_object_set_new(
			to, "ended_by",
			json_string(child_signal_name(report->signal)));
	json_object_set_new(to, "elapsed_s",
			    number(report->elapsed.n > 1 ? report->elapsed.mean
							 : report->elapsed_s));
	if (report->elapsed.n > 1)
		json_object_set_new(to, "elapsed_deviation_s",
				    number(report->elapsed.deviation));
	if (!report->has_usage)
		return;
	json_object_set_new(to, "user_s", number(report->user_s));
	json_object_set_new(to, "sys_s", number(report->sys_s));
	if (report->runs > 1) {
		json_object_set_new(to, "user_deviation_s",
				    number(report->user.deviation));
		json_object_set_new(to, "sys_deviation_s",
				    number(report->sys.deviation));
	}
	json_object_set_new(to, "page_faults",
			    mean_of(report, report->page_faults));
	json_object_set_new(to, "context_switches",
			    mean_of(report, report->context_switches));
}

/* The machine, and which part of it was counted. */
static void add_machine(json_t *to, const struct stat_report *report)
{
	const struct upmu_machine *machine = &report->events->machine;
	const struct stat_options *options = report->options;
	json_t *about = json_object(), *cores = json_array();
	struct utsname name;

	for (size_t i = 0; i < machine->n_kinds; i++)
		if (machine->kinds[i].core)
			json_array_append_new(cores,
					      json_string(upmu_core_name(
						      machine->kinds[i].core)));
	if (!uname(&name)) {
		json_object_set_new(about, "host", json_string(name.nodename));
		json_object_set_new(about, "kernel", json_string(name.release));
	}
	json_object_set_new(about, "cores", cores);
	json_object_set_new(to, "machine", about);
	if (options->cpus || options->all_cpus)
		json_object_set_new(
			to, "cpus",
			json_string(options->cpus ? options->cpus : "all"));
}

/* Of a parallel program, for upmu merge. */
static void add_rank(json_t *to)
{
	int rank = rank_number(), ranks = rank_count();
	char job[128];

	if (rank < 0)
		return;
	if (rank_job(job, sizeof(job)))
		json_object_set_new(to, "job", json_string(job));
	json_object_set_new(to, "rank", integer((uint64_t)rank));
	if (ranks > rank)
		json_object_set_new(to, "ranks", integer((uint64_t)ranks));
}

static void add_turns(json_t *to, const struct stat_report *report)
{
	if (!report->pace.turns)
		return;
	json_object_set_new(to, "multiplexing",
			    json_pack("{s:I, s:I, s:f, s:f, s:b}", "sets",
				      (json_int_t)report->pace.turns, "slices",
				      (json_int_t)report->pace.slices,
				      "slice_ms", report->pace.slice_ms,
				      "switching_percent",
				      100 * report->pace.switching, "passes",
				      report->options->passes));
}

/* Other users of the PMU: why something was not counted all the time. */
static void add_others(json_t *to, const struct stat_report *report)
{
	const struct engine_others *others = &report->others;
	json_t *told;

	if (report->options->no_scale)
		json_object_set_new(to, "no_scale", json_true());
	if (report->source[0])
		json_object_set_new(to, "by_registers", json_true());
	if (others->unseen)
		json_object_set_new(to, "registers_unseen", json_true());
	if (!others->taken && others->lost <= 0)
		return;
	told = json_pack("{s:f}", "time_lost_percent", 100 * others->lost);
	if (others->taken) {
		json_object_set_new(told, "counters_taken",
				    integer(others->taken));
		json_object_set_new(told, "counters",
				    integer(others->counters));
	}
	json_object_set_new(to, "others", told);
}

static void add_lost(json_t *to, const struct stat_report *report)
{
	char cpus[OUT_CPUS_SIZE];

	if (out_lost_cpus(cpus, report))
		json_object_set_new(to, "cpus_lost", json_string(cpus));
	if (out_missed_cpus(cpus, report))
		json_object_set_new(to, "cpus_missed", json_string(cpus));
}

/* What an emulated board's counts are, or why there are none. */
static void add_model(json_t *to, const struct stat_report *report)
{
	const struct upmu_machine *machine = &report->events->machine;
	json_t *cores, *model;

	if (!machine->model.is_told)
		return;
	cores = json_array();
	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &machine->kinds[i];

		if (kind->model.geometry[0])
			json_array_append_new(
				cores,
				json_pack("{s:s, s:s}", "core",
					  upmu_core_name(kind->core),
					  "geometry", kind->model.geometry));
	}
	model = json_pack("{s:o}", "cores", cores);
	if (machine->model.refused[0])
		json_object_set_new(model, "refused",
				    json_string(machine->model.refused));
	json_object_set_new(to, "model", model);
}

static void add_notes(json_t *to, const struct stat_report *report)
{
	json_object_set_new(to, "user_only",
			    json_boolean(stat_is_user_only(report)));
	if (stat_reason(report)[0])
		json_object_set_new(to, "reason",
				    json_string(stat_reason(report)));
	if (report->notes)
		json_object_set_new(to, "notes", json_string(report->notes));
}

/* -D and --control leave out a part of an interval. */
static void add_counted(json_t *to, const struct stat_report *report)
{
	const struct stat_options *options = report->options;

	if (options->delay_ms || options->starts_off || options->control)
		json_object_set_new(to, "counted_s", number(report->length_s));
}

static json_t *make_report(const struct stat_report *report)
{
	json_t *root = json_object();

	json_object_set_new(root, "upmu_stat", integer(SCHEMA_VERSION));
	json_object_set_new(root, "version", json_string(UPMU_VERSION_TEXT));
	add_command(root, report);
	add_began(root, report);
	add_rank(root);
	if (report->interval_s > 0)
		json_object_set_new(root, "interval_s",
				    number(report->interval_s));
	return root;
}

static int print(FILE *out, const struct stat_report *report, json_t *root)
{
	bool lines = report->options->interval_ms; /* its summary too */
	size_t form = JSON_REAL_PRECISION(15) |
		      (lines ? JSON_COMPACT : JSON_INDENT(2));
	int error = json_dumpf(root, out, form) || fputc('\n', out) == EOF;

	json_decref(root);
	return error || ferror(out) ? -1 : 0;
}

/* As an interval without events: every line has the same keys. */
int stat_write_json_state(FILE *out, const struct stat_report *report)
{
	json_t *root = make_report(report);

	json_object_set_new(root, "events", json_array());
	json_object_set_new(root, "metrics", json_array());
	add_uncounted(root, report);
	add_notes(root, report);
	return print(out, report, root);
}

int stat_write_json(FILE *out, const struct stat_report *report)
{
	bool interval = report->interval_s > 0;
	json_t *root = make_report(report);

	if (interval) {
		add_counted(root, report);
	} else {
		add_times(root, report);
		add_uncounted(root, report);
	}
	json_object_set_new(root, "events", make_events(report));
	json_object_set_new(root, "metrics", make_metrics(report));
	if (report->regions)
		json_object_set_new(root, "regions", out_regions_json(report));
	add_turns(root, report);
	add_others(root, report);
	add_lost(root, report);
	if (!interval)
		add_machine(root, report);
	add_model(root, report);
	add_notes(root, report);
	return print(out, report, root);
}
