// SPDX-License-Identifier: MIT
/* The counting of one run: switched on and off, its counts collected. */
#include <math.h>

#include "lib/engine/clock.h"
#include "run.h"

int run_start_counting(struct stat_run *run, bool by_exec)
{
	int error = 0;

	run->enable_ns = INFINITY;
	if (run->is_on)
		return 0;
	run->on_ns = engine_now_ns();
	for (size_t i = 0; i < run->places && !error; i++) {
		struct engine *engine = &run->place[i].engine;

		if (run->was_started)
			engine_resume(engine);
		else
			error = engine_start(engine, by_exec);
	}
	run->was_started = run->is_on = true;
	return error;
}

void run_start_late(struct stat_run *run)
{
	if (run->error)
		return;
	run->error = run_start_counting(run, false);
	if (!run->error)
		return;
	run->interval_ns = INFINITY;
	run->ended = run->ended || !run->has_child;
}

void run_stop_counting(struct stat_run *run)
{
	run->enable_ns = INFINITY;
	if (!run->is_on)
		return;
	for (size_t i = 0; i < run->places; i++)
		engine_pause(&run->place[i].engine);
	run->is_on = false;
	run->counted_ns += engine_now_ns() - run->on_ns;
}

/* Of unlike cores' CPUs some need no turns: the pace is of most sets. */
static void add_told(struct stat_report *report, const struct engine *engine)
{
	struct engine_others others;
	struct engine_pace pace;

	engine_tell_others(engine, &others);
	engine_others_most(&report->others, &others);
	engine_tell_pace(engine, &pace);
	if (pace.turns >= report->pace.turns)
		report->pace = pace;
	engine_tell_lost(engine, report->lost);
}

/*
 * Between two turns, so that no set counts while sets are read. A program that
 * has ended counts nothing more: that saves it a call.
 */
static void collect_place(struct stat_run *run, struct stat_place *place)
{
	bool more = run->report->options->interval_ms && !run->ended;

	if (run->was_started && (more || run->targets->n))
		engine_turn_end(&place->engine);
	else if (run->was_started)
		engine_turn(&place->engine, false);
	if (place == run->place)
		run->collected_ns = engine_now_ns();
	engine_collect(&place->engine, place->count);
	if (run->was_started && more)
		engine_turn_begin(&place->engine);
}

void run_collect(struct stat_run *run)
{
	struct stat_report *report = run->report;

	report->others = (struct engine_others){ 0 };
	report->pace = (struct engine_pace){ 0 };
	for (size_t i = 0; i < run->places; i++) {
		struct stat_place *place = &run->place[i];

		collect_place(run, place);
		add_told(report, &place->engine);
		if (place->sum)
			stat_sum_add(place->sum, place->count,
				     place->events->n);
	}
	stat_targets_missed(run->targets, report->options, report->missed);
	run->covered_s +=
		engine_covered_ns(&run->place->engine, run->place->count) / 1e9;
	if (run->is_on)
		run->counted_ns += run->collected_ns - run->on_ns;
	report->length_s = run->counted_ns / 1e9;
	report->whole_s += report->length_s;
	run->counted_ns = 0;
	run->on_ns = run->collected_ns;
}
