// SPDX-License-Identifier: MIT
/* upmu list --explain: all that is known of one event. */
#include <stdio.h>
#include <string.h>

#include "list.h"
#include "lib/events/generic.h"
#include "lib/events/events.h"
#include "tools/stat/stat.h"

#define CORES_MOST 80

const char *explain_formula(const struct upmu_core *core,
			    const struct upmu_event_row *row, size_t n)
{
	const char *key;

	for (int role = 0; role < UPMU_DEFAULTS; role++) {
		if (upmu_core_default(core, (enum upmu_default)role) != row)
			continue;
		for (size_t i = 0;
		     (key = stat_formula_at((enum upmu_default)role, row, i));
		     i++)
			if (!n--)
				return key;
	}
	return NULL;
}

void explain_ask_now(struct list_core *one, const struct explained *what)
{
	memset(one, 0, sizeof(*one));
	one->core = what->kind->core;
	one->kind = what->kind;
	one->n = 1;
	one->events[0].row = what->row;
	one->events[0].code = upmu_row_code(what->row);
	snprintf(one->events[0].name, sizeof(one->events[0].name), "%s",
		 upmu_row_name(what->row));
	list_ask_now(one, what->machine);
}

/* A board tells of its model; of another core only boards.h knows. */
void explain_model(char *out, size_t size, const struct explained *what)
{
	const struct upmu_core_model *model = &what->kind->model;
	const char *refused = what->machine->model.refused;

	*out = '\0';
	if (!what->is_here)
		return;
	if (refused[0])
		snprintf(out, size, "of the %s, refused: %s", model->title,
			 refused);
	else if (model->title[0])
		snprintf(out, size,
			 "%s by this board's model of the %s (%s), not silicon",
			 upmu_event_is_modelled(what->kind, what->row)
				 ? "counted"
				 : "not counted",
			 model->title, model->geometry);
	else
		snprintf(out, size, "this machine has none: %s",
			 what->machine->is_emulated
				 ? "the emulator counts alone"
				 : "its counts are the silicon's");
}

static void find_meaning(struct list_meaning *out,
			 const struct upmu_core_kind *kind, const char *name)
{
	const struct upmu_generic *generic =
		upmu_hardware_find(name, strlen(name));

	out->n = 0;
	if (!kind->core)
		return;
	if (!generic) {
		list_called(kind->core, name, out);
		return;
	}
	out->rows[0] = upmu_kind_perf_row(kind, generic);
	out->sign[0] = '+';
	out->n = out->rows[0] ? 1 : 0;
}

static bool explain_called(const struct explainer *to, const char *name,
			   const struct upmu_machine *machine, bool is_here)
{
	struct explained what = { .machine = machine,
				  .called = name,
				  .is_here = is_here };
	struct list_meaning meaning;
	bool any = false;

	for (size_t i = 0; i < machine->n_kinds; i++) {
		what.kind = &machine->kinds[i];
		find_meaning(&meaning, what.kind, name);
		if (meaning.n > 1)
			to->sum(name, what.kind->core, &meaning);
		for (size_t j = 0; j < meaning.n; j++) {
			what.row = meaning.rows[j];
			what.sign = meaning.sign[j];
			to->row(&what);
			any = true;
		}
	}
	return any;
}

/* What no row of ours says: raw codes, and what the kernel publishes. */
static void explain_without_row(const struct explainer *to,
				const struct upmu_event *event)
{
	const char *software = upmu_software_text(event->config);
	char text[128];

	switch (event->class) {
	case UPMU_EVENT_SOFTWARE:
		to->other(event->name, "software",
			  software ? software : "what the kernel says");
		break;
	case UPMU_EVENT_GENERIC:
		to->other(event->name, "generic",
			  "what the kernel's driver takes for this name of "
			  "perf");
		break;
	case UPMU_EVENT_CORE:
		if (!event->is_supported) {
			to->other(event->name, "left out",
				  "nothing: this kind of core, or this very "
				  "one, does not have it");
			return;
		}
		snprintf(text, sizeof(text),
			 "what this core has as 0x%02x: a code that no table "
			 "has for it",
			 event->code);
		to->other(event->name, "raw", text);
		break;
	default:
		to->other(event->name, "published",
			  "in no table: the kernel publishes it by this name");
	}
}

static bool has_table(const struct upmu_machine *machine)
{
	return machine->n_kinds && machine->kinds[0].core;
}

/* The other ways to write an event that upmu stat takes: PMU/event=0x3/. */
static bool explain_parsed(const struct explainer *to, const char *name,
			   const struct upmu_machine *machine, bool is_here)
{
	static struct upmu_event_list list;
	struct explained what = { .machine = machine,
				  .called = "",
				  .sign = '+',
				  .is_here = is_here };

	if (upmu_events_parse(&list, name, machine, NULL))
		return false;
	for (size_t i = 0; i < list.n; i++) {
		const struct upmu_event *event = &list.events[i];

		if (event->class == UPMU_EVENT_GENERIC && has_table(machine))
			return false;
		if (event->class == UPMU_EVENT_SOFTWARE || !event->row ||
		    event->kind < 0) {
			explain_without_row(to, event);
			continue;
		}
		what.kind = &machine->kinds[event->kind];
		what.row = event->row;
		to->row(&what);
	}
	return list.n;
}

/* Of the cores that have the event one that anybody can try on a board. */
static const struct upmu_core *core_to_try(const char *name)
{
	const struct upmu_core *cores[CORES_MOST];
	size_t n = upmu_cores_with(name, strlen(name), cores, CORES_MOST);

	for (size_t i = 0; i < n && i < CORES_MOST; i++)
		if (list_boards_of(upmu_core_name(cores[i])))
			return cores[i];
	return n ? cores[0] : NULL;
}

static void say_unknown(const char *name, const struct upmu_core *core,
			bool is_here)
{
	size_t length = strlen(name);
	const struct upmu_core *other = core_to_try(name);
	const char *near;
	char hint[256];

	fprintf(stderr, "upmu list: no event of this %s is called '%.64s'\n",
		is_here ? "machine" : "core", name);
	if (!length) {
		fputs("hint: upmu list\n", stderr);
	} else if (other) {
		upmu_hint_event(hint, sizeof(hint), core, name, length);
		fprintf(stderr,
			"hint: %s: upmu list --core %s --explain %.64s\n", hint,
			upmu_core_name(other), name);
	} else if (upmu_events_nearest(core, name, length, &near, 1)) {
		upmu_hint_event(hint, sizeof(hint), core, name, length);
		fprintf(stderr, "hint: %s\n", hint);
	} else {
		fprintf(stderr, "hint: upmu list --all '%.64s'\n", name);
	}
}

static void say_not_counted(const struct upmu_generic *generic,
			    const struct upmu_core_kind *kind)
{
	char line[256];

	list_perf_says(line, sizeof(line), kind, generic);
	fprintf(stderr, "upmu list: '%s' on %s: perf counts %s\n",
		generic->name, upmu_core_name(kind->core),
		*line ? line : "nothing that this core's table lists");
}

int list_explain(const char *name, const struct upmu_machine *machine,
		 bool is_here, bool json)
{
	const struct explainer *to = json ? &explain_json : &explain_text;
	const struct upmu_generic *generic =
		upmu_hardware_find(name, strlen(name));
	const struct upmu_core *core =
		machine->n_kinds ? machine->kinds[0].core : NULL;
	bool found = explain_called(to, name, machine, is_here) ||
		     explain_parsed(to, name, machine, is_here);

	if (json && explain_json_print(name))
		return 1;
	if (found)
		return 0;
	if (generic && core)
		say_not_counted(generic, &machine->kinds[0]);
	else
		say_unknown(name, core, is_here);
	return 1;
}
