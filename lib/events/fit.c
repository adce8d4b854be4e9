// SPDX-License-Identifier: MIT
/* Which events can be counted at the same time. */
#include <errno.h>
#include <string.h>

#include "lib/events/events.h"

struct fit {
	const struct upmu_event *events;
	size_t n;
	unsigned int counters; /* of which turns can be taken */
	size_t always;	       /* the event that has a counter to itself */
	uint16_t *set_of;
};

#define NONE SIZE_MAX

static bool needs_counter(const struct fit *f, size_t i)
{
	const struct upmu_event *event = &f->events[i];

	return i != f->always && event->is_supported && !event->is_cycles &&
	       event->class != UPMU_EVENT_SOFTWARE;
}

/* Entries from @at on that have to stay together. */
static size_t together(const struct fit *f, size_t at)
{
	size_t end = at + 1;

	while (f->events[at].group && end < f->n &&
	       f->events[end].group == f->events[at].group)
		end++;
	return end - at;
}

static unsigned int wanted(const struct fit *f, size_t at, size_t n)
{
	unsigned int counters = 0;

	for (size_t i = at; i < at + n; i++)
		counters += needs_counter(f, i);
	return counters;
}

static unsigned int largest_group(const struct fit *f)
{
	unsigned int most = 0;
	size_t n;

	for (size_t i = 0; i < f->n; i += n) {
		unsigned int counters;

		n = together(f, i);
		counters = wanted(f, i, n);
		if (counters > most)
			most = counters;
	}
	return most;
}

static void assign(struct fit *f, size_t at, size_t n, size_t set)
{
	for (size_t i = at; i < at + n; i++)
		f->set_of[i] =
			needs_counter(f, i) ? (uint16_t)set : UPMU_SET_EVERY;
}

/* Instructions, unless a group then no longer fits. */
static void spare_one(struct fit *f)
{
	if (f->counters < UPMU_COUNTERS_TO_SPARE)
		return;
	for (size_t i = 0; i < f->n; i++) {
		if (!f->events[i].is_instructions || !needs_counter(f, i))
			continue;
		f->always = i;
		if (largest_group(f) < f->counters) {
			f->counters--;
			return;
		}
		f->always = NONE;
	}
}

static int take_turns(struct fit *f)
{
	unsigned int used = 0;
	size_t set = 0, n;

	for (size_t i = 0; i < f->n; i += n) {
		unsigned int wants;

		n = together(f, i);
		wants = wanted(f, i, n);
		if (used + wants > f->counters) {
			set++;
			used = 0;
		}
		used += wants;
		assign(f, i, n, set);
	}
	return (int)set + 1;
}

int upmu_events_fit(const struct upmu_event *events, size_t n,
		    unsigned int counters, uint16_t *set_of)
{
	struct fit f = { .events = events,
			 .n = n,
			 .counters = counters,
			 .always = NONE,
			 .set_of = set_of };

	if (n >= UPMU_SET_EVERY)
		return -E2BIG;
	if (largest_group(&f) > counters)
		return -EMFILE;
	if (!n)
		return 0;
	if (wanted(&f, 0, n) > counters)
		spare_one(&f);
	return take_turns(&f);
}
