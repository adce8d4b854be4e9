// SPDX-License-Identifier: MIT
/*
 * clock: CLOCK_MONOTONIC_RAW in nanoseconds. Everywhere; counts nothing.
 */
#include <errno.h>

#include "lib/explain.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

static int probe(void)
{
	return 0;
}

static int open_clock(struct upmu *set, const struct upmu_wanted *wanted)
{
	if (wanted->size != 1)
		return upmu_explain_set(-EOPNOTSUPP,
					"a clock stands in for 'cycles' alone, "
					"not for %zu events",
					wanted->size);
	set->opened_ns = upmu_sys_clock_ns();
	return 0;
}

static int count(struct upmu *set, size_t position, uint64_t *out)
{
	(void)position;
	*out = upmu_sys_clock_ns() - set->opened_ns;
	return 0;
}

static int read_clock(struct upmu *set, struct upmu_value *values)
{
	uint64_t now = upmu_sys_clock_ns() - set->opened_ns;

	values[0] = (struct upmu_value){ now, now, now };
	return 0;
}

const struct upmu_source upmu_source_clock = {
	.name = "clock",
	.unit = "ns",
	.probe = probe,
	.open = open_clock,
	.read = read_clock,
	.count = count,
};
