// SPDX-License-Identifier: MIT
#include "upmu.h"

#include <errno.h>

#include "lib/explain.h"

int upmu_scale(const struct upmu_value *value, uint64_t *estimate)
{
	if (!value->running_ns)
		return upmu_explain_set(-ENODATA, "the event never ran");
	*estimate =
		(uint64_t)((double)value->count * (double)value->enabled_ns /
			   (double)value->running_ns);
	return 0;
}
