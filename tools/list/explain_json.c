// SPDX-License-Identifier: MIT
/* upmu list --explain -j: an object with what a name means on each core. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "list.h"
#include "lib/events/generic.h"

#define CORES_MOST 80

static json_t *events;

/* An array of what stands between @separator. */
static json_t *pieces(const char *text, char separator)
{
	const char stop[] = { separator, '\0' };
	json_t *array = json_array();

	while (*text) {
		size_t n = strcspn(text, stop);

		if (n)
			json_array_append_new(array, json_stringn(text, n));
		text += n + (text[n] == separator);
	}
	return array;
}

static json_t *formulas(const struct upmu_core *core,
			const struct upmu_event_row *row)
{
	json_t *array = json_array();
	const char *key;

	for (size_t i = 0; (key = explain_formula(core, row, i)); i++)
		json_array_append_new(array, json_string(key));
	return array;
}

static json_t *cores_with(const struct upmu_event_row *row)
{
	const struct upmu_core *cores[CORES_MOST];
	const char *name = upmu_row_name(row);
	size_t n = upmu_cores_with(name, strlen(name), cores, CORES_MOST);
	json_t *array = json_array();

	for (size_t i = 0; i < n && i < CORES_MOST; i++)
		json_array_append_new(array,
				      json_string(upmu_core_name(cores[i])));
	return array;
}

static void add_boards(json_t *array, const struct upmu_core *core,
		       const struct upmu_event_row *row, bool is_exact)
{
	const struct list_boards *boards = list_boards_of(upmu_core_name(core));
	json_t *names;

	if (!boards)
		return;
	names = pieces(is_exact ? boards->exact : boards->others, ' ');
	for (size_t i = 0; i < json_array_size(names); i++)
		json_array_append_new(
			array, json_pack("{s:O, s:s}", "board",
					 json_array_get(names, i), "counts",
					 list_board_counts(boards, core, row,
							   is_exact)));
	json_decref(names);
}

static json_t *boards_of(const struct upmu_core *core,
			 const struct upmu_event_row *row)
{
	json_t *array = json_array();

	add_boards(array, core, row, true);
	add_boards(array, core, row, false);
	return array;
}

/* What perf counts for the name that was asked for; null for other names. */
static json_t *perf_says(const struct explained *what)
{
	const struct upmu_generic *generic =
		upmu_hardware_find(what->called, strlen(what->called));
	char says[256];

	if (!generic ||
	    !list_perf_says(says, sizeof(says), what->kind, generic))
		return json_null();
	return json_string(says);
}

static void add_now(json_t *object, const struct explained *what)
{
	static struct list_core one;
	char model[512], cpus[LIST_CPUS_SIZE];

	if (!what->is_here)
		return;
	explain_ask_now(&one, what);
	explain_model(model, sizeof(model), what);
	list_cpus(cpus, what->kind);
	json_object_set_new(object, "cpus", json_string(cpus));
	json_object_set_new(object, "now",
			    json_string(list_now_word(one.events[0].now)));
	json_object_set_new(object, "reason", json_string(one.reason));
	json_object_set_new(object, "model", json_string(model));
}

static void gather(json_t *object)
{
	if (!events)
		events = json_array();
	json_array_append_new(events, object);
}

static void gather_row(const struct explained *what)
{
	const struct upmu_core *core = what->kind->core;
	const struct upmu_event_row *row = what->row;
	char names[1024];
	json_t *object;

	list_other_names(names, sizeof(names), what->kind, row);
	object = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:o}",
			   "kind", "event", "core", upmu_core_name(core),
			   "title", upmu_core_title(core), "code",
			   (int)upmu_row_code(row), "name", upmu_row_name(row),
			   "sign", what->sign == '-' ? "-" : "+", "description",
			   upmu_row_text(row), "caveat", upmu_row_caveat(row),
			   "perf_counts", perf_says(what));
	json_object_set_new(object, "also_called", pieces(names, ' '));
	json_object_set_new(object, "nearly_alike", list_json_near(core, row));
	json_object_set_new(object, "formulas", formulas(core, row));
	add_now(object, what);
	json_object_set_new(object, "boards", boards_of(core, row));
	json_object_set_new(object, "cores", cores_with(row));
	json_object_set_new(object, "notes",
			    pieces(upmu_core_notes(core), '\n'));
	json_object_set_new(object, "source",
			    json_string(upmu_row_source(row)));
	json_object_set_new(object, "manuals",
			    pieces(upmu_core_manuals(core), '\n'));
	gather(object);
}

/* The events tell their signs. */
static void gather_sum(const char *name, const struct upmu_core *core,
		       const struct list_meaning *meaning)
{
	(void)name;
	(void)core;
	(void)meaning;
}

static void gather_other(const char *name, const char *kind, const char *text)
{
	gather(json_pack("{s:s, s:s, s:s}", "kind", kind, "name", name,
			 "description", text));
}

const struct explainer explain_json = { gather_row, gather_sum, gather_other };

int explain_json_print(const char *name)
{
	json_t *root, *asked = json_string(name);
	int ret = -ENOMEM;

	if (!events)
		events = json_array();
	/* An argument may be any bytes; JSON is UTF-8. */
	root = json_pack("{s:o, s:o}", "asked", asked ? asked : json_null(),
			 "events", events);
	events = NULL;
	if (root && !json_dumpf(root, stdout, JSON_INDENT(2)))
		ret = 0;
	putchar('\n');
	json_decref(root);
	return ret;
}
