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

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/events/events.h"
#include "lib/events/generic.h"

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

/* Of perf's lists each is shorter; what is longer ends in "...". */
#define LIST_CPUS_SIZE 1024

/** "0-3,6" of a kind's CPUs; LIST_CPUS_SIZE bytes. */
void list_cpus(char *list, const struct upmu_core_kind *kind);

void list_print_text(const struct list_core *list);
/** @is_array: even where there is one; 0, or -ENOMEM. */
int list_print_json(const struct list_core *lists, size_t n, bool is_array);
/** As `--fit`: exit status. */
int list_print_fit(const char *events, const struct upmu_machine *machine);

/** Event counters that perf lets a group have; 0: perf does not tell. */
unsigned int list_ask_counters(const struct upmu_core_kind *kind);

/* ---- what both kinds of JSON share (json.c) -------------------------- */

/** Code, name and description of the events that are nearly the same. */
json_t *list_json_near(const struct upmu_core *core,
		       const struct upmu_event_row *row);

/* ---- what other tools call events, as data (others.c) ---------------- */

/** "l1_dcm" and "l1d_cache_refill_rd+l1d_cache_refill_wr", neither ended. */
struct others_name {
	const char *name, *events;
	size_t name_length, events_length;
};

/** PAPI's presets of a core, without PAPI_; LIKWID's names, "" for none. */
const char *others_of_papi(const char *core);
const char *others_of_likwid(const char *core);

/** The next of @names, which is moved on; false at the end. */
bool others_next(const char **names, struct others_name *out);
bool others_find(const char *names, const char *name, size_t length,
		 struct others_name *out);

/* ---- the emulated boards, and what they count (boards.c) ------------- */

/*
 * Taken from boards/table.ini and boards/model when the command is built: on a
 * board itself its device tree has the last word.
 */

/**
 * struct list_boards - the boards that have a core
 * @core: as its table is called; NULL ends the list
 * @exact: boards that execute one instruction per cycle, a blank between two
 * @others: the others
 * @codes: a bit for each code that the model can count, of any core
 */
struct list_boards {
	const char *core, *exact, *others;
	unsigned char codes[UPMU_MODEL_CODES / 8];
};

extern const struct list_boards list_boards[];

/** Of this core; NULL: no board has it. */
const struct list_boards *list_boards_of(const char *core);

/**
 * "modelled", "exact" (one instruction, one cycle), "clock" (cycles by the
 * emulator's clock), "emulated" (QEMU itself counts it) or "no".
 * @is_exact: on those of @exact.
 */
const char *list_board_counts(const struct list_boards *boards,
			      const struct upmu_core *core,
			      const struct upmu_event_row *row, bool is_exact);

/* ---- what others call an event, and what is alike (names.c) ---------- */

#define LIST_MEANING_MOST 6

/** Events that another tool adds up, or takes off, for one name of its. */
struct list_meaning {
	size_t n;
	const struct upmu_event_row *rows[LIST_MEANING_MOST];
	char sign[LIST_MEANING_MOST]; /* '+' or '-' */
};

/**
 * The events of @core that perf (`branch-misses`), PAPI (`PAPI_L1_DCM`) or
 * LIKWID (`L1D_CACHE_LD`, `CPU_CYCLES:PMC0`) means by @name, in any case, or
 * that has this code (`r1d`, `0x1d`); PAPI adds several up for some names.
 * Returns how many; 0: they mean none.
 */
size_t list_called(const struct upmu_core *core, const char *name,
		   struct list_meaning *out);

/** The generic names and PAPI's for a row, a blank between two. */
void list_other_names(char *out, size_t size, const struct upmu_core_kind *kind,
		      const struct upmu_event_row *row);

/**
 * "0x10 br_mis_pred; br_mis_pred_retired is nearer": what perf counts for a
 * name of its own, and from which kernel on. False: perf counts nothing, and
 * @out says what is nearest, or is "".
 */
bool list_perf_says(char *out, size_t size, const struct upmu_core_kind *kind,
		    const struct upmu_generic *generic);

/**
 * Does another event of the same core count nearly the same? Names that differ
 * in how far the instruction came do (br_mis_pred, br_mis_pred_retired), and
 * those of which one counts a part of the other (l1d_cache, l1d_cache_rd), but
 * not reads and writes (l1d_cache_rd, l1d_cache_wr).
 */
bool list_is_near(const struct upmu_event_row *row,
		  const struct upmu_event_row *other);

/**
 * The event that is nearer to what a generic name of perf says than the one
 * that perf counts for it there; NULL: there is none.
 */
const struct upmu_event_row *list_nearer(const struct upmu_core_kind *kind,
					 const struct upmu_generic *generic);

/* ---- --explain (explain.c) ------------------------------------------- */

/*
 * explain.c finds what a name means and tells it to a teller: explain_text.c
 * prints, explain_json.c gathers an object.
 */

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
