/* SPDX-License-Identifier: MIT */
#ifndef UPMU_ENGINE_SETS_H
#define UPMU_ENGINE_SETS_H

#include "lib/engine/plan.h"

struct engine_sets_options {
	bool on_exec; /* counting starts when the target executes */
	bool inherit;
	bool own_child; /* the one target is the command */
	bool cgroups;	/* see struct engine_options */
	int first;	/* the turn that starts; the others are off */
};

/**
 * Pack the events into sets and open them, all switched off. Events that
 * cannot be opened get ENGINE_NOT_SUPPORTED; that is no error. 0 or -ENOMEM.
 */
int engine_sets_open(struct engine_sets *sets, struct engine_events *events,
		     const struct engine_targets *targets,
		     const struct engine_sets_options *options);
void engine_sets_close(struct engine_sets *sets);
/** 0 or a negative errno; *reading is left alone then. */
int engine_set_read(const struct engine_sets *sets, size_t set,
		    struct engine_reading *reading);
void engine_turn_switch(const struct engine_sets *sets, int turn, bool on);

#endif
