// SPDX-License-Identifier: MIT
/* Earlier runs, out of the JSON of upmu compare and of upmu stat -r. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "lib/engine/engine.h"
#include "tools/child.h"
#include "tools/documents.h"
#include "tools/print.h"

bool compare_is_report(const char *word)
{
	static const char end[] = ".json";
	size_t length = strlen(word), tail = sizeof(end) - 1;

	return length > tail && !strcmp(word + length - tail, end);
}

static int refuse_file(const char *path, const char *why)
{
	fprintf(stderr, "upmu compare: '%s': ", path);
	plain_write(stderr, why);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

static double real_or(const json_t *object, const char *key, double other)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : other;
}

static size_t size_or(const json_t *object, const char *key, size_t other)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (size_t)value : other;
}

/* Of --passes each set has a run of its own. */
static bool takes_turns(const json_t *root)
{
	const json_t *turns = json_object_get(root, "multiplexing");

	return turns && !json_is_true(json_object_get(turns, "passes"));
}

static bool is_raw(const json_t *root)
{
	return json_is_true(json_object_get(root, "no_scale"));
}

/* What holds of the numbers of all commands. */
static void take_way(struct compare *c, const json_t *root)
{
	c->scaled |= !is_raw(root);
	c->by_registers |= json_is_true(json_object_get(root, "by_registers"));
}

static void add_lost(struct compare *c, const json_t *told, bool raw)
{
	double lost = real_or(told, "time_lost_percent", 0) / 100;

	/* Of -r the run that lost most: the last one's events tell of none. */
	c->raw |= raw && lost >= ENGINE_LOST_LEAST;
	c->lost = fmax(c->lost, lost);
}

/* The event's row: files are matched by name. */
static struct compare_event *row_of(struct compare *c, const char *name,
				    const char *unit)
{
	if (!strcmp(unit, "events"))
		unit = "";
	for (size_t i = 0; i < c->events; i++)
		if (!strcmp(c->event[i].name, name))
			return &c->event[i];
	return compare_add_event(c, name, unit);
}

/* False: no memory. */
static bool take_values(struct compare_cell *cell, const json_t *values,
			size_t runs)
{
	if (!json_is_array(values) || json_array_size(values) != runs)
		return true;
	free(cell->value); /* a file may name an event twice */
	cell->value = malloc((runs + 1) * sizeof(*cell->value));
	for (size_t i = 0; cell->value && i < runs; i++) {
		const json_t *one = json_array_get(values, i);

		cell->value[i] =
			json_is_number(one) ? json_number_value(one) : NAN;
	}
	return cell->value;
}

/* Mean and deviation are all that is known of the runs. */
static void take_summary(struct compare_cell *cell, double mean,
			 double deviation, size_t runs)
{
	struct stats_summary *s = &cell->summary;
	double reach;

	*s = (struct stats_summary){ .n = runs,
				     .mean = mean,
				     .deviation = deviation,
				     .low = NAN,
				     .high = NAN,
				     .median = NAN,
				     .min = NAN,
				     .max = NAN,
				     .usual_low = NAN,
				     .usual_high = NAN };
	if (isnan(deviation) || runs < 2) {
		s->n = 1;
		return;
	}
	s->constant = !(deviation > 0);
	reach = stats_t(0.95, (double)runs - 1) * deviation /
		sqrt((double)runs);
	s->low = isfinite(reach) ? mean - reach : NAN;
	s->high = isfinite(reach) ? mean + reach : NAN;
}

static char *join_words(const json_t *words)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		fprintf(out, "%s%s", i ? " " : "", word ? word : "?");
	}
	fclose(out);
	return text;
}

/*
 * Two files often hold one command: the file's name tells them apart. NULL, and
 * said why, where there can be no more.
 */
static struct compare_command *add_command(struct compare *c, const char *path,
					   const char *name, size_t runs)
{
	struct compare_command *command = &c->command[c->commands];
	const struct compare_options *o = c->options;

	if (c->commands == COMPARE_COMMANDS_MAX) {
		refuse_file(path, "too many commands");
		return NULL;
	}
	if (c->commands < o->names)
		command->name = strdup(o->name[c->commands]);
	else if (!name || asprintf(&command->name, "%s: %s", path, name) < 0)
		command->name = NULL;
	command->runs = runs;
	if (!command->name) {
		refuse_file(path, "out of memory");
		return NULL;
	}
	c->commands++;
	return command;
}

/* ---- upmu stat -j ----------------------------------------------------------
 */

/* An older upmu stat did not say them. */
static void take_cores(struct compare_command *command, const json_t *root)
{
	const json_t *machine = json_object_get(root, "machine");
	const json_t *cores = json_object_get(machine, "cores");

	if (json_array_size(cores))
		command->cores = join_words(cores);
}

/* False: no memory. */
static bool take_time(struct compare *c, const json_t *root, const char *name,
		      const char *key, const char *deviation)
{
	size_t k = c->commands - 1;
	struct compare_event *row;

	if (!json_is_number(json_object_get(root, key)))
		return true;
	row = row_of(c, name, "s");
	if (row)
		take_summary(&row->cell[k], real_or(root, key, NAN),
			     real_or(root, deviation, NAN), c->command[k].runs);
	return row;
}

/* With -A and its like an event is there for each place, as merge calls it. */
static struct compare_event *row_of_place(struct compare *c,
					  const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	const char *unit = json_string_value(json_object_get(event, "unit"));
	const char *place = json_string_value(json_object_get(event, "place"));
	struct compare_event *row = NULL;
	char *both;

	if (!place)
		return row_of(c, name, unit);
	if (asprintf(&both, "%s %s", name, place) < 0)
		return NULL;
	row = row_of(c, both, unit);
	free(both);
	return row;
}

/* Why there is no number, with the brackets of a text report or without. */
static const char *state_of(const json_t *event)
{
	static const char *const states[] = { "<not supported>",
					      "<not counted>",
					      "<not emulated>" };
	const char *state = json_string_value(json_object_get(event, "state"));

	for (size_t i = 0; state && i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(state, states[i]) ||
		    (strlen(state) + 2 == strlen(states[i]) &&
		     !strncmp(state, states[i] + 1, strlen(state))))
			return states[i];
	return "";
}

static int take_event(struct compare *c, const char *path, const json_t *event,
		      bool raw)
{
	size_t k = c->commands - 1;
	struct compare_event *row;
	struct compare_cell *cell;

	if (!json_is_string(json_object_get(event, "event")) ||
	    !json_is_string(json_object_get(event, "unit")))
		return refuse_file(path, "no report of upmu stat");
	row = row_of_place(c, event);
	if (!row)
		return refuse_file(path, "out of memory");
	if (!json_is_number(json_object_get(event, "value"))) {
		row->state = state_of(event);
		return 0;
	}
	c->raw |= raw && json_is_true(json_object_get(event, "estimated"));
	cell = &row->cell[k];
	if (!take_values(cell, json_object_get(event, "values"),
			 c->command[k].runs))
		return refuse_file(path, "out of memory");
	take_summary(cell, real_or(event, "value", NAN),
		     real_or(event, "deviation", NAN), c->command[k].runs);
	return 0;
}

static int load_stat(struct compare *c, const char *path, const json_t *root)
{
	size_t runs = size_or(root, "runs", 1);
	char *name = join_words(json_object_get(root, "command"));
	struct compare_command *command = add_command(c, path, name, runs);
	const json_t *events = json_object_get(root, "events");
	int status = 0;

	free(name);
	if (!command)
		return EXIT_FAILED;
	if (!json_is_array(events))
		return refuse_file(path, "no report of upmu stat");
	take_cores(command, root);
	take_way(c, root);
	c->shares_turns |= takes_turns(root) && !is_raw(root);
	add_lost(c, json_object_get(root, "others"), is_raw(root));
	command->wanted = size_or(root, "runs_wanted", 0);
	command->failed = size_or(root, "failed", 0);
	command->uncounted_s = real_or(root, "uncounted_s", 0);
	c->emulated = false; /* stat's reports do not say it */
	command->user_only = json_is_true(json_object_get(root, "user_only"));
	if (!take_time(c, root, "elapsed", "elapsed_s",
		       "elapsed_deviation_s") ||
	    !take_time(c, root, "user", "user_s", "user_deviation_s") ||
	    !take_time(c, root, "sys", "sys_s", "sys_deviation_s"))
		return refuse_file(path, "out of memory");
	for (size_t i = 0; !status && i < json_array_size(events); i++)
		status = take_event(c, path, json_array_get(events, i),
				    is_raw(root));
	return status;
}

/* ---- upmu compare -j --------------------------------------------------------
 */

/* What each command had of an event. False: no memory. */
static bool take_cells(struct compare *c, struct compare_event *row,
		       const json_t *cells, size_t first)
{
	for (size_t k = 0; k < json_array_size(cells); k++) {
		const json_t *cell = json_array_get(cells, k);
		size_t at = first + k;

		if (at < c->commands &&
		    json_is_number(json_object_get(cell, "mean")) &&
		    !take_values(&row->cell[at],
				 json_object_get(cell, "values"),
				 c->command[at].runs))
			return false;
	}
	return true;
}

static int load_events(struct compare *c, const char *path, const json_t *root,
		       size_t first)
{
	const json_t *events = json_object_get(root, "events");

	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		const char *name =
			json_string_value(json_object_get(event, "event"));
		const char *unit =
			json_string_value(json_object_get(event, "unit"));
		struct compare_event *row;

		if (!name || !unit)
			return refuse_file(path, "no report of upmu compare");
		row = row_of(c, name, unit);
		if (!row ||
		    !take_cells(c, row, json_object_get(event, "commands"),
				first))
			return refuse_file(path, "out of memory");
		if (!row->state[0])
			row->state = state_of(event);
	}
	return 0;
}

/* Older files say it of all commands together, and no cores. */
static void take_side(struct compare_command *to, const json_t *root,
		      const json_t *command)
{
	const char *cores =
		json_string_value(json_object_get(command, "cores"));
	const json_t *own = json_object_get(command, "user_only");

	to->cores = cores ? strdup(cores) : NULL;
	to->own_rss = json_is_true(json_object_get(command, "max_rss_at_most"));
	to->user_only =
		json_is_true(own ? own : json_object_get(root, "user_only"));
}

static int load_compare(struct compare *c, const char *path, const json_t *root)
{
	const json_t *commands = json_object_get(root, "commands");
	size_t first = c->commands;

	for (size_t i = 0; i < json_array_size(commands); i++) {
		const json_t *command = json_array_get(commands, i);
		const char *name =
			json_string_value(json_object_get(command, "name"));
		struct compare_command *added =
			add_command(c, path, name ? name : "?",
				    size_or(command, "runs", 0));

		if (!added)
			return EXIT_FAILED;
		added->wanted = size_or(command, "runs_wanted", 0);
		added->failed = size_or(command, "failed", 0);
		take_side(added, root, command);
		added->uncounted_s = real_or(command, "uncounted_s", 0);
	}
	if (!json_is_true(json_object_get(root, "emulated")))
		c->emulated = false;
	c->shares_turns |= json_is_true(json_object_get(root, "estimated"));
	c->raw |= is_raw(root);
	c->interrupted |= json_is_true(json_object_get(root, "interrupted"));
	take_way(c, root);
	add_lost(c, root, is_raw(root));
	c->paired = json_is_true(json_object_get(root, "paired"));
	return load_events(c, path, root, first);
}

/* @more: behind the first report there is another, or what not. */
static json_t *load_first(const char *path, bool *more, json_error_t *error)
{
	FILE *in = fopen(path, "re");
	json_t *root;

	if (!in) {
		snprintf(error->text, sizeof(error->text), "%s",
			 strerror(errno));
		return NULL;
	}
	errno = 0;
	root = json_loadf(in, JSON_DISABLE_EOF_CHECK, error);
	if (!root && ferror(in) && errno)
		snprintf(error->text, sizeof(error->text), "%s",
			 strerror(errno));
	*more = fscanf(in, " %*c") != EOF;
	fclose(in);
	return root;
}

static int load_one(struct compare *c, const char *path)
{
	json_error_t error;
	bool more = false;
	json_t *root = load_first(path, &more, &error);
	int status;

	if (!root)
		return refuse_file(path, error.text);
	if (json_object_get(root, "interval_s"))
		status = refuse_file(path, "intervals of -I are no runs");
	else if (more)
		status = refuse_file(path, "holds more than one report");
	else if (documents_is_another(root))
		status = refuse_file(path, DOCUMENTS_ANOTHER);
	else if (json_integer_value(json_object_get(root, "upmu_compare")) == 1)
		status = load_compare(c, path, root);
	else if (json_integer_value(json_object_get(root, "upmu_stat")) == 1)
		status = load_stat(c, path, root);
	else
		status = refuse_file(
			path, "neither of upmu stat -j nor of compare -j");
	json_decref(root);
	return status;
}

/* A part of the time is not the whole, nor an estimate of it. */
static int refuse_mixture(const struct compare *c)
{
	if (!c->raw || !c->scaled)
		return 0;
	fputs("upmu compare: some files have counts of a part of the time "
	      "(stat --no-scale), others of the whole\n"
	      "hint: count anew without --no-scale\n",
	      stderr);
	return EXIT_FAILED;
}

/* A round is a run of each; where one has fewer there are none. */
static bool have_equal_runs(const struct compare *c)
{
	for (size_t k = 1; k < c->commands; k++)
		if (c->command[k].runs != c->command[0].runs)
			return false;
	return true;
}

int compare_load(struct compare *c, char **paths)
{
	bool one = paths[0] && !paths[1];
	int status = 0;

	c->of_files = true;
	c->emulated = true;
	for (; *paths && !status; paths++)
		status = load_one(c, *paths);
	/* Runs of two files were not made in turns. */
	c->paired = c->paired && one && have_equal_runs(c);
	if (!status)
		status = refuse_mixture(c);
	if (!status)
		status = compare_check_names(c);
	return status ? status : compare_check_conditions(c);
}
