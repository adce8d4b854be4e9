// SPDX-License-Identifier: MIT
#include "lib/engine/descriptors.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

static struct rlimit given;
static bool is_raised;

static bool raise_limit(void)
{
	struct rlimit limit;

	if (is_raised || getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == limit.rlim_max)
		return false;
	given = limit;
	limit.rlim_cur = limit.rlim_max;
	is_raised = !setrlimit(RLIMIT_NOFILE, &limit);
	return is_raised;
}

int engine_group_add(struct upmu_group *group,
		     const struct upmu_perf_event *event, uint32_t more)
{
	int error = upmu_group_add(group, event, more);

	if (error == -EMFILE && raise_limit())
		error = upmu_group_add(group, event, more);
	return error;
}

void engine_descriptors_as_given(void)
{
	if (is_raised)
		setrlimit(RLIMIT_NOFILE, &given);
}
