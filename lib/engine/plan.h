/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what is to be counted, on what, and which events share a set
 *
 * A list of events is resolved once. A lane is a kind of core; a target is a
 * thread or a CPU; a set is on the hardware at the same time, all the time or
 * in turns with others.
 */
#ifndef UPMU_ENGINE_PLAN_H
#define UPMU_ENGINE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/events/events.h"
#include "lib/perf/group.h"

enum engine_state {
	ENGINE_COUNTED,
	ENGINE_NOT_SUPPORTED, /* it could not be opened */
	ENGINE_NOT_COUNTED,   /* it never had the hardware */
	ENGINE_NOT_EMULATED,  /* this board's emulator does not count it */
};

/** Events that are counted all the time, for the estimates of others. */
enum engine_base {
	ENGINE_BASE_NONE,
	ENGINE_BASE_CYCLES,
	ENGINE_BASE_INSTRUCTIONS
};

#define ENGINE_NO_LANE (-1) /* not of a core: software, or another PMU */

/** One event of the list, for one kind of core. */
struct engine_event {
	char name[UPMU_EVENT_NAME_MAX + 2]; /* as a report prints it */
	const char *unit;		    /* "" or "ns" */
	struct upmu_perf_event perf;
	const struct upmu_event *parsed;
	enum engine_base base; /* the first such of its lane */
	int role;	       /* of enum upmu_default, or -1 */
	int lane;	       /* events of one lane share its counters */
	bool hidden;	       /* added for the estimates, not printed */
	bool modelled;	       /* by an emulated board's model of the core */
	enum engine_state state;
};

/**
 * struct engine_room - a lane's counters besides the cycle counter
 * @counters: that there are, or as many as the events want
 * @free: of these, how many nobody else had when the sets were packed
 */
struct engine_room {
	unsigned int counters, free;
};

/* Two lists, and what estimates want of each kind of core. */
#define ENGINE_EVENTS_MAX (2 * UPMU_LIST_MAX + 2 * UPMU_KINDS_MAX)

struct engine_events {
	struct engine_event *event;
	size_t n; /* at most ENGINE_EVENTS_MAX */
	size_t lanes;
	bool nine;	      /* being resolved: the default list */
	bool emulated;	      /* an emulator makes up the counts */
	bool user_only;	      /* the kernel allows no more */
	bool failed;	      /* to resolve, and the list is not at fault */
	unsigned int reasons; /* whose are told: 1: the kernel's, 2: a core's */
	/* Why the first unsupported event of each is so, or "". */
	char reason[1024];
	struct engine_room room[UPMU_KINDS_MAX]; /* of each lane, once packed */
	struct upmu_machine machine;
	struct upmu_event_list list, more, extra; /* large; see plan.c */
};

/**
 * Resolve @list, or the default nine where it is NULL. 0; an error of
 * upmu_events_parse() or upmu_machine_read(), or -ENOMEM, with the words for
 * the user in @error. engine_events_free() is due in any case.
 */
int engine_events_resolve(struct engine_events *events, const char *list,
			  struct upmu_events_error *error);
void engine_events_free(struct engine_events *events);
/**
 * Add a list to what was resolved, once: the kernel's own events before the
 * rest; what is there already is not added again. Returns as above.
 */
int engine_events_add(struct engine_events *events, const char *list,
		      struct upmu_events_error *error);
/**
 * A second engine counts the same events: each needs states of its own. The
 * lists stay @from's, which must outlive @to. 0 or -ENOMEM.
 */
int engine_events_copy(struct engine_events *to,
		       const struct engine_events *from);
/** Mark an event as one that cannot be opened; the first tells why. */
void engine_refuse(struct engine_events *events, struct engine_event *event);

/** A task on any CPU (cpu -1), or every task of a CPU (pid -1). */
struct engine_target {
	pid_t pid;
	int cpu;
};

struct engine_targets {
	struct engine_target *target;
	size_t n;
};

/**
 * Leave out events of cores that are none of @here, but some of @all. Where
 * none would be left all stay, and cannot be opened.
 */
void engine_events_keep(struct engine_events *events,
			const struct engine_targets *here,
			const struct engine_targets *all);
/** Does a lane's PMU count on this target? */
bool engine_serves(const struct engine_events *events, int lane,
		   const struct engine_target *target);

#define ENGINE_ALWAYS	 (-1) /* the turn of a set that is on all the time */
#define ENGINE_SET_MAX	 UPMU_GROUP_MAX
#define ENGINE_TURNS_MAX ENGINE_EVENTS_MAX

/** Events that are on the hardware at the same time. */
struct engine_set {
	int turn; /* ENGINE_ALWAYS, or its place in the round */
	int lane;
	size_t n;
	uint16_t event[ENGINE_SET_MAX]; /* indices into engine_events */
	struct upmu_group *group; /* one on each target; of n 0: not counted */
};

/**
 * The sum over a set's targets, since the sets were opened. @is_lost, where one
 * is kept to be taken off: it was to be read once more since, and was not, so
 * that what the next holds is of more than the last slice or interval.
 */
struct engine_reading {
	uint64_t enabled_ns, running_ns;
	uint64_t count[ENGINE_SET_MAX];
	bool is_lost;
	unsigned int gaps; /* registers were looked at too late; 0: perf */
};

struct engine_registers;

/** A target that is a CPU. */
struct engine_cpu {
	int number;
	uint64_t enabled_ns; /* when it was last looked at */
	uint64_t seen_ns;    /* by the last reading, if one @is_seen since */
	bool is_seen;
	bool lost; /* it went off: no event counts there any more */
};

struct engine_sets {
	struct engine_set *set;
	size_t n;
	size_t turns; /* 0 where all sets are on all the time */
	size_t targets;
	struct engine_cpu *cpu;	      /* one per target; NULL: they are tasks */
	struct engine_registers *raw; /* NULL: cores are counted through perf */
};

#endif
