/* SPDX-License-Identifier: MIT */
/**
 * stat.h - what the files of "upmu stat" share
 *
 * options -> events -> sets (what is counted at the same time) -> a run
 * (child, slices) -> a report -> one writer per format.
 */
#ifndef UPMU_TOOLS_STAT_H
#define UPMU_TOOLS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "tools/child.h"
#include "estimate.h"
#include "lib/events/events.h"
#include "lib/perf/perf.h"

/* ---- options (stat_options.c) ------------------------------------------ */

enum stat_format {
	STAT_FORMAT_TEXT,
	STAT_FORMAT_RPISTAT,
	STAT_FORMAT_CSV,
	STAT_FORMAT_JSON,
};

struct stat_options {
	char *events;	/* the -e lists joined by ','; NULL: the default nine */
	char **command; /* NULL-terminated, or NULL */
	const char *pids, *tids, *cpus;
	const char *output;
	const char *separator;
	enum stat_format format;
	unsigned int repeat;
	unsigned int interval_ms, delay_ms, timeout_ms;
	double slice_ms;
	bool append, all_cpus, no_scale, quiet, metric_only, passes;
	bool plot, live;
};

/** Return 0, or -1 once the user was told; *done: --help was printed. */
int stat_options_parse(struct stat_options *options, int argc, char **argv,
		       bool *done);
void stat_options_free(struct stat_options *options);

/* ---- events (stat_events.c) -------------------------------------------- */

enum stat_state {
	STAT_COUNTED,
	STAT_NOT_SUPPORTED, /* it could not be opened */
	STAT_NOT_COUNTED,   /* it never had the hardware */
	STAT_NOT_EMULATED,  /* this board's emulator does not count it */
};

/** "<not counted>" and so on; "" for one that was counted. */
const char *stat_state_text(enum stat_state state);

/** Events that are counted all the time, for the estimates of others. */
enum stat_base { STAT_BASE_NONE, STAT_BASE_CYCLES, STAT_BASE_INSTRUCTIONS };

#define STAT_NO_LANE (-1) /* not of a core: software, or another PMU */

/** One event of the list, for one kind of core. */
struct stat_event {
	char name[UPMU_EVENT_NAME_MAX + 2]; /* as the report prints it */
	const char *unit;		    /* "" or "ns" */
	struct upmu_perf_event perf;
	const struct upmu_event *parsed;
	enum stat_base base; /* the first such of its lane */
	int role;	     /* of enum upmu_default, or -1 */
	int lane;	     /* events of one lane share that core's counters */
	bool hidden;	     /* added for the estimates, not printed */
	bool modelled;	     /* by an emulated board's model of the core */
	enum stat_state state;
};

struct stat_events {
	struct stat_event *event;
	size_t n;
	size_t lanes;
	bool nine;	   /* being parsed: the default list */
	bool emulated;	   /* an emulator makes up the counts */
	bool user_only;	   /* the kernel allows no more */
	char reason[1024]; /* why the first unsupported one is so, or "" */
	struct upmu_machine machine;
	struct upmu_event_list list, extra; /* large: see stat_events_parse() */
};

/** @list: NULL for the default nine. Returns 0, or -1 with the user told. */
int stat_events_parse(struct stat_events *events, const char *list);
void stat_events_free(struct stat_events *events);

/* ---- what is counted on (stat_targets.c) ------------------------------- */

/** A task on any CPU (cpu -1), or every task of a CPU (pid -1). */
struct stat_target {
	pid_t pid;
	int cpu;
};

struct stat_targets {
	struct stat_target *target;
	size_t n;
};

/** From -p, -t, -a and -C, each once. Returns 0, or -1 once the user was told.
 */
int stat_targets_find(struct stat_targets *targets,
		      const struct stat_options *options);
void stat_targets_free(struct stat_targets *targets);
/** Is one of the tasks still there? True where CPUs are counted. */
bool stat_targets_alive(const struct stat_targets *targets);

/* ---- sets (stat_pack.c, stat_sets.c) ----------------------------------- */

#define STAT_ALWAYS    (-1) /* the turn of a set that is on all the time */
#define STAT_SET_MAX   32
#define STAT_TURNS_MAX 128

/** Events that are on the hardware at the same time. */
struct stat_set {
	int turn; /* STAT_ALWAYS, or its place in the round */
	int lane;
	size_t n;
	size_t event[STAT_SET_MAX]; /* indices into stat_events */
	int *leader;		    /* descriptor on each target, or -1 */
};

/** The sum over a set's targets, since the sets were opened. */
struct stat_reading {
	uint64_t enabled_ns, running_ns;
	uint64_t count[STAT_SET_MAX];
};

struct stat_sets {
	struct stat_set *set;
	size_t n;
	size_t turns; /* 0 where all sets are on all the time */
	size_t targets;
	int *fd;
	size_t fds;
	struct stat_raw *raw; /* NULL: cores are counted through perf */
};

struct stat_sets_options {
	bool on_exec; /* counting starts when the target executes */
	bool inherit;
	bool own_child; /* the one target is the command */
	int first;	/* the turn that starts; the others are off */
};

/** What sets are packed for. */
struct stat_packing {
	const struct stat_targets *targets; /* a first one is tried on */
	unsigned int counters;		    /* registers, where sets->raw */
	bool keep; /* one target, counted from its exec: a trial can stay */
};

/**
 * Decide which events share a set. Where everything fits and @keep, the set
 * is open already: its leader is set. 0 or -ENOMEM.
 */
int stat_pack(struct stat_sets *sets, struct stat_events *events,
	      const struct stat_packing *packing);
/** Does a lane's PMU count on this target? */
bool stat_serves(const struct stat_events *events, int lane,
		 const struct stat_target *target);
/** Have a descriptor closed with the sets. 0 or -ENOMEM, and it is closed. */
int stat_sets_remember(struct stat_sets *sets, int fd);
/** Mark an event as one that cannot be opened; the first tells why. */
void stat_refuse(struct stat_events *events, struct stat_event *event);

/**
 * Pack the events into sets and open them, all switched off. Events that
 * cannot be opened get STAT_NOT_SUPPORTED; that is no error. 0 or -ENOMEM.
 */
int stat_sets_open(struct stat_sets *sets, struct stat_events *events,
		   const struct stat_targets *targets,
		   const struct stat_sets_options *options);
void stat_sets_close(struct stat_sets *sets);
/** 0 or a negative errno; *reading is left alone then. */
int stat_set_read(const struct stat_sets *sets, size_t set,
		  struct stat_reading *reading);
void stat_turn_switch(const struct stat_sets *sets, int turn, bool on);

/* ---- without perf (stat_raw.c) ------------------------------------------ */

/** Is there no perf PMU, or did UPMU_SOURCE=raw ask for the registers? */
bool stat_raw_wanted(const struct stat_events *events, bool *forced);
/** 0, or a negative errno that upmu_explain() explains. */
int stat_raw_open(struct stat_raw **out, const struct stat_events *events,
		  const struct stat_targets *targets, unsigned int *counters);
void stat_raw_close(struct stat_raw *raw);
int stat_raw_refuses(const struct stat_raw *raw,
		     const struct stat_event *event);
int stat_raw_assign(struct stat_raw *raw, const struct stat_sets *sets);
void stat_raw_switch(const struct stat_sets *sets, int turn, bool on);
int stat_raw_read(const struct stat_sets *sets, size_t set,
		  struct stat_reading *reading);
/** To be called before a 32-bit counter goes round twice: each second. */
void stat_raw_fold(const struct stat_sets *sets);
/** Keep the program on the CPUs that are counted. */
void stat_raw_bind(const struct stat_raw *raw, pid_t pid);
void stat_raw_describe(const struct stat_raw *raw, char *text, size_t size);

/* ---- slices (stat_turns.c, stat_timeline.c) ---------------------------- */

/** One slice of one lane, as the estimates want it. */
struct stat_slice {
	double time_ns, cycles, instructions;
	double count[STAT_SET_MAX];
};

/**
 * struct stat_timeline - the slices of a run, of each lane
 *
 * Rows of numbers of one length: the turn, then for each lane its time,
 * cycles, instructions and counts. A long run's rows are joined two by two,
 * so that memory stays bounded.
 */
struct stat_timeline {
	double *row;
	size_t n, most;
	size_t width, lanes, counts;
	size_t slices; /* that there were, joined ones too */
};

int stat_timeline_init(struct stat_timeline *timeline,
		       const struct stat_sets *sets, size_t lanes);
void stat_timeline_free(struct stat_timeline *timeline);
void stat_timeline_clear(struct stat_timeline *timeline);
/** @lane: one entry per lane. */
void stat_timeline_add(struct stat_timeline *timeline, int turn,
		       const struct stat_slice *lane);
/** Estimate event number @place of the set that has @turn in @lane. */
int stat_timeline_estimate(const struct stat_timeline *timeline, int turn,
			   size_t lane, size_t place, struct estimate *out);

/** Whose turn it is, for how long, and what switching costs. */
struct stat_turns {
	const struct stat_sets *sets;
	const struct stat_events *events;
	struct stat_timeline timeline;
	struct stat_reading *before; /* one per set: when it was last read */
	struct stat_slice *slice;    /* one per lane: scratch */
	int *order;
	size_t at; /* in order */
	uint64_t random;
	double slice_ns; /* mean length, lengthened where need be */
	double end_ns;	 /* of the slice that runs */
	double begin_ns; /* of the slice that runs */
	double start_ns, start_cpu_ns;
	double window_ns, window_cpu_ns; /* when the cost was last looked at */
	size_t window;			 /* slices since */
};

/** The first turn is on already. 0 or -ENOMEM. */
int stat_turns_start(struct stat_turns *turns, const struct stat_sets *sets,
		     const struct stat_events *events, double slice_ms);
/** End the slice that runs; @more: give the next set its turn. */
void stat_turns_next(struct stat_turns *turns, bool more);
/** Share of the run since its start that upmu's own work took. */
double stat_turns_cost(const struct stat_turns *turns);
void stat_turns_free(struct stat_turns *turns);

double stat_now_ns(void);

/* ---- results ----------------------------------------------------------- */

/** Mean and standard deviation over runs (-r). */
struct stat_spread {
	double mean, deviation, squares;
	size_t n;
};

void stat_spread_add(struct stat_spread *spread, double value);

/** One event's result. */
struct stat_count {
	enum stat_state state;
	bool estimated; /* it ran part of the time */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
	struct estimate estimate;
	struct stat_spread spread;
};

struct stat_report {
	const struct stat_options *options;
	const struct stat_events *events;
	struct stat_count *count; /* one per event */
	double elapsed_s, user_s, sys_s;
	struct stat_spread elapsed, user, sys;
	unsigned int runs;   /* of -r, that are in the numbers */
	unsigned int failed; /* of those, ended with a status or a signal */
	double *value;	     /* [event * repeat + run]; NULL: one run */
	uint64_t page_faults, context_switches;
	uint64_t max_rss_kb;
	bool has_usage;
	char source[256];  /* what is in the numbers, where that is unusual */
	size_t intervals;  /* how many were reported, this one too */
	double interval_s; /* end of an interval since the start; 0: the whole
			    */
	size_t turns;
	size_t slices;
	double slice_ms;  /* mean length */
	double switching; /* share of the run */
	size_t cpus;	  /* online, for the format rpistat */
	time_t when;	  /* it was started */
	char *notes;	  /* lines about the machine's state, or NULL */
	int signal;	  /* that ended the program, or 0 */
	int interrupted;  /* signal that upmu was to end by, or 0 */
};

/** The ratios that one of the nine events goes into; NULL from the end on. */
const char *stat_formula_at(enum upmu_default role, size_t n);

/** What the report prints for an event: estimate or raw count. */
double stat_value(const struct stat_report *report,
		  const struct stat_count *count);
/** Share of the time that it was wanted in which it was counted. */
double stat_share(const struct stat_count *count);

/** A ratio: @event is the one that it is printed beside. */
struct stat_metric {
	const char *key, *label, *unit;
	int event;
	double value;
};

#define STAT_METRICS_MOST (12 * UPMU_KINDS_MAX)

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
/** Write a line for each thing that disturbed the counts. */
void stat_machine_compare(FILE *out, const struct stat_machine *before,
			  const struct stat_machine *after);

/* ---- a run (stat_run.c) ------------------------------------------------ */

/** Called at the end of each interval of -I. */
typedef int stat_interval_fn(const struct stat_report *report);

/**
 * Count once. Returns 0 with *exit_status what a shell would say of the
 * program, or the negative errno that kept it from running.
 * @pass: -1: sets take turns; else the turn that has the whole run
 */
int stat_run_once(struct stat_report *report, struct stat_events *events,
		  const struct stat_targets *targets, int pass,
		  stat_interval_fn *interval, int *exit_status);

/* ---- writers (out_*.c); each returns 0 or -1 with errno set ------------- */

int stat_write_text(FILE *out, const struct stat_report *report);
int stat_write_rpistat(FILE *out, const struct stat_report *report);
int stat_write_csv(FILE *out, const struct stat_report *report);
int stat_write_json(FILE *out, const struct stat_report *report);
/** --plot: bars; of -I the sparklines of what stat_plot_take() was given. */
int stat_write_plot(FILE *out, const struct stat_report *report);
int stat_plot_take(const struct stat_report *report);
/** --live: take an interval and draw the screen. */
int stat_live_draw(FILE *out, const struct stat_report *report);

#endif
