// SPDX-License-Identifier: MIT
#include <string.h>

#include "lib/events/perf_row.h"

/*
 * Where neither the device tree nor the kernel knows the core (ACPI, QEMU), the
 * driver for any PMUv3 counts it, by the architecture's map alone.
 */
static bool is_tried(const struct upmu_core_kind *kind,
		     const struct upmu_perf_choice *choice)
{
	if (choice->is_own && !strncmp(kind->pmu_name, "armv8_pmuv3", 11))
		return false;
	return !kind->linux || choice->since <= kind->linux;
}

/*
 * A 32-bit kernel may count an ARMv8 core with a driver for ARMv7: the name of
 * the PMU tells the driver. Of what that one tries PMUv3's takes the first
 * that the core has by PMCEID.
 */
const struct upmu_event_row *
upmu_kind_perf_row(const struct upmu_core_kind *kind,
		   const struct upmu_generic *generic)
{
	const struct upmu_core *by = kind->driver ? kind->driver : kind->core;
	const struct upmu_event_row *row, *first = NULL;
	struct upmu_perf_choice choice;

	for (size_t n = 0; upmu_core_perf_choice(by, generic, n, &choice);
	     n++) {
		if (!is_tried(kind, &choice))
			continue;
		row = choice.row;
		if (by != kind->core)
			row = upmu_core_find_code(kind->core,
						  upmu_row_code(row));
		if (row && !upmu_kind_leaves_out(kind, row))
			return row;
		first = first ? first : row;
	}
	return first;
}
