/* SPDX-License-Identifier: MIT */
/*
 * group.h - events that perf has on the hardware at the same time: on one PMU,
 * for one thread or CPU
 *
 * A group is switched by its first event alone: the others are off while it is,
 * and perf does the same to the copies that children inherit.
 */
#ifndef UPMU_LIB_GROUP_H
#define UPMU_LIB_GROUP_H

#include <stddef.h>

#include "lib/perf/perf.h"

#define UPMU_GROUP_MAX 32

/**
 * struct upmu_group - see above; at first as upmu_group_init() leaves it
 * @pid, @cpu: of struct upmu_perf_target
 * @flags: UPMU_PERF_*; _DISABLED and _ENABLE_ON_EXEC are the first event's
 * @fd: of each event, in the order of adding; the first @n
 */
struct upmu_group {
	pid_t pid;
	int cpu;
	uint32_t flags;
	size_t n;
	int fd[UPMU_GROUP_MAX];
};

void upmu_group_init(struct upmu_group *group, pid_t pid, int cpu,
		     uint32_t flags);

/**
 * Open one more event; @more: flags of this one alone. 0 or an error of
 * upmu_perf_open(), explained; -ENOSPC also where UPMU_GROUP_MAX are open.
 */
int upmu_group_add(struct upmu_group *group,
		   const struct upmu_perf_event *event, uint32_t more);
/** Close the last event; the group must be off. */
void upmu_group_drop(struct upmu_group *group);
void upmu_group_close(struct upmu_group *group);

/** Of a group that has an event. 0 or -errno. */
int upmu_group_enable(const struct upmu_group *group);
int upmu_group_disable(const struct upmu_group *group);

/** One value for each event, of one instant. 0 or -errno. */
int upmu_group_read(const struct upmu_group *group, struct upmu_value *values);

/**
 * The same of a CPU's group, which perf takes apart when the CPU goes off: then
 * one value after another, and *apart is set.
 */
int upmu_group_read_cpu(const struct upmu_group *group,
			struct upmu_value *values, bool *apart);

/** The value of one event of the group. 0 or -errno. */
int upmu_group_read_one(const struct upmu_group *group, size_t position,
			struct upmu_value *value);

/**
 * Unlike cores: a group on each kind, of one task, whose clocks all go on while
 * it runs on any of them. @most: of the groups' enabled_ns; @running_ns: their
 * sum; @skew_ns: what switching and reading them one after another took, which
 * is no lost time. Returns the time in which the task was wanted.
 */
uint64_t upmu_groups_enabled_ns(uint64_t most, uint64_t running_ns,
				uint64_t skew_ns);

#endif
