/* SPDX-License-Identifier: MIT */
/**
 * engine.h - count any list of events on any targets: what "upmu stat" does
 *
 * More than fits takes turns, unlike cores are added up, and where perf has no
 * PMU the registers themselves are read. Not in the shipped library: linked
 * into the command, and free to change.
 *
 *	engine_events_resolve()		the list, once
 *	engine_open()			sets on the targets, all off
 *	engine_start()			counting begins
 *	engine_turn()			each time that engine_due_ns() is over
 *	engine_collect()		the counts since the last time
 *	engine_close()
 */
#ifndef UPMU_ENGINE_H
#define UPMU_ENGINE_H

#include "lib/engine/plan.h"
#include "lib/engine/turns.h"

/** What one event of the list came to. */
struct engine_count {
	enum engine_state state;
	bool estimated; /* it ran part of the time */
	bool is_idle;	/* not counted, as no task ran that could have been */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
	struct estimate estimate;
};

struct engine_options {
	bool on_exec;	/* count from the target's exec on */
	bool inherit;	/* what the targets start, too */
	bool own_child; /* the one target is a program that waits to run */
	bool cgroups;	/* the targets' pid is a descriptor of a cgroup */
	int pass;	/* the turn that has the whole run; -1: in turns */
	double slice_ms;
};

/** One run; zero at first. */
struct engine {
	struct engine_events *events;
	struct engine_options options;
	bool counts_tasks; /* not CPUs */
	struct engine_sets sets;
	struct engine_turns turns;
	bool has_turns;
	bool is_started, is_paused;
	bool is_unseen; /* since the mark, as engine_others has it */
	struct engine_reading *mark;  /* one per set: at the last collecting */
	struct engine_reading *since; /* one per set: since then */
	double mark_ns;		      /* and later by what was paused since */
	double paused_ns;	      /* when that began */
	double skew_ns; /* what starting or reading all sets took last */
	uint64_t wanted_ns[UPMU_KINDS_MAX]; /* of a lane, since the mark */
};

/**
 * Events that cannot be counted get their state; that is no error. 0 or
 * -ENOMEM. engine_close() is due in any case.
 */
int engine_open(struct engine *engine, struct engine_events *events,
		const struct engine_targets *targets,
		const struct engine_options *options);
void engine_close(struct engine *engine);

/** @by_exec: perf starts what it can by itself. 0 or -ENOMEM. */
int engine_start(struct engine *engine, bool by_exec);

/** Stop counting for a while, and go on; only what was started. */
void engine_pause(struct engine *engine);
void engine_resume(struct engine *engine);

/** When the present turn is over, of engine_now_ns(); INFINITY: never. */
double engine_due_ns(const struct engine *engine);
/** @more: go on with the next turn. Nothing where there are no turns. */
void engine_turn(struct engine *engine, bool more);
/**
 * engine_turn_end(), engine_turn_begin() - the same in two steps
 *
 * What is collected between them is of slices that have ended, and of no part
 * of the next one, whose set would have begun to count.
 */
void engine_turn_end(struct engine *engine);
void engine_turn_begin(struct engine *engine);

/** What was counted since the last time: one of @counts for each event. */
void engine_collect(struct engine *engine, struct engine_count *counts);
/**
 * For how long tasks were there to be counted, on all kinds of core; INFINITY
 * where that is not known.
 */
double engine_covered_ns(const struct engine *engine,
			 const struct engine_count *counts);

/** How sets took turns so far; @switching: share of the time that it cost. */
struct engine_pace {
	size_t turns, slices;
	double slice_ms, switching;
};

void engine_tell_pace(const struct engine *engine, struct engine_pace *pace);

/**
 * struct engine_others - what other users of the PMU kept from the run
 * @taken: of @counters, how many they had when the sets were packed; 0: none,
 *         or not so many that the list felt it. Of unlike cores the first that
 *         was short
 * @lost: share of the time in which they had even what is always on, since
 *        what was collected last
 * @unseen: nobody looked at the registers for so long since then that they may
 *          have gone round, by no fault of others': what they held is of no use
 */
struct engine_others {
	unsigned int taken, counters;
	double lost;
	bool unseen;
};

/** Of @lost; less is no more than a switch that was late. */
#define ENGINE_LOST_LEAST 0.005

/** Of two runs, or places, what was taken or lost most. */
void engine_others_most(struct engine_others *most,
			const struct engine_others *here);
void engine_tell_others(const struct engine *engine,
			struct engine_others *others);
/** Add CPUs that went off, and were counted until then; UPMU_CPUS_MAX bits. */
void engine_tell_lost(const struct engine *engine, uint64_t *cpus);
/** Forget the slices so far: an interval has ended. */
void engine_forget_slices(struct engine *engine);

/** Is it counted by registers, on how many CPUs? 0: by perf. */
size_t engine_raw_cpus(const struct engine *engine);
/** Where it is so, a program that is to be counted must stay on these CPUs. */
void engine_keep_on_cpus(const struct engine *engine, pid_t pid);
/** To be called some times a second where it is so. */
void engine_fold(struct engine *engine);

#endif
