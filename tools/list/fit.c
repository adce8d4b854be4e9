// SPDX-License-Identifier: MIT
/* upmu list --fit: how many sets a list of events needs, before a run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

/* Entries of one kind, and what belongs to no kind, side by side. */
struct share {
	size_t n;
	struct upmu_event events[UPMU_LIST_MAX + 1]; /* and instructions */
	uint16_t set_of[UPMU_LIST_MAX + 1];
};

static void take_share(struct share *share, const struct upmu_event_list *list,
		       int kind)
{
	share->n = 0;
	for (size_t i = 0; i < list->n; i++)
		if (list->events[i].kind == kind || list->events[i].kind < 0)
			share->events[share->n++] = list->events[i];
}

static bool is_first(bool wants, bool *is_taken)
{
	bool first = wants && !*is_taken;

	*is_taken = *is_taken || wants;
	return first;
}

/*
 * There is one cycle counter: cycles:u beside cycles takes another. So do
 * instructions:u, and upmu stat keeps a counter for the first of the two alone.
 */
static void keep_first(struct share *share)
{
	bool cycles = false, instructions = false;

	for (size_t i = 0; i < share->n; i++) {
		struct upmu_event *event = &share->events[i];

		event->is_cycles = is_first(event->is_cycles, &cycles);
		event->is_instructions =
			is_first(event->is_instructions, &instructions);
	}
}

static void print_set(const struct share *share, uint16_t set)
{
	const char *comma = "";

	for (size_t i = 0; i < share->n; i++) {
		if (share->set_of[i] != set || !share->events[i].is_supported)
			continue;
		printf("%s%s", comma, share->events[i].name);
		comma = ", ";
	}
	puts(*comma ? "" : "-");
}

static bool has_set(const struct share *share, uint16_t set)
{
	for (size_t i = 0; i < share->n; i++)
		if (share->set_of[i] == set && share->events[i].is_supported)
			return true;
	return false;
}

static void print_unsupported(const struct share *share)
{
	for (size_t i = 0; i < share->n; i++)
		if (!share->events[i].is_supported)
			printf("  not there: %s\n", share->events[i].name);
}

static void print_sets(const struct share *share, int sets)
{
	if (has_set(share, UPMU_SET_EVERY)) {
		printf("  all the time: ");
		print_set(share, UPMU_SET_EVERY);
	}
	for (int i = 0; i < sets; i++) {
		if (!has_set(share, (uint16_t)i))
			continue;
		printf("  set %d: ", i + 1);
		print_set(share, (uint16_t)i);
	}
	print_unsupported(share);
	if (sets > 1)
		printf("  %d sets take turns: each counts about %d %% of a "
		       "run, or run `upmu stat --passes`\n",
		       sets, 100 / sets);
	else
		puts("  1 set: everything is counted all the time");
}

static bool has_instructions(const struct share *share)
{
	for (size_t i = 0; i < share->n; i++)
		if (share->events[i].is_instructions)
			return true;
	return false;
}

/*
 * What takes turns is estimated from instructions: upmu stat counts them all
 * the time, be they in no list, where a counter can be spared for them.
 */
static int fit(struct share *share, unsigned int counters)
{
	int sets = upmu_events_fit(share->events, share->n, counters,
				   share->set_of);
	int with;

	if (sets < 2 || has_instructions(share))
		return sets;
	share->events[share->n] = (struct upmu_event){
		.is_supported = true,
		.is_instructions = true,
	};
	with = upmu_events_fit(share->events, share->n + 1, counters,
			       share->set_of);
	/* Else, as the last one, it left the others as they were. */
	return share->set_of[share->n] == UPMU_SET_EVERY ? with : sets;
}

static int fit_kind(const struct upmu_core_kind *kind, struct share *share)
{
	unsigned int counters = list_ask_counters(kind);
	const char *source = "";
	int sets;

	if (!counters) {
		counters = upmu_core_counters(kind->core);
		source = " (by the manual)";
	}
	keep_first(share);
	sets = fit(share, counters);
	printf("%s: %u event counters and the cycle counter%s\n",
	       upmu_core_name(kind->core), counters, source);
	if (sets == -EMFILE) {
		printf("  a group wants more than %u counters: it can never "
		       "run\n",
		       counters);
		return 1;
	}
	print_sets(share, sets);
	return 0;
}

static int refuse_fit(const struct upmu_events_error *error)
{
	fprintf(stderr, "upmu list: %s\n", error->text);
	if (error->hint[0])
		fprintf(stderr, "hint: %s\n", error->hint);
	return 1;
}

int list_print_fit(const char *events, const struct upmu_machine *machine)
{
	struct upmu_event_list *list = malloc(sizeof(*list));
	struct share *share = malloc(sizeof(*share));
	struct upmu_events_error error;
	bool any = false;
	int status = 1;

	if (!list || !share) {
		fputs("upmu list: out of memory\n", stderr);
		goto out;
	}
	if (upmu_events_parse(list, events, machine, &error)) {
		refuse_fit(&error);
		goto out;
	}
	status = 0;
	for (size_t i = 0; i < machine->n_kinds; i++) {
		if (!machine->kinds[i].core)
			continue;
		take_share(share, list, (int)i);
		status |= fit_kind(&machine->kinds[i], share);
		any = true;
	}
	if (!any) {
		fputs("upmu list: cannot tell the sets: no table for this "
		      "processor\n"
		      "hint: upmu list --core cortex-a53 --fit EVENTS\n",
		      stderr);
		status = 1;
	}
out:
	free(share);
	free(list);
	return status;
}
