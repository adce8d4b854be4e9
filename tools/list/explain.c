// SPDX-License-Identifier: MIT
/* upmu list --explain: all that is known of one event. */
#include <stdio.h>
#include <string.h>

#include "lib/events/generic.h"
#include "lib/events/hint.h"
#include "lib/events/resolve.h"
#include "list.h"
#include "names.h"
#include "tools/stat/stat.h"

#define COLUMN	   16 /* where what is said of an event begins */
#define CORES_MOST 80

static void say(const char *label, const char *text)
{
	if (!*text)
		return;
	printf("  %-*s", COLUMN - 2, label);
	list_print_wrapped(text, COLUMN);
}

static void say_lines(const char *label, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)n, lines);
		say(label, line);
		lines += n + (lines[n] == '\n');
	}
}

/* What perf counts for a name of its own. */
static void say_perf(const struct upmu_core_kind *kind, const char *name)
{
	const struct upmu_generic *generic =
		upmu_hardware_find(name, strlen(name));
	char says[256], line[320];

	if (!generic || !list_perf_says(says, sizeof(says), kind, generic))
		return;
	snprintf(line, sizeof(line), "%s counts %s", generic->name, says);
	say("perf", line);
}

static void say_near(const struct upmu_core *core,
		     const struct upmu_event_row *row)
{
	const struct upmu_event_row *other;
	char line[256];

	for (size_t i = 0; (other = upmu_core_row(core, i)); i++) {
		if (!list_is_near(row, other))
			continue;
		snprintf(line, sizeof(line), "0x%02x %s: %s",
			 upmu_row_code(other), upmu_row_name(other),
			 upmu_row_text(other));
		say("nearly alike", line);
	}
}

static void say_formulas(const struct upmu_core *core,
			 const struct upmu_event_row *row)
{
	char line[256] = "";
	const char *key;
	size_t used = 0;

	for (int role = 0; role < UPMU_DEFAULTS; role++) {
		if (upmu_core_default(core, (enum upmu_default)role) != row)
			continue;
		for (size_t i = 0;
		     (key = stat_formula_at((enum upmu_default)role, i)); i++)
			if (used < sizeof(line))
				used += (size_t)snprintf(
					line + used, sizeof(line) - used,
					"%s%s", used ? " " : "", key);
	}
	say("in formulas", line);
}

static void say_now(const struct upmu_core_kind *kind,
		    const struct upmu_event_row *row,
		    const struct upmu_machine *machine)
{
	static struct list_core one;

	memset(&one, 0, sizeof(one));
	one.core = kind->core;
	one.kind = kind;
	one.n = 1;
	one.events[0].row = row;
	one.events[0].code = upmu_row_code(row);
	snprintf(one.events[0].name, sizeof(one.events[0].name), "%s",
		 upmu_row_name(row));
	list_ask_now(&one, machine);
	say("counted here", list_now_word(one.events[0].now));
	say_lines("", one.reason);
}

static void say_cores(const struct upmu_event_row *row)
{
	const struct upmu_core *cores[CORES_MOST];
	const char *name = upmu_row_name(row);
	size_t n = upmu_cores_with(name, strlen(name), cores, CORES_MOST);
	char line[CORES_MOST * 20] = "";
	size_t used = 0;

	for (size_t i = 0; i < n && i < CORES_MOST && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used,
					 "%s%s", i ? " " : "",
					 upmu_core_name(cores[i]));
	say("cores with it", line);
}

/* An emulated board tells of its model; of other boards nothing is known. */
static void say_emulators(const struct upmu_core_kind *kind,
			  const struct upmu_event_row *row,
			  const struct upmu_machine *machine, bool is_here)
{
	const struct upmu_core_model *model = &kind->model;
	/* QEMU has no PMU of Apple's. */
	bool by_qemu = upmu_core_arch(kind->core) != UPMU_ARCH_APPLE &&
		       upmu_emulator_counts(kind, row);
	bool is_modelled = upmu_event_is_modelled(kind, row);
	char line[512];

	say("emulators",
	    by_qemu && !is_modelled
		    ? "QEMU counts it by itself, instructions with -icount"
		    : "QEMU by itself does not count it");
	if (!is_here)
		snprintf(line, sizeof(line),
			 "ask on the board: there this tells whether its "
			 "model counts it");
	else if (machine->model.refused[0])
		snprintf(line, sizeof(line), "of the %s, refused: %s",
			 model->title, machine->model.refused);
	else if (model->title[0])
		snprintf(line, sizeof(line),
			 "%s by this board's model of the %s (%s), not silicon",
			 is_modelled ? "counted" : "not counted", model->title,
			 model->geometry);
	else
		snprintf(line, sizeof(line), "this machine has none: %s",
			 machine->is_emulated ? "the emulator counts alone"
					      : "its counts are the silicon's");
	say("model", line);
}

static void explain(const struct upmu_core_kind *kind,
		    const struct upmu_event_row *row, const char *name,
		    const struct upmu_machine *machine, bool is_here)
{
	const struct upmu_core *core = kind->core;
	char line[1024];

	printf("%s, 0x%02x of %s (%s)\n", upmu_row_name(row),
	       upmu_row_code(row), upmu_core_title(core), upmu_core_name(core));
	say("counts", upmu_row_text(row));
	say("beware", upmu_row_caveat(row));
	say_perf(kind, name);
	list_other_names(line, sizeof(line), kind, row);
	say("also called", line);
	say_near(core, row);
	say_formulas(core, row);
	if (is_here)
		say_now(kind, row, machine);
	say_emulators(kind, row, machine, is_here);
	say_cores(row);
	say_lines("of the core", upmu_core_notes(core));
	say("source", upmu_row_source(row));
	say_lines("manual", upmu_core_manuals(core));
}

/* "PAPI_L1_DCM on cortex-a72: l1d_cache_refill_rd + l1d_cache_refill_wr" */
static void say_sum(const char *name, const struct upmu_core *core,
		    const struct list_meaning *meaning)
{
	printf("%s on %s:", name, upmu_core_name(core));
	for (size_t i = 0; i < meaning->n; i++) {
		if (i || meaning->sign[i] == '-')
			printf(" %c", meaning->sign[i]);
		printf(" %s", upmu_row_name(meaning->rows[i]));
	}
	fputs("\n\n", stdout);
}

static void find_meaning(struct list_meaning *out,
			 const struct upmu_core_kind *kind, const char *name)
{
	const struct upmu_generic *generic =
		upmu_hardware_find(name, strlen(name));

	out->n = 0;
	if (kind->core && !generic)
		list_called(kind->core, name, out);
	if (!kind->core || !generic)
		return;
	out->rows[0] = upmu_kind_perf_row(kind, generic);
	out->n = out->rows[0] ? 1 : 0;
}

static bool explain_called(const char *name, const struct upmu_machine *machine,
			   bool is_here)
{
	struct list_meaning meaning;
	bool any = false;

	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &machine->kinds[i];

		find_meaning(&meaning, kind, name);
		if (any && meaning.n)
			putchar('\n');
		if (meaning.n > 1)
			say_sum(name, kind->core, &meaning);
		for (size_t j = 0; j < meaning.n; j++) {
			if (j)
				putchar('\n');
			explain(kind, meaning.rows[j], name, machine, is_here);
			any = true;
		}
	}
	return any;
}

static void explain_software(const struct upmu_event *event)
{
	const char *text = upmu_software_text(event->config);

	printf("%s, of the kernel (software)\n", event->name);
	say("counts", text ? text : "what the kernel says");
	say("counted here", "as on every machine, by the kernel: it takes no "
			    "counter of a core");
}

/* What no row of ours says: raw codes, and what the kernel publishes. */
static void explain_without_row(const struct upmu_event *event)
{
	char text[128] = "in no table: the kernel publishes it by this name";

	if (event->class == UPMU_EVENT_GENERIC)
		snprintf(text, sizeof(text),
			 "what the kernel's driver takes "
			 "for this name of perf");
	else if (event->class == UPMU_EVENT_CORE)
		snprintf(text, sizeof(text),
			 "what this core has as 0x%02x: a code that no table "
			 "has for it",
			 event->code);
	printf("%s\n", event->name);
	say("counts", text);
}

static bool has_table(const struct upmu_machine *machine)
{
	return machine->n_kinds && machine->kinds[0].core;
}

/* The other ways to write an event that upmu stat takes: PMU/event=0x3/. */
static bool explain_parsed(const char *name, const struct upmu_machine *machine,
			   bool is_here)
{
	static struct upmu_event_list list;

	if (upmu_events_parse(&list, name, machine, NULL))
		return false;
	for (size_t i = 0; i < list.n; i++) {
		const struct upmu_event *event = &list.events[i];

		if (event->class == UPMU_EVENT_GENERIC && has_table(machine))
			return false;
		if (i)
			putchar('\n');
		if (event->class == UPMU_EVENT_SOFTWARE)
			explain_software(event);
		else if (event->row && event->kind >= 0)
			explain(&machine->kinds[event->kind], event->row, "",
				machine, is_here);
		else
			explain_without_row(event);
	}
	return list.n;
}

static void say_unknown(const char *name, const struct upmu_core *core,
			bool is_here)
{
	size_t length = strlen(name);
	const struct upmu_core *other;
	const char *near;
	char hint[256];

	fprintf(stderr, "upmu list: no event of this %s is called '%.64s'\n",
		is_here ? "machine" : "core", name);
	if (!length) {
		fputs("hint: upmu list\n", stderr);
	} else if (upmu_cores_with(name, length, &other, 1)) {
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
		*line ? line : "nothing for it on this core");
}

int list_explain(const char *name, const struct upmu_machine *machine,
		 bool is_here)
{
	const struct upmu_generic *generic =
		upmu_hardware_find(name, strlen(name));
	const struct upmu_core *core =
		machine->n_kinds ? machine->kinds[0].core : NULL;

	if (explain_called(name, machine, is_here) ||
	    explain_parsed(name, machine, is_here))
		return 0;
	if (generic && core)
		say_not_counted(generic, &machine->kinds[0]);
	else
		say_unknown(name, core, is_here);
	return 1;
}
