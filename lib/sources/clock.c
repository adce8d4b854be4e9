// SPDX-License-Identifier: MIT
/*
 * clock: CLOCK_MONOTONIC_RAW in nanoseconds. Everywhere; counts no event.
 */
#include <errno.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

static bool is_cycles(const struct upmu_wanted_event *event)
{
	const struct upmu_perf_event *perf = &event->perf[0];

	if (perf->exclude_user || perf->exclude_kernel)
		return false;
	return event->is_cycles || !strcmp(event->name, "cycles");
}

int upmu_clock_serves(const struct upmu_wanted *wanted)
{
	const struct upmu_wanted_event *other =
		&wanted->events[wanted->size > 1];

	if (wanted->size == 1 && is_cycles(other))
		return 0;
	return upmu_explain_set(
		-EOPNOTSUPP,
		"a clock can stand in for 'cycles' alone, not for '%s'%s",
		other->name,
		other->perf[0].exclude_kernel && !strchr(other->name, ':')
			? " of user mode"
			: "");
}

static int clock_probe(void)
{
	return upmu_explain_set(0, "CLOCK_MONOTONIC_RAW, no event counter");
}

static int open_clock(struct upmu *set, const struct upmu_wanted *wanted)
{
	int ret = upmu_clock_serves(wanted);

	if (!ret)
		set->opened_ns = upmu_sys_clock_ns();
	return ret;
}

static int clock_count(struct upmu *set, size_t position, uint64_t *out)
{
	(void)position;
	*out = upmu_sys_clock_ns() - set->opened_ns;
	return 0;
}

static int read_clock(struct upmu *set, struct upmu_value *values)
{
	uint64_t ns = upmu_sys_clock_ns() - set->opened_ns;

	values[0] = (struct upmu_value){ ns, ns, ns };
	return 0;
}

const struct upmu_source upmu_source_clock = {
	.name = "clock",
	.unit = "ns",
	.is_clock = true,
	.probe = clock_probe,
	.open = open_clock,
	.read = read_clock,
	.count = clock_count,
};
