// SPDX-License-Identifier: MIT
/* upmu list -j: an object, or an array of them for several cores. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "list.h"

static json_t *lines(const char *text)
{
	json_t *array = json_array();

	while (*text) {
		size_t n = strcspn(text, "\n");

		json_array_append_new(array, json_stringn(text, n));
		text += n + (text[n] == '\n');
	}
	return array;
}

static json_t *filters(const struct upmu_core *core)
{
	unsigned int set = upmu_core_filters(core);
	json_t *array = json_array();

	if (set & UPMU_FILTER_USER)
		json_array_append_new(array, json_string("user"));
	if (set & UPMU_FILTER_KERNEL)
		json_array_append_new(array, json_string("kernel"));
	if (set & UPMU_FILTER_HYP)
		json_array_append_new(array, json_string("hyp"));
	return array;
}

/* null: it is not known, for the core is another machine's. */
static json_t *countable(enum list_now now)
{
	if (now == LIST_ELSEWHERE)
		return json_null();
	return json_boolean(now == LIST_YES || now == LIST_USER_ONLY ||
			    now == LIST_MODELLED);
}

json_t *list_json_near(const struct upmu_core *core,
		       const struct upmu_event_row *row)
{
	const struct upmu_event_row *other;
	json_t *array = json_array();

	for (size_t i = 0; row && (other = upmu_core_row(core, i)); i++)
		if (list_is_near(row, other))
			json_array_append_new(
				array,
				json_pack("{s:i, s:s, s:s}", "code",
					  (int)upmu_row_code(other), "name",
					  upmu_row_name(other), "description",
					  upmu_row_text(other)));
	return array;
}

static json_t *event_object(const struct upmu_core *core,
			    const struct list_event *event)
{
	return json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:o}", "code",
		(int)event->code, "name", event->name, "group",
		list_group(event), "description", list_event_text(event),
		"caveat", list_event_caveat(event), "source",
		event->row ? upmu_row_source(event->row) : "", "countable",
		countable(event->now), "now", list_now_word(event->now),
		"nearly_alike", list_json_near(core, event->row));
}

static json_t *machine_part(const struct list_core *list, json_t *object)
{
	char cpus[LIST_CPUS_SIZE];

	if (!list->kind)
		return object;
	list_cpus(cpus, list->kind);
	json_object_set_new(object, "cpus", json_string(cpus));
	json_object_set_new(object, "pmu", json_string(list->kind->pmu_name));
	json_object_set_new(object, "reason", json_string(list->reason));
	return object;
}

static json_t *row_name(const struct upmu_event_row *row)
{
	return row ? json_string(upmu_row_name(row)) : json_null();
}

/* What perf counts for its own names on this core. */
static json_t *perf_names(const struct upmu_core_kind *kind)
{
	const struct upmu_generic *generic;
	json_t *array = json_array();

	for (size_t i = 0; (generic = upmu_hardware_at(i)); i++) {
		const struct upmu_event_row *row, *nearer;

		row = upmu_kind_perf_row(kind, generic);
		if (row && upmu_kind_leaves_out(kind, row))
			row = NULL;
		nearer = list_nearer(kind, generic);
		if (!row && !nearer)
			continue;
		json_array_append_new(
			array, json_pack("{s:s, s:o, s:o, s:o}", "name",
					 generic->name, "code",
					 row ? json_integer(upmu_row_code(row))
					     : json_null(),
					 "event", row_name(row), "nearer",
					 row_name(nearer)));
	}
	return array;
}

static json_t *core_object(const struct list_core *list)
{
	json_t *events = json_array();
	const struct upmu_core_kind kind = list_kind(list);
	json_t *object;

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(
			events, event_object(list->core, &list->events[i]));
	object = json_pack("{s:s, s:s, s:i, s:b, s:o, s:o, s:o}", "core",
			   upmu_core_name(list->core), "title",
			   upmu_core_title(list->core), "counters",
			   (int)list->counters, "counters_asked",
			   list->counters_asked, "filters", filters(list->core),
			   "notes", lines(upmu_core_notes(list->core)),
			   "manuals", lines(upmu_core_manuals(list->core)));
	machine_part(list, object);
	json_object_set_new(object, "perf_names", perf_names(&kind));
	json_object_set_new(object, "events", events);
	return object;
}

int list_print_json(const struct list_core *lists, size_t n, bool is_array)
{
	json_t *root = json_array(), *shown = root;
	int ret = -ENOMEM;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(root, core_object(&lists[i]));
	if (!is_array && json_array_size(root) == 1)
		shown = json_array_get(root, 0);
	if (shown && !json_dumpf(shown, stdout, JSON_INDENT(2)))
		ret = 0;
	putchar('\n');
	json_decref(root);
	return ret;
}
