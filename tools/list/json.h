/* SPDX-License-Identifier: MIT */
/**
 * json.h - what both kinds of JSON of "upmu list" share
 */
#ifndef UPMU_TOOLS_LIST_JSON_H
#define UPMU_TOOLS_LIST_JSON_H

#include <jansson.h>

#include "lib/events/events.h"

/** Code, name and description of the events that are nearly the same. */
json_t *list_json_near(const struct upmu_core *core,
		       const struct upmu_event_row *row);

#endif
