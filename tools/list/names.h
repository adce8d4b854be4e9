/* SPDX-License-Identifier: MIT */
/**
 * names.h - what other tools call an event, and which events are alike
 */
#ifndef UPMU_TOOLS_LIST_NAMES_H
#define UPMU_TOOLS_LIST_NAMES_H

#include "lib/events/events.h"
#include "lib/events/generic.h"

#define LIST_MEANING_MOST 6

/** Events that another tool adds up, or takes off, for one name of its. */
struct list_meaning {
	size_t n;
	const struct upmu_event_row *rows[LIST_MEANING_MOST];
	char sign[LIST_MEANING_MOST]; /* '+' or '-' */
};

/**
 * The events of @core that perf (`branch-misses`), PAPI (`PAPI_L1_DCM`) or
 * LIKWID (`L1D_CACHE_LD`, `CPU_CYCLES:PMC0`) means by @name, in any case, or
 * that has this code (`r1d`, `0x1d`); PAPI adds several up for some names.
 * Returns how many; 0: they mean none.
 */
size_t list_called(const struct upmu_core *core, const char *name,
		   struct list_meaning *out);

/** The generic names and PAPI's for a row, a blank between two. */
void list_other_names(char *out, size_t size, const struct upmu_core_kind *kind,
		      const struct upmu_event_row *row);

/**
 * "0x10 br_mis_pred; br_mis_pred_retired is nearer": what perf counts for a
 * name of its own, and from which kernel on. False: perf counts nothing, and
 * @out says what is nearest, or is "".
 */
bool list_perf_says(char *out, size_t size, const struct upmu_core_kind *kind,
		    const struct upmu_generic *generic);

/**
 * Does another event of the same core count nearly the same? Names that differ
 * in how far the instruction came do (br_mis_pred, br_mis_pred_retired), and
 * those of which one counts a part of the other (l1d_cache, l1d_cache_rd), but
 * not reads and writes (l1d_cache_rd, l1d_cache_wr).
 */
bool list_is_near(const struct upmu_event_row *row,
		  const struct upmu_event_row *other);

/**
 * The event that is nearer to what a generic name of perf says than the one
 * that perf counts for it there; NULL: there is none.
 */
const struct upmu_event_row *list_nearer(const struct upmu_core_kind *kind,
					 const struct upmu_generic *generic);

#endif
