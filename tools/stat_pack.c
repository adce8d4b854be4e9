// SPDX-License-Identifier: MIT
/*
 * Which events share a set. perf itself tells how many fit: it refuses a
 * group that its PMU could never hold.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "stat.h"

/* With fewer counters one for instructions would halve every set. */
#define COUNTERS_TO_SPARE_ONE 4

struct packing {
	struct stat_sets *sets;
	struct stat_events *events;
	const struct stat_target *target;
	int lane;
	size_t room; /* events that fit beside the cycles */
};

static bool is_wanted(const struct packing *p, size_t i)
{
	const struct stat_event *event = &p->events->event[i];

	return event->state == STAT_COUNTED && event->lane == p->lane;
}

/*
 * An unprivileged user may often count user mode alone. Then that is what
 * all events count from here on, and the report says so.
 */
static int open_trial(struct packing *p, struct stat_event *event, int leader)
{
	struct upmu_perf_target where = {
		.pid = p->target->pid,
		.cpu = p->target->cpu,
		.group_fd = leader,
		.flags = UPMU_PERF_INHERIT | UPMU_PERF_GROUP_READ,
	};
	int fd;

	if (leader < 0)
		where.flags |= UPMU_PERF_DISABLED;
	if (p->events->user_only)
		where.flags |= UPMU_PERF_EXCLUDE_KERNEL;
	fd = upmu_perf_open(&event->perf, &where);
	if (fd != -EACCES || p->events->user_only ||
	    event->perf.exclude_kernel || event->perf.exclude_user)
		return fd;
	where.flags |= UPMU_PERF_EXCLUDE_KERNEL;
	fd = upmu_perf_open(&event->perf, &where);
	if (fd >= 0)
		p->events->user_only = true;
	return fd;
}

/*
 * Open what fits into one group, cycles first, to learn how much does.
 * Return the number of events left over.
 */
static size_t try_one_group(struct packing *p)
{
	int fd[STAT_SET_MAX], leader = -1;
	size_t n = 0, left = 0;

	p->room = 0;
	for (size_t i = 0; i < p->events->n; i++) {
		struct stat_event *event = &p->events->event[i];
		int one;

		if (!is_wanted(p, i) || event->hidden)
			continue;
		one = n == STAT_SET_MAX ? -ENOSPC
					: open_trial(p, event, leader);
		if (one == -ENOSPC && leader >= 0) {
			left++;
			continue;
		}
		if (one < 0) {
			stat_refuse(p->events, event);
			continue;
		}
		if (leader < 0)
			leader = one;
		fd[n++] = one;
		p->room += event->base != STAT_BASE_CYCLES;
	}
	while (n)
		close(fd[--n]);
	return left;
}

static struct stat_set *new_set(struct packing *p, int turn)
{
	struct stat_set *set = &p->sets->set[p->sets->n++];

	*set = (struct stat_set){ .turn = turn, .lane = p->lane };
	if (turn >= (int)p->sets->turns)
		p->sets->turns = turn + 1;
	return set;
}

static void add_event(struct packing *p, struct stat_set **set, int turn,
		      size_t event)
{
	if (!*set || (*set)->n == STAT_SET_MAX)
		*set = new_set(p, turn);
	(*set)->event[(*set)->n++] = event;
}

static void hide(struct packing *p)
{
	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i) && p->events->event[i].hidden)
			p->events->event[i].state = STAT_NOT_COUNTED;
}

static void pack_together(struct packing *p)
{
	struct stat_set *set = NULL;

	hide(p);
	for (size_t i = 0; i < p->events->n; i++)
		if (is_wanted(p, i))
			add_event(p, &set, STAT_ALWAYS, i);
}

static bool is_base(const struct packing *p, size_t i)
{
	switch (p->events->event[i].base) {
	case STAT_BASE_CYCLES:
		return true;
	case STAT_BASE_INSTRUCTIONS:
		return p->room >= COUNTERS_TO_SPARE_ONE;
	default:
		return false;
	}
}

/* Events from @first on that the user wants together. */
static size_t braces_size(const struct packing *p, size_t first)
{
	const struct stat_event *event = &p->events->event[first];
	size_t n = 1;

	if (event->hidden || !event->parsed->group)
		return 1;
	while (first + n < p->events->n && !event[n].hidden &&
	       event[n].lane == p->lane &&
	       event[n].parsed->group == event->parsed->group)
		n++;
	return n;
}

static size_t count_takers(const struct packing *p, size_t first, size_t n)
{
	size_t takers = 0;

	for (size_t i = first; i < first + n; i++)
		takers += is_wanted(p, i) && !is_base(p, i) &&
			  !p->events->event[i].hidden;
	return takers;
}

static size_t pack_always(struct packing *p)
{
	struct stat_set *always = NULL;
	size_t spared = 0;

	for (size_t i = 0; i < p->events->n; i++) {
		if (!is_wanted(p, i) || !is_base(p, i))
			continue;
		add_event(p, &always, STAT_ALWAYS, i);
		spared += p->events->event[i].base == STAT_BASE_INSTRUCTIONS;
	}
	return p->room - spared;
}

/* Cycles, and instructions where a counter can be spared, all the time. */
static void pack_in_turns(struct packing *p)
{
	size_t room = pack_always(p), unit;
	struct stat_set *set = NULL;
	int turn = -1;

	for (size_t i = 0; i < p->events->n; i += unit) {
		size_t takers;

		unit = braces_size(p, i);
		takers = count_takers(p, i, unit);
		if (!takers)
			continue;
		if (!set || set->n + takers > room) {
			set = NULL;
			turn++;
		}
		for (size_t k = i; k < i + unit; k++)
			if (count_takers(p, k, 1))
				add_event(p, &set, turn, k);
	}
}

/* Software events, and those of PMUs that are no core's: each by itself. */
static void pack_others(struct packing *p)
{
	struct stat_set *software = NULL, *alone;

	p->lane = STAT_NO_LANE;
	for (size_t i = 0; i < p->events->n; i++) {
		if (!is_wanted(p, i))
			continue;
		alone = NULL;
		add_event(p,
			  p->events->event[i].perf.type == PERF_TYPE_SOFTWARE
				  ? &software
				  : &alone,
			  STAT_ALWAYS, i);
	}
}

int stat_pack(struct stat_sets *sets, struct stat_events *events,
	      const struct stat_target *target)
{
	struct packing p = { .sets = sets, .events = events, .target = target };

	pack_others(&p);
	for (p.lane = 0; p.lane < (int)events->lanes; p.lane++)
		if (try_one_group(&p))
			pack_in_turns(&p);
		else
			pack_together(&p);
	return 0;
}
