// SPDX-License-Identifier: MIT
/* From readings and slices to the numbers of a report. */
#include <math.h>
#include <string.h>

#include "stat.h"
#include "run.h"

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

static bool is_due(const struct stat_run *run, const struct stat_set *set)
{
	if (run->pass < 0)
		return true;
	return set->turn == run->pass ||
	       (set->turn == STAT_ALWAYS && run->pass == 0);
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

/* What a set has counted since the last time; a set that cannot be read has
 * a reading of no time. */
static void read_set(struct stat_run *run, size_t index)
{
	const struct stat_set *set = &run->sets.set[index];
	struct stat_reading now;

	run->since[index] = (struct stat_reading){ 0 };
	if (stat_set_read(&run->sets, index, &now))
		return;
	run->since[index] = less(&now, &run->mark[index], set->n);
	run->mark[index] = now;
}

/* Of a set that is on all the time, for the times of a lane; NULL: none. */
static const struct stat_reading *base_of(const struct stat_run *run, int lane)
{
	for (size_t i = 0; i < run->sets.n; i++) {
		const struct stat_set *set = &run->sets.set[i];

		if (set->lane != lane || !set->n || !is_due(run, set))
			continue;
		if (set->turn == STAT_ALWAYS || run->pass >= 0)
			return &run->since[i];
	}
	return NULL;
}

static bool counts_tasks(const struct stat_run *run)
{
	return !run->targets->n || run->targets->target[0].pid >= 0;
}

/*
 * perf's clock of a task goes on while the task is on a kind of core that an
 * event is not for. On unlike cores, of the time that a task was wanted, each
 * lane has the part in which it counted; what none of them counted, because
 * others had the counters, is shared out likewise.
 */
static void share_out_time(struct stat_run *run, double skew_ns)
{
	uint64_t enabled = 0, running = 0;
	size_t lanes = run->events->lanes;
	double share = 1;

	for (size_t lane = 0; lane < lanes; lane++) {
		const struct stat_reading *base = base_of(run, (int)lane);

		run->wanted_ns[lane] = base ? base->enabled_ns : 0;
		if (!base)
			continue;
		running += base->running_ns;
		if (base->enabled_ns > enabled)
			enabled = base->enabled_ns;
	}
	if (lanes < 2 || !running || !counts_tasks(run))
		return;
	if ((double)enabled > (double)running + skew_ns)
		share = (double)enabled / (double)running;
	for (size_t lane = 0; lane < lanes; lane++) {
		const struct stat_reading *base = base_of(run, (int)lane);

		if (base)
			run->wanted_ns[lane] =
				(uint64_t)((double)base->running_ns * share);
	}
}

static uint64_t wanted_of(const struct stat_run *run, size_t index)
{
	const struct stat_set *set = &run->sets.set[index];

	if (set->lane >= 0 && base_of(run, set->lane))
		return run->wanted_ns[set->lane];
	/* A set's own clock stands while others have their turn. */
	if (set->turn >= 0 && run->pass < 0)
		return (uint64_t)(stat_now_ns() - run->mark_ns);
	return run->since[index].enabled_ns;
}

static void store(struct stat_run *run, size_t index)
{
	const struct stat_set *set = &run->sets.set[index];
	const struct stat_reading *reading = &run->since[index];
	uint64_t wanted_ns = wanted_of(run, index);

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
		else if (reading->running_ns < wanted_ns)
			extend(count);
	}
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
	double before = stat_now_ns(), took;

	reset(run);
	for (size_t i = 0; i < run->sets.n; i++)
		if (is_due(run, &run->sets.set[i]))
			read_set(run, i);
	took = stat_now_ns() - before;
	share_out_time(run, took + run->skew_ns);
	run->skew_ns = took;
	for (size_t i = 0; i < run->sets.n; i++)
		if (is_due(run, &run->sets.set[i]))
			store(run, i);
	run->report->turns = run->sets.turns;
	if (!run->has_turns)
		return;
	run->report->slices = run->turns.timeline.slices;
	run->report->switching = stat_turns_cost(&run->turns);
	run->report->slice_ms =
		(stat_now_ns() - run->turns.start_ns) / 1e6 /
		(double)(run->report->slices + !run->report->slices);
}
