/* SPDX-License-Identifier: MIT */
/**
 * compare.h - what the files of "upmu compare" share
 *
 * options -> runs in turns, or files of earlier runs -> a table of values ->
 * judgement (judge.c, stats.h) -> one writer per format.
 */
#ifndef UPMU_TOOLS_COMPARE_H
#define UPMU_TOOLS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "stats.h"

/* Statuses beside those of child.h. */
enum compare_exit {
	COMPARE_COMMAND_FAILED = 1,
	COMPARE_CONDITION_HOLDS = 3, /* of --fail-if */
};

enum compare_format {
	COMPARE_TEXT,
	COMPARE_MARKDOWN,
	COMPARE_CSV,
	COMPARE_JSON,
};

#define COMPARE_COMMANDS_MAX   16
#define COMPARE_CONDITIONS_MAX 16

/** One --fail-if. */
struct compare_condition {
	const char *text; /* as the user wrote it */
	char event[128];
	bool above;   /* '>' */
	bool percent; /* else a difference in the event's unit */
	double limit;
};

struct compare_options {
	char *events; /* NULL: the default nine */
	char **argv;  /* what is left after the options */
	const char *output, *separator;
	const char *standard_in, *standard_out; /* of the commands */
	const char *prepare;
	const char *of_runs; /* an option that was given: no use for files */
	const char *name[COMPARE_COMMANDS_MAX];
	size_t names;
	struct compare_condition condition[COMPARE_CONDITIONS_MAX];
	size_t conditions;
	enum compare_format format;
	unsigned int repeat, warmup;
	bool ignore_failure, shell, no_bars;
};

/** Return 0, or -1 once the user was told; *done: --help was printed. */
int compare_options_parse(struct compare_options *options, int argc,
			  char **argv, bool *done);

/* ---- the table of values ------------------------------------------------ */

/** One command: a program, or what a file tells of one. */
struct compare_command {
	char *name;
	char **argv;	/* NULL-terminated; NULL where a file has none */
	size_t runs;	/* that ended, and stand in the table */
	size_t wanted;	/* of a file: more, others were cut off; or 0 */
	int *status;	/* of each run, as a shell says it */
	size_t failed;	/* runs whose status is not 0 */
	char *cores;	/* it was counted on, a blank between two; or NULL */
	bool user_only; /* the kernel let its user count no more */
	bool own_rss;	/* of a run max_rss is upmu's, the command's is less */
	/* Processor time of a run that nobody counted, the most; see stat. */
	double uncounted_s;
};

enum compare_verdict {
	COMPARE_UNKNOWN, /* too few runs, or no number */
	COMPARE_LESS,
	COMPARE_MORE,
	COMPARE_NO_DIFFERENCE,
};

/** One command's part of an event. */
struct compare_cell {
	double *value; /* one per run; NAN: not measured; NULL: no runs known */
	struct stats_summary summary;
	struct stats_change change; /* against the first command */
	double p;		    /* over all events together; 1: no test */
	enum compare_verdict verdict;
	bool exact; /* an emulator's count, the same in each run */
};

struct compare_event {
	char *name;
	char *unit;	   /* "", "ns" or "s" or "kB" */
	bool is_time;	   /* less is faster */
	const char *state; /* why there is no number, or "" */
	struct compare_cell cell[COMPARE_COMMANDS_MAX];
};

struct compare {
	const struct compare_options *options;
	struct compare_command command[COMPARE_COMMANDS_MAX];
	size_t commands;
	struct compare_event *event;
	size_t events;
	bool paired;	   /* the commands had their runs in turns */
	bool of_files;	   /* earlier runs */
	bool emulated;	   /* an emulator makes up the counts */
	bool interrupted;  /* before all runs were done */
	int signal;	   /* that ends upmu too */
	bool shares_turns; /* sets of events took turns in a run */
	bool raw;	   /* of --no-scale: counts are of a part of the time */
	bool scaled;	   /* files of stat without it */
	bool by_registers; /* without perf: all that ran there is counted */
	double lost;  /* others had the counters: share of a run, the most */
	char *reason; /* why an event is not supported, or NULL */
};

/** A new row, or NULL: out of memory. @name, @unit: copied. */
struct compare_event *compare_add_event(struct compare *c, const char *name,
					const char *unit);
void compare_free(struct compare *c);
/** The rounds that all commands ended. */
size_t compare_rounds(const struct compare *c);

/** Run the commands. Return 0, or an exit status once the user was told. */
int compare_measure(struct compare *c);
/** From the files of earlier runs; the same. */
int compare_load(struct compare *c, char **paths);
/** Is it named like a file of earlier runs? */
bool compare_is_report(const char *word);
/** With fewer runs of each no number that varies gets a verdict. */
size_t compare_runs_least(const struct compare *c);

/** Fill summaries, changes, verdicts. 0 or -ENOMEM. */
int compare_judge(struct compare *c);

/** Before anything runs. 0, or EXIT_USAGE once the user was told. */
int compare_check_conditions(const struct compare *c);
int compare_check_names(const struct compare *c);

enum compare_answer { COMPARE_HOLDS, COMPARE_FAILS_NOT, COMPARE_UNDECIDED };

/** With fewer runs a condition may hold by chance: it is not decided. */
size_t compare_asked_least(const struct compare *c);
/** Does the condition hold for this command? *low, *high: what is known. */
enum compare_answer compare_ask(const struct compare *c,
				const struct compare_condition *condition,
				size_t command, double *low, double *high);
/** Its event, or NULL. */
const struct compare_event *compare_find_event(const struct compare *c,
					       const char *name);

/** Is it of memory that both had of upmu, and theirs unknown? */
bool compare_is_own_rss(const struct compare *c,
			const struct compare_event *event, size_t command);
/** "faster", "more", ... */
const char *compare_verdict_text(const struct compare_event *event,
				 enum compare_verdict verdict);
/** The change in percent; NAN where it has none. */
double compare_percent(double ratio);

/* ---- writers; each returns 0 or -1 with errno set ----------------------- */

int compare_write_text(FILE *out, const struct compare *c);
int compare_write_markdown(FILE *out, const struct compare *c);
int compare_write_csv(FILE *out, const struct compare *c);
int compare_write_json(FILE *out, const struct compare *c);

#endif
