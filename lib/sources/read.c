// SPDX-License-Identifier: MIT
/*
 * read: perf events, read with read(2). Wherever perf has a PMU.
 */
#include "lib/explain.h"
#include "lib/perf/perf_set.h"
#include "lib/perf/perf.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

static int read_probe(void)
{
	int ret;

	ret = upmu_pmu_alive();
	if (ret)
		return ret;
	ret = upmu_perf_open_cycles(UPMU_PERF_DISABLED, -1);
	if (ret < 0)
		return ret;
	upmu_sys_close(ret);
	return upmu_explain_set(0, "perf counts cycles");
}

static int open_read(struct upmu *set, const struct upmu_wanted *wanted)
{
	return upmu_perf_set_open(set, wanted, 0);
}

const struct upmu_source upmu_source_read = {
	.name = "read",
	.counts_others = true,
	.tells_error = true,
	.probe = read_probe,
	.open = open_read,
	.close = upmu_perf_set_close,
	.start = upmu_perf_set_start,
	.stop = upmu_perf_set_stop,
	.read = upmu_perf_set_read,
	.count = upmu_perf_set_count,
};
