// SPDX-License-Identifier: MIT
/*
 * Which events share a set. perf itself tells how many fit: it refuses a
 * group that its PMU could never hold.
 */
#include "lib/engine/pack.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/registers.h"
#include "lib/explain.h"

struct packing {
	struct engine_sets *sets;
	struct engine_events *events;
	const struct engine_packing *how;
	const struct engine_target *target;
	int lane;
	size_t room; /* events that fit beside the cycles */
	struct upmu_group trial;
};

static bool is_wanted(const struct packing *p, size_t i)
{
	const struct engine_event *event = &p->events->event[i];

	return event->state == ENGINE_COUNTED && event->lane == p->lane;
}

/*
 * An unprivileged user may often count user mode alone. Then that is what
 * all events count from here on, and the report says so.
 */
static int open_trial(struct packing *p, const struct engine_event *event)
{
	int ret;

	if (p->events->user_only)
		p->trial.flags |= UPMU_PERF_EXCLUDE_KERNEL;
	ret = upmu_group_add(&p->trial, &event->perf, 0);
	if (ret != -EACCES || p->events->user_only ||
	    event->perf.exclude_kernel || event->perf.exclude_user)
		return ret;
	ret = upmu_group_add(&p->trial, &event->perf, UPMU_PERF_EXCLUDE_KERNEL);
	p->events->user_only = !ret;
	return ret;
}

/*
 * Open what fits into one group, cycles first, to learn how much does.
 * Return the number of events left over.
 */
static size_t try_one_group(struct packing *p)
{
	size_t left = 0;

	/* arm_pmu does not reckon with a leader that is merely disabled. */
	upmu_group_init(&p->trial, p->target->pid, p->target->cpu,
			UPMU_PERF_INHERIT | UPMU_PERF_ENABLE_ON_EXEC);
	p->room = 0;
	for (size_t i = 0; i < p->events->n; i++) {
		struct engine_event *event = &p->events->event[i];
		int ret;

		if (!is_wanted(p, i) || event->hidden)
			continue;
		ret = open_trial(p, event);
		if (ret == -ENOSPC && p->trial.n)
			left++;
		else if (ret)
			engine_refuse(p->events, event);
		else
			p->room += event->base != ENGINE_BASE_CYCLES;
	}
	return left;
}

/* The trial was what is wanted: its group stays, in the same order. */
static int keep_trial(struct packing *p, struct engine_set *set)
{
	set->group = malloc(sizeof(*set->group));
	if (!set->group)
		return -ENOMEM;
	*set->group = p->trial;
	p->trial.n = 0;
	return 0;
}

/* The same by reckoning, where upmu has the registers to itself. */
static size_t reckon(struct packing *p)
{
	size_t takers = 0;

	p->room = p->how->counters;
	for (size_t i = 0; i < p->events->n; i++) {
		struct engine_event *event = &p->events->event[i];

		if (!is_wanted(p, i) || event->hidden)
			continue;
		if (engine_registers_refuses(p->sets->raw, event))
			engine_refuse(p->events, event);
		else
			takers += event->base != ENGINE_BASE_CYCLES;
	}
	return takers > p->room ? takers - p->room : 0;
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

static int pack_together(struct packing *p)
{
	struct engine_set *set = NULL;

	hide(p);
	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i))
			add_event(p, &set, ENGINE_ALWAYS, i);
	return set && p->trial.n && p->how->keep ? keep_trial(p, set) : 0;
}

/* What upmu_events_fit() is asked: the events of one lane that are left. */
struct question {
	struct upmu_event event[ENGINE_TURNS_MAX];
	size_t index[ENGINE_TURNS_MAX];
	uint16_t set[ENGINE_TURNS_MAX];
	size_t n;
};

static void ask(const struct packing *p, struct question *q)
{
	q->n = 0;
	for (size_t i = 0; i < p->events->n && q->n < UPMU_LIST_MAX; i++) {
		const struct engine_event *event = &p->events->event[i];

		if (!is_wanted(p, i))
			continue;
		q->index[q->n] = i;
		q->event[q->n] = *event->parsed;
		/* Of two of a kind only the first is the base. */
		q->event[q->n].is_cycles = event->base == ENGINE_BASE_CYCLES;
		q->event[q->n++].is_instructions =
			event->base == ENGINE_BASE_INSTRUCTIONS;
	}
}

static size_t group_size(const struct question *q, size_t first)
{
	size_t n = 0;

	for (size_t i = first; i < q->n; i++)
		n += !q->event[i].is_cycles &&
		     (i == first ||
		      (q->event[i].group &&
		       q->event[i].group == q->event[first].group));
	return n;
}

/* A group that the counters could never hold: none of it can be had. */
static void refuse_large_groups(struct packing *p, const struct question *q)
{
	for (size_t i = 0; i < q->n; i++) {
		if (group_size(q, i) <= p->room)
			continue;
		upmu_explain_set(-EMFILE,
				 "'%s' cannot be counted: its group has more "
				 "events than the PMU has counters (%zu)",
				 q->event[i].name, p->room);
		for (size_t k = i; k < q->n; k++)
			if (k == i || (q->event[i].group &&
				       q->event[k].group == q->event[i].group))
				engine_refuse(p->events,
					      &p->events->event[q->index[k]]);
		return;
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

/* Cycles, and instructions where a counter can be spared, all the time. */
static void pack_in_turns(struct packing *p)
{
	static struct question q; /* large */
	struct engine_set *set = NULL, *always = NULL;
	int turn = -1, sets;

	do {
		ask(p, &q);
		sets = upmu_events_fit(q.event, q.n, (unsigned int)p->room,
				       q.set);
		if (sets < 0)
			refuse_large_groups(p, &q);
	} while (sets < 0 || hide_what_takes_turns(p, &q));
	for (size_t i = 0; i < q.n; i++) {
		if (q.set[i] == UPMU_SET_EVERY) {
			add_event(p, &always, ENGINE_ALWAYS, q.index[i]);
			continue;
		}
		if (q.set[i] != turn)
			set = NULL;
		turn = q.set[i];
		add_event(p, &set, turn, q.index[i]);
	}
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
	return &targets->target[0];
}

static int pack_lane(struct packing *p)
{
	size_t left;
	int error = 0;

	p->target = find_target(p);
	left = p->sets->raw ? reckon(p) : try_one_group(p);
	if (left)
		pack_in_turns(p);
	else
		error = pack_together(p);
	upmu_group_close(&p->trial);
	return error;
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
