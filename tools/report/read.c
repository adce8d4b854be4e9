// SPDX-License-Identifier: MIT
/* Files of JSON into sections of a page. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "tools/documents.h"

/* The intervals of one run: columns, as there may be 100,000 of them. */
struct series {
	json_t *section, *times, *events;
	json_t *lengths; /* in which was counted; NULL: as long as they are */
	double end_s;	 /* of the last interval; before it: another run */
};

static void complain(struct report_input *input, const char *path,
		     const char *why)
{
	fprintf(stderr, "upmu report: '%s': %s\n", path, why);
	json_array_append_new(input->problems,
			      json_sprintf("%s: %s", path, why));
	input->failed++;
}

/* The whole path until report_name() knows what else there is. */
static json_t *make_section(const char *path, const char *kind)
{
	json_t *name = json_string(path);

	return json_pack("{s:o, s:s}", "name", name ? name : json_string("?"),
			 "kind", kind);
}

static bool is_array(const json_t *root, const char *key)
{
	return json_is_array(json_object_get(root, key));
}

/* Each element an object with these two arrays or strings. */
static bool all_have(const json_t *list, const char *text, const char *array)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		if ((text && !json_is_string(json_object_get(one, text))) ||
		    (array && !is_array(one, array)))
			return false;
	}
	return json_is_array(list);
}

/* What the page relies on; the rest it asks for. */
static const char *kind_of(const json_t *root)
{
	const json_t *regions = json_object_get(root, "regions");

	if (json_object_get(root, "upmu_compare"))
		return all_have(json_object_get(root, "events"), "event",
				"commands") &&
				       is_array(root, "commands")
			       ? "compare"
			       : NULL;
	if (json_object_get(root, "upmu_stat")) {
		if (!all_have(json_object_get(root, "events"), "event", NULL) ||
		    !is_array(root, "metrics"))
			return NULL;
		return json_is_number(json_object_get(root, "interval_s"))
			       ? "intervals"
			       : "stat";
	}
	if (json_object_get(root, "upmu_merge"))
		return all_have(json_object_get(root, "rows"), "name",
				"values") &&
				       is_array(root, "ranks")
			       ? "merge"
			       : NULL;
	if (regions && json_is_number(json_object_get(root, "running")))
		return all_have(regions, "region", "events") ? "regions" : NULL;
	return NULL;
}

/* ---- intervals -------------------------------------------------------------
 */

static json_t *new_column(const json_t *event, size_t before)
{
	json_t *values = json_array();
	json_t *out =
		json_pack("{s:O, s:o}", "event",
			  json_object_get(event, "event"), "values", values);
	static const char *const kept[] = { "unit", "role",  "state",	"cpu",
					    "core", "place", "modelled" };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		json_t *value = json_object_get(event, kept[i]);

		if (value)
			json_object_set(out, kept[i], value);
	}
	while (before--)
		json_array_append_new(values, json_null());
	return out;
}

/* Both lack it, or both have the same. */
static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	const json_t *left = json_object_get(a, key);
	const json_t *right = json_object_get(b, key);

	return left == right || (left && right && json_equal(left, right));
}

/* Intervals hold their events in one order; names may stand there twice. */
static json_t *column_of(struct series *s, const json_t *event, size_t place,
			 size_t before)
{
	json_t *column = json_array_get(s->events, place);

	if (!column) {
		column = new_column(event, before);
		json_array_append_new(s->events, column);
	}
	return is_same(column, event, "event") &&
			       is_same(column, event, "place")
		       ? column
		       : NULL;
}

/* A bound of an estimate, beside the values; null where none is known. */
static void add_bound(json_t *column, const char *key, json_t *value,
		      size_t before)
{
	json_t *bounds = json_object_get(column, key);

	if (!bounds && !json_is_number(value))
		return;
	if (!bounds) {
		bounds = json_array();
		json_object_set_new(column, key, bounds);
		while (json_array_size(bounds) < before)
			json_array_append_new(bounds, json_null());
	}
	if (json_is_number(value))
		json_array_append(bounds, value);
	else
		json_array_append_new(bounds, json_null());
}

static double lost_in(const json_t *root)
{
	return json_number_value(json_object_get(
		json_object_get(root, "others"), "time_lost_percent"));
}

/* Of the interval in which others had the most. */
static void keep_others(json_t *section, const json_t *root)
{
	json_t *others = json_object_get(root, "others");

	if (others && (!json_object_get(section, "others") ||
		       lost_in(root) > lost_in(section)))
		json_object_set(section, "others", others);
}

/* What holds for the last interval, or for all. */
static void keep_notes(json_t *section, const json_t *root)
{
	static const char *const kept[] = { "cpus_lost", "cpus_missed",
					    "user_only", "reason",
					    "notes",	 "uncounted_s",
					    "model",	 "by_registers",
					    "no_scale" };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		json_t *value = json_object_get(root, kept[i]);

		if (value)
			json_object_set(section, kept[i], value);
	}
	keep_others(section, root);
}

static bool add_interval(struct series *s, const json_t *root)
{
	const json_t *events = json_object_get(root, "events");
	size_t before = json_array_size(s->times);

	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		json_t *column = column_of(s, event, i, before);
		json_t *value = json_object_get(event, "value");

		if (!column)
			return false;
		if (json_is_number(value))
			json_array_append(json_object_get(column, "values"),
					  value);
		else if (json_is_true(json_object_get(event, "idle")))
			json_array_append_new(json_object_get(column, "values"),
					      json_integer(0));
		else
			json_array_append_new(json_object_get(column, "values"),
					      json_null());
		add_bound(column, "lows", json_object_get(event, "low_95"),
			  before);
		add_bound(column, "highs", json_object_get(event, "high_95"),
			  before);
	}
	keep_notes(s->section, root);
	json_array_append(s->times, json_object_get(root, "interval_s"));
	if (s->lengths &&
	    json_array_append(s->lengths, json_object_get(root, "counted_s")))
		json_array_append_new(s->lengths, json_null());
	s->end_s = json_number_value(json_object_get(root, "interval_s"));
	return json_array_size(events) == json_array_size(s->events);
}

static void start_series(struct report_input *input, struct series *s,
			 const char *path, const json_t *root)
{
	json_t *command = json_object_get(root, "command");
	json_t *began = json_object_get(root, "began_unix_s");

	*s = (struct series){ .section = make_section(path, "intervals"),
			      .times = json_array(),
			      .events = json_array() };
	json_object_set_new(s->section, "times", s->times);
	json_object_set_new(s->section, "events", s->events);
	if (command)
		json_object_set(s->section, "command", command);
	if (began)
		json_object_set(s->section, "began_unix_s", began);
	if (json_object_get(root, "counted_s")) {
		s->lengths = json_array();
		json_object_set_new(s->section, "lengths", s->lengths);
	}
	json_array_append_new(input->files, s->section);
}

/* Of another run its time begins anew, be it later than the last one's end. */
static bool is_another_run(const struct series *s, const json_t *root)
{
	return !s->section ||
	       json_number_value(json_object_get(root, "interval_s")) <=
		       s->end_s ||
	       !is_same(s->section, root, "command") ||
	       !is_same(s->section, root, "began_unix_s");
}

/* Behind the last interval of a run: what was known at its end. */
static bool is_last_word(const struct series *s, const json_t *root)
{
	return s->section &&
	       (json_object_get(root, "notes") ||
		json_object_get(root, "uncounted_s")) &&
	       !json_array_size(json_object_get(root, "events")) &&
	       is_same(s->section, root, "command") &&
	       is_same(s->section, root, "began_unix_s");
}

/* ---- files -------------------------------------------------------------- */

static bool take(struct report_input *input, struct series *s, const char *path,
		 json_t *root)
{
	const char *kind = kind_of(root);
	json_t *section;

	if (!kind || documents_is_another(root)) {
		complain(input, path,
			 kind ? DOCUMENTS_ANOTHER
			      : "not of upmu stat, compare or of regions");
		return false;
	}
	if (strcmp(kind, "intervals")) {
		section = make_section(path, kind);
		json_object_set(section, "report", root);
		json_array_append_new(input->files, section);
		s->section = NULL; /* --summary ends a run */
		return true;
	}
	if (is_last_word(s, root)) {
		keep_notes(s->section, root);
		return true;
	}
	if (is_another_run(s, root))
		start_series(input, s, path, root);
	if (add_interval(s, root))
		return true;
	complain(input, path, "intervals with different events");
	return false;
}

/* A file that is being read. */
struct reading {
	struct report_input *input;
	struct series series;
};

static bool take_document(void *argument, const char *name, json_t *document)
{
	struct reading *r = argument;

	return take(r->input, &r->series, name, document);
}

static void complain_of_file(void *argument, const char *name, const char *why)
{
	const struct reading *r = argument;

	complain(r->input, name, why);
}

/* ---- names of sections --------------------------------------------------- */

static const char *text_of(const json_t *section, const char *key)
{
	return json_string_value(json_object_get(section, key));
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Its file's name; the path too where another folder has one of that name. */
static const char *short_name(const json_t *paths, size_t i)
{
	const char *path = json_string_value(json_array_get(paths, i));

	for (size_t k = 0; k < json_array_size(paths); k++) {
		const char *other = json_string_value(json_array_get(paths, k));

		if (strcmp(other, path) &&
		    !strcmp(base_of(other), base_of(path)))
			return path;
	}
	return base_of(path);
}

/* Of how many sections of its kind, before it, is the file the same? */
static size_t count_before(const json_t *files, const json_t *paths, size_t i)
{
	const char *kind = text_of(json_array_get(files, i), "kind");
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += json_equal(json_array_get(paths, k),
				json_array_get(paths, i)) &&
		     !strcmp(text_of(json_array_get(files, k), "kind"), kind);
	return n;
}

void report_name(struct report_input *input)
{
	json_t *paths = json_array(), *section;
	size_t i;

	json_array_foreach(input->files, i, section)
	{
		json_array_append(paths, json_object_get(section, "name"));
	}
	json_array_foreach(input->files, i, section)
	{
		const char *name = short_name(paths, i);
		size_t before = count_before(input->files, paths, i);

		json_object_set_new(
			section, "name",
			before ? json_sprintf("%s (%zu)", name, before + 1)
			       : json_string(name));
	}
	json_decref(paths);
}

void report_read(struct report_input *input, const char *path)
{
	struct reading r = { .input = input };

	documents_read(path, &(struct documents_reader){
				     .take = take_document,
				     .complain = complain_of_file,
				     .argument = &r,
			     });
}
