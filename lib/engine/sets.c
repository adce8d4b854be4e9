// SPDX-License-Identifier: MIT
/*
 * The sets, opened on every target. A set is switched on and off by its
 * leader alone: members of a group whose leader is off are off as well, and
 * perf does the same to the copies that children inherited.
 */
#include "lib/engine/sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/descriptors.h"
#include "lib/engine/registers.h"

struct opening {
	struct engine_sets *sets;
	struct engine_events *events;
	const struct engine_targets *targets;
	const struct engine_sets_options *options;
};

static bool is_raw(const struct engine_sets *sets, const struct engine_set *set)
{
	return sets->raw && set->lane >= 0;
}

static uint32_t flags_of(const struct opening *o, const struct engine_set *set)
{
	uint32_t flags = UPMU_PERF_DISABLED;

	if (o->options->on_exec &&
	    (set->turn == ENGINE_ALWAYS || set->turn == o->options->first))
		flags = UPMU_PERF_ENABLE_ON_EXEC;
	if (o->options->inherit)
		flags |= UPMU_PERF_INHERIT;
	if (o->options->cgroups)
		flags |= UPMU_PERF_CGROUP;
	if (o->events->user_only)
		flags |= UPMU_PERF_EXCLUDE_KERNEL;
	return flags;
}

/* A thread that has ended since, a CPU that went off: nothing to count. */
static bool is_gone(int error)
{
	return error == -ESRCH || error == -ENODEV;
}

/*
 * A core's events are tried while they are packed; whom the kernel allows user
 * mode alone is told so by one of its own, too.
 */
static int add_event(const struct opening *o, const struct engine_event *event,
		     struct upmu_group *group)
{
	int error = engine_group_add(group, &event->perf, 0);

	if (error != -EACCES || o->events->user_only ||
	    event->perf.exclude_kernel || event->perf.exclude_user)
		return error;
	error = engine_group_add(group, &event->perf, UPMU_PERF_EXCLUDE_KERNEL);
	if (error)
		return error;
	o->events->user_only = true;
	group->flags |= UPMU_PERF_EXCLUDE_KERNEL;
	return 0;
}

/* What stands before @next was tried: @kept of it are left. */
static void strike(struct engine_set *set, size_t kept, size_t next)
{
	memmove(&set->event[kept], &set->event[next],
		(set->n - next) * sizeof(set->event[0]));
	set->n -= next - kept;
}

/*
 * Events that the first target refuses are struck from the set, so that a
 * group's numbers always stand in the same places; a target that is gone
 * decides nothing. 0, or why a target has none.
 */
static int open_on_target(const struct opening *o, struct engine_set *set,
			  bool first, struct upmu_group *group)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->n; i++) {
		struct engine_event *event = &o->events->event[set->event[i]];
		int error = add_event(o, event, group);

		if (error && (!first || is_gone(error))) {
			upmu_group_close(group);
			strike(set, kept, i);
			return error;
		}
		if (error)
			engine_refuse(o->events, event);
		else
			set->event[kept++] = set->event[i];
	}
	strike(set, kept, set->n);
	return 0;
}

/* The rest of the targets is not what was asked for: better no number. */
static void refuse_set(const struct opening *o, struct engine_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		engine_refuse(o->events, &o->events->event[set->event[i]]);
	for (size_t t = 0; t < o->targets->n; t++)
		upmu_group_close(&set->group[t]);
	set->n = 0;
}

static int open_set(const struct opening *o, struct engine_set *set)
{
	bool first = true;
	int error = 0;

	set->group = calloc(o->targets->n, sizeof(*set->group));
	if (!set->group)
		return -ENOMEM;
	for (size_t t = 0; t < o->targets->n; t++) {
		const struct engine_target *target = &o->targets->target[t];

		upmu_group_init(&set->group[t], target->pid, target->cpu,
				flags_of(o, set));
		if (!engine_serves(o->events, set->lane, target))
			continue;
		error = open_on_target(o, set, first, &set->group[t]);
		if (error && !is_gone(error))
			break;
		first = first && error;
	}
	if (error && (first || !is_gone(error)))
		refuse_set(o, set);
	return 0;
}

/*
 * Where this fails perf is asked all the same, and says that it has no PMU;
 * unless the user insisted.
 */
static void open_raw(const struct opening *o, unsigned int *counters)
{
	const struct engine_targets none = { 0 };
	bool forced;

	if (!o->events->n || !engine_registers_wanted(o->events, &forced))
		return;
	if (!engine_registers_open(&o->sets->raw, o->events,
				   o->options->own_child ? &none : o->targets,
				   counters))
		return;
	for (size_t i = 0; forced && i < o->events->n; i++)
		if (o->events->event[i].lane >= 0)
			engine_refuse(o->events, &o->events->event[i]);
}

int engine_sets_open(struct engine_sets *sets, struct engine_events *events,
		     const struct engine_targets *targets,
		     const struct engine_sets_options *options)
{
	const struct opening o = { .sets = sets,
				   .events = events,
				   .targets = targets,
				   .options = options };
	struct engine_packing packing = {
		.targets = targets,
		.pass = options->first,
	};
	int error = 0;

	*sets = (struct engine_sets){ .targets = targets->n };
	sets->set = calloc(events->n + 1, sizeof(*sets->set));
	if (!sets->set)
		return -ENOMEM;
	error = engine_cpus_init(sets, targets);
	open_raw(&o, &packing.counters);
	if (!error)
		error = engine_pack(sets, events, &packing);
	if (!error && sets->raw)
		error = engine_registers_assign(sets->raw, sets);
	for (size_t i = 0; !error && i < sets->n; i++)
		if (!is_raw(sets, &sets->set[i]))
			error = open_set(&o, &sets->set[i]);
	if (error)
		engine_sets_close(sets);
	return error;
}

void engine_sets_close(struct engine_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++) {
		struct upmu_group *group = sets->set[i].group;

		for (size_t t = 0; group && t < sets->targets; t++)
			upmu_group_close(&group[t]);
		free(group);
	}
	engine_registers_close(sets->raw);
	free(sets->set);
	free(sets->cpu);
	*sets = (struct engine_sets){ 0 };
}

int engine_set_read(const struct engine_sets *sets, size_t set,
		    struct engine_reading *reading)
{
	const struct engine_set *s = &sets->set[set];
	struct upmu_value value[ENGINE_SET_MAX];
	struct engine_reading sum = { 0 };

	if (is_raw(sets, s))
		return engine_registers_read(sets, set, reading);
	for (size_t t = 0; t < sets->targets; t++) {
		int error;

		if (!s->group[t].n)
			continue;
		error = engine_cpu_read(sets, set, t, value);
		if (error)
			return error;
		sum.enabled_ns += value[0].enabled_ns;
		sum.running_ns += value[0].running_ns;
		for (size_t i = 0; i < s->n; i++)
			sum.count[i] += value[i].count;
	}
	*reading = sum;
	return 0;
}

void engine_turn_switch(const struct engine_sets *sets, int turn, bool on)
{
	if (sets->raw)
		engine_registers_switch(sets, turn, on);
	for (size_t i = 0; i < sets->n; i++) {
		const struct engine_set *s = &sets->set[i];

		if (s->turn != turn || is_raw(sets, s))
			continue;
		for (size_t t = 0; t < sets->targets; t++) {
			if (!s->group[t].n || engine_cpu_is_lost(sets, t))
				continue;
			if (on)
				upmu_group_enable(&s->group[t]);
			else
				upmu_group_disable(&s->group[t]);
		}
	}
}
