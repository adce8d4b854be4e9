// SPDX-License-Identifier: MIT
/* Can an event be counted here and now? Perf is asked by opening it. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "lib/events/events.h"
#include "lib/perf/perf.h"
#include "lib/sys.h"
#include "list.h"

/* No core has more; a group that large is refused by every PMU. */
#define COUNTERS_MOST 31

const char *list_now_word(enum list_now now)
{
	static const char *const words[] = {
		[LIST_ELSEWHERE] = "",
		[LIST_YES] = "yes",
		[LIST_USER_ONLY] = "as :u",
		[LIST_NO] = "no",
		[LIST_NOT_IMPLEMENTED] = "not implemented",
		[LIST_MODELLED] = "modelled",
		[LIST_NOT_EMULATED] = "not emulated",
	};

	return words[now];
}

/* A folder that stands for / (UPMU_ROOT) is another machine. */
static bool is_this_machine(void)
{
	char root[UPMU_PATH_SIZE];

	return !upmu_sys_path(root, "/") && !strcmp(root, "/");
}

/* Off until an exec that never comes: perf sees no need of a counter for an
 * event that is simply disabled, and lets any number of them into a group. */
static int try_open(const struct upmu_perf_event *event, uint32_t flags,
		    int leader)
{
	const struct upmu_perf_target target = {
		.cpu = -1,
		.group_fd = leader,
		.flags = flags | UPMU_PERF_ENABLE_ON_EXEC,
	};

	return upmu_perf_open(event, &target);
}

static enum list_now try_event(const struct upmu_perf_event *event)
{
	int fd = try_open(event, 0, -1);
	enum list_now now = LIST_YES;

	if (fd == -EACCES) {
		now = LIST_USER_ONLY;
		fd = try_open(event, UPMU_PERF_EXCLUDE_KERNEL, -1);
	}
	if (fd < 0)
		return LIST_NO;
	upmu_sys_close(fd);
	return now;
}

/* Of unlike cores one would count nothing while this runs on another. */
static bool move_to(const struct upmu_core_kind *kind, cpu_set_t *before)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < UPMU_CPUS_MAX && cpu < CPU_SETSIZE;
	     cpu++)
		if (kind->cpus[cpu / 64] >> cpu % 64 & 1)
			CPU_SET(cpu, &set);
	return !sched_getaffinity(0, sizeof(*before), before) &&
	       !sched_setaffinity(0, sizeof(set), &set);
}

/* QEMU without -icount lets instructions be opened and never counts one. */
static bool stands_still(const struct upmu_core_kind *kind,
			 const struct upmu_perf_event *event)
{
	const struct upmu_perf_target here = { .cpu = -1, .group_fd = -1 };
	struct upmu_value value = { 0 };
	cpu_set_t before;
	int fd, ret;

	if (!move_to(kind, &before))
		return false;
	fd = upmu_perf_open(event, &here);
	ret = fd < 0 ? fd : upmu_perf_read(fd, &value);
	if (fd >= 0)
		upmu_sys_close(fd);
	sched_setaffinity(0, sizeof(before), &before);
	return !ret && !value.count;
}

static void perf_event_of(struct upmu_perf_event *out,
			  const struct list_core *list,
			  const struct list_event *event)
{
	memset(out, 0, sizeof(*out));
	out->name = event->name;
	out->type = list->kind->pmu_type;
	out->config = event->row && upmu_row_is_cycles(event->row)
			      ? list->kind->cycles_config
			      : event->code;
}

static enum list_now ask_perf(struct list_core *list,
			      const struct list_event *event,
			      const struct upmu_machine *machine)
{
	struct upmu_perf_event perf;
	enum list_now now;

	if (machine->is_emulated &&
	    (!event->row || !upmu_emulator_counts(list->kind, event->row)))
		return LIST_NOT_EMULATED;
	if (event->row && upmu_kind_leaves_out(list->kind, event->row))
		return LIST_NOT_IMPLEMENTED;
	if (list->kind->pmu_type == UPMU_PMU_TYPE_NONE) {
		snprintf(list->reason, sizeof(list->reason),
			 "perf has no PMU for this core\n"
			 "hint: upmu check");
		return LIST_NO;
	}
	if (!is_this_machine())
		return LIST_ELSEWHERE;
	perf_event_of(&perf, list, event);
	now = try_event(&perf);
	if (machine->is_emulated && now == LIST_YES &&
	    event->row ==
		    upmu_core_default(list->core, UPMU_DEFAULT_INSTRUCTIONS) &&
	    stands_still(list->kind, &perf))
		return LIST_NOT_EMULATED;
	if (now != LIST_YES && !list->reason[0])
		snprintf(list->reason, sizeof(list->reason), "%s",
			 upmu_explain());
	if (now == LIST_YES && event->row &&
	    upmu_event_is_modelled(list->kind, event->row))
		return LIST_MODELLED;
	return now;
}

/* Code 0 is sw_incr, or an ordinary event: never the cycle counter. */
static int open_member(const struct upmu_core_kind *kind, uint32_t flags,
		       int leader)
{
	const struct upmu_perf_event event = { .name = "r0",
					       .type = kind->pmu_type };

	return try_open(&event, flags, leader);
}

unsigned int list_ask_counters(const struct upmu_core_kind *kind)
{
	uint32_t flags = UPMU_PERF_EXCLUDE_KERNEL;
	int fds[COUNTERS_MOST + 1], fd;
	unsigned int n = 0;

	if (kind->pmu_type == UPMU_PMU_TYPE_NONE || !is_this_machine())
		return 0;
	fd = open_member(kind, flags, -1);
	if (fd == -EINVAL) {
		flags = 0; /* no privilege filters */
		fd = open_member(kind, flags, -1);
	}
	while (fd >= 0) {
		fds[n++] = fd;
		fd = n > COUNTERS_MOST ? -E2BIG
				       : open_member(kind, flags, fds[0]);
	}
	for (unsigned int i = 0; i < n; i++)
		upmu_sys_close(fds[i]);
	return fd == -ENOSPC || fd == -EINVAL ? n : 0;
}

void list_ask_now(struct list_core *list, const struct upmu_machine *machine)
{
	unsigned int counters;

	if (!list->kind || !machine)
		return;
	counters = list_ask_counters(list->kind);
	if (counters) {
		list->counters = counters;
		list->counters_asked = true;
	}
	for (size_t i = 0; i < list->n; i++)
		list->events[i].now = ask_perf(list, &list->events[i], machine);
}
