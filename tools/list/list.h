/* SPDX-License-Identifier: MIT */
/**
 * list.h - what the files of "upmu list" share
 *
 * cmd_list.c reads the options, list_rows.c gathers the events of one kind
 * of core, list_now.c asks which can be counted now, and list_text.c,
 * list_json.c and list_fit.c print.
 */
#ifndef UPMU_TOOLS_LIST_H
#define UPMU_TOOLS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/events/events.h"

/* Can an event be counted here and now? */
enum list_now {
	LIST_ELSEWHERE, /* a core that this machine does not have */
	LIST_YES,
	LIST_USER_ONLY,	      /* as :u; perf_event_paranoid forbids the rest */
	LIST_NO,	      /* perf refuses */
	LIST_NOT_IMPLEMENTED, /* this very core leaves it out */
	LIST_MODELLED,	      /* yes, by an emulated board's model of a core */
	LIST_NOT_EMULATED,    /* this board's emulator does not count it */
};

/** In a word: "yes", ":u", "no", ... */
const char *list_now_word(enum list_now now);

/** One event of a list. */
struct list_event {
	const struct upmu_event_row *row; /* NULL: published by the kernel */
	char name[64];
	unsigned int code;
	enum list_now now;
};

#define LIST_EVENTS_MAX 768 /* monaka has 498, beside what sysfs adds */

/**
 * struct list_core - one kind of core and the events that are shown of it
 * @core: NULL for software events and for a machine without a table
 * @kind: NULL for a core that this machine does not have
 * @counters: event counters, as perf lets a group have; else as the manual
 * @counters_asked: perf told @counters
 * @is_searched: @events are not all that there are
 * @reason: why the first event that cannot be counted is so, with its hint;
 *          "" where all can be counted
 */
struct list_core {
	const struct upmu_core *core;
	const struct upmu_core_kind *kind;
	unsigned int counters;
	bool counters_asked;
	bool is_searched;
	char reason[1024];
	size_t n;
	struct list_event events[LIST_EVENTS_MAX];
};

/**
 * Fill @out with the events that match all of @words, ended by NULL (NULL:
 * all): those of the table
 * and, where @kind has a PMU, those that only the kernel publishes for it.
 * All are LIST_ELSEWHERE.
 */
void list_gather(struct list_core *out, const struct upmu_core *core,
		 const struct upmu_core_kind *kind, char *const *words);
/** The kernel's own events. */
void list_gather_software(struct list_core *out, char *const *words);

/** The kind of core of @list; where it is another machine's, one without PMU.
 */
struct upmu_core_kind list_kind(const struct list_core *list);

/** Ask perf about every event: opens and closes each. */
void list_ask_now(struct list_core *list, const struct upmu_machine *machine);

/** Under which heading an event is shown. */
const char *list_group(const struct list_event *event);
/** What it counts, and what to beware of: "" for nothing known. */
const char *list_event_text(const struct list_event *event);
const char *list_event_caveat(const struct list_event *event);
/** Headings in order; NULL from the end on. */
const char *list_group_at(size_t n);

/**
 * As `--explain`, of each kind of core of @machine: what an event counts, by
 * any of its names, and what is to know of it. Exit status.
 */
int list_explain(const char *name, const struct upmu_machine *machine,
		 bool is_here, bool json);

/** As `--metrics`, of each kind of core of @machine. Exit status. */
int list_metrics(const struct upmu_machine *machine, bool is_here, bool json);

/** @text from column @column on, later lines indented to there. */
void list_print_wrapped(const char *text, int column);

/** "0-3,6" of a kind's CPUs. */
void list_cpus(char *out, size_t size, const struct upmu_core_kind *kind);

void list_print_text(const struct list_core *list);
/** @is_array: even where there is one; 0, or -ENOMEM. */
int list_print_json(const struct list_core *lists, size_t n, bool is_array);
/** As `--fit`: exit status. */
int list_print_fit(const char *events, const struct upmu_machine *machine);

/** Event counters that perf lets a group have; 0: perf does not tell. */
unsigned int list_ask_counters(const struct upmu_core_kind *kind);

#endif
