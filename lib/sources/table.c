// SPDX-License-Identifier: MIT
#include "lib/sources/source.h"

#include <string.h>

const struct upmu_source *const upmu_sources[] = {
	&upmu_source_page,
	&upmu_source_read,
	&upmu_source_clock,
	NULL,
};

const struct upmu_source *upmu_source_find(const char *name)
{
	for (size_t i = 0; upmu_sources[i]; i++)
		if (!strcmp(upmu_sources[i]->name, name))
			return upmu_sources[i];
	return NULL;
}
