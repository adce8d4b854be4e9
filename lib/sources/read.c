// SPDX-License-Identifier: MIT
/*
 * read: perf events, read with read(2). Works wherever perf has a PMU.
 */
#include <errno.h>

#include "lib/perf_set.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

static int probe(void)
{
	static const struct upmu_perf_event cycles = {
		.name = "cycles",
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};
	const struct upmu_perf_target self = {
		.cpu = -1,
		.group_fd = -1,
		.flags = UPMU_PERF_DISABLED,
	};
	int fd = upmu_perf_open(&cycles, &self);

	if (fd < 0)
		return fd;
	upmu_sys_close(fd);
	return 0;
}

static int open_read(struct upmu *set, const struct upmu_wanted *wanted)
{
	return upmu_perf_set_open(set, wanted, 0);
}

const struct upmu_source upmu_source_read = {
	.name = "read",
	.probe = probe,
	.open = open_read,
	.close = upmu_perf_set_close,
	.start = upmu_perf_set_start,
	.stop = upmu_perf_set_stop,
	.read = upmu_perf_set_read,
	.count = upmu_perf_set_count,
};
