// SPDX-License-Identifier: MIT
/*
 * perf itself tells how many events fit: it refuses a group that its PMU could
 * never hold. It accepts one whose counters somebody else has, and never runs
 * it: that only running shows.
 */
#include "lib/engine/sets.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>

#include "lib/engine/descriptors.h"
#include "lib/events/counting.h"
#include "lib/explain.h"

struct trial {
	struct engine_events *events;
	struct upmu_group group;
	bool takes[ENGINE_SET_MAX]; /* a counter, not the cycle counter */
	unsigned int opened, left;  /* how many of them do, and run */
	bool is_full;		    /* perf refused more */
	bool has_waited;	    /* not all ran */
};

/*
 * An unprivileged user may often count user mode alone. Then that is what
 * all events count from here on, and the report says so.
 */
static int open_event(struct trial *t, const struct engine_event *event)
{
	int ret;

	if (t->events->user_only)
		t->group.flags |= UPMU_PERF_EXCLUDE_KERNEL;
	ret = engine_group_add(&t->group, &event->perf, 0);
	if (ret != -EACCES || t->events->user_only ||
	    event->perf.exclude_kernel || event->perf.exclude_user)
		return ret;
	ret = engine_group_add(&t->group, &event->perf,
			       UPMU_PERF_EXCLUDE_KERNEL);
	t->events->user_only = !ret;
	return ret;
}

/* What a PMU takes by its code it refuses for want of counters alone. */
static bool is_surely_known(const struct engine_event *event)
{
	return event->perf.type >= PERF_TYPE_MAX &&
	       event->base != ENGINE_BASE_CYCLES && !event->perf.exclude_user &&
	       !event->perf.exclude_kernel;
}

static unsigned int takers(const struct trial *t)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->group.n; i++)
		n += t->takes[i];
	return n;
}

/* All that the manual gives this core; perf need not refuse one more. */
static bool is_all(const struct trial *t, int lane, unsigned int taken)
{
	const struct upmu_machine *machine = &t->events->machine;
	const struct upmu_core *core =
		lane < (int)machine->n_kinds ? machine->kinds[lane].core : NULL;

	return core && taken && taken == upmu_core_counters_most(core);
}

/* Cycles first, so that what is left beside them is known. */
static void open_all(struct trial *t, int lane,
		     const struct engine_event *opened)
{
	for (size_t i = 0; i < t->events->n; i++) {
		struct engine_event *event = &t->events->event[i];
		int ret;

		if (event->state != ENGINE_COUNTED || event->lane != lane ||
		    event->hidden || event == opened ||
		    (t->is_full && is_surely_known(event)))
			continue;
		ret = open_event(t, event);
		if (!ret)
			t->takes[t->group.n - 1] =
				event->base != ENGINE_BASE_CYCLES;
		else if (ret != -ENOSPC || !t->group.n)
			engine_refuse(t->events, event);
		else
			t->is_full = true;
		t->is_full = t->is_full || is_all(t, lane, takers(t));
	}
}

/* perf tries a group at once when it is enabled. */
static bool runs(const struct trial *t)
{
	struct upmu_value value[ENGINE_SET_MAX];

	if (upmu_group_enable(&t->group) || upmu_group_read(&t->group, value) ||
	    value[0].running_ns)
		return true;
	upmu_group_disable(&t->group);
	return false;
}

/* Elsewhere than on its own kind of core an event never runs. */
static bool is_there(const struct engine_events *events, int lane,
		     const struct engine_target *target)
{
	struct engine_target here = { .cpu = sched_getcpu() };

	return target->cpu >= 0 || events->machine.n_kinds < 2 ||
	       (here.cpu >= 0 && engine_serves(events, lane, &here));
}

/* Asked again: upmu may have been moved while it was tried. */
static bool waits(struct trial *t, int lane, const struct engine_target *target)
{
	return is_there(t->events, lane, target) && !runs(t) &&
	       is_there(t->events, lane, target);
}

static void start_trial(struct trial *t, struct engine_events *events,
			const struct engine_target *target)
{
	*t = (struct trial){ .events = events };
	/* arm_pmu does not reckon with a leader that is merely disabled. */
	upmu_group_init(&t->group, target->cpu < 0 ? 0 : -1, target->cpu,
			UPMU_PERF_ENABLE_ON_EXEC);
}

/* The cycles of a core that has a second way to count them (ARMv7); or NULL. */
static struct engine_event *cycles_of(struct engine_events *events, int lane)
{
	for (size_t i = 0; i < events->n; i++) {
		struct engine_event *event = &events->event[i];

		if (event->lane == lane && event->state == ENGINE_COUNTED &&
		    event->base == ENGINE_BASE_CYCLES &&
		    event->perf.config !=
			    upmu_event_config_anywhere(event->parsed))
			return event;
	}
	return NULL;
}

static bool runs_alone(struct engine_events *events, int lane,
		       const struct engine_target *target,
		       const struct engine_event *event)
{
	struct trial t;
	bool runs;

	start_trial(&t, events, target);
	runs = open_event(&t, event) || !waits(&t, lane, target);
	upmu_group_close(&t.group);
	return runs;
}

/* @first: what is on all the time, whatever it takes; NULL: as they stand. */
static struct trial try_counters(struct engine_events *events, int lane,
				 const struct engine_target *target,
				 const struct engine_event *first)
{
	struct trial t;

	start_trial(&t, events, target);
	if (first)
		open_event(&t, first);
	open_all(&t, lane, first);
	t.opened = takers(&t);
	while (t.group.n && waits(&t, lane, target)) {
		upmu_group_drop(&t.group);
		t.has_waited = true;
	}
	t.left = takers(&t);
	upmu_group_close(&t.group);
	return t;
}

/*
 * perf on ARMv7 counts cycles by the cycle counter alone, or by another one if
 * asked for that, and tries no event behind one that has to wait. Cycles of a
 * group that ran do run.
 */
void engine_trial(struct engine_events *events, int lane,
		  const struct engine_target *target, struct engine_room *room)
{
	struct trial t = try_counters(events, lane, target, NULL);
	struct engine_event *cycles = cycles_of(events, lane);

	room->counters = t.opened;
	room->free = t.left;
	if (!cycles || !(t.has_waited || (t.is_full && cycles->hidden)) ||
	    runs_alone(events, lane, target, cycles))
		return;
	cycles->perf.config = upmu_event_config_anywhere(cycles->parsed);
	room->free = try_counters(events, lane, target, cycles).left;
}
