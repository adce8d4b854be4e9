/* SPDX-License-Identifier: MIT */
/**
 * names.h - what other tools call an event, and which events are alike
 */
#ifndef UPMU_TOOLS_LIST_NAMES_H
#define UPMU_TOOLS_LIST_NAMES_H

#include "lib/events/events.h"

/**
 * The event of @core that perf (`branch-misses`, `r1d`), PAPI
 * (`PAPI_L1_DCM`) or LIKWID (`L1D_CACHE_LD`, `CPU_CYCLES:PMC0`) means by
 * @name, in any case; NULL: they have none, or one made of several events.
 */
const struct upmu_event_row *list_called(const struct upmu_core *core,
					 const char *name);

/** The generic names and PAPI's for a row, a blank between two. */
void list_other_names(char *out, size_t size, const struct upmu_core *core,
		      const struct upmu_event_row *row);

/**
 * Does another event of the same core count nearly the same? Of the same
 * family are names that differ in how far the instruction came or in whether
 * it reads or writes: br_mis_pred and br_mis_pred_retired.
 */
bool list_is_near(const struct upmu_event_row *row,
		  const struct upmu_event_row *other);

/**
 * The event that is nearer to what a generic name of perf says than the one
 * that perf counts for it on @core; NULL: there is none.
 */
const struct upmu_event_row *list_nearer(const struct upmu_core *core,
					 const struct upmu_generic *generic);

#endif
