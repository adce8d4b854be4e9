// SPDX-License-Identifier: MIT
/* A run: open, start, take turns; from readings and slices to counts. */
#include "lib/engine/engine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/clock.h"
#include "lib/engine/registers.h"
#include "lib/engine/sets.h"

/* The turn that is on from the start. */
static int first_turn(const struct engine *e)
{
	return e->options.pass < 0 ? 0 : e->options.pass;
}

int engine_open(struct engine *e, struct engine_events *events,
		const struct engine_targets *targets,
		const struct engine_options *options)
{
	struct engine_sets_options how;
	int error;

	*e = (struct engine){ .events = events, .options = *options };
	e->counts_tasks = targets->target[0].pid >= 0 && !options->cgroups;
	how = (struct engine_sets_options){
		.on_exec = options->on_exec,
		.inherit = options->inherit,
		.own_child = options->own_child,
		.cgroups = options->cgroups,
		.first = first_turn(e),
	};
	error = engine_sets_open(&e->sets, events, targets, &how);
	if (error)
		return error;
	e->mark = calloc(e->sets.n + 1, sizeof(*e->mark));
	e->since = calloc(e->sets.n + 1, sizeof(*e->since));
	return e->mark && e->since ? 0 : -ENOMEM;
}

void engine_close(struct engine *e)
{
	if (e->has_turns)
		engine_turns_free(&e->turns);
	engine_sets_close(&e->sets);
	free(e->mark);
	free(e->since);
	*e = (struct engine){ 0 };
}

int engine_start(struct engine *e, bool by_exec)
{
	double before = engine_now_ns();
	int error;

	if (!by_exec) {
		engine_turn_switch(&e->sets, ENGINE_ALWAYS, true);
		engine_turn_switch(&e->sets, first_turn(e), true);
	} else if (e->sets.raw) {
		engine_registers_switch(&e->sets, ENGINE_ALWAYS, true);
		engine_registers_switch(&e->sets, first_turn(e), true);
	}
	e->is_started = true;
	e->mark_ns = before;
	e->skew_ns = by_exec ? 0 : engine_now_ns() - before;
	if (!e->sets.turns || e->options.pass >= 0)
		return 0;
	error = engine_turns_start(&e->turns, &e->sets, e->events,
				   e->options.slice_ms);
	e->has_turns = !error;
	return error;
}

void engine_pause(struct engine *e)
{
	e->is_paused = true;
	e->paused_ns = engine_now_ns();
	if (e->has_turns)
		engine_turns_pause(&e->turns);
	else
		engine_turn_switch(&e->sets, first_turn(e), false);
	engine_turn_switch(&e->sets, ENGINE_ALWAYS, false);
}

void engine_resume(struct engine *e)
{
	e->is_paused = false;
	engine_turn_switch(&e->sets, ENGINE_ALWAYS, true);
	if (e->has_turns)
		engine_turns_resume(&e->turns);
	else
		engine_turn_switch(&e->sets, first_turn(e), true);
	/* No event was wanted meanwhile. */
	e->mark_ns += engine_now_ns() - fmax(e->paused_ns, e->mark_ns);
}

double engine_due_ns(const struct engine *e)
{
	return e->has_turns ? e->turns.end_ns : INFINITY;
}

void engine_turn(struct engine *e, bool more)
{
	if (e->has_turns && !e->is_paused)
		engine_turns_next(&e->turns, more);
}

void engine_turn_end(struct engine *e)
{
	if (e->has_turns && !e->is_paused)
		engine_turns_end(&e->turns, true);
}

void engine_turn_begin(struct engine *e)
{
	if (e->has_turns && !e->is_paused)
		engine_turns_begin(&e->turns, engine_now_ns());
}

void engine_forget_slices(struct engine *e)
{
	if (e->has_turns)
		engine_timeline_clear(&e->turns.timeline);
}

size_t engine_raw_cpus(const struct engine *e)
{
	return e->sets.raw ? engine_registers_cpus(e->sets.raw) : 0;
}

void engine_keep_on_cpus(const struct engine *e, pid_t pid)
{
	if (e->sets.raw)
		engine_registers_bind(e->sets.raw, pid);
}

void engine_fold(struct engine *e)
{
	if (e->sets.raw)
		engine_registers_fold(&e->sets);
}

/* Others took the counters for part of the time: all that is known is that. */
static void extend(struct engine_count *count, double total, double share)
{
	count->estimated = true;
	count->estimate.total = total * share;
	count->estimate.low = (double)count->raw;
	count->estimate.high = INFINITY;
}

/*
 * User mode's cycles (cycles:u) tell nothing of what the kernel did: made from
 * them, an estimate would be as far off as the shares of the two vary.
 */
static unsigned int deaf_bases(const struct engine *e, int lane,
			       const struct engine_event *event)
{
	unsigned int deaf = 0;

	for (size_t i = 0; i < e->events->n; i++) {
		const struct engine_event *base = &e->events->event[i];

		if (base->base && base->lane == lane &&
		    ((base->perf.exclude_user && !event->perf.exclude_user) ||
		     (base->perf.exclude_kernel &&
		      !event->perf.exclude_kernel)))
			deaf |= 1u << base->base;
	}
	return deaf;
}

/* @lost: what lost_time() says; slices know nothing of that part. */
static void estimate(const struct engine *e, const struct engine_set *set,
		     size_t place, double lost, struct engine_count *count)
{
	count->estimated = true;
	count->estimate.slices = 0;
	if (engine_timeline_estimate(
		    &e->turns.timeline, set->turn, set->lane, place,
		    deaf_bases(e, set->lane,
			       &e->events->event[set->event[place]]),
		    &count->estimate))
		extend(count, (double)count->raw,
		       (double)count->enabled_ns / (double)count->running_ns);
	else if (lost > 0 && lost < 1)
		extend(count, count->estimate.total, 1 / (1 - lost));
}

/*
 * An emulator that does not count an event says 0 from the beginning: without
 * -icount QEMU does so for instructions. Software increments may well be 0, and
 * so may an interval of NAME:u that the kernel had to itself.
 */
static bool stands_still(const struct engine *e, size_t index, size_t i)
{
	size_t event = e->sets.set[index].event[i];
	const struct upmu_event *what = e->events->event[event].parsed;

	return e->events->emulated && !e->mark[index].count[i] &&
	       (what->is_cycles || what->is_instructions ||
		what->class == UPMU_EVENT_GENERIC);
}

static bool is_due(const struct engine *e, const struct engine_set *set)
{
	if (e->options.pass < 0)
		return true;
	return set->turn == e->options.pass ||
	       (set->turn == ENGINE_ALWAYS && e->options.pass == 0);
}

/* What does not have its turn counts nothing since its last slice ended. */
static bool has_rested(const struct engine *e, size_t index)
{
	int turn = e->sets.set[index].turn;

	return e->has_turns && turn >= 0 &&
	       turn != e->turns.order[e->turns.at] && e->counts_tasks &&
	       !e->sets.raw && !e->turns.before[index].is_lost;
}

static int read_or_recall(const struct engine *e, size_t index,
			  struct engine_reading *now)
{
	if (!has_rested(e, index))
		return engine_set_read(&e->sets, index, now);
	*now = e->turns.before[index];
	return 0;
}

/*
 * What a set has counted since the last time; a set that cannot be read has a
 * reading of no time, and so has the next, which would be of two intervals.
 * Counts with a gap have none either.
 */
static void read_set(struct engine *e, size_t index)
{
	struct engine_reading *mark = &e->mark[index], *since;
	struct engine_reading now;
	size_t n = e->sets.set[index].n;

	since = &e->since[index];
	since->enabled_ns = since->running_ns = 0;
	since->is_lost = true;
	memset(since->count, 0, n * sizeof(*since->count));
	if (read_or_recall(e, index, &now)) {
		mark->is_lost = true;
		return;
	}
	e->is_unseen = e->is_unseen || now.gaps != mark->gaps;
	since->is_lost = mark->is_lost || now.gaps != mark->gaps;
	if (!since->is_lost) {
		since->enabled_ns = now.enabled_ns - mark->enabled_ns;
		since->running_ns = now.running_ns - mark->running_ns;
		for (size_t i = 0; i < n; i++)
			since->count[i] = now.count[i] - mark->count[i];
	}
	*mark = now;
}

/* Of a set that is on all the time, for the times of a lane; NULL: none. */
static const struct engine_reading *base_of(const struct engine *e, int lane)
{
	for (size_t i = 0; i < e->sets.n; i++) {
		const struct engine_set *set = &e->sets.set[i];

		if (set->lane != lane || !set->n || !is_due(e, set))
			continue;
		if (set->turn == ENGINE_ALWAYS || e->options.pass >= 0)
			return &e->since[i];
	}
	return NULL;
}

/* Might tasks have been on a kind of core that nothing is counted on? */
static bool misses_a_kind(const struct engine *e)
{
	const struct engine_events *events = e->events;

	for (size_t lane = 0; lane < events->machine.n_kinds; lane++)
		if (lane >= events->lanes || !base_of(e, (int)lane))
			return e->counts_tasks && events->machine.n_kinds > 1;
	return false;
}

/*
 * perf's clock of a task goes on while the task is on a kind of core that an
 * event is not for. On unlike cores, of the time that a task was wanted, each
 * lane has the part in which it counted; what none of them counted, because
 * others had the counters, is shared out likewise. That is not to be told from
 * the time on a kind that is not counted: then nothing is added.
 */
static double share_of_time(const struct engine *e, uint64_t enabled,
			    uint64_t running, double skew_ns)
{
	if (misses_a_kind(e))
		return 1;
	if (!e->counts_tasks || e->events->lanes < 2 || !running)
		return NAN;
	return (double)upmu_groups_enabled_ns(enabled, running,
					      (uint64_t)skew_ns) /
	       (double)running;
}

static void share_out_time(struct engine *e, double skew_ns)
{
	uint64_t enabled = 0, running = 0;
	size_t lanes = e->events->lanes;
	double share;

	for (size_t lane = 0; lane < lanes; lane++) {
		const struct engine_reading *base = base_of(e, (int)lane);

		e->wanted_ns[lane] = base ? base->enabled_ns : 0;
		if (!base)
			continue;
		running += base->running_ns;
		if (base->enabled_ns > enabled)
			enabled = base->enabled_ns;
	}
	share = share_of_time(e, enabled, running, skew_ns);
	for (size_t lane = 0; lane < lanes && isfinite(share); lane++) {
		const struct engine_reading *base = base_of(e, (int)lane);

		if (base)
			e->wanted_ns[lane] =
				(uint64_t)((double)base->running_ns * share);
	}
}

/* For how long events were on, or had their turns, since the mark. */
static double on_since_ns(const struct engine *e)
{
	double end = e->is_paused ? e->paused_ns : engine_now_ns();

	return fmax(end - e->mark_ns, 0);
}

static uint64_t wanted_of(const struct engine *e, size_t index)
{
	const struct engine_set *set = &e->sets.set[index];

	if (set->lane >= 0 && base_of(e, set->lane))
		return e->wanted_ns[set->lane];
	/* A set's own clock stands while others have their turn. */
	if (set->turn >= 0 && e->options.pass < 0)
		return (uint64_t)on_since_ns(e);
	return e->since[index].enabled_ns;
}

/* The part of a lane's time in which others had even what is always on. */
static double lost_time(const struct engine *e, int lane)
{
	const struct engine_reading *base = lane >= 0 ? base_of(e, lane) : NULL;

	if (!base || e->wanted_ns[lane] <= base->running_ns)
		return 0;
	return 1 - (double)base->running_ns / (double)e->wanted_ns[lane];
}

static double most_lost_time(const struct engine *e)
{
	double most = 0;

	for (size_t lane = 0; lane < e->events->lanes; lane++)
		most = fmax(most, lost_time(e, (int)lane));
	return most;
}

/* Did others have counters of any kind of core, or may they have had? */
static bool may_lack_time(const struct engine *e)
{
	return most_lost_time(e) >= ENGINE_LOST_LEAST || misses_a_kind(e);
}

/* No task was there to be counted, or all were on another kind of core. */
static bool was_idle(const struct engine *e, const struct engine_reading *since,
		     uint64_t wanted_ns)
{
	return e->counts_tasks && !e->sets.raw && !since->is_lost &&
	       !wanted_ns && !since->running_ns &&
	       !(since->enabled_ns && may_lack_time(e));
}

static void store(const struct engine *e, size_t index,
		  struct engine_count *counts)
{
	const struct engine_set *set = &e->sets.set[index];
	const struct engine_reading *reading = &e->since[index];
	uint64_t wanted_ns = wanted_of(e, index);
	double lost = lost_time(e, set->lane);

	for (size_t i = 0; i < set->n; i++) {
		struct engine_count *count = &counts[set->event[i]];

		count->raw = reading->count[i];
		count->enabled_ns = wanted_ns;
		count->running_ns = reading->running_ns;
		count->estimated = false;
		count->is_idle = was_idle(e, reading, wanted_ns);
		count->state = ENGINE_COUNTED;
		if (!reading->running_ns)
			count->state = ENGINE_NOT_COUNTED;
		else if (stands_still(e, index, i))
			count->state = ENGINE_NOT_EMULATED;
		else if (set->turn >= 0 && e->options.pass < 0)
			estimate(e, set, i, lost, count);
		else if (reading->running_ns < wanted_ns)
			extend(count, (double)count->raw,
			       (double)wanted_ns / (double)reading->running_ns);
	}
}

/* Events that no set holds keep the state that packing gave them. */
static void reset(const struct engine *e, struct engine_count *counts)
{
	for (size_t i = 0; e->options.pass <= 0 && i < e->events->n; i++) {
		enum engine_state state = e->events->event[i].state;

		counts[i] = (struct engine_count){
			.state = state == ENGINE_COUNTED ? ENGINE_NOT_COUNTED
							 : state,
		};
	}
}

void engine_collect(struct engine *e, struct engine_count *counts)
{
	double before = engine_now_ns(), took;
	double elapsed_ns = on_since_ns(e) - e->skew_ns;

	reset(e, counts);
	e->is_unseen = false;
	for (size_t i = 0; i < e->sets.n; i++)
		if (is_due(e, &e->sets.set[i]))
			read_set(e, i);
	if (e->is_started)
		engine_cpus_look(&e->sets, elapsed_ns);
	took = engine_now_ns() - before;
	if (e->has_turns)
		engine_turns_rest(&e->turns, e->mark);
	share_out_time(e, took + e->skew_ns);
	e->skew_ns = took;
	for (size_t i = 0; i < e->sets.n; i++)
		if (is_due(e, &e->sets.set[i]))
			store(e, i, counts);
	e->mark_ns = engine_now_ns();
}

void engine_tell_lost(const struct engine *e, uint64_t *cpus)
{
	for (size_t t = 0; t < e->sets.targets; t++)
		if (engine_cpu_is_lost(&e->sets, t))
			cpus[e->sets.cpu[t].number / 64] |=
				UINT64_C(1) << e->sets.cpu[t].number % 64;
}

/* The core's counters, where the list wanted less than there are. */
static unsigned int counters_of(const struct engine_events *events, size_t lane)
{
	const struct upmu_core_kind *kind = &events->machine.kinds[lane];
	unsigned int wanted = events->room[lane].counters, table = 0;

	if (lane < events->machine.n_kinds && kind->core)
		table = upmu_core_counters(kind->core);
	return table > wanted ? table : wanted;
}

/* Of unlike cores each lane has a part of the time, software events all. */
double engine_covered_ns(const struct engine *e,
			 const struct engine_count *counts)
{
	double part[UPMU_KINDS_MAX] = { 0 }, all = 0, sum = 0;

	for (size_t i = 0; i < e->events->n; i++) {
		int lane = e->events->event[i].lane;
		double *most = lane < 0 ? &all : &part[lane];

		*most = fmax(*most, (double)counts[i].enabled_ns);
	}
	for (size_t lane = 0; lane < e->events->lanes; lane++)
		sum += part[lane];
	/* The kernel's own events count on each kind. */
	if (misses_a_kind(e))
		return all > 0 ? all : INFINITY;
	return fmax(all, sum);
}

void engine_tell_others(const struct engine *e, struct engine_others *others)
{
	const struct engine_events *events = e->events;

	*others = (struct engine_others){ .lost = most_lost_time(e),
					  .unseen = e->is_unseen };
	for (size_t lane = 0; lane < events->lanes; lane++) {
		const struct engine_room *room = &events->room[lane];

		if (room->free == room->counters || others->taken)
			continue;
		others->counters = counters_of(events, lane);
		others->taken = others->counters - room->free;
	}
}

void engine_others_most(struct engine_others *most,
			const struct engine_others *here)
{
	if (here->taken > most->taken) {
		most->taken = here->taken;
		most->counters = here->counters;
	}
	most->lost = fmax(most->lost, here->lost);
	most->unseen = most->unseen || here->unseen;
}

void engine_tell_pace(const struct engine *e, struct engine_pace *pace)
{
	*pace = (struct engine_pace){ .turns = e->sets.turns };
	if (!e->has_turns)
		return;
	pace->slices = e->turns.timeline.slices;
	pace->switching = engine_turns_cost(&e->turns);
	pace->slice_ms = engine_turns_time(&e->turns) / 1e6 /
			 (double)(pace->slices + !pace->slices);
}
