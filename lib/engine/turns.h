/* SPDX-License-Identifier: MIT */
/*
 * turns.h - sets take turns: slices, and what they have counted
 */
#ifndef UPMU_ENGINE_TURNS_H
#define UPMU_ENGINE_TURNS_H

#include "lib/engine/estimate.h"
#include "lib/engine/plan.h"

/** Of a slice in which no set's counts are known. */
#define ENGINE_NO_TURN (-1)

/** One slice of one lane, as the estimates want it. */
struct engine_slice {
	double time_ns, cycles, instructions;
	double count[ENGINE_SET_MAX];
	bool is_lost; /* its time is another one's, or holds another one's */
};

/**
 * struct engine_timeline - the slices of a run, of each lane
 *
 * Rows of numbers of one length: the turn, then for each lane its time,
 * cycles, instructions and counts. A long run's rows are joined two by two,
 * so that memory stays bounded.
 */
struct engine_timeline {
	double *row;
	size_t n, most;
	size_t width, lanes, counts;
	size_t slices; /* that there were, joined ones too */
};

int engine_timeline_init(struct engine_timeline *timeline,
			 const struct engine_sets *sets, size_t lanes);
void engine_timeline_free(struct engine_timeline *timeline);
void engine_timeline_clear(struct engine_timeline *timeline);
/** @lane: one entry per lane. */
void engine_timeline_add(struct engine_timeline *timeline, int turn,
			 const struct engine_slice *lane);
/**
 * Estimate event number @place of the set that has @turn in @lane. @without: a
 * bit for each enum engine_base that tells nothing of it.
 */
int engine_timeline_estimate(const struct engine_timeline *timeline, int turn,
			     size_t lane, size_t place, unsigned int without,
			     struct estimate *out);

/** Whose turn it is, for how long, and what switching costs. */
struct engine_turns {
	const struct engine_sets *sets;
	const struct engine_events *events;
	struct engine_timeline timeline;
	struct engine_reading *before; /* one per set: when it was last read */
	struct engine_slice *slice;    /* one per lane: scratch */
	int *order;
	size_t at; /* in order */
	uint64_t random;
	double slice_ns; /* mean length, lengthened where need be */
	double end_ns;	 /* of the slice that runs */
	double begin_ns; /* of the slice that runs */
	double start_ns, start_cpu_ns;
	double window_ns, window_cpu_ns; /* when the cost was last looked at */
	size_t window;			 /* slices since */
	double paused_ns, paused_cpu_ns; /* when a pause began; 0: none */
	double switch_ns;		 /* what a switch cost before that */
};

/** The first turn is on already. 0 or -ENOMEM. */
int engine_turns_start(struct engine_turns *turns,
		       const struct engine_sets *sets,
		       const struct engine_events *events, double slice_ms);
/** End the slice that runs; @more: give the next set its turn. */
void engine_turns_next(struct engine_turns *turns, bool more);
/** The same in two steps; @more: what counted is switched off. Return now. */
double engine_turns_end(struct engine_turns *turns, bool more);
void engine_turns_begin(struct engine_turns *turns, double now);
/**
 * Between the end of the last slice and the reading of the whole a program
 * goes on, on a busy machine for long: the rest is a slice of no set's.
 * @read: one per set, since the sets were opened.
 */
void engine_turns_rest(struct engine_turns *turns,
		       const struct engine_reading *read);
/** Off until resumed: the slice that runs ends, nothing is due. */
void engine_turns_pause(struct engine_turns *turns);
void engine_turns_resume(struct engine_turns *turns);
/** How long turns were taken, without pauses, in ns. */
double engine_turns_time(const struct engine_turns *turns);
/** Share of that which upmu's own work took. */
double engine_turns_cost(const struct engine_turns *turns);
void engine_turns_free(struct engine_turns *turns);

#endif
