/* SPDX-License-Identifier: MIT */
#ifndef UPMU_EVENTS_RESOLVE_H
#define UPMU_EVENTS_RESOLVE_H

#include "lib/events/events.h"
#include "lib/events/generic.h"

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

/*
 * What perf counts for a generic name on a kind of core, by its driver and the
 * kernel; NULL: nothing that the core's table has. Where the core leaves out
 * all that the driver tries (upmu_kind_leaves_out()), the first of it.
 */
const struct upmu_event_row *
upmu_kind_perf_row(const struct upmu_core_kind *kind,
		   const struct upmu_generic *generic);

/* What messages and names call a kind: its core, else its PMU. */
const char *upmu_kind_label(const struct upmu_core_kind *kind);

#endif
