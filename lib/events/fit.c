// SPDX-License-Identifier: MIT
/* Which events can be counted at the same time. */
#include <errno.h>

#include "lib/events/events.h"

static bool needs_counter(const struct upmu_event *event)
{
	return event->is_supported && !event->is_cycles &&
	       event->class != UPMU_EVENT_SOFTWARE;
}

/* Entries from @at on that have to stay together. */
static size_t together(const struct upmu_event *events, size_t n, size_t at)
{
	size_t end = at + 1;

	while (events[at].group && end < n &&
	       events[end].group == events[at].group)
		end++;
	return end - at;
}

static unsigned int counters_of(const struct upmu_event *events, size_t n)
{
	unsigned int counters = 0;

	for (size_t i = 0; i < n; i++)
		counters += needs_counter(&events[i]);
	return counters;
}

/* First set with room; sets are few, so filling them in turn is good enough. */
static size_t place(unsigned int *used, size_t *n_sets, unsigned int wants,
		    unsigned int counters)
{
	size_t set;

	for (set = 0; set < *n_sets; set++)
		if (used[set] + wants <= counters)
			break;
	if (set == *n_sets)
		used[(*n_sets)++] = 0;
	used[set] += wants;
	return set;
}

int upmu_events_fit(const struct upmu_event *events, size_t n,
		    unsigned int counters, uint16_t *set_of)
{
	unsigned int used[UPMU_LIST_MAX] = { 0 };
	size_t n_sets = 0;
	size_t length;

	if (n > UPMU_LIST_MAX)
		return -E2BIG;
	for (size_t i = 0; i < n; i += length) {
		unsigned int wants;
		size_t set = 0;

		length = together(events, n, i);
		wants = counters_of(events + i, length);
		if (wants > counters)
			return -EMFILE;
		if (wants)
			set = place(used, &n_sets, wants, counters);
		for (size_t j = i; j < i + length; j++)
			set_of[j] = wants ? (uint16_t)set : UPMU_SET_EVERY;
	}
	return n && !n_sets ? 1 : (int)n_sets;
}
