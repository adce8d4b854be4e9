// SPDX-License-Identifier: MIT
/* upmu list --explain: all that is known of one event. */
#include <stdio.h>
#include <string.h>

#include "lib/events/generic.h"
#include "list.h"
#include "names.h"
#include "tools/stat/stat.h"

#define COLUMN	   16 /* where what is said of an event begins */
#define CORES_SAID 12

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

/* Where perf's own name counts another event than the nearest. */
static void say_perf(const struct upmu_core *core, const char *name)
{
	const struct upmu_generic *generic =
		upmu_hardware_find(name, strlen(name));
	const struct upmu_event_row *nearer, *row;
	char line[256];

	if (!generic)
		return;
	row = upmu_core_perf_row(core, generic);
	nearer = list_nearer(core, generic);
	snprintf(line, sizeof(line), "perf counts 0x%02x for %s here%s%s%s",
		 upmu_row_code(row), generic->name, nearer ? "; " : "",
		 nearer ? upmu_row_name(nearer) : "",
		 nearer ? " is nearer" : "");
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
	const struct upmu_core *cores[CORES_SAID];
	const char *name = upmu_row_name(row);
	size_t n = upmu_cores_with(name, strlen(name), cores, CORES_SAID);
	char line[512];
	size_t used = 0;

	for (size_t i = 0; i < n && i < CORES_SAID; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used,
					 "%s%s", i ? " " : "",
					 upmu_core_name(cores[i]));
	if (n > CORES_SAID)
		snprintf(line + used, sizeof(line) - used, " and %zu more",
			 n - CORES_SAID);
	say("cores with it", n ? line : "");
}

static void explain(const struct upmu_core_kind *kind,
		    const struct upmu_event_row *row, const char *name,
		    const struct upmu_machine *machine, bool is_here)
{
	const struct upmu_core *core = kind->core;
	char line[512];

	printf("%s, 0x%02x of %s (%s)\n", upmu_row_name(row),
	       upmu_row_code(row), upmu_core_title(core), upmu_core_name(core));
	say("counts", upmu_row_text(row));
	say("beware", upmu_row_caveat(row));
	say_perf(core, name);
	list_other_names(line, sizeof(line), core, row);
	say("also called", line);
	say_near(core, row);
	say_formulas(core, row);
	if (is_here)
		say_now(kind, row, machine);
	say("emulators", upmu_event_is_modelled(machine, row)
				 ? "modelled on this board"
			 : upmu_emulator_counts(machine, row)
				 ? "QEMU counts it, instructions with -icount"
				 : "QEMU does not count it");
	say_cores(row);
	say_lines("of the core", upmu_core_notes(core));
	say("source", upmu_row_source(row));
	say_lines("manual", upmu_core_manuals(core));
}

int list_explain(const char *name, const struct upmu_machine *machine,
		 bool is_here)
{
	bool any = false;

	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &machine->kinds[i];
		const struct upmu_event_row *row;

		row = kind->core ? list_called(kind->core, name) : NULL;
		if (!row)
			continue;
		if (any)
			putchar('\n');
		explain(kind, row, name, machine, is_here);
		any = true;
	}
	if (!any)
		fprintf(stderr,
			"upmu list: no event of this %s is called '%s'\n"
			"hint: upmu list --all %s\n",
			is_here ? "machine" : "core", name, name);
	return any ? 0 : 1;
}
