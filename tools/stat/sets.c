// SPDX-License-Identifier: MIT
/*
 * The sets, opened on every target. A set is switched on and off by its
 * leader alone: members of a group whose leader is off are off as well, and
 * perf does the same to the copies that children inherited.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stat.h"

struct opening {
	struct stat_sets *sets;
	struct stat_events *events;
	const struct stat_targets *targets;
	const struct stat_sets_options *options;
};

static bool is_raw(const struct stat_sets *sets, const struct stat_set *set)
{
	return sets->raw && set->lane >= 0;
}

int stat_sets_remember(struct stat_sets *sets, int fd)
{
	int *more = realloc(sets->fd, (sets->fds + 1) * sizeof(*more));

	if (!more) {
		close(fd);
		return -ENOMEM;
	}
	sets->fd = more;
	sets->fd[sets->fds++] = fd;
	return 0;
}

static uint32_t leader_flags(const struct opening *o,
			     const struct stat_set *set)
{
	bool starts =
		set->turn == STAT_ALWAYS || set->turn == o->options->first;

	if (o->options->on_exec && starts)
		return UPMU_PERF_ENABLE_ON_EXEC;
	return UPMU_PERF_DISABLED;
}

static int open_one(const struct opening *o, const struct stat_set *set,
		    const struct stat_event *event,
		    const struct stat_target *target, int leader)
{
	struct upmu_perf_target where = {
		.pid = target->pid,
		.cpu = target->cpu,
		.group_fd = leader,
		.flags = UPMU_PERF_GROUP_READ,
	};

	if (o->options->inherit)
		where.flags |= UPMU_PERF_INHERIT;
	if (o->events->user_only)
		where.flags |= UPMU_PERF_EXCLUDE_KERNEL;
	if (leader < 0)
		where.flags |= leader_flags(o, set);
	return upmu_perf_open(&event->perf, &where);
}

bool stat_serves(const struct stat_events *events, int lane,
		 const struct stat_target *target)
{
	const struct upmu_machine *machine = &events->machine;
	int cpu = target->cpu;

	if (cpu < 0 || lane < 0 || lane >= (int)machine->n_kinds)
		return true;
	return machine->kinds[lane].cpus[cpu / 64] >> cpu % 64 & 1;
}

/*
 * Events that the first target refuses are struck from the set; where a
 * later one refuses (a thread that has ended since) it is not counted at all,
 * so that a group's numbers always stand in the same places.
 */
static int open_on_target(const struct opening *o, struct stat_set *set,
			  const struct stat_target *target, bool first,
			  int *leader)
{
	size_t kept = 0;

	*leader = -1;
	for (size_t i = 0; i < set->n; i++) {
		struct stat_event *event = &o->events->event[set->event[i]];
		int fd = open_one(o, set, event, target, *leader);

		if (fd < 0 && !first) {
			*leader = -1;
			return 0;
		}
		if (fd < 0) {
			stat_refuse(o->events, event);
			continue;
		}
		if (stat_sets_remember(o->sets, fd))
			return -ENOMEM;
		if (*leader < 0)
			*leader = fd;
		set->event[kept++] = set->event[i];
	}
	set->n = kept;
	return 0;
}

static int open_set(const struct opening *o, struct stat_set *set)
{
	bool first = true;

	if (set->leader)
		return 0; /* by packing */
	set->leader = calloc(o->targets->n, sizeof(*set->leader));
	if (!set->leader)
		return -ENOMEM;
	for (size_t t = 0; t < o->targets->n; t++) {
		const struct stat_target *target = &o->targets->target[t];

		set->leader[t] = -1;
		if (!stat_serves(o->events, set->lane, target))
			continue;
		if (open_on_target(o, set, target, first, &set->leader[t]))
			return -ENOMEM;
		first = false;
	}
	return 0;
}

/*
 * Where this fails perf is asked all the same, and says that it has no PMU;
 * unless the user insisted.
 */
static void open_raw(const struct opening *o, unsigned int *counters)
{
	const struct stat_targets none = { 0 };
	bool forced;

	if (!stat_raw_wanted(o->events, &forced))
		return;
	if (!stat_raw_open(&o->sets->raw, o->events,
			   o->options->own_child ? &none : o->targets,
			   counters))
		return;
	for (size_t i = 0; forced && i < o->events->n; i++)
		if (o->events->event[i].lane >= 0)
			stat_refuse(o->events, &o->events->event[i]);
}

int stat_sets_open(struct stat_sets *sets, struct stat_events *events,
		   const struct stat_targets *targets,
		   const struct stat_sets_options *options)
{
	const struct opening o = { .sets = sets,
				   .events = events,
				   .targets = targets,
				   .options = options };
	struct stat_packing packing = {
		.targets = targets,
		.keep = targets->n == 1 && options->on_exec && options->inherit,
	};
	int error;

	*sets = (struct stat_sets){ .targets = targets->n };
	sets->set = calloc(events->n + 1, sizeof(*sets->set));
	if (!sets->set)
		return -ENOMEM;
	open_raw(&o, &packing.counters);
	error = stat_pack(sets, events, &packing);
	if (!error && sets->raw)
		error = stat_raw_assign(sets->raw, sets);
	for (size_t i = 0; !error && i < sets->n; i++)
		if (!is_raw(sets, &sets->set[i]))
			error = open_set(&o, &sets->set[i]);
	if (error)
		stat_sets_close(sets);
	return error;
}

void stat_sets_close(struct stat_sets *sets)
{
	for (size_t i = 0; i < sets->fds; i++)
		close(sets->fd[i]);
	for (size_t i = 0; i < sets->n; i++)
		free(sets->set[i].leader);
	stat_raw_close(sets->raw);
	free(sets->fd);
	free(sets->set);
	*sets = (struct stat_sets){ 0 };
}

int stat_set_read(const struct stat_sets *sets, size_t set,
		  struct stat_reading *reading)
{
	const struct stat_set *s = &sets->set[set];
	struct upmu_value value[STAT_SET_MAX];
	struct stat_reading sum = { 0 };

	if (is_raw(sets, s))
		return stat_raw_read(sets, set, reading);
	for (size_t t = 0; s->n && t < sets->targets; t++) {
		int error;

		if (s->leader[t] < 0)
			continue;
		error = upmu_perf_read_group(s->leader[t], value, s->n);
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

void stat_turn_switch(const struct stat_sets *sets, int turn, bool on)
{
	if (sets->raw)
		stat_raw_switch(sets, turn, on);
	for (size_t i = 0; i < sets->n; i++) {
		const struct stat_set *s = &sets->set[i];

		for (size_t t = 0; s->turn == turn && t < sets->targets; t++) {
			if (is_raw(sets, s) || s->leader[t] < 0)
				continue;
			if (on)
				upmu_perf_enable(s->leader[t], false);
			else
				upmu_perf_disable(s->leader[t], false);
		}
	}
}
