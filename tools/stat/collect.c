// SPDX-License-Identifier: MIT
/* From readings and slices to the numbers of a report. */
#include <math.h>
#include <string.h>

#include "stat.h"
#include "run.h"

static const struct stat_set *base_of(const struct stat_run *run, int lane,
				      size_t *index)
{
	for (size_t i = 0; i < run->sets.n; i++) {
		const struct stat_set *set = &run->sets.set[i];

		if (set->turn == STAT_ALWAYS && set->lane == lane && set->n) {
			*index = i;
			return set;
		}
	}
	return NULL;
}

static void estimate(const struct stat_run *run, const struct stat_set *set,
		     size_t place, struct stat_count *count)
{
	count->estimated = true;
	if (stat_timeline_estimate(&run->turns.timeline, set->turn, set->lane,
				   place, &count->estimate))
		count->state = STAT_NOT_COUNTED;
}

/* Others took the counters for part of the time: all that is known is that. */
static void extend(struct stat_count *count)
{
	count->estimated = true;
	count->estimate = (struct estimate){
		.total = (double)count->raw * (double)count->enabled_ns /
			 (double)count->running_ns,
		.low = (double)count->raw,
		.high = INFINITY,
	};
}

/*
 * An emulator that does not count an event says 0: without -icount QEMU
 * does so for instructions. Software increments may well be 0.
 */
static bool stands_still(const struct stat_run *run,
			 const struct stat_event *event, uint64_t raw)
{
	return run->events->emulated && event->base && !raw;
}

static void store(struct stat_run *run, const struct stat_set *set,
		  const struct stat_reading *reading, uint64_t wanted_ns)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct stat_event *event =
			&run->events->event[set->event[i]];
		struct stat_count *count = &run->report->count[set->event[i]];

		count->raw = reading->count[i];
		count->enabled_ns = wanted_ns;
		count->running_ns = reading->running_ns;
		count->estimated = false;
		count->state = STAT_COUNTED;
		if (!reading->running_ns)
			count->state = STAT_NOT_COUNTED;
		else if (stands_still(run, event, count->raw))
			count->state = STAT_NOT_EMULATED;
		else if (set->turn >= 0 && run->pass < 0)
			estimate(run, set, i, count);
		else if (reading->running_ns < reading->enabled_ns)
			extend(count);
	}
}

static struct stat_reading less(const struct stat_reading *a,
				const struct stat_reading *b, size_t n)
{
	struct stat_reading out = {
		.enabled_ns = a->enabled_ns - b->enabled_ns,
		.running_ns = a->running_ns - b->running_ns,
	};

	for (size_t i = 0; i < n; i++)
		out.count[i] = a->count[i] - b->count[i];
	return out;
}

static void collect_set(struct stat_run *run, size_t index)
{
	const struct stat_set *set = &run->sets.set[index];
	struct stat_reading now, since;
	uint64_t wanted_ns;
	size_t base;

	if (stat_set_read(&run->sets, index, &now))
		return;
	since = less(&now, &run->mark[index], set->n);
	run->mark[index] = now;
	wanted_ns = since.enabled_ns;
	/* A set's own clock stands while others have their turn. */
	if (set->turn >= 0 && run->pass < 0) {
		wanted_ns = (uint64_t)(stat_now_ns() - run->mark_ns);
		if (base_of(run, set->lane, &base))
			wanted_ns = run->base_enabled_ns[set->lane];
	}
	store(run, set, &since, wanted_ns);
	if (set->turn == STAT_ALWAYS && set->lane >= 0)
		run->base_enabled_ns[set->lane] = since.enabled_ns;
}

static bool is_due(const struct stat_run *run, const struct stat_set *set)
{
	if (run->pass < 0)
		return true;
	return set->turn == run->pass ||
	       (set->turn == STAT_ALWAYS && run->pass == 0);
}

/* Events that no set holds keep the state that packing gave them. */
static void reset(struct stat_run *run)
{
	for (size_t i = 0; run->pass <= 0 && i < run->events->n; i++) {
		struct stat_count *count = &run->report->count[i];
		enum stat_state state = run->events->event[i].state;
		struct stat_spread spread = count->spread;

		*count = (struct stat_count){
			.state = state == STAT_COUNTED ? STAT_NOT_COUNTED
						       : state,
			.spread = spread,
		};
	}
}

void stat_collect(struct stat_run *run)
{
	reset(run);
	/* Sets that are always on come first, for the time of the others. */
	for (int always = 1; always >= 0; always--)
		for (size_t i = 0; i < run->sets.n; i++) {
			const struct stat_set *set = &run->sets.set[i];

			if ((set->turn == STAT_ALWAYS) == always &&
			    is_due(run, set))
				collect_set(run, i);
		}
	run->report->turns = run->sets.turns;
	if (!run->has_turns)
		return;
	run->report->slices = run->turns.timeline.slices;
	run->report->switching = stat_turns_cost(&run->turns);
	run->report->slice_ms =
		(stat_now_ns() - run->turns.start_ns) / 1e6 /
		(double)(run->report->slices + !run->report->slices);
}
