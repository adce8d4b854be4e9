// SPDX-License-Identifier: MIT
#include "lib/perf_set.h"

#include <errno.h>

#include "lib/perf.h"
#include "lib/sys.h"

static int open_group(struct upmu *set, const struct upmu_wanted *wanted,
		      size_t pmu, uint32_t perf_flags)
{
	struct upmu_perf_target target = {
		.pid = 0,
		.cpu = -1,
		.group_fd = -1,
		.flags = perf_flags | UPMU_PERF_DISABLED,
	};

	for (size_t i = 0; i < set->size; i++) {
		int fd = upmu_perf_open(&wanted->events[i], &target);

		if (fd < 0)
			return fd;
		set->slots[i].fd[pmu] = fd;
		if (i)
			continue;
		/* Only the leader is held back; the others follow it. */
		target.group_fd = fd;
		target.flags &= ~(uint32_t)UPMU_PERF_DISABLED;
	}
	return 0;
}

int upmu_perf_set_open(struct upmu *set, const struct upmu_wanted *wanted,
		       uint32_t perf_flags)
{
	set->pmus = 1;
	return open_group(set, wanted, 0, perf_flags);
}

void upmu_perf_set_close(struct upmu *set)
{
	for (size_t i = 0; i < set->size; i++)
		for (size_t pmu = 0; pmu < UPMU_PMUS_MAX; pmu++)
			if (set->slots[i].fd[pmu] >= 0)
				upmu_sys_close(set->slots[i].fd[pmu]);
}

int upmu_perf_set_start(struct upmu *set)
{
	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		int ret = upmu_perf_enable(set->slots[0].fd[pmu], true);

		if (ret)
			return ret;
	}
	return 0;
}

int upmu_perf_set_stop(struct upmu *set)
{
	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		int ret = upmu_perf_disable(set->slots[0].fd[pmu], true);

		if (ret)
			return ret;
	}
	return 0;
}

/*
 * A thread is on one kind of core at a time: counts and running times of the
 * PMUs add up, while each PMU's event was wanted all the time.
 */
static int read_slot(const struct upmu *set, size_t position,
		     struct upmu_value *out)
{
	struct upmu_value sum = { 0, 0, 0 };

	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		struct upmu_value value;
		int ret = upmu_perf_read(set->slots[position].fd[pmu], &value);

		if (ret)
			return ret;
		sum.count += value.count;
		sum.running_ns += value.running_ns;
		if (value.enabled_ns > sum.enabled_ns)
			sum.enabled_ns = value.enabled_ns;
	}
	*out = sum;
	return 0;
}

int upmu_perf_set_read(struct upmu *set, struct upmu_value *values)
{
	for (size_t i = 0; i < set->size; i++) {
		int ret = read_slot(set, i, &values[i]);

		if (ret)
			return ret;
	}
	return 0;
}

int upmu_perf_set_count(struct upmu *set, size_t position, uint64_t *count)
{
	struct upmu_value value;
	int ret = read_slot(set, position, &value);

	if (!ret)
		*count = value.count;
	return ret;
}
