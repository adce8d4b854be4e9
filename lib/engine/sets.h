/* SPDX-License-Identifier: MIT */
#ifndef UPMU_ENGINE_SETS_H
#define UPMU_ENGINE_SETS_H

#include "lib/engine/plan.h"

struct engine_sets_options {
	bool on_exec; /* counting starts when the target executes */
	bool inherit;
	bool own_child; /* the one target is the command */
	bool cgroups;	/* see struct engine_options */
	int first;	/* the turn that starts; the others are off */
};

/**
 * Pack the events into sets and open them, all switched off. Events that
 * cannot be opened get ENGINE_NOT_SUPPORTED; that is no error. 0 or -ENOMEM.
 */
int engine_sets_open(struct engine_sets *sets, struct engine_events *events,
		     const struct engine_targets *targets,
		     const struct engine_sets_options *options);
void engine_sets_close(struct engine_sets *sets);
/** 0 or a negative errno; *reading is left alone then. */
int engine_set_read(const struct engine_sets *sets, size_t set,
		    struct engine_reading *reading);
void engine_turn_switch(const struct engine_sets *sets, int turn, bool on);

/* ---- targets that are CPUs, and may go off (cpus.c) ------------------ */

/*
 * perf takes its events off a CPU that goes off, and takes their groups apart;
 * they keep what they counted, and count no more when the CPU is back.
 */

/** Nothing where the targets are tasks. 0 or -ENOMEM. */
int engine_cpus_init(struct engine_sets *sets,
		     const struct engine_targets *targets);
/** Did it go off, as far as that was seen? */
bool engine_cpu_is_lost(const struct engine_sets *sets, size_t target);
/** Read a set's group on one target, wherever that is. 0 or -errno. */
int engine_cpu_read(const struct engine_sets *sets, size_t set, size_t target,
		    struct upmu_value *value);
/**
 * A single event has no group to come apart: see by its clock, as it was read
 * last. @elapsed_ns: how long events were on, at least, between that and the
 * last look.
 */
void engine_cpus_look(const struct engine_sets *sets, double elapsed_ns);

/* ---- what is in a set (pack.c, trial.c) ------------------------------ */

/** What sets are packed for. */
struct engine_packing {
	const struct engine_targets *targets; /* a first one is tried on */
	unsigned int counters;		      /* registers, where sets->raw */
	int pass; /* from the second on sets are the first one's */
};

/** Decide which events share a set. 0 or -ENOMEM. */
int engine_pack(struct engine_sets *sets, struct engine_events *events,
		const struct engine_packing *packing);

/**
 * Learn from perf how many of a lane's events fit beside its cycles, and how
 * many of these run now: others may have counters. @room receives it. Events
 * that cannot be opened are refused.
 *
 * A task's trial is run on upmu itself, for the time of a few system calls.
 */
void engine_trial(struct engine_events *events, int lane,
		  const struct engine_target *target, struct engine_room *room);

#endif
