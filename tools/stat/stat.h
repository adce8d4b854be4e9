/* SPDX-License-Identifier: MIT */
/**
 * stat.h - what the files of "upmu stat" share
 *
 * options -> lib/engine counts, while the program runs (run.c) -> a report ->
 * one writer per format.
 */
#ifndef UPMU_TOOLS_STAT_H
#define UPMU_TOOLS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "lib/engine/engine.h"
#include "tools/child.h"
#include "tools/metrics/metrics.h"

struct stat_groups;

/* ---- options (stat_options.c) ------------------------------------------ */

enum stat_format {
	STAT_FORMAT_TEXT,
	STAT_FORMAT_RPISTAT,
	STAT_FORMAT_CSV,
	STAT_FORMAT_JSON,
};

/** The longest list of CPUs that the kernel may write: "0,2,4" to the end. */
#define STAT_CPU_LIST (5 * UPMU_CPUS_MAX + 2)

/** Of what a report has rows of their own. */
enum stat_per {
	STAT_PER_CPU,
	STAT_PER_CORE,
	STAT_PER_CLUSTER,
	STAT_PER_DIE,
	STAT_PER_SOCKET,
	STAT_PER_THREAD,
	STAT_PERS
};

struct stat_options {
	char *events;	/* the -e lists joined by ','; NULL: the default nine */
	char **command; /* NULL-terminated, or NULL */
	char *pids, *tids, *cpus, *cgroups; /* joined as those of -e */
	char *metrics;			    /* of -M, joined as those of -e */
	char *output, *openmetrics;	    /* names of files */
	const char *control, *pre, *post;
	const char *separator;
	enum stat_format format;
	unsigned int repeat;
	unsigned int interval_ms, interval_count, delay_ms, timeout_ms;
	unsigned int detailed; /* how many -d */
	int log_fd;	       /* or -1 */
	double slice_ms;
	bool append, all_cpus, no_scale, quiet, metric_only, passes;
	bool plot, live, regions, summary, verbose, no_big_num, sync;
	bool no_inherit, all_user, all_kernel;
	bool starts_off; /* -D -1 */
	bool per[STAT_PERS];
};

static inline bool stat_counts_cpus(const struct stat_options *options)
{
	return options->all_cpus || options->cpus || options->cgroups;
}

/** What it counts was there before it, a command beside that or not. */
static inline bool stat_is_attached(const struct stat_options *options)
{
	return options->pids || options->tids || stat_counts_cpus(options);
}

/** Return 0, or -1 once the user was told; *done: --help was printed. */
int stat_options_parse(struct stat_options *options, int argc, char **argv,
		       bool *done);
void stat_options_free(struct stat_options *options);
/** Do they go together? 0, or -1 once the user was told. */
int stat_options_check(const struct stat_options *options);

/** Options of perf stat that upmu stat has not; NULL from the end on. */
const char *stat_refused_at(size_t n, char *letter);
/** Tell what to use instead, by name or by letter. Returns -1. */
int stat_refuse(const char *name, char letter);

/** The list of -e, or NULL. 0, or -1 once the user was told. */
int stat_resolve(struct engine_events *events, const char *list);
/** That and what else the options want. */
int stat_resolve_all(struct engine_events *events,
		     const struct stat_options *options,
		     const struct stat_groups *groups);

/* ---- what is counted on (stat_targets.c) ------------------------------- */

/** From -p, -t, -a and -C, each once. Returns 0, or -1 once the user was told.
 */
int stat_targets_find(struct engine_targets *targets,
		      const struct stat_options *options);
/**
 * Add the threads that processes of -p have started since. Returns whether
 * there are any, or -1 once the user was told.
 */
int stat_targets_grow(struct engine_targets *targets,
		      const struct stat_options *options);
void stat_targets_free(struct engine_targets *targets);
/** Is one of the tasks still there? True where CPUs are counted. */
bool stat_targets_alive(const struct engine_targets *targets);
/** Set the bits of CPUs that have come on since they were found. */
void stat_targets_missed(const struct engine_targets *targets,
			 const struct stat_options *options, uint64_t *missed);

/* ---- results ----------------------------------------------------------- */

/** Mean and standard deviation over runs (-r). */
struct stat_spread {
	double mean, deviation, squares;
	double time_ns; /* of an event: that its values are of, all runs' */
	size_t n;
};

void stat_spread_add(struct stat_spread *spread, double value);

struct stat_regions;

/** What the machine did to itself meanwhile. */
struct stat_disturbed {
	bool under_voltage, throttled;
	unsigned int governors; /* of how many CPUs' policies it changed */
};

/** An event over all intervals, for --summary. */
struct stat_sum {
	struct engine_count count;
	uint64_t missed_ns; /* of intervals in which it had no counter */
	bool was_wanted;    /* in any of them something ran */
};

/** What has rows of its own in a report, and an engine of its own. */
struct stat_place {
	const char *name; /* "CPU0"; "": the whole */
	const struct engine_targets *targets;
	struct engine_targets own;    /* the same, where they are to be freed */
	struct engine_events *events; /* states are each place's */
	struct engine_count *count;   /* one per event */
	struct stat_sum *sum;	      /* of all intervals, or NULL */
	struct engine engine;
};

struct stat_report {
	const struct stat_options *options;
	const struct engine_events *events;
	struct engine_count *count; /* one per event */
	struct stat_spread *spread; /* one per event, over runs, or NULL */
	struct stat_place *place;   /* -A and its like; NULL: the whole */
	size_t places;
	const char *place_name;		  /* of stat_part() */
	struct stat_sum *sum;		  /* of all intervals, for --summary */
	const struct stat_groups *groups; /* of -M, or NULL */
	double elapsed_s, user_s, sys_s;
	double length_s; /* in which it was counted, of this report */
	double whole_s;	 /* of all intervals */
	struct stat_spread length;
	struct stat_spread elapsed, user, sys, faults, switches;
	unsigned int runs;	/* of -r, that are in the numbers */
	unsigned int failed;	/* of those, ended with a status or a signal */
	unsigned int signalled; /* of these, by a signal: 1 or 0 */
	unsigned int timeouts;	/* and by --timeout */
	size_t passes;		/* of --passes, that were run */
	double *value;		/* [event * repeat + run]; NULL: one run */
	double page_faults, context_switches;
	uint64_t max_rss_kb;
	double uncounted_s; /* of user_s + sys_s; 0: no more than is usual */
	bool has_usage, timed_out; /* of the last run */
	bool not_executed; /* the program; else what went wrong is upmu's */
	char source[256];  /* what is in the numbers, where that is unusual */
	size_t intervals;  /* how many were reported, this one too */
	double interval_s; /* end of an interval since the start; 0: the whole
			    */
	struct engine_pace pace;
	struct engine_others others;
	struct engine_others others_most;  /* of any interval so far */
	uint64_t lost[UPMU_CPUS_MAX / 64]; /* CPUs that went off, a bit each */
	uint64_t missed[UPMU_CPUS_MAX / 64]; /* of -a: that came on since */
	struct stat_regions *regions;	     /* of --regions, or NULL */
	size_t cpus; /* online, for the format rpistat */
	time_t when; /* it was started */
	struct stat_disturbed disturbed;
	char *notes;	 /* the same as lines, or NULL */
	int signal;	 /* that ended the program, or 0 */
	int interrupted; /* signal that upmu was to end by, or 0 */
};

/** The ratios that one of the nine events goes into; NULL from the end on. */
const char *stat_formula_at(enum upmu_default role,
			    const struct upmu_event_row *row, size_t n);

/** "<not counted>" and so on; "" for one that was counted. */
const char *stat_state_text(enum engine_state state);

/** @count is one of the report's; a report of one run has no spreads. */
static inline const struct stat_spread *
stat_spread_of(const struct stat_report *report,
	       const struct engine_count *count)
{
	static const struct stat_spread none;

	return report->spread ? &report->spread[count - report->count] : &none;
}

/** What the report prints for an event: estimate or raw count. */
double stat_value(const struct stat_report *report,
		  const struct engine_count *count);
/** Nothing ran while it was on, so that it is 0 and not unknown. */
bool stat_is_idle(const struct stat_report *report,
		  const struct engine_count *count);
/** Share of the time that it was wanted in which it was counted. */
double stat_share(const struct engine_count *count);
/** May they be in one ratio? With --no-scale not where time differs. */
bool stat_go_together(const struct stat_report *report,
		      const struct engine_count *a,
		      const struct engine_count *b);
/** Is it an estimate of which nobody knows how far off it is? */
bool stat_is_unsure(const struct stat_report *report,
		    const struct engine_count *count);

/** A ratio: @event is the one that it is printed beside; @row: of -M. */
struct stat_metric {
	const char *key, *label, *unit;
	int event;
	double value;
	bool unsure; /* of an estimate whose interval is unknown */
	const struct metric_row *row; /* or NULL */
};

#define STAT_GROUPS_MOST  64
#define STAT_METRICS_MOST ((18 + STAT_GROUPS_MOST) * UPMU_KINDS_MAX)

/** What -M and -d chose, of metric_row_at(). */
struct stat_groups {
	const char *key[STAT_GROUPS_MOST];
	size_t n;
};

/** 0, or -1 once the user was told. */
int stat_groups_choose(struct stat_groups *groups,
		       const struct stat_options *options);
/** A list of the events that they want here; "" for none, NULL: no memory. */
char *stat_groups_events(const struct stat_groups *groups,
			 const struct upmu_machine *machine);
/** Their values on a lane; returns how many. */
size_t stat_groups_add(const struct stat_report *report, int lane,
		       struct stat_metric *out, size_t most);

/** Only from events that were counted. Returns how many. */
size_t stat_metrics(const struct stat_report *report, struct stat_metric *out,
		    size_t most);

/* ---- the machine's state (stat_machine.c) ------------------------------ */

#define STAT_POLICIES 8

struct stat_machine {
	unsigned int pi; /* the Raspberry Pi firmware's bits */
	long cooling, heat;
	bool tells; /* there is anything to look at */
	bool under_voltage;
	char governor[STAT_POLICIES][24];
};

/** What cannot be read is taken for well. */
void stat_machine_look(struct stat_machine *machine);
/** What disturbed the counts, and a line for each. */
struct stat_disturbed stat_machine_compare(FILE *out,
					   const struct stat_machine *before,
					   const struct stat_machine *after);

/* ---- places (places.c) ------------------------------------------------- */

/**
 * From -A, --per-... and --for-each-cgroup; none where the whole is counted.
 * @targets: from stat_targets_find(). 0, or -1 once the user was told.
 */
int stat_places_make(struct stat_report *report,
		     const struct engine_events *events,
		     const struct engine_targets *targets);
void stat_places_free(struct stat_report *report);

/** A writer writes part after part. */
size_t stat_parts(const struct stat_report *report);
struct stat_report stat_part(const struct stat_report *report, size_t part);

/** Why something is not counted, of the first place that says; "": nothing. */
const char *stat_reason(const struct stat_report *report);
/** Could this user count no more than user mode, in any place? */
bool stat_is_user_only(const struct stat_report *report);

/** --summary: a report of the sums in place of the last interval. */
void stat_sum_add(struct stat_sum *sum, const struct engine_count *count,
		  size_t events);
/** Of @events sums into @count. */
void stat_sum_finish(const struct stat_sum *sum, struct engine_count *count,
		     size_t events);
void stat_sum_up(struct stat_report *report);

/** -v: how perf was asked, and what it gave. */
void stat_tell_sets(FILE *out, const struct stat_place *place, size_t places);
void stat_tell_readings(FILE *out, const struct stat_place *place,
			size_t places);

/* ---- --control (control.c) ---------------------------------------------- */

enum stat_order {
	STAT_ORDER_NONE, /* a signal came, or the time is over */
	STAT_ORDER_ENABLE,
	STAT_ORDER_DISABLE,
	STAT_ORDER_PING,
	STAT_ORDER_STOP,
	STAT_ORDER_UNKNOWN,
};

struct stat_control {
	int fd, answer; /* -1: none */
	int signals;	/* readable while a signal waits; -1: none */
	bool opened;	/* by us: a fifo, not a descriptor */
	bool obeyed;	/* the last order gets an answer */
	size_t n;	/* of a line that has not ended */
	char line[64];
};

/** @where: of --control, or NULL. 0, or -1 once the user was told. */
int stat_control_open(struct stat_control *control, const char *where);
/** Of these signals each waits until it is taken. */
void stat_control_watch(struct stat_control *control, const sigset_t *mask);
/** @time: NULL: as long as it takes. */
enum stat_order stat_control_wait(struct stat_control *control,
				  const struct timespec *time);
/** The order was carried out. */
void stat_control_done(struct stat_control *control);
void stat_control_close(struct stat_control *control);

/* ---- a run (stat_run.c) ------------------------------------------------ */

/** Called at the end of each interval of -I. */
typedef int stat_interval_fn(const struct stat_report *report);

/**
 * Count once. Returns 0 with *exit_status what a shell would say of the
 * program, or the negative errno that kept it from running.
 * @targets: from stat_targets_find(); threads that have come since are added
 * @pass: -1: sets take turns; else the turn that has the whole run
 */
int stat_run_once(struct stat_report *report, struct engine_events *events,
		  struct engine_targets *targets, int pass,
		  stat_interval_fn *interval, int *exit_status);

/* ---- where reports go (output.c) ----------------------------------------- */

/** From -o, --append and --log-fd. 0, or -1 once the user was told. */
int stat_output_open(const struct stat_options *options);
bool stat_output_is_terminal(void);
/** What a file does not take goes to stderr. 0, or -1 once the user was told.
 */
int stat_output_put(int (*writer)(FILE *, const struct stat_report *),
		    const struct stat_report *report);
/** Tell, once, that something could not be written. Returns -1. */
int stat_output_lose(void);
/** Was any of it? */
bool stat_output_close(void);

/* ---- writers (out_*.c); each returns 0 or -1 with errno set ------------- */

int stat_write_text(FILE *out, const struct stat_report *report);
/** Behind the last interval: what the machine did to itself. */
int stat_write_state(FILE *out, const struct stat_report *report);
int stat_write_csv_state(FILE *out, const struct stat_report *report);
int stat_write_json_state(FILE *out, const struct stat_report *report);
int stat_write_rpistat(FILE *out, const struct stat_report *report);
int stat_write_csv(FILE *out, const struct stat_report *report);
int stat_write_json(FILE *out, const struct stat_report *report);
/** --openmetrics: add to the sums, write the file anew. -1: it is the former
 *  one still, and the user was told. */
int stat_write_openmetrics(const struct stat_report *report);
/** --plot: bars; of -I the sparklines of what stat_plot_take() was given. */
int stat_write_plot(FILE *out, const struct stat_report *report);
int stat_plot_take(const struct stat_report *report);
/** --live: take an interval and draw the screen. */
int stat_live_draw(FILE *out, const struct stat_report *report);

/* ---- what the report writers share (lost_cpus.c) --------------------- */

/* With fewer slices for each set an estimate rests on luck. */
#define OUT_SLICES_FEW 20

/* A list of CPUs that is longer ends early. */
#define OUT_CPUS_SIZE 256

/** "1,4-7": CPUs that went off; OUT_CPUS_SIZE bytes. Returns how many. */
size_t out_lost_cpus(char *list, const struct stat_report *report);
/** The same of CPUs that came on, and are not counted. */
size_t out_missed_cpus(char *list, const struct stat_report *report);
/** "CPU 1 went off" behind @before; nothing, and false, where none did. */
bool out_name_lost(FILE *out, const struct stat_report *report,
		   const char *before);
bool out_name_missed(FILE *out, const struct stat_report *report,
		     const char *before);
/** The same as notes of their own: each interval since lacks them. */
void out_write_lost(FILE *out, const struct stat_report *report);
/** On unlike cores: of which kind it is. */
void out_write_kind(FILE *out, const struct stat_report *report,
		    const struct stat_metric *metric);
/** Behind ratio @i: is it sure, and of which of those that are called so. */
void out_write_which(FILE *out, const struct stat_report *report,
		     const struct stat_metric *metric, size_t n, size_t i);
/** What others had of the counters, for people; in a further interval. */
void out_write_others(FILE *out, const struct stat_report *report);
void out_write_others_again(FILE *out, const struct stat_report *report);
/** A count as options have it: in groups of three digits, or not. */
char *out_number(char *out, const struct stat_report *report, double value);
/* out_notes.c: below the table for people */
void out_write_software(FILE *out, const struct stat_report *report);
void out_write_turns(FILE *out, const struct stat_report *report);
void out_write_passes(FILE *out, const struct stat_report *report, size_t sets);
void out_write_notes(FILE *out, const struct stat_report *report);
/** What is in the numbers, where perf has no PMU; of 0 CPUs nothing. */
void out_tell_source(struct stat_report *report, size_t cpus);

#endif
