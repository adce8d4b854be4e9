// SPDX-License-Identifier: MIT
/* Sets take turns: when, for how long, and what each slice has counted. */
#include "lib/engine/turns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/engine/clock.h"
#include "lib/engine/sets.h"

/* Slices between looks at the cost, the bar, and what to do above it. */
#define WINDOW	  12
#define COST_MOST 0.01
/* A share of 3 % wants slices three times as long; not all at once. */
#define LENGTHEN_LEAST 1.2
#define LENGTHEN_MOST  4
#define SLICE_MOST_NS  1e9
/* Early slices are this part of the time that has passed. */
#define GROWTH 40
/* The first slice is this part of --slice. */
#define SHORTEST 32
/* Early ones are so many times as long as a switch takes upmu. */
#define SWITCHES_LEAST 60

/* Marsaglia's xorshift64; only to keep slices from beating with a program. */
static uint64_t next_random(struct engine_turns *turns)
{
	turns->random ^= turns->random << 13;
	turns->random ^= turns->random >> 7;
	turns->random ^= turns->random << 17;
	return turns->random;
}

static void shuffle(struct engine_turns *turns)
{
	for (size_t i = turns->sets->turns - 1; i > 0; i--) {
		size_t other = next_random(turns) % (i + 1);
		int kept = turns->order[i];

		turns->order[i] = turns->order[other];
		turns->order[other] = kept;
	}
}

/*
 * A program starts with work that it never does again; it should not all
 * fall into one set's first slice. So slices start short and grow with the
 * time that has passed.
 */
static void begin_slice(struct engine_turns *turns, double now)
{
	double varied = 0.5 + (double)(next_random(turns) >> 11) * 0x1p-53;
	double early = fmax(fmax((now - turns->start_ns) / GROWTH,
				 turns->slice_ns / SHORTEST),
			    SWITCHES_LEAST * turns->switch_ns);

	turns->begin_ns = now;
	turns->end_ns = now + fmin(early, turns->slice_ns) * varied;
}

int engine_turns_start(struct engine_turns *turns,
		       const struct engine_sets *sets,
		       const struct engine_events *events, double slice_ms)
{
	double now = engine_now_ns();
	int error;

	*turns = (struct engine_turns){ .sets = sets,
					.events = events,
					.slice_ns = slice_ms * 1e6,
					.random = (uint64_t)now | 1 };
	error = engine_timeline_init(&turns->timeline, sets, events->lanes);
	turns->before = calloc(sets->n, sizeof(*turns->before));
	turns->slice = calloc(events->lanes, sizeof(*turns->slice));
	turns->order = calloc(sets->turns, sizeof(*turns->order));
	if (error || !turns->before || !turns->slice || !turns->order) {
		engine_turns_free(turns);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sets->turns; i++)
		turns->order[i] = (int)i;
	turns->start_ns = turns->window_ns = now;
	turns->start_cpu_ns = turns->window_cpu_ns =
		engine_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	begin_slice(turns, now);
	return 0;
}

void engine_turns_free(struct engine_turns *turns)
{
	engine_timeline_free(&turns->timeline);
	free(turns->before);
	free(turns->slice);
	free(turns->order);
}

/* What the set had counted @now since it was last read, or lost. */
static void count_since(struct engine_turns *turns, size_t set,
			const struct engine_reading *now,
			struct engine_reading *since)
{
	struct engine_reading *before = &turns->before[set];

	since->is_lost = before->is_lost || now->gaps != before->gaps;
	since->running_ns = now->running_ns - before->running_ns;
	for (size_t i = 0; i < turns->sets->set[set].n; i++)
		since->count[i] = now->count[i] - before->count[i];
	*before = *now;
}

/* 0 or a negative errno. What fails once is in the next reading, told there. */
static int read_since(struct engine_turns *turns, size_t set,
		      struct engine_reading *since)
{
	struct engine_reading now;
	int error = engine_set_read(turns->sets, set, &now);

	if (error)
		turns->before[set].is_lost = true;
	else
		count_since(turns, set, &now, since);
	return error;
}

static void take_base(const struct engine_turns *turns, size_t index,
		      const struct engine_reading *since,
		      struct engine_slice *slice)
{
	const struct engine_set *set = &turns->sets->set[index];

	slice->is_lost |= since->is_lost;
	slice->time_ns = (double)since->running_ns;
	for (size_t i = 0; i < set->n; i++) {
		switch (turns->events->event[set->event[i]].base) {
		case ENGINE_BASE_CYCLES:
			slice->cycles = (double)since->count[i];
			break;
		case ENGINE_BASE_INSTRUCTIONS:
			slice->instructions = (double)since->count[i];
			break;
		default:
			break;
		}
	}
}

/*
 * A slice without a reading has no time: that, and its cycles, are the next
 * one's, so that their sum over all slices is right. Neither has a count.
 */
static void read_base(struct engine_turns *turns, size_t index,
		      struct engine_slice *slice)
{
	struct engine_reading since = { 0 };

	if (read_since(turns, index, &since))
		since.is_lost = true;
	take_base(turns, index, &since, slice);
}

/*
 * Between switching a set off and reading what is always on, a program on
 * another CPU goes on: counts are extended by that little.
 */
static void read_counts(struct engine_turns *turns, size_t index,
			struct engine_slice *slice)
{
	const struct engine_set *set = &turns->sets->set[index];
	struct engine_reading since;
	double extend;

	for (size_t i = 0; i < ENGINE_SET_MAX; i++)
		slice->count[i] = NAN;
	if (read_since(turns, index, &since) || since.is_lost ||
	    slice->is_lost || !since.running_ns)
		return;
	extend = slice->time_ns / (double)since.running_ns;
	for (size_t i = 0; i < set->n; i++)
		slice->count[i] = (double)since.count[i] * extend;
}

static bool is_base(const struct engine_set *set)
{
	return set->turn == ENGINE_ALWAYS && set->lane >= 0;
}

static void clear_slice(struct engine_turns *turns, double time_ns)
{
	for (size_t i = 0; i < turns->events->lanes; i++)
		turns->slice[i] = (struct engine_slice){
			.time_ns = time_ns,
			.cycles = NAN,
			.instructions = NAN,
		};
}

static void end_slice(struct engine_turns *turns, int turn, double now)
{
	const struct engine_sets *sets = turns->sets;

	clear_slice(turns, now - turns->begin_ns);
	for (size_t i = 0; i < sets->n; i++)
		if (is_base(&sets->set[i]))
			read_base(turns, i, &turns->slice[sets->set[i].lane]);
	for (size_t i = 0; i < sets->n; i++)
		if (sets->set[i].turn == turn)
			read_counts(turns, i, &turns->slice[sets->set[i].lane]);
	engine_timeline_add(&turns->timeline, turn, turns->slice);
	turns->timeline.slices++;
}

/* A base that could not be read has no time here, and is left alone. */
void engine_turns_rest(struct engine_turns *turns,
		       const struct engine_reading *read)
{
	const struct engine_sets *sets = turns->sets;
	struct engine_reading since;
	bool any = false;

	clear_slice(turns, 0);
	for (size_t i = 0; i < sets->n; i++) {
		if (!is_base(&sets->set[i]) ||
		    read[i].running_ns <= turns->before[i].running_ns)
			continue;
		count_since(turns, i, &read[i], &since);
		take_base(turns, i, &since, &turns->slice[sets->set[i].lane]);
		any = true;
	}
	if (any)
		engine_timeline_add(&turns->timeline, ENGINE_NO_TURN,
				    turns->slice);
}

static void watch_cost(struct engine_turns *turns, double now)
{
	double cpu, share, grown;

	if (++turns->window < WINDOW)
		return;
	/* Slices that are short because it is early say nothing. */
	grown = (turns->window_ns - turns->start_ns) / GROWTH;
	cpu = engine_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	turns->switch_ns = (cpu - turns->window_cpu_ns) / WINDOW;
	share = turns->switch_ns * WINDOW / (now - turns->window_ns);
	if (share > COST_MOST && grown >= turns->slice_ns)
		turns->slice_ns *= fmin(fmax(share / COST_MOST, LENGTHEN_LEAST),
					LENGTHEN_MOST);
	turns->slice_ns = fmin(turns->slice_ns, SLICE_MOST_NS);
	turns->window = 0;
	turns->window_ns = now;
	turns->window_cpu_ns = cpu;
}

double engine_turns_time(const struct engine_turns *turns)
{
	double now = turns->paused_ns > 0 ? turns->paused_ns : engine_now_ns();

	return now - turns->start_ns;
}

double engine_turns_cost(const struct engine_turns *turns)
{
	double time = engine_turns_time(turns);
	double cpu = turns->paused_ns > 0
			     ? turns->paused_cpu_ns
			     : engine_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	return time > 0 ? (cpu - turns->start_cpu_ns) / time : 0;
}

double engine_turns_end(struct engine_turns *turns, bool more)
{
	int turn = turns->order[turns->at];
	double now;

	if (more)
		engine_turn_switch(turns->sets, turn, false);
	now = engine_now_ns();
	end_slice(turns, turn, now);
	return now;
}

void engine_turns_begin(struct engine_turns *turns, double now)
{
	if (++turns->at == turns->sets->turns) {
		turns->at = 0;
		shuffle(turns);
	}
	engine_turn_switch(turns->sets, turns->order[turns->at], true);
	watch_cost(turns, now);
	begin_slice(turns, now);
}

void engine_turns_next(struct engine_turns *turns, bool more)
{
	double now = engine_turns_end(turns, more);

	if (more)
		engine_turns_begin(turns, now);
}

void engine_turns_pause(struct engine_turns *turns)
{
	int turn = turns->order[turns->at];

	engine_turn_switch(turns->sets, turn, false);
	turns->paused_ns = engine_now_ns();
	end_slice(turns, turn, turns->paused_ns);
	turns->paused_cpu_ns = engine_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	turns->end_ns = INFINITY;
}

/* A pause is no part of a slice, nor of what switching costs. */
void engine_turns_resume(struct engine_turns *turns)
{
	double now = engine_now_ns(), off = now - turns->paused_ns;
	double cpu = engine_clock_ns(CLOCK_PROCESS_CPUTIME_ID) -
		     turns->paused_cpu_ns;

	turns->start_ns += off;
	turns->window_ns += off;
	turns->start_cpu_ns += cpu;
	turns->window_cpu_ns += cpu;
	turns->paused_ns = 0;
	engine_turn_switch(turns->sets, turns->order[turns->at], true);
	begin_slice(turns, now);
}
