// SPDX-License-Identifier: MIT
/* upmu list --explain for people. */
#include <stdio.h>
#include <string.h>

#include "list.h"
#include "lib/events/generic.h"

#define COLUMN		16 /* where what is said of an event begins */
#define CORES_MOST	80
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool any; /* was anything printed? */

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

	for (size_t i = 0; (key = explain_formula(core, row, i)); i++)
		if (used < sizeof(line))
			used += (size_t)snprintf(line + used,
						 sizeof(line) - used, "%s%s",
						 used ? " " : "", key);
	say("in formulas", line);
}

static void say_now(const struct explained *what)
{
	static struct list_core one;

	explain_ask_now(&one, what);
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

static void say_boards(const struct explained *what)
{
	static const struct {
		const char *counts, *means;
	} words[] = {
		{ "exact", "exactly, one instruction in one cycle" },
		{ "clock", "by the emulator's clock, which is no core's" },
		{ "emulated", "by QEMU itself" },
		{ "modelled", "by a model of the core, not by silicon" },
		{ "no", "not counted" },
	};
	const struct upmu_core *core = what->kind->core;
	const struct list_boards *boards = list_boards_of(upmu_core_name(core));
	char line[256];

	if (!boards)
		say("boards", "no emulated board has this core");
	for (int exact = 1; boards && exact >= 0; exact--) {
		const char *names = exact ? boards->exact : boards->others;
		const char *counts =
			list_board_counts(boards, core, what->row, exact);

		for (size_t i = 0; *names && i < COUNT_OF(words); i++) {
			if (strcmp(counts, words[i].counts))
				continue;
			snprintf(line, sizeof(line), "%s: %s", names,
				 words[i].means);
			say("boards", line);
		}
	}
}

static void tell_row(const struct explained *what)
{
	const struct upmu_core *core = what->kind->core;
	const struct upmu_event_row *row = what->row;
	char line[1024];

	printf("%s%s, 0x%02x of %s (%s)\n", any ? "\n" : "", upmu_row_name(row),
	       upmu_row_code(row), upmu_core_title(core), upmu_core_name(core));
	any = true;
	say("counts", upmu_row_text(row));
	say("beware", upmu_row_caveat(row));
	say_perf(what->kind, what->called);
	list_other_names(line, sizeof(line), what->kind, row);
	say("also called", line);
	say_near(core, row);
	say_formulas(core, row);
	if (what->is_here)
		say_now(what);
	explain_model(line, sizeof(line), what);
	say("model", line);
	say_boards(what);
	say_cores(row);
	say_lines("of the core", upmu_core_notes(core));
	say("source", upmu_row_source(row));
	say_lines("manual", upmu_core_manuals(core));
}

/* "PAPI_L1_DCM on cortex-a72: l1d_cache_refill_rd + l1d_cache_refill_wr" */
static void tell_sum(const char *name, const struct upmu_core *core,
		     const struct list_meaning *meaning)
{
	printf("%s%s on %s:", any ? "\n" : "", name, upmu_core_name(core));
	any = true;
	for (size_t i = 0; i < meaning->n; i++) {
		if (i || meaning->sign[i] == '-')
			printf(" %c", meaning->sign[i]);
		printf(" %s", upmu_row_name(meaning->rows[i]));
	}
	putchar('\n');
}

static void tell_other(const char *name, const char *kind, const char *text)
{
	bool is_software = !strcmp(kind, "software");

	printf("%s%s%s\n", any ? "\n" : "", name,
	       is_software ? ", of the kernel (software)" : "");
	any = true;
	say("counts", text);
	if (is_software)
		say("counted here",
		    "as on every machine, by the kernel: it takes no counter "
		    "of a core");
}

const struct explainer explain_text = { tell_row, tell_sum, tell_other };
