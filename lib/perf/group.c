// SPDX-License-Identifier: MIT
#include "lib/perf/group.h"

#include <errno.h>

#include "lib/explain.h"
#include "lib/sys.h"

#define OF_THE_FIRST (UPMU_PERF_DISABLED | UPMU_PERF_ENABLE_ON_EXEC)

void upmu_group_init(struct upmu_group *group, pid_t pid, int cpu,
		     uint32_t flags)
{
	group->pid = pid;
	group->cpu = cpu;
	group->flags = flags;
	group->n = 0;
}

/* The first is read with its group, each other event also by itself. */
int upmu_group_add(struct upmu_group *group,
		   const struct upmu_perf_event *event, uint32_t more)
{
	struct upmu_perf_target where = {
		.pid = group->pid,
		.cpu = group->cpu,
		.group_fd = group->n ? group->fd[0] : -1,
		.flags = group->flags | more,
	};
	int fd;

	if (group->n == UPMU_GROUP_MAX)
		return upmu_explain_set(-ENOSPC,
					"more than %d events at a time",
					UPMU_GROUP_MAX);
	if (group->n)
		where.flags &= ~(uint32_t)OF_THE_FIRST;
	else
		where.flags |= UPMU_PERF_GROUP_READ;
	fd = upmu_perf_open(event, &where);
	if (fd < 0)
		return fd;
	group->fd[group->n++] = fd;
	return 0;
}

void upmu_group_drop(struct upmu_group *group)
{
	upmu_sys_close(group->fd[--group->n]);
}

void upmu_group_close(struct upmu_group *group)
{
	while (group->n)
		upmu_group_drop(group);
}

int upmu_group_enable(const struct upmu_group *group)
{
	return upmu_perf_enable(group->fd[0]);
}

int upmu_group_disable(const struct upmu_group *group)
{
	return upmu_perf_disable(group->fd[0]);
}

int upmu_group_read(const struct upmu_group *group, struct upmu_value *values)
{
	return upmu_perf_read_group(group->fd[0], values, group->n);
}

int upmu_group_read_cpu(const struct upmu_group *group,
			struct upmu_value *values, bool *apart)
{
	int ret = upmu_group_read(group, values);

	/* Of another size than it was opened with. */
	if (ret != -EINVAL)
		return ret;
	*apart = true;
	ret = upmu_perf_read_first(group->fd[0], values);
	for (size_t i = 1; !ret && i < group->n; i++)
		ret = upmu_perf_read(group->fd[i], &values[i]);
	return ret;
}

int upmu_group_read_one(const struct upmu_group *group, size_t position,
			struct upmu_value *value)
{
	return position ? upmu_perf_read(group->fd[position], value)
			: upmu_perf_read_first(group->fd[0], value);
}

uint64_t upmu_groups_enabled_ns(uint64_t most, uint64_t running_ns,
				uint64_t skew_ns)
{
	return running_ns && running_ns + skew_ns >= most ? running_ns : most;
}
