/* SPDX-License-Identifier: MIT */
#ifndef UPMU_EVENTS_HINT_H
#define UPMU_EVENTS_HINT_H

#include "lib/events/events.h"

/*
 * What to do about an event that @core (NULL: no table) does not have: the
 * cores that have it, else the nearest names, else where to look.
 */
void upmu_hint_event(char *hint, size_t size, const struct upmu_core *core,
		     const char *name, size_t length);

#endif
