// SPDX-License-Identifier: MIT
/*
 * Whose turn it is, for how long, and what of it becomes a slice of the run: by
 * made-up clocks.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "made_up.h"

#define CYCLES_A_NS 3

static double cpu_ns;

double __wrap_engine_clock_ns(clockid_t clock);
double __wrap_engine_clock_ns(clockid_t clock)
{
	assert_int_equal(clock, CLOCK_PROCESS_CPUTIME_ID);
	return cpu_ns;
}

/* Sets 1 to @turns take turns of 4 ms beside the base; nothing is open. */
static struct engine_turns *begin_slices(size_t turns)
{
	make_up(0);
	event[0].base = ENGINE_BASE_CYCLES;
	events = (struct engine_events){ .event = event,
					 .n = 1 + turns,
					 .lanes = 1 };
	engine = (struct engine){
		.events = &events,
		.has_turns = true,
		.sets = { .set = set, .n = 1 + turns, .turns = turns },
		.options = { .pass = -1 }
	};
	for (size_t i = 0; i <= turns; i++)
		set[i] = (struct engine_set){ .turn = i ? (int)i - 1
							: ENGINE_ALWAYS,
					      .n = 1,
					      .event = { i } };
	cpu_ns = 5e6;
	assert_int_equal(
		engine_turns_start(&engine.turns, &engine.sets, &events, 4), 0);
	return &engine.turns;
}

/* With the seed of his "Xorshift RNGs" (2003), as Python reckons it. */
static void slices_are_varied_by_marsaglias_generator(void **state)
{
	struct engine_turns *turns = begin_slices(2);

	(void)state;
	turns->random = UINT64_C(88172645463325252);
	engine_turns_begin(turns, now_ns);
	assert_true(turns->random == UINT64_C(8748534153485358512));
	engine_turns_resume(turns);
	assert_true(turns->random == UINT64_C(3040900993826735515));
	engine_turns_free(turns);
	/* One that began at 0 would stay there. */
	now_ns = 0;
	engine_turns_start(turns, &engine.sets, &events, 4);
	assert_true(turns->random);
	engine_turns_free(turns);
}

/* What the slice that was begun at @now has of @mean: 0.5 to 1.5. */
static double share_of(struct engine_turns *turns, double now, double mean)
{
	turns->window = 0;
	engine_turns_begin(turns, now);
	assert_true(turns->begin_ns == now);
	return (turns->end_ns - now) / mean;
}

/* Each is half as long as the mean at least, and half as long again. */
static void assert_mean(struct engine_turns *turns, double now, double mean)
{
	double least = INFINITY, most = 0, sum = 0;

	for (size_t i = 0; i < 1000; i++) {
		double share = share_of(turns, now, mean);

		least = fmin(least, share);
		most = fmax(most, share);
		sum += share;
	}
	assert_true(least >= 0.5 && least < 0.51);
	assert_true(most < 1.5 && most > 1.49);
	assert_true(fabs(sum / 1000 - 1) < 0.04);
}

static void slices_begin_short_and_grow_with_the_time(void **state)
{
	struct engine_turns *turns = begin_slices(2);
	double start = now_ns;

	(void)state;
	assert_true(turns->end_ns - start >= 0.5 * 4 * MS / 32);
	assert_true(turns->end_ns - start < 1.5 * 4 * MS / 32);
	assert_mean(turns, start, 4 * MS / 32.);
	assert_mean(turns, start + 40 * MS, 1 * MS);
	assert_mean(turns, start + 160 * MS, 4 * MS);
	assert_mean(turns, start + 9000. * MS, 4 * MS);
	/* A switch that takes long wants more of them at first, too. */
	turns->switch_ns = MS / 30;
	assert_mean(turns, start, 60 * (MS / 30));
	turns->switch_ns = MS;
	assert_mean(turns, start, 4 * MS);
	engine_turns_free(turns);
}

/* Each set once in a round; each of the six orders as often as another. */
static void rounds_are_in_any_order(void **state)
{
	struct engine_turns *turns = begin_slices(3);
	unsigned int seen[27] = { 0 };

	(void)state;
	for (size_t round = 0; round < 600; round++) {
		const int *order = turns->order;

		seen[order[0] * 9 + order[1] * 3 + order[2]]++;
		assert_int_equal(1 << order[0] | 1 << order[1] | 1 << order[2],
				 7);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(turns->at, i);
			share_of(turns, now_ns, 1);
		}
	}
	for (size_t i = 0; i < 27; i++)
		assert_true(!seen[i] || (seen[i] > 60 && seen[i] < 140));
	engine_turns_free(turns);
}

/* Twelve switches of @cpu ns each in slices of 10 ms; what slices are then. */
static double slices_after(struct engine_turns *turns, double cpu)
{
	for (size_t i = 0; i < 12; i++) {
		now_ns += 10 * MS;
		cpu_ns += cpu;
		engine_turns_begin(turns, now_ns);
		if (i < 11)
			assert_int_equal(turns->window, i + 1);
	}
	assert_int_equal(turns->window, 0);
	assert_true(fabs(turns->switch_ns - cpu) < 1e-3);
	return turns->slice_ns;
}

/* The bar is 1 %: of 10 ms, 0.1 ms. */
static void what_costs_too_much_is_switched_less_often(void **state)
{
	static const struct {
		double cpu, longer;
	} cost[] = { { 0, 1 },	      { 99000, 1 },	{ 100000, 1 },
		     { 101000, 1.2 }, { 115000, 1.2 },	{ 150000, 1.5 },
		     { 350000, 3.5 }, { 399000, 3.99 }, { 500000, 4 } };
	struct engine_turns *turns;

	(void)state;
	for (size_t i = 0; i < sizeof(cost) / sizeof(*cost); i++) {
		turns = begin_slices(2);
		/* Long enough for slices to have grown; to the ns. */
		now_ns = turns->window_ns = turns->start_ns + 160 * MS;
		assert_true(fabs(slices_after(turns, cost[i].cpu) -
				 cost[i].longer * 4 * MS) < 1);
		engine_turns_free(turns);
	}
}

static void short_slices_of_the_beginning_say_nothing_of_the_cost(void **state)
{
	struct engine_turns *turns = begin_slices(2);

	(void)state;
	/* They begin at 0 and 120 ms; slices of 4 ms have grown at 160. */
	for (size_t i = 0; i < 2; i++)
		assert_true(slices_after(turns, 400000) == 4 * MS);
	assert_true(fabs(slices_after(turns, 400000) - 16 * MS) < 1);
	/* It was lengthened for that: 640 ms are not over yet. */
	assert_true(fabs(slices_after(turns, 400000) - 16 * MS) < 1);
	engine_turns_free(turns);
}

static void no_slice_is_longer_than_a_second(void **state)
{
	struct engine_turns *turns = begin_slices(2);

	(void)state;
	turns->slice_ns = 900. * MS;
	now_ns = turns->window_ns = turns->start_ns + 1e11;
	assert_true(slices_after(turns, 400000) == 1000. * MS);
	engine_turns_free(turns);
}

/* --control: off for longer than on. */
static void a_pause_is_in_no_cost_and_no_slices_length(void **state)
{
	struct engine_turns *turns = begin_slices(2);
	struct engine_pace pace;

	(void)state;
	now_ns += 100 * MS;
	cpu_ns += MS;
	assert_true(fabs(engine_turns_cost(turns) - 0.01) < 1e-6);
	engine_pause(&engine);
	now_ns += 300 * MS;
	cpu_ns += 7 * MS;
	engine_tell_pace(&engine, &pace);
	assert_true(fabs(pace.switching - 0.01) < 1e-4);
	assert_true(fabs(pace.slice_ms - 100) < 0.1);
	assert_true(isinf(engine_due_ns(&engine)));
	/* Nobody's turn ends or begins meanwhile. */
	engine_turn(&engine, true);
	engine_turn_end(&engine);
	engine_turn_begin(&engine);
	assert_int_equal(turns->timeline.slices, 1);
	assert_int_equal(turns->at, 0);
	engine_resume(&engine);
	assert_true(engine_due_ns(&engine) < now_ns + 6 * MS);
	cpu_ns += 3 * MS;
	now_ns += 100 * MS;
	assert_true(fabs(engine_turns_cost(turns) - 0.02) < 1e-4);
	engine_turn_end(&engine);
	engine_tell_pace(&engine, &pace);
	assert_int_equal(pace.slices, 2);
	assert_true(fabs(pace.slice_ms - 100) < 0.1);
	/* Nor is it in the window by which slices are lengthened. */
	assert_true(fabs(now_ns - turns->window_ns - 200 * MS) < 1e5);
	assert_true(fabs(cpu_ns - turns->window_cpu_ns - 4 * MS) < 1e-3);
	engine_turns_free(turns);
}

/* The row that the slice which ends now is kept as. */
static const double *end_slice_of(uint64_t base_ns, uint64_t own_ns,
				  uint64_t count)
{
	struct engine_turns *turns = &engine.turns;
	size_t on = 1 + (size_t)turns->order[turns->at];

	now_ns += (double)base_ns;
	told[0].running_ns += base_ns;
	told[0].count[0] += CYCLES_A_NS * base_ns;
	told[on].running_ns += own_ns;
	told[on].count[0] += count;
	engine_turns_next(turns, true);
	return turns->timeline.row +
	       (turns->timeline.n - 1) * turns->timeline.width;
}

/* What always counts is read after the others were switched off. */
static void a_slice_is_of_the_bases_time(void **state)
{
	struct engine_turns *turns = begin_slices(2);

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		uint64_t ns = (5 + i) * MS;
		int turn = turns->order[turns->at];
		const double *row = end_slice_of(ns, ns / 5 * 4, 1000 + i);

		assert_true(row[0] == turn);
		assert_true(row[1] == (double)ns);
		assert_true(row[2] == CYCLES_A_NS * (double)ns);
		assert_true(isnan(row[3]));
		assert_true(fabs(row[4] - 1250 - 1.25 * (double)i) < 1e-6);
	}
	/* One that did not run has no count, be it 0. */
	assert_true(isnan(end_slice_of(5 * MS, 0, 0)[4]));
	assert_int_equal(turns->timeline.slices, 6);
	engine_turns_free(turns);
}

/* The slice behind it has both times, and counts of one. */
static void without_the_bases_time_a_slice_has_no_count(void **state)
{
	struct engine_turns *turns = begin_slices(2);
	const double *row;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		fails[0] = i == 1;
		row = end_slice_of(5 * MS, 5 * MS, 1000);
		assert_true(row[1] == (i == 1 ? 0 : i == 2 ? 10 * MS : 5 * MS));
		assert_int_equal(isnan(row[4]), i == 1 || i == 2);
	}
	engine_turns_free(turns);
}

static void without_a_base_a_slice_has_the_clocks_time(void **state)
{
	struct engine_turns *turns = begin_slices(2);

	(void)state;
	set[0].lane = ENGINE_NO_LANE;
	for (size_t i = 1; i < 4; i++) {
		const double *row = end_slice_of(i * MS, i * MS / 2, 1000);

		assert_true(row[1] == (double)(i * MS));
		assert_true(isnan(row[2]));
		assert_true(fabs(row[4] - 2000) < 1e-6);
	}
	engine_turns_free(turns);
}

static void a_slice_has_each_count_of_a_full_set(void **state)
{
	static struct engine_event full[1 + ENGINE_SET_MAX];
	struct engine_turns *turns;
	const double *row;

	(void)state;
	begin_slices(1);
	engine_turns_free(&engine.turns);
	full[0].base = ENGINE_BASE_CYCLES;
	events.event = full;
	set[1].n = ENGINE_SET_MAX;
	for (uint16_t i = 0; i < ENGINE_SET_MAX; i++)
		set[1].event[i] = 1 + i;
	turns = &engine.turns;
	assert_int_equal(engine_turns_start(turns, &engine.sets, &events, 4),
			 0);
	for (uint64_t part = 1; part <= 2; part++) {
		for (size_t i = 0; i < ENGINE_SET_MAX; i++)
			told[1].count[i] = part * (1000 + i);
		row = end_slice_of(5 * MS, 5 * MS, 0);
		for (size_t i = 0; i < ENGINE_SET_MAX; i++)
			assert_true(row[4 + i] == 1000 + (double)i);
	}
	engine_turns_free(turns);
}

/* ---- a reading that fails, and the one behind it ------------------------- */

#define SLICES 40
#define LOST   7 /* the slice whose reading fails; set 2 has its turn */

/*
 * Set 0 is always on and has the cycles, one for each nanosecond; sets 1 and 2
 * take turns. An event of set 2 happens once in two cycles, but in the slice
 * that is lost twenty times as often: whatever takes that slice's counts for
 * another's is far off.
 */
static double estimate_with_failure(size_t failing, size_t place_of_lost)
{
	struct estimate estimate;

	begin_slices(2);
	for (size_t slice = 0; slice < SLICES; slice++) {
		size_t on = 1 + (size_t)engine.turns.order[engine.turns.at];
		bool lost = slice / 2 == place_of_lost && on == 2;
		uint64_t ns = (4 + slice % 3) * MS;

		now_ns += (double)ns;
		told[0].running_ns += ns;
		told[0].count[0] += ns;
		told[on].running_ns += ns;
		told[on].count[0] += lost ? 10 * ns : ns / 2;
		fails[failing] = lost;
		engine_turns_next(&engine.turns, slice + 1 < SLICES);
	}
	assert_int_equal(engine_timeline_estimate(&engine.turns.timeline, 1, 0,
						  0, 0, &estimate),
			 0);
	engine_turns_free(&engine.turns);
	return estimate.total / (double)told[0].running_ns;
}

/* What was lost is not known, and all else is one in two. */
static void what_a_set_did_not_tell_is_no_other_slices(void **state)
{
	(void)state;
	assert_true(fabs(estimate_with_failure(2, LOST) - 0.5) < 1e-3);
}

/* The time of both slices is in the sum once. */
static void what_the_base_did_not_tell_is_of_no_set(void **state)
{
	(void)state;
	assert_true(fabs(estimate_with_failure(0, LOST) - 0.5) < 1e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_varied_by_marsaglias_generator),
		cmocka_unit_test(slices_begin_short_and_grow_with_the_time),
		cmocka_unit_test(rounds_are_in_any_order),
		cmocka_unit_test(what_costs_too_much_is_switched_less_often),
		cmocka_unit_test(
			short_slices_of_the_beginning_say_nothing_of_the_cost),
		cmocka_unit_test(no_slice_is_longer_than_a_second),
		cmocka_unit_test(a_pause_is_in_no_cost_and_no_slices_length),
		cmocka_unit_test(a_slice_is_of_the_bases_time),
		cmocka_unit_test(what_a_set_did_not_tell_is_no_other_slices),
		cmocka_unit_test(what_the_base_did_not_tell_is_of_no_set),
		cmocka_unit_test(a_slice_has_each_count_of_a_full_set),
		cmocka_unit_test(without_the_bases_time_a_slice_has_no_count),
		cmocka_unit_test(without_a_base_a_slice_has_the_clocks_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
