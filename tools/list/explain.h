/* SPDX-License-Identifier: MIT */
/**
 * explain.h - what the files of "upmu list --explain" share
 *
 * explain.c finds what a name means and tells it to a teller: explain_text.c
 * prints, explain_json.c gathers an object.
 */
#ifndef UPMU_TOOLS_LIST_EXPLAIN_H
#define UPMU_TOOLS_LIST_EXPLAIN_H

#include "list.h"
#include "names.h"

/**
 * struct explained - one event of one kind of core
 * @called: the name that was asked for; "": in another way (PMU/event=0x3/)
 * @sign: '-' where the name asked for takes it off a sum, else '+'
 * @is_here: of this machine, not of a core by name
 */
struct explained {
	const struct upmu_core_kind *kind;
	const struct upmu_event_row *row;
	const struct upmu_machine *machine;
	const char *called;
	char sign;
	bool is_here;
};

/**
 * struct explainer - who is told
 * @row: of an event of a table
 * @sum: first, of a name that adds up several events of @core
 * @other: of what no table has: its name and what it counts
 */
struct explainer {
	void (*row)(const struct explained *what);
	void (*sum)(const char *name, const struct upmu_core *core,
		    const struct list_meaning *meaning);
	void (*other)(const char *name, const char *kind, const char *text);
};

extern const struct explainer explain_text, explain_json;

/** Print what explain_json gathered of @name; 0, or -ENOMEM. */
int explain_json_print(const char *name);

/** The nth formula that uses an event; NULL from the end on. */
const char *explain_formula(const struct upmu_core *core,
			    const struct upmu_event_row *row, size_t n);

/** Ask whether it can be counted: @one holds its one event and the reason. */
void explain_ask_now(struct list_core *one, const struct explained *what);

/** Who counts it on emulated boards and here, in a sentence. */
void explain_model(char *out, size_t size, const struct explained *what);

#endif
