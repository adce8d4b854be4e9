/* SPDX-License-Identifier: MIT */
#ifndef UPMU_ENGINE_PACK_H
#define UPMU_ENGINE_PACK_H

#include "lib/engine/plan.h"

/** What sets are packed for. */
struct engine_packing {
	const struct engine_targets *targets; /* a first one is tried on */
	unsigned int counters;		      /* registers, where sets->raw */
	int pass; /* from the second on sets are the first one's */
};

/** Decide which events share a set. 0 or -ENOMEM. */
int engine_pack(struct engine_sets *sets, struct engine_events *events,
		const struct engine_packing *packing);

#endif
