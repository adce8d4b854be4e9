// SPDX-License-Identifier: MIT
#include "lib/perf/perf_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/perf/group.h"
#include "lib/perf/perf.h"
#include "lib/set/registry.h"
#include "lib/sys.h"

/* The event that is to have the cycle counter; size for none. */
static size_t cycles_position(const struct upmu_wanted *wanted,
			      uint32_t perf_flags)
{
	size_t i = wanted->size;

	if (!(perf_flags & UPMU_PERF_ANY_COUNTER))
		for (i = 0; i < wanted->size; i++)
			if (wanted->events[i].is_cycles)
				break;
	return i;
}

/* As it is opened: on the cycle counter, or on any where @cycles is another. */
static struct upmu_perf_event event_at(const struct upmu_wanted *wanted,
				       size_t position, size_t pmu,
				       size_t cycles)
{
	const struct upmu_wanted_event *event = &wanted->events[position];
	struct upmu_perf_event perf = event->perf[pmu];

	if (position != cycles)
		perf.config = event->anywhere[pmu];
	return perf;
}

/*
 * arm_pmu reckons with a first event that is off only where exec is to start
 * it: else a group of one event too many is opened, and never counts. So the
 * first, as it was opened, is tried once more as one that is on.
 */
static int check_room(struct upmu_group *group,
		      const struct upmu_perf_event *first)
{
	int ret;

	if ((group->flags & UPMU_PERF_ENABLE_ON_EXEC) || group->n < 2 ||
	    group->n == UPMU_GROUP_MAX)
		return 0;
	ret = upmu_group_add(group, first, 0);
	if (!ret)
		upmu_sys_close(group->fd[--group->n]);
	return ret;
}

static int open_group(struct upmu *set, const struct upmu_wanted *wanted,
		      size_t pmu, uint32_t perf_flags)
{
	size_t cycles = cycles_position(wanted, perf_flags);
	uint32_t is_long = perf_flags & UPMU_PERF_LONG;
	struct upmu_group *group = &set->groups[pmu];
	struct upmu_perf_event first = event_at(wanted, 0, pmu, cycles);
	int ret = 0;

	upmu_group_init(group, set->pid, set->cpu, perf_flags & ~is_long);
	group->flags |= UPMU_PERF_DISABLED;
	/* Exec starts it, or closes it where a thread counts itself. */
	if ((set->flags & UPMU_OPEN_ON_EXEC) || !set->counts_others)
		group->flags |= UPMU_PERF_ENABLE_ON_EXEC;
	for (size_t i = 0; !ret && i < set->size; i++) {
		const struct upmu_wanted_event *event = &wanted->events[i];
		struct upmu_perf_event perf = event_at(wanted, i, pmu, cycles);

		ret = upmu_group_add(group, &perf, i == cycles ? is_long : 0);
		set->takes_cycles |= !ret && event->is_cycles &&
				     perf.config == event->perf[pmu].config;
	}
	return ret ? ret : check_room(group, &first);
}

/* A PMU whose CPUs the thread may not run on now may refuse. */
static int open_groups(struct upmu *set, const struct upmu_wanted *wanted,
		       uint32_t perf_flags)
{
	set->groups = calloc(wanted->pmus, sizeof(*set->groups));
	if (!set->groups)
		return upmu_explain_set(-ENOMEM, "out of memory");
	set->pmus = wanted->pmus;
	for (size_t pmu = 0; pmu < wanted->pmus; pmu++) {
		int ret = open_group(set, wanted, pmu, perf_flags);

		if (!ret)
			continue;
		if (pmu >= wanted->pmus_now) {
			upmu_group_close(&set->groups[pmu]);
			set->pmus = pmu;
			return 0;
		}
		upmu_perf_set_close(set);
		return ret;
	}
	return 0;
}

/* "cycles:u", but "PMU/TERMS/u"; "" where the name tells a mode. */
static const char *user_mode_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	if (strchr(name, ':') || (slash && slash[1]))
		return "";
	return slash ? "u" : ":u";
}

static void show_user_only(struct upmu *set)
{
	for (size_t i = 0; i < set->size; i++) {
		char *name = set->slots[i].name;
		size_t used = strlen(name);

		snprintf(name + used, UPMU_NAME_SIZE - used, "%s",
			 user_mode_of(name));
	}
}

/* perf_event_paranoid=2 lets a user count user mode only. */
static int open_user_only(struct upmu *set, const struct upmu_wanted *wanted,
			  uint32_t perf_flags)
{
	char reason[UPMU_EXPLAIN_SIZE];
	int ret;

	strcpy(reason, upmu_explain());
	ret = open_groups(set, wanted, perf_flags | UPMU_PERF_EXCLUDE_KERNEL);
	if (ret)
		return upmu_perf_explain_both(ret, reason, wanted->has_filters);
	show_user_only(set);
	return 0;
}

static int open_permitted(struct upmu *set, const struct upmu_wanted *wanted,
			  uint32_t perf_flags)
{
	int ret = open_groups(set, wanted, perf_flags);

	if (ret == -EACCES && !(perf_flags & UPMU_PERF_EXCLUDE_KERNEL))
		ret = open_user_only(set, wanted, perf_flags);
	return ret;
}

static int check_emulated(const struct upmu_wanted *wanted)
{
	int ret = upmu_wanted_check_emulated(wanted);

	for (size_t i = 0; wanted->is_emulated && !ret && i < wanted->size; i++)
		if (wanted->events[i].is_instructions)
			ret = upmu_emulator_alive(&wanted->events[i].perf[0]);
	return ret;
}

static int check_alive(const struct upmu_wanted *wanted)
{
	for (size_t i = 0; i < wanted->size; i++)
		if (wanted->events[i].is_hardware)
			return upmu_pmu_alive();
	return 0;
}

int upmu_perf_set_open(struct upmu *set, const struct upmu_wanted *wanted,
		       uint32_t perf_flags)
{
	int ret;

	ret = check_emulated(wanted);
	if (ret)
		return ret;
	if (set->flags & UPMU_OPEN_USER_ONLY)
		perf_flags |= UPMU_PERF_EXCLUDE_KERNEL;
	if (set->flags & UPMU_OPEN_INHERIT)
		perf_flags |= UPMU_PERF_INHERIT;
	if (upmu_registry_takes_cycles(set->who, set->cpu))
		perf_flags |= UPMU_PERF_ANY_COUNTER;
	ret = open_permitted(set, wanted, perf_flags);
	/* Too many without the cycle counter: then the sets take turns. */
	if (ret == -ENOSPC && (perf_flags & UPMU_PERF_ANY_COUNTER)) {
		perf_flags &=
			~(uint32_t)(UPMU_PERF_ANY_COUNTER | UPMU_PERF_LONG);
		ret = open_permitted(set, wanted, perf_flags);
	}
	if (!ret)
		ret = check_alive(wanted);
	if (ret)
		upmu_perf_set_close(set);
	return ret;
}

void upmu_perf_set_close(struct upmu *set)
{
	for (size_t pmu = set->groups ? set->pmus : 0; pmu-- > 0;)
		upmu_group_close(&set->groups[pmu]);
	free(set->groups);
	set->groups = NULL;
	set->takes_cycles = false;
}

static int explain_switch(int error, const char *what)
{
	return upmu_explain_set(error, "perf cannot %s the events: %s", what,
				strerror(-error));
}

/*
 * On unlike cores the groups are switched and read one after another. By as
 * much as that takes, the sum of their running times may differ from the time
 * that the set was wanted, though no time was lost: that is skew_ns.
 */
static int switch_all(struct upmu *set,
		      int (*one)(const struct upmu_group *group))
{
	uint64_t before = set->pmus > 1 ? upmu_sys_clock_ns() : 0;
	int ret = 0;

	for (size_t pmu = 0; !ret && pmu < set->pmus; pmu++)
		ret = one(&set->groups[pmu]);
	if (set->pmus > 1)
		set->skew_ns += upmu_sys_clock_ns() - before;
	return ret;
}

int upmu_perf_set_start(struct upmu *set)
{
	int ret = switch_all(set, upmu_group_enable);

	return ret ? explain_switch(ret, "start") : 0;
}

int upmu_perf_set_stop(struct upmu *set)
{
	int ret = switch_all(set, upmu_group_disable);

	return ret ? explain_switch(ret, "stop") : 0;
}

static int explain_read(int error)
{
	return upmu_explain_set(error == -EBADF ? error : -EIO,
				"perf gives no numbers: %s", strerror(-error));
}

/*
 * A thread is on one kind of core at a time: counts and running times of the
 * PMUs add up, while each PMU's event was wanted all the time.
 */
static void add_value(struct upmu_value *sum, const struct upmu_value *value)
{
	sum->count += value->count;
	sum->running_ns += value->running_ns;
	if (value->enabled_ns > sum->enabled_ns)
		sum->enabled_ns = value->enabled_ns;
}

static int read_group(const struct upmu *set, size_t pmu,
		      struct upmu_value *values)
{
	const struct upmu_group *group = &set->groups[pmu];
	bool apart;

	return set->cpu < 0 ? upmu_group_read(group, values)
			    : upmu_group_read_cpu(group, values, &apart);
}

int upmu_perf_set_read(struct upmu *set, struct upmu_value *values)
{
	uint64_t before = set->pmus > 1 ? upmu_sys_clock_ns() : 0;
	struct upmu_value part[UPMU_EVENTS_MAX];
	uint64_t skew_ns = 0;

	memset(values, 0, set->size * sizeof(*values));
	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		int ret = read_group(set, pmu, part);

		if (ret)
			return explain_read(ret);
		for (size_t i = 0; i < set->size; i++)
			add_value(&values[i], &part[i]);
	}
	if (set->pmus > 1)
		skew_ns = set->skew_ns + upmu_sys_clock_ns() - before;
	for (size_t i = 0; i < set->size; i++)
		values[i].enabled_ns = upmu_groups_enabled_ns(
			values[i].enabled_ns, values[i].running_ns, skew_ns);
	return 0;
}

int upmu_perf_set_count(struct upmu *set, size_t position, uint64_t *count)
{
	struct upmu_value sum = { 0 };

	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		struct upmu_value part;
		int ret =
			upmu_group_read_one(&set->groups[pmu], position, &part);

		if (ret)
			return explain_read(ret);
		add_value(&sum, &part);
	}
	if (sum.enabled_ns && !sum.running_ns)
		return upmu_explain_no_counter();
	*count = sum.count;
	return 0;
}
