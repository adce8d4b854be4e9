/* SPDX-License-Identifier: MIT */
#ifndef UPMU_ENGINE_TRIAL_H
#define UPMU_ENGINE_TRIAL_H

#include "lib/engine/plan.h"

/**
 * Learn from perf how many of a lane's events fit beside its cycles, and how
 * many of these run now: others may have counters. @room receives it. Events
 * that cannot be opened are refused.
 *
 * A task's trial is run on upmu itself, for the time of a few system calls.
 */
void engine_trial(struct engine_events *events, int lane,
		  const struct engine_target *target, struct engine_room *room);

#endif
