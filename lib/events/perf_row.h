/* SPDX-License-Identifier: MIT */
#ifndef UPMU_EVENTS_PERF_ROW_H
#define UPMU_EVENTS_PERF_ROW_H

#include "lib/events/events.h"
#include "lib/events/generic.h"

/*
 * What perf counts for a generic name on a kind of core, by its driver and the
 * kernel; NULL: nothing that the core's table has. Where the core leaves out
 * all that the driver tries (upmu_kind_leaves_out()), the first of it.
 */
const struct upmu_event_row *
upmu_kind_perf_row(const struct upmu_core_kind *kind,
		   const struct upmu_generic *generic);

#endif
