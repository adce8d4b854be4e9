// SPDX-License-Identifier: MIT
/* Which events share a set. */
#include "lib/engine/sets.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "lib/engine/registers.h"
#include "lib/explain.h"

struct packing {
	struct engine_sets *sets;
	struct engine_events *events;
	const struct engine_packing *how;
	int lane;
	const struct engine_room *room; /* of the lane */
};

static bool is_wanted(const struct packing *p, size_t i)
{
	const struct engine_event *event = &p->events->event[i];

	return event->state == ENGINE_COUNTED && event->lane == p->lane;
}

/* Where upmu has the registers to itself. */
static void reckon(struct packing *p, struct engine_room *room)
{
	for (size_t i = 0; i < p->events->n; i++) {
		struct engine_event *event = &p->events->event[i];

		if (is_wanted(p, i) && !event->hidden &&
		    engine_registers_refuses(p->sets->raw, event))
			engine_refuse(p->events, event);
	}
	*room = (struct engine_room){ p->how->counters, p->how->counters };
}

/* Does all that the user named fit beside the cycles? */
static bool fits(const struct packing *p)
{
	size_t takers = 0;

	for (size_t i = 0; i < p->events->n; i++)
		takers += is_wanted(p, i) && !p->events->event[i].hidden &&
			  p->events->event[i].base != ENGINE_BASE_CYCLES;
	return takers <= p->room->free;
}

static struct engine_set *new_set(struct packing *p, int turn)
{
	struct engine_set *set = &p->sets->set[p->sets->n++];

	*set = (struct engine_set){ .turn = turn, .lane = p->lane };
	if (turn >= (int)p->sets->turns)
		p->sets->turns = turn + 1;
	return set;
}

static void add_event(struct packing *p, struct engine_set **set, int turn,
		      size_t event)
{
	if (!*set || (*set)->n == ENGINE_SET_MAX)
		*set = new_set(p, turn);
	(*set)->event[(*set)->n++] = event;
}

static void hide(struct packing *p)
{
	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i) && p->events->event[i].hidden)
			p->events->event[i].state = ENGINE_NOT_COUNTED;
}

static void pack_together(struct packing *p)
{
	struct engine_set *set = NULL;

	hide(p);
	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i))
			add_event(p, &set, ENGINE_ALWAYS, i);
}

static bool takes_counter(const struct packing *p, size_t i)
{
	return is_wanted(p, i) &&
	       p->events->event[i].base != ENGINE_BASE_CYCLES;
}

/* Counters that an event and those in braces with it want. */
static unsigned int group_size(const struct packing *p, size_t event)
{
	unsigned int group = p->events->event[event].parsed->group, n = 0;

	if (!group)
		return takes_counter(p, event);
	for (size_t i = 0; i < p->events->n; i++)
		n += takes_counter(p, i) &&
		     p->events->event[i].parsed->group == group;
	return n;
}

/* A group that the counters could never hold: none of it can be had. */
static void refuse_large_groups(struct packing *p)
{
	unsigned int counters = p->room->counters;
	bool large[ENGINE_EVENTS_MAX];

	for (size_t i = 0; i < p->events->n; i++)
		large[i] = takes_counter(p, i) && group_size(p, i) > counters;
	for (size_t i = 0; i < p->events->n; i++) {
		struct engine_event *event = &p->events->event[i];

		if (!large[i])
			continue;
		upmu_explain_set(-EMFILE,
				 "'%s' cannot be counted: its group has more "
				 "events than the PMU has counters (%u)",
				 event->name, counters);
		engine_refuse(p->events, event);
	}
}

/* What upmu_events_fit() is asked: the events of one lane that are left. */
struct question {
	struct upmu_event *event;
	size_t *index;
	uint16_t *set;
	size_t n;
};

static void free_question(struct question *q)
{
	free(q->event);
	free(q->index);
	free(q->set);
}

/* Room for @n. */
static int new_question(struct question *q, size_t n)
{
	q->event = malloc(n * sizeof(*q->event));
	q->index = malloc(n * sizeof(*q->index));
	q->set = malloc(n * sizeof(*q->set));
	if (q->event && q->index && q->set)
		return 0;
	free_question(q);
	return -ENOMEM;
}

/* @large: groups for which others would have to give counters back. */
static void gather_question(const struct packing *p, struct question *q,
			    bool large)
{
	q->n = 0;
	for (size_t i = 0; i < p->events->n; i++) {
		const struct engine_event *event = &p->events->event[i];

		if (!is_wanted(p, i) ||
		    large != (group_size(p, i) > p->room->free))
			continue;
		q->index[q->n] = i;
		q->event[q->n] = *event->parsed;
		/* Of two of a kind only the first is the base. */
		q->event[q->n].is_cycles = event->base == ENGINE_BASE_CYCLES;
		q->event[q->n++].is_instructions =
			event->base == ENGINE_BASE_INSTRUCTIONS;
	}
}

/* A hidden event that has no counter to itself is of no use. */
static bool hide_what_takes_turns(struct packing *p, const struct question *q)
{
	bool any = false;

	for (size_t i = 0; i < q->n; i++) {
		struct engine_event *event = &p->events->event[q->index[i]];

		if (!event->hidden || q->set[i] == UPMU_SET_EVERY)
			continue;
		event->state = ENGINE_NOT_COUNTED;
		any = true;
	}
	return any;
}

static void place(struct packing *p, const struct question *q)
{
	struct engine_set *set = NULL, *always = NULL;
	int turn = -1;

	for (size_t i = 0; i < q->n; i++) {
		if (q->set[i] == UPMU_SET_EVERY) {
			add_event(p, &always, ENGINE_ALWAYS, q->index[i]);
			continue;
		}
		if (q->set[i] != turn)
			set = NULL;
		turn = q->set[i];
		add_event(p, &set, turn, q->index[i]);
	}
}

/* Each group that is too large for now has a turn of its own. */
static void take_turns_alone(const struct packing *p, struct question *q)
{
	int turn = (int)p->sets->turns - 1;

	for (size_t i = 0; i < q->n; i++) {
		if (!i || q->event[i].group != q->event[i - 1].group)
			turn++;
		q->set[i] =
			q->event[i].is_cycles ? UPMU_SET_EVERY : (uint16_t)turn;
	}
}

/* Cycles, and instructions where a counter can be spared, all the time. */
static int pack_in_turns(struct packing *p)
{
	struct question q;
	int error = new_question(&q, p->events->n);

	if (error)
		return error;
	refuse_large_groups(p);
	do {
		gather_question(p, &q, false);
		upmu_events_fit(q.event, q.n, p->room->free, q.set);
	} while (hide_what_takes_turns(p, &q));
	place(p, &q);
	gather_question(p, &q, true);
	take_turns_alone(p, &q);
	place(p, &q);
	free_question(&q);
	return 0;
}

/* Software events, and those of PMUs that are no core's: each by itself. */
static void pack_others(struct packing *p)
{
	struct engine_set *software = NULL, *alone;

	p->lane = ENGINE_NO_LANE;
	for (size_t i = 0; i < p->events->n; i++) {
		if (!is_wanted(p, i))
			continue;
		alone = NULL;
		add_event(p,
			  p->events->event[i].perf.type == PERF_TYPE_SOFTWARE
				  ? &software
				  : &alone,
			  ENGINE_ALWAYS, i);
	}
}

/* One set alone has nobody to take turns with (others were refused). */
static void keep_single_turn(struct engine_sets *sets)
{
	if (sets->turns != 1)
		return;
	for (size_t i = 0; i < sets->n; i++)
		sets->set[i].turn = ENGINE_ALWAYS;
	sets->turns = 0;
}

static const struct engine_target *find_target(const struct packing *p)
{
	const struct engine_targets *targets = p->how->targets;

	for (size_t i = 0; i < targets->n; i++)
		if (engine_serves(p->events, p->lane, &targets->target[i]))
			return &targets->target[i];
	return NULL;
}

/* Of unlike cores only some are counted: perf would say "no such event". */
static void refuse_lane(struct packing *p)
{
	const struct engine_targets *targets = p->how->targets;
	const char *kind = upmu_kind_label(&p->events->machine.kinds[p->lane]);

	if (targets->n == 1)
		upmu_explain_set(-ENODEV, "CPU %d is no %s",
				 targets->target[0].cpu, kind);
	else
		upmu_explain_set(-ENODEV, "none of these CPUs is a %s", kind);
	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i))
			engine_refuse(p->events, &p->events->event[i]);
}

static void try_counters(struct packing *p, struct engine_room *room)
{
	const struct engine_target *target = find_target(p);

	*room = (struct engine_room){ 0 };
	if (target)
		engine_trial(p->events, p->lane, target, room);
	else
		refuse_lane(p);
}

/*
 * perf tries no event behind one that has to wait: sets that wait for others'
 * counters would take time from the cycles, which have a counter of their own.
 */
static void pack_cycles(struct packing *p)
{
	struct engine_set *set = NULL;

	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i) && !takes_counter(p, i))
			add_event(p, &set, ENGINE_ALWAYS, i);
}

static int pack_lane(struct packing *p)
{
	struct engine_room *room = &p->events->room[p->lane];

	if (p->sets->raw)
		reckon(p, room);
	else if (p->how->pass <= 0)
		try_counters(p, room);
	p->room = room;
	if (fits(p))
		pack_together(p);
	else if (!room->free && room->counters)
		pack_cycles(p);
	else
		return pack_in_turns(p);
	return 0;
}

int engine_pack(struct engine_sets *sets, struct engine_events *events,
		const struct engine_packing *packing)
{
	struct packing p = { .sets = sets, .events = events, .how = packing };
	int error = 0;

	pack_others(&p);
	for (p.lane = 0; !error && p.lane < (int)events->lanes; p.lane++)
		error = pack_lane(&p);
	keep_single_turn(sets);
	return error;
}
