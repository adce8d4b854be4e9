// SPDX-License-Identifier: MIT
/*
 * From readings to a report: how long a set was wanted, on unlike cores too.
 * The readings are made up; a cycle is a nanosecond on each kind of core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/engine/clock.h"
#include "lib/engine/engine.h"
#include "lib/engine/sets.h"
#include "readings.h"

static void collect(size_t lane, uint64_t enabled_ns, uint64_t running_ns)
{
	tell(lane, enabled_ns, running_ns);
	engine_collect(&engine, count);
}

static void assert_raw(size_t index, uint64_t raw)
{
	assert_int_equal(count[index].state, ENGINE_COUNTED);
	assert_false(count[index].estimated);
	assert_int_equal(count[index].raw, raw);
}

static void assert_extended(size_t index, double total)
{
	assert_int_equal(count[index].state, ENGINE_COUNTED);
	assert_true(count[index].estimated);
	assert_true(fabs(count[index].estimate.total - total) < total / 1e4);
}

static void a_program_half_on_each_kind_of_core_is_not_doubled(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 5 * MS);
	collect(BIG, 10 * MS, 5 * MS);
	assert_raw(LITTLE, 5 * MS);
	assert_raw(BIG, 5 * MS);
	assert_true(engine_covered_ns(&engine, count) == 10 * MS);
}

static void a_program_on_one_kind_leaves_the_other_uncounted(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 10 * MS);
	collect(BIG, 10 * MS, 0);
	assert_raw(LITTLE, 10 * MS);
	assert_int_equal(count[BIG].state, ENGINE_NOT_COUNTED);
}

/* Of two kinds the list names one: where else it was nobody counted. */
static void time_on_a_kind_that_is_not_asked_for_is_no_lost_time(void **state)
{
	struct engine_others others;

	(void)state;
	for (int on_it = 0; on_it < 2; on_it++)
		for (int lane = LITTLE; lane <= BIG; lane++) {
			begin_run(1);
			events.machine.n_kinds = 2;
			event[0].lane = set[0].lane = lane;
			events.lanes = (size_t)lane + 1;
			collect(0, 10 * MS, on_it ? 4 * MS : 0);
			if (on_it)
				assert_raw(0, 4 * MS);
			else
				assert_int_equal(count[0].state,
						 ENGINE_NOT_COUNTED);
			engine_tell_others(&engine, &others);
			assert_true(others.lost == 0);
			assert_true(isinf(engine_covered_ns(&engine, count)));
		}
}

static bool is_idle(size_t lane, uint64_t enabled_ns, uint64_t running_ns)
{
	collect(lane, enabled_ns, running_ns);
	return count[lane].is_idle;
}

/* Nothing ran: the count is 0. Else it is not known. */
static void what_nobody_was_there_for_is_idle(void **state)
{
	(void)state;
	begin_run(1);
	assert_true(is_idle(0, 0, 0));
	assert_int_equal(count[0].state, ENGINE_NOT_COUNTED);
	assert_false(is_idle(0, 10 * MS, 0));
	assert_true(is_idle(0, 10 * MS, 0));
	assert_false(is_idle(0, 12 * MS, 2 * MS));
	/* What could not be read may have counted, then or since. */
	fails[0] = true;
	assert_false(is_idle(0, 12 * MS, 2 * MS));
	fails[0] = false;
	assert_false(is_idle(0, 14 * MS, 4 * MS));
	assert_true(is_idle(0, 14 * MS, 4 * MS));
	/* A CPU's clock stands when it is off. */
	engine.counts_tasks = false;
	assert_false(is_idle(0, 14 * MS, 4 * MS));
}

static void on_unlike_cores_the_other_kind_is_idle(void **state)
{
	(void)state;
	begin_run(2);
	events.machine.n_kinds = 2;
	tell(LITTLE, 10 * MS, 10 * MS);
	assert_true(is_idle(BIG, 10 * MS, 0));
	/* Not so where others had the counters for a part of the time. */
	tell(LITTLE, 20 * MS, 15 * MS);
	assert_false(is_idle(BIG, 20 * MS, 0));
	/* Of one alone: it may be there while others have the counters. */
	begin_run(1);
	events.machine.n_kinds = 2;
	assert_false(is_idle(LITTLE, 10 * MS, 0));
	assert_true(is_idle(LITTLE, 10 * MS, 0));
}

static void software_events_see_what_both_kinds_of_core_do(void **state)
{
	(void)state;
	begin_run(2);
	event[LITTLE].lane = 0;
	event[BIG].lane = ENGINE_NO_LANE;
	count[LITTLE].enabled_ns = 4 * MS;
	count[BIG].enabled_ns = 10 * MS;
	assert_true(engine_covered_ns(&engine, count) == 10 * MS);
}

/* Half of the time others had the counters of both kinds. */
static void lost_time_is_shared_out(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 4 * MS);
	collect(BIG, 10 * MS, 1 * MS);
	assert_extended(LITTLE, 8 * MS);
	assert_extended(BIG, 2 * MS);
}

/* Of times that differ, the longest is that of the program. */
static void the_longest_time_of_a_kind_is_shared_out(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 4 * MS);
	collect(BIG, 8 * MS, 1 * MS);
	assert_extended(LITTLE, 8 * MS);
	assert_extended(BIG, 2 * MS);
}

/* Attached sets are started and read one after another. */
static void what_reading_takes_is_no_lost_time(void **state)
{
	(void)state;
	begin_run(2);
	engine.skew_ns = 2000;
	tell(LITTLE, 10 * MS, 5 * MS);
	collect(BIG, 10 * MS + 1500, 5 * MS - 1500);
	assert_raw(LITTLE, 5 * MS);
	assert_raw(BIG, 5 * MS - 1500);
}

static void each_interval_has_its_own_times(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 10 * MS);
	collect(BIG, 10 * MS, 0);
	tell(LITTLE, 20 * MS, 12 * MS);
	collect(BIG, 20 * MS, 8 * MS);
	assert_raw(LITTLE, 2 * MS);
	assert_raw(BIG, 8 * MS);
}

/* Two threads at a time, one on each kind. */
static void threads_on_both_kinds_add_up(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 20 * MS, 10 * MS);
	collect(BIG, 20 * MS, 10 * MS);
	assert_raw(LITTLE, 10 * MS);
	assert_raw(BIG, 10 * MS);
}

static void in_passes_each_pass_has_its_own_times(void **state)
{
	(void)state;
	begin_run(4);
	events.lanes = 2;
	for (size_t i = 2; i < 4; i++) {
		set[i].turn = 1;
		set[i].lane = (int)i - 2;
	}
	engine.sets.turns = 2;
	engine.options.pass = 1;
	tell(2, 10 * MS, 5 * MS);
	collect(3, 10 * MS, 5 * MS);
	assert_raw(2, 5 * MS);
	assert_raw(3, 5 * MS);
}

static void cpus_have_times_of_their_own(void **state)
{
	(void)state;
	begin_run(2);
	engine.counts_tasks = false;
	tell(LITTLE, 10 * MS, 10 * MS);
	collect(BIG, 10 * MS, 5 * MS);
	assert_raw(LITTLE, 10 * MS);
	assert_extended(BIG, 10 * MS);
}

static void on_like_cores_lost_time_is_extended(void **state)
{
	(void)state;
	begin_run(1);
	collect(0, 10 * MS, 5 * MS);
	assert_extended(0, 10 * MS);
}

#define WIDTH 5

/* Set 1 takes turns, and one row of the timeline counted it: all of 4 ms. */
static void begin_turns(double *row, size_t rows)
{
	static struct engine_reading before[2];
	static struct engine_slice slice[1];
	static int order[] = { 0, 1 };

	begin_run(2);
	memset(before, 0, sizeof(before));
	events.lanes = 1;
	set[1].turn = 0;
	set[1].lane = 0;
	engine.sets.turns = 1;
	engine.has_turns = true;
	row[0] = 0;	 /* the turn */
	row[1] = 4 * MS; /* time */
	row[2] = 4 * MS; /* cycles */
	row[3] = NAN;	 /* instructions */
	row[4] = 4 * MS; /* the count */
	before[0] = (struct engine_reading){ .running_ns = 4 * MS,
					     .count = { 4 * MS } };
	event[0].base = ENGINE_BASE_CYCLES;
	engine.turns = (struct engine_turns){
		.sets = &engine.sets,
		.events = &events,
		.before = before,
		.slice = slice,
		.order = order,
		.timeline = { .row = row,
			      .n = rows,
			      .most = 2,
			      .width = WIDTH,
			      .lanes = 1,
			      .counts = 1 },
	};
}

/* Off since its slice ended, when it was read: a call that nothing needs. */
static void
a_set_that_rests_is_read_again_only_if_its_slice_was_not(void **state)
{
	double row[2 * WIDTH];

	(void)state;
	begin_turns(row, 1);
	tell(0, 4 * MS, 4 * MS);
	tell(1, 4 * MS, 4 * MS);
	engine.turns.before[1] = told[1];
	fails[1] = true;
	engine.turns.at = 1;
	engine_collect(&engine, count);
	assert_int_equal(count[1].raw, 4 * MS);
	engine.turns.before[1].is_lost = true;
	tell(1, 5 * MS, 5 * MS);
	fails[1] = false;
	engine_collect(&engine, count);
	assert_int_equal(count[1].raw, 1 * MS);
	/* The one whose turn it is counts all the time. */
	engine.turns.before[1].is_lost = false;
	engine.turns.at = 0;
	collect(1, 6 * MS, 6 * MS);
	assert_int_equal(count[1].raw, 1 * MS);
}

static void what_the_base_lost_is_added_to_estimates(void **state)
{
	double row[2 * WIDTH];
	struct engine_others others;

	(void)state;
	begin_turns(row, 1);
	tell(0, 8 * MS, 4 * MS);
	collect(1, 4 * MS, 4 * MS);
	assert_extended(0, 8 * MS);
	assert_extended(1, 8 * MS);
	assert_true(isinf(count[1].estimate.high));
	assert_true(count[1].estimate.low == 4 * MS);
	engine_tell_others(&engine, &others);
	assert_true(fabs(others.lost - 0.5) < 1e-9);
}

static void where_nothing_was_lost_the_slices_bounds_stand(void **state)
{
	double row[2 * WIDTH];

	(void)state;
	begin_turns(row, 2);
	memcpy(row + WIDTH, row, WIDTH * sizeof(*row));
	tell(0, 8 * MS, 8 * MS);
	engine.turns.before[0] = told[0];
	collect(1, 8 * MS, 8 * MS);
	assert_extended(1, 8 * MS);
	assert_int_equal(count[1].estimate.slices, 2);
	assert_true(count[1].estimate.high == 8 * MS);
}

/* No slice has it, as the base did not run in its turns; but it was counted. */
static void
a_set_that_ran_without_the_base_is_extended_by_its_time(void **state)
{
	double row[2 * WIDTH];

	(void)state;
	begin_turns(row, 0);
	tell(0, 10 * MS, 8 * MS);
	collect(1, 2 * MS, 2 * MS);
	assert_extended(1, 10 * MS);
	assert_true(isinf(count[1].estimate.high));
	assert_int_equal(count[1].estimate.slices, 0);
}

/* Of the slice that counted a quarter was user mode's, of the other three. */
static void user_modes_cycles_tell_nothing_of_the_kernel(void **state)
{
	double row[2 * WIDTH];

	(void)state;
	for (int user = 0; user < 2; user++) {
		begin_turns(row, 2);
		row[2] = 1 * MS;
		memcpy(row + WIDTH, row, WIDTH * sizeof(*row));
		row[WIDTH] = 1;
		row[WIDTH + 2] = 3 * MS;
		event[0].perf.exclude_kernel = true;
		event[1].perf.exclude_kernel = user;
		tell(0, 8 * MS, 8 * MS);
		engine.turns.before[0] = told[0];
		collect(1, 4 * MS, 4 * MS);
		assert_extended(1, (user ? 16 : 8) * MS);
	}
}

/* Another process had the CPU before the whole was read. */
static void what_ran_after_the_last_slice_is_estimated_too(void **state)
{
	double row[2 * WIDTH];

	(void)state;
	begin_turns(row, 1);
	tell(0, 10 * MS, 10 * MS);
	collect(1, 4 * MS, 4 * MS);
	assert_raw(0, 10 * MS);
	assert_extended(1, 10 * MS);
	assert_int_equal(engine.turns.timeline.n, 2);
	/* The next interval begins where this one ended. */
	engine_forget_slices(&engine);
	engine_collect(&engine, count);
	assert_int_equal(engine.turns.timeline.n, 0);
}

/* Set 0 is always on, sets 1 and 2 have a pass each, 3 is the kernel's. */
static void each_pass_tells_of_its_own_sets_alone(void **state)
{
	(void)state;
	begin_run(4);
	events.lanes = 1;
	for (size_t i = 1; i < 4; i++) {
		set[i].lane = i < 3 ? 0 : ENGINE_NO_LANE;
		set[i].turn = i < 3 ? (int)i - 1 : ENGINE_ALWAYS;
	}
	engine.sets.turns = 2;
	for (size_t i = 0; i < 4; i++)
		tell(i, 10 * MS, i == 1 ? 5 * MS : 10 * MS);
	engine.options.pass = 0;
	engine_collect(&engine, count);
	assert_raw(0, 10 * MS);
	assert_extended(1, 10 * MS);
	assert_int_equal(count[2].state, ENGINE_NOT_COUNTED);
	assert_raw(3, 10 * MS);
	for (size_t i = 0; i < 4; i++)
		if (i != 2)
			count[i].raw = 1;
	engine.options.pass = 1;
	collect(2, 10 * MS, 4 * MS);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(count[i].raw, i == 2 ? 4 * MS : 1);
	assert_extended(2, 10 * MS);
}

static void what_packing_said_of_an_event_stays(void **state)
{
	(void)state;
	begin_run(2);
	event[1].state = ENGINE_NOT_SUPPORTED;
	engine.sets.n = 1;
	collect(0, 10 * MS, 10 * MS);
	assert_raw(0, 10 * MS);
	assert_int_equal(count[1].state, ENGINE_NOT_SUPPORTED);
	engine.sets.n = 0;
	engine_collect(&engine, count);
	assert_int_equal(count[0].state, ENGINE_NOT_COUNTED);
}

/* Its own clock stands while others have their turn; the kernel's goes on. */
static void without_a_base_a_turn_was_wanted_all_the_time(void **state)
{
	double row[2 * WIDTH];

	(void)state;
	begin_turns(row, 0);
	set[0].lane = ENGINE_NO_LANE;
	engine.mark_ns = now_ns - 200 * MS;
	tell(0, 10 * MS, 5 * MS);
	collect(1, 4 * MS, 4 * MS);
	assert_extended(0, 10 * MS);
	assert_extended(1, 200 * MS);
	/* In passes it has no other clock. */
	begin_turns(row, 0);
	set[0].lane = ENGINE_NO_LANE;
	engine.options.pass = 0;
	engine.mark_ns = now_ns - 200 * MS;
	collect(1, 4 * MS, 2 * MS);
	assert_extended(1, 4 * MS);
}

static void a_full_set_is_told_to_its_last_event(void **state)
{
	struct engine_event full[ENGINE_SET_MAX] = { 0 };
	struct engine_count counts[ENGINE_SET_MAX];

	(void)state;
	begin_run(1);
	events.event = full;
	events.n = set[0].n = ENGINE_SET_MAX;
	for (uint16_t i = 0; i < ENGINE_SET_MAX; i++)
		set[0].event[i] = i;
	for (uint64_t part = 1; part <= 2; part++) {
		tell(0, part * 10 * MS, part * 10 * MS);
		for (size_t i = 0; i < ENGINE_SET_MAX; i++)
			told[0].count[i] = part * (1000 + i);
		engine_collect(&engine, counts);
		for (size_t i = 0; i < ENGINE_SET_MAX; i++)
			assert_int_equal(counts[i].raw, 1000 + i);
	}
}

static void assert_unseen(bool unseen)
{
	struct engine_others here, most = { 0 };

	engine_tell_others(&engine, &here);
	engine_others_most(&most, &here);
	engine_others_most(&most, &(struct engine_others){ 0 });
	assert_int_equal(most.unseen, unseen);
}

static void an_interval_that_was_not_read_is_in_no_other(void **state)
{
	(void)state;
	begin_run(1);
	tell(0, 10 * MS, 10 * MS);
	engine_collect(&engine, count);
	assert_raw(0, 10 * MS);
	fails[0] = true;
	engine_collect(&engine, count);
	assert_int_equal(count[0].state, ENGINE_NOT_COUNTED);
	assert_int_equal(count[0].raw, 0); /* and not what was told before */
	fails[0] = false;
	collect(0, 20 * MS, 20 * MS);
	assert_int_equal(count[0].state, ENGINE_NOT_COUNTED);
	assert_unseen(false);
	tell(0, 30 * MS, 30 * MS);
	told[0].gaps = 1;
	engine_collect(&engine, count);
	assert_int_equal(count[0].state, ENGINE_NOT_COUNTED);
	assert_unseen(true);
	tell(0, 40 * MS, 40 * MS);
	told[0].gaps = 1;
	engine_collect(&engine, count);
	assert_raw(0, 10 * MS);
	assert_unseen(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_program_half_on_each_kind_of_core_is_not_doubled),
		cmocka_unit_test(what_nobody_was_there_for_is_idle),
		cmocka_unit_test(on_unlike_cores_the_other_kind_is_idle),
		cmocka_unit_test(
			time_on_a_kind_that_is_not_asked_for_is_no_lost_time),
		cmocka_unit_test(
			a_program_on_one_kind_leaves_the_other_uncounted),
		cmocka_unit_test(
			software_events_see_what_both_kinds_of_core_do),
		cmocka_unit_test(lost_time_is_shared_out),
		cmocka_unit_test(the_longest_time_of_a_kind_is_shared_out),
		cmocka_unit_test(what_reading_takes_is_no_lost_time),
		cmocka_unit_test(each_interval_has_its_own_times),
		cmocka_unit_test(threads_on_both_kinds_add_up),
		cmocka_unit_test(in_passes_each_pass_has_its_own_times),
		cmocka_unit_test(cpus_have_times_of_their_own),
		cmocka_unit_test(on_like_cores_lost_time_is_extended),
		cmocka_unit_test(
			a_set_that_rests_is_read_again_only_if_its_slice_was_not),
		cmocka_unit_test(what_the_base_lost_is_added_to_estimates),
		cmocka_unit_test(
			a_set_that_ran_without_the_base_is_extended_by_its_time),
		cmocka_unit_test(
			what_ran_after_the_last_slice_is_estimated_too),
		cmocka_unit_test(user_modes_cycles_tell_nothing_of_the_kernel),
		cmocka_unit_test(an_interval_that_was_not_read_is_in_no_other),
		cmocka_unit_test(each_pass_tells_of_its_own_sets_alone),
		cmocka_unit_test(what_packing_said_of_an_event_stays),
		cmocka_unit_test(without_a_base_a_turn_was_wanted_all_the_time),
		cmocka_unit_test(a_full_set_is_told_to_its_last_event),
		cmocka_unit_test(
			where_nothing_was_lost_the_slices_bounds_stand),
	};

	return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
