// SPDX-License-Identifier: MIT
/*
 * The comparison for programs: JSON (docs/schema/compare.schema.json is the
 * contract) and CSV.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "compare.h"
#include "tools/print.h"
#include "tools/version.h"

#define SCHEMA_VERSION 1

/* What has no number is null: never 0. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void set(json_t *to, const char *key, json_t *value)
{
	json_object_set_new(to, key, value);
}

/* What is no UTF-8 has no JSON. */
static json_t *text(const char *word)
{
	json_t *string = json_string(word);

	return string ? string : json_null();
}

static json_t *make_command(const struct compare_command *command)
{
	json_t *out = json_object(), *words = json_array();
	json_t *status = json_array();

	for (char **word = command->argv; word && *word; word++)
		json_array_append_new(words, text(*word));
	for (size_t i = 0; i < command->runs && command->status; i++)
		json_array_append_new(status, json_integer(command->status[i]));
	set(out, "name", text(command->name));
	set(out, "command", words);
	set(out, "runs", json_integer((json_int_t)command->runs));
	if (command->wanted)
		set(out, "runs_wanted",
		    json_integer((json_int_t)command->wanted));
	set(out, "failed", json_integer((json_int_t)command->failed));
	if (command->uncounted_s > 0)
		set(out, "uncounted_s", number(command->uncounted_s));
	set(out, "status", status);
	set(out, "user_only", json_boolean(command->user_only));
	if (command->own_rss)
		set(out, "max_rss_at_most", json_true());
	if (command->cores)
		set(out, "cores", text(command->cores));
	return out;
}

static void add_outliers(json_t *to, const struct compare_cell *cell,
			 size_t runs)
{
	json_t *values = json_array(), *outliers = json_array();

	for (size_t i = 0; i < runs; i++) {
		json_array_append_new(values, number(cell->value[i]));
		if (stats_is_outlier(&cell->summary, cell->value[i]))
			json_array_append_new(outliers,
					      json_integer((json_int_t)i + 1));
	}
	set(to, "values", values);
	set(to, "outliers", outliers);
}

static const char *verdict_key(enum compare_verdict verdict)
{
	static const char *const key[] = {
		[COMPARE_UNKNOWN] = "unknown",
		[COMPARE_LESS] = "less",
		[COMPARE_MORE] = "more",
		[COMPARE_NO_DIFFERENCE] = "no difference seen",
	};

	return key[verdict];
}

static json_t *make_change(const struct compare_cell *cell)
{
	const struct stats_change *change = &cell->change;
	json_t *out = json_object();

	set(out, "difference", number(change->difference));
	set(out, "difference_low_95", number(change->difference_low));
	set(out, "difference_high_95", number(change->difference_high));
	set(out, "percent", number(compare_percent(change->ratio)));
	set(out, "percent_low_95", number(compare_percent(change->ratio_low)));
	set(out, "percent_high_95",
	    number(compare_percent(change->ratio_high)));
	set(out, "p_of_all", number(cell->p));
	set(out, "exact", json_boolean(cell->exact));
	set(out, "verdict", json_string(verdict_key(cell->verdict)));
	return out;
}

static json_t *make_cell(const struct compare *c,
			 const struct compare_event *event, size_t k)
{
	const struct compare_cell *cell = &event->cell[k];
	const struct stats_summary *s = &cell->summary;
	json_t *out = json_object();

	set(out, "counted", json_integer((json_int_t)s->n));
	if (!s->n)
		return out;
	set(out, "mean", number(s->mean));
	set(out, "low_95", number(s->low));
	set(out, "high_95", number(s->high));
	set(out, "deviation", number(s->deviation));
	set(out, "median", number(s->median));
	set(out, "min", number(s->min));
	set(out, "max", number(s->max));
	if (cell->value)
		add_outliers(out, cell, c->command[k].runs);
	if (k && event->cell[0].summary.n)
		set(out, "change", make_change(cell));
	return out;
}

static json_t *make_event(const struct compare *c,
			  const struct compare_event *event)
{
	json_t *out = json_object(), *cells = json_array();

	for (size_t k = 0; k < c->commands; k++)
		json_array_append_new(cells, make_cell(c, event, k));
	set(out, "event", json_string(event->name));
	set(out, "unit", json_string(event->unit[0] ? event->unit : "events"));
	set(out, "is_time", json_boolean(event->is_time));
	if (event->state[0])
		set(out, "state", json_string(event->state));
	set(out, "commands", cells);
	return out;
}

static json_t *make_conditions(const struct compare *c)
{
	static const char *const answers[] = {
		[COMPARE_HOLDS] = "holds",
		[COMPARE_FAILS_NOT] = "does not hold",
		[COMPARE_UNDECIDED] = "not decided",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < c->options->conditions; i++)
		for (size_t k = 1; k < c->commands; k++) {
			json_t *one = json_object();
			double low, high;
			enum compare_answer answer = compare_ask(
				c, &c->options->condition[i], k, &low, &high);

			set(one, "condition",
			    text(c->options->condition[i].text));
			set(one, "command", json_integer((json_int_t)k));
			set(one, "answer", json_string(answers[answer]));
			set(one, "low", number(low));
			set(one, "high", number(high));
			json_array_append_new(list, one);
		}
	return list;
}

int compare_write_json(FILE *out, const struct compare *c)
{
	json_t *root = json_object(), *commands = json_array();
	json_t *events = json_array();
	bool user_only = false;
	int error;

	for (size_t k = 0; k < c->commands; k++) {
		json_array_append_new(commands, make_command(&c->command[k]));
		user_only = user_only || c->command[k].user_only;
	}
	for (size_t i = 0; i < c->events; i++)
		json_array_append_new(events, make_event(c, &c->event[i]));
	set(root, "upmu_compare", json_integer(SCHEMA_VERSION));
	set(root, "version", json_string(UPMU_VERSION_TEXT));
	set(root, "paired", json_boolean(c->paired));
	set(root, "interrupted", json_boolean(c->interrupted));
	set(root, "emulated", json_boolean(c->emulated));
	set(root, "estimated", json_boolean(c->shares_turns));
	set(root, "user_only", json_boolean(user_only));
	if (c->raw)
		set(root, "no_scale", json_true());
	if (c->by_registers)
		set(root, "by_registers", json_true());
	if (c->lost > 0)
		set(root, "time_lost_percent", json_real(100 * c->lost));
	if (c->reason)
		set(root, "reason", text(c->reason));
	set(root, "commands", commands);
	set(root, "events", events);
	set(root, "conditions", make_conditions(c));
	error = json_dumpf(root, out,
			   JSON_INDENT(2) | JSON_REAL_PRECISION(15)) ||
		fputc('\n', out) == EOF;
	json_decref(root);
	return error || ferror(out) ? -1 : 0;
}

/* ---- CSV ------------------------------------------------------------------
 */

static const char header[][24] = {
	"event", "unit",	   "command",	 "runs",	"mean",
	"low",	 "high",	   "deviation",	 "median",	"min",
	"max",	 "change_percent", "change_low", "change_high", "difference",
	"p",	 "exact",	   "verdict",
};

#define COLUMNS (sizeof(header) / sizeof(header[0]))

static void put_number(FILE *out, double value, const char *separator)
{
	fputs(separator, out);
	if (isfinite(value))
		fprintf(out, "%.12g", value);
}

static void put_row(FILE *out, const struct compare *c,
		    const struct compare_event *event, size_t k,
		    const char *separator)
{
	const struct compare_cell *cell = &event->cell[k];
	const struct stats_summary *s = &cell->summary;
	bool compared = k && s->n && event->cell[0].summary.n;
	double none = NAN;
	const double numbers[] = { s->mean,   s->low, s->high, s->deviation,
				   s->median, s->min, s->max };
	const double changes[] = { compare_percent(cell->change.ratio),
				   compare_percent(cell->change.ratio_low),
				   compare_percent(cell->change.ratio_high),
				   cell->change.difference, cell->p };

	csv_text(out, event->name, separator);
	fputs(separator, out);
	csv_text(out, event->unit, separator);
	fputs(separator, out);
	csv_text(out, c->command[k].name, separator);
	put_number(out, (double)s->n, separator);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put_number(out, s->n ? numbers[i] : none, separator);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		put_number(out, compared ? changes[i] : none, separator);
	fprintf(out, "%s%s%s", separator,
		!compared     ? ""
		: cell->exact ? "yes"
			      : "no",
		separator);
	csv_text(out, compared ? verdict_key(cell->verdict) : "", separator);
	fputc('\n', out);
}

/* What text has as notes: a row each, as upmu stat's; the number is in mean. */
static void put_note(FILE *out, const char *name, const char *unit,
		     const char *command, double value, const char *separator)
{
	csv_text(out, name, separator);
	fputs(separator, out);
	csv_text(out, unit, separator);
	fputs(separator, out);
	csv_text(out, command, separator);
	fputs(separator, out);
	put_number(out, value, separator);
	for (size_t i = 5; i < COLUMNS; i++)
		fputs(separator, out);
	fputc('\n', out);
}

static void put_notes(FILE *out, const struct compare *c, const char *separator)
{
	for (size_t k = 0; k < c->commands; k++) {
		const struct compare_command *command = &c->command[k];
		const char *name = command->name;

		if (command->wanted)
			put_note(out, "runs_wanted", "", name,
				 (double)command->wanted, separator);
		if (command->failed)
			put_note(out, "failed_runs", "", name,
				 (double)command->failed, separator);
		if (command->uncounted_s > 0)
			put_note(out, "uncounted_time", "s", name,
				 command->uncounted_s, separator);
		if (command->user_only)
			put_note(out, "user_only", "", name, 1, separator);
		if (command->own_rss)
			put_note(out, "max_rss_at_most", "", name, 1,
				 separator);
	}
	if (c->lost > 0)
		put_note(out, "time_lost", "%", "", 100 * c->lost, separator);
	if (c->shares_turns)
		put_note(out, "estimated", "", "", 1, separator);
	if (c->raw)
		put_note(out, "no_scale", "", "", 1, separator);
	if (c->by_registers)
		put_note(out, "by_registers", "", "", 1, separator);
	if (c->emulated)
		put_note(out, "emulated", "", "", 1, separator);
	if (c->interrupted)
		put_note(out, "interrupted", "", "", 1, separator);
}

int compare_write_csv(FILE *out, const struct compare *c)
{
	const char *given = c->options->separator;
	const char *separator = given ? given : ",";

	for (size_t i = 0; !given && i < COLUMNS; i++)
		fprintf(out, "%s%s", i ? separator : "", header[i]);
	if (!given)
		fputc('\n', out);
	for (size_t i = 0; i < c->events; i++)
		for (size_t k = 0; k < c->commands; k++)
			put_row(out, c, &c->event[i], k, separator);
	put_notes(out, c, separator);
	return ferror(out) ? -1 : 0;
}
