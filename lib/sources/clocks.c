// SPDX-License-Identifier: MIT
#include "lib/sources/clocks.h"

#include <errno.h>
#include <string.h>

#include "lib/explain.h"

static bool is_cycles(const struct upmu_wanted_event *event)
{
	const struct upmu_perf_event *perf = &event->perf[0];

	if (perf->exclude_user || perf->exclude_kernel)
		return false;
	return event->is_cycles || !strcmp(event->name, "cycles");
}

int upmu_clock_serves(const struct upmu_wanted *wanted)
{
	for (size_t i = 0; i < wanted->size; i++)
		if (wanted->size > 1 || !is_cycles(&wanted->events[i]))
			return upmu_explain_set(
				-EOPNOTSUPP,
				"a clock can stand in for 'cycles' alone, not "
				"for '%s'",
				wanted->events[wanted->size > 1].name);
	return 0;
}
