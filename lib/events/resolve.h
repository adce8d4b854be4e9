/* SPDX-License-Identifier: MIT */
#ifndef UPMU_EVENTS_RESOLVE_H
#define UPMU_EVENTS_RESOLVE_H

#include "lib/events/events.h"

/* One event as written, without its `:` modifiers. */
struct upmu_word {
	const char *text;
	size_t length;
	uint8_t modifiers;
};

/* What it is on each kind of core. */
struct upmu_resolved {
	size_t n;
	struct upmu_event events[UPMU_KINDS_MAX];
};

/* 0; -ENOENT, -EINVAL with the text and hint of @error written. */
int upmu_word_resolve(struct upmu_resolved *out, const struct upmu_word *word,
		      const struct upmu_machine *machine,
		      struct upmu_events_error *error);

/* The event that serves as one of the nine, on each kind that has a table. */
void upmu_default_resolve(struct upmu_resolved *out, enum upmu_default which,
			  const struct upmu_machine *machine);

#endif
