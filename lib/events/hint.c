// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "lib/events/hint.h"

/* "it is an event of arm1136, arm1176 and 3 more": another core's. */
static bool hint_cores(char *hint, size_t size, const char *name, size_t length)
{
	const struct upmu_core *cores[3];
	size_t n = upmu_cores_with(name, length, cores, 3);
	size_t used;

	if (!n)
		return false;
	used = (size_t)snprintf(hint, size, "it is an event of %s",
				upmu_core_name(cores[0]));
	for (size_t i = 1; i < n && i < 3; i++)
		used += (size_t)snprintf(hint + used, size - used, ", %s",
					 upmu_core_name(cores[i]));
	if (n > 3)
		snprintf(hint + used, size - used, " and %zu more", n - 3);
	return true;
}

static bool hint_nearest(char *hint, size_t size, const struct upmu_core *core,
			 const char *name, size_t length)
{
	const char *near[3];
	size_t n = upmu_events_nearest(core, name, length, near, 3);
	size_t used;

	if (!n)
		return false;
	used = (size_t)snprintf(hint, size, "did you mean %s", near[0]);
	for (size_t i = 1; i < n; i++)
		used += (size_t)snprintf(hint + used, size - used, "%s%s",
					 i + 1 == n ? " or " : ", ", near[i]);
	snprintf(hint + used, size - used, "?");
	return true;
}

void upmu_hint_event(char *hint, size_t size, const struct upmu_core *core,
		     const char *name, size_t length)
{
	if (!hint_cores(hint, size, name, length) &&
	    !hint_nearest(hint, size, core, name, length))
		snprintf(hint, size,
			 "`upmu list` tells the events of this machine");
}
