// SPDX-License-Identifier: MIT
/*
 * The slices of a run: bounded memory, nothing lost when rows are joined.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lib/engine/engine.h"
#include "lib/engine/sets.h"

#define TURNS 3
#define MANY  500000 /* slices: 2,000 s of 4 ms */
#define ROWS  65536  /* most that are kept */

static bool is_short; /* of memory */

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return is_short ? NULL : __real_realloc(old, size);
}

/* Of two lanes. */
static void begin(struct engine_timeline *timeline)
{
	struct engine_set set[TURNS];
	const struct engine_sets sets = { .set = set,
					  .n = TURNS,
					  .turns = TURNS };

	for (int i = 0; i < TURNS; i++)
		set[i] =
			(struct engine_set){ .turn = i, .lane = i % 2, .n = 2 };
	assert_int_equal(engine_timeline_init(timeline, &sets, 2), 0);
}

/* Counts are twice and thrice the cycles, whoever's turn it is; the second lane
 * has all of it twice but the time. */
static void add(struct engine_timeline *timeline, size_t i)
{
	double time = 1 + (double)(i % 5);
	struct engine_slice lane[2];

	for (int k = 0; k < 2; k++)
		lane[k] = (struct engine_slice){
			.time_ns = time,
			.cycles = (k + 1) * 10 * time,
			.instructions = (k + 1) * (i % 7 ? 4 : 9) * time,
			.count = { (k + 1) * 20 * time, (k + 1) * 30 * time },
		};
	engine_timeline_add(timeline, (int)(i % TURNS), lane);
}

static double fill(struct engine_timeline *timeline, size_t n)
{
	double time = 0;

	for (size_t i = 0; i < n; i++) {
		add(timeline, i);
		time += 1 + (double)(i % 5);
	}
	return time;
}

static void check_estimates(const struct engine_timeline *timeline, double time)
{
	for (int turn = 0; turn < TURNS; turn++) {
		size_t lane = (size_t)turn % 2;
		double total = 30 * time * (double)(lane + 1);
		struct estimate e;

		assert_int_equal(engine_timeline_estimate(timeline, turn, lane,
							  1, 0, &e),
				 0);
		assert_true(fabs(e.total / total - 1) < 1e-9);
	}
}

static void estimates_are_of_the_set_and_place_asked_for(void **state)
{
	struct engine_timeline timeline;
	struct estimate e;
	double time;

	(void)state;
	begin(&timeline);
	assert_int_equal(engine_timeline_estimate(&timeline, 0, 0, 0, 0, &e),
			 -ENODATA);
	time = fill(&timeline, 30);
	check_estimates(&timeline, time);
	assert_int_equal(engine_timeline_estimate(&timeline, 0, 0, 0, 0, &e),
			 0);
	assert_true(fabs(e.total / (20 * time) - 1) < 1e-9);
	assert_int_equal(e.slices, 10);
	assert_int_equal(
		engine_timeline_estimate(&timeline, TURNS, 0, 0, 0, &e),
		-ENODATA);
	engine_timeline_free(&timeline);
}

/* Each count follows one base, that nothing else goes along with. */
static void add_unlike(struct engine_timeline *timeline, size_t i)
{
	double cycles = 1 + (double)(i * 7 % 11);
	double instructions = 1 + (double)(i * 5 % 13);
	const struct engine_slice lane = {
		.time_ns = 1 + (double)(i % 5),
		.cycles = cycles,
		.instructions = instructions,
		.count = { 3 * cycles, 3 * instructions },
	};
	const struct engine_slice lanes[2] = { lane, lane };

	engine_timeline_add(timeline, (int)(i % TURNS), lanes);
}

static bool is_exact(const struct engine_timeline *timeline, size_t place,
		     unsigned int without)
{
	double total = 0;
	struct estimate e;

	for (size_t i = 0; i < 300; i++)
		total += 3 + 3 * (double)(place ? i * 5 % 13 : i * 7 % 11);
	assert_int_equal(
		engine_timeline_estimate(timeline, 0, 0, place, without, &e),
		0);
	return fabs(e.total / total - 1) < 1e-9;
}

static void a_base_that_is_not_counted_is_left_out(void **state)
{
	static const unsigned int no_cycles = 1u << ENGINE_BASE_CYCLES;
	static const unsigned int no_instructions = 1u
						    << ENGINE_BASE_INSTRUCTIONS;
	struct engine_timeline timeline;

	(void)state;
	begin(&timeline);
	for (size_t i = 0; i < 300; i++)
		add_unlike(&timeline, i);
	assert_true(is_exact(&timeline, 0, 0));
	assert_true(is_exact(&timeline, 0, no_instructions));
	assert_false(is_exact(&timeline, 0, no_cycles));
	assert_true(is_exact(&timeline, 1, 0));
	assert_true(is_exact(&timeline, 1, no_cycles));
	assert_false(is_exact(&timeline, 1, no_instructions));
	engine_timeline_free(&timeline);
}

static void a_long_run_keeps_its_totals_in_bounded_memory(void **state)
{
	struct engine_timeline timeline;
	double time;

	(void)state;
	begin(&timeline);
	time = fill(&timeline, ROWS);
	assert_int_equal(timeline.n, ROWS); /* none is joined yet */
	time += fill(&timeline, MANY);
	assert_true(timeline.n <= ROWS && timeline.most <= ROWS);
	check_estimates(&timeline, time);
	engine_timeline_free(&timeline);
}

#define SETS 50 /* more than rows are kept at first */

/* Each set had one slice when memory was short: no two could be joined. */
static void without_memory_no_slice_is_written_beyond_the_end(void **state)
{
	struct engine_timeline timeline;
	struct engine_set set[SETS];
	const struct engine_sets sets = { .set = set,
					  .n = SETS,
					  .turns = SETS };
	struct engine_slice lane = { .time_ns = 1,
				     .cycles = 1,
				     .count = { 1 } };
	struct estimate e;

	(void)state;
	for (int i = 0; i < SETS; i++)
		set[i] = (struct engine_set){ .turn = i, .n = 1 };
	assert_int_equal(engine_timeline_init(&timeline, &sets, 1), 0);
	is_short = true;
	for (int i = 0; i < 10 * SETS; i++) {
		engine_timeline_add(&timeline, i % SETS, &lane);
		if (timeline.n > timeline.most)
			break;
	}
	is_short = false;
	assert_true(timeline.n <= timeline.most);
	assert_int_equal(engine_timeline_estimate(&timeline, 7, 0, 0, 0, &e),
			 0);
	assert_true(fabs(e.total / (10 * SETS) - 1) < 1e-9);
	engine_timeline_free(&timeline);
}

static void a_cleared_timeline_starts_anew(void **state)
{
	struct engine_timeline timeline;

	(void)state;
	begin(&timeline);
	fill(&timeline, 100);
	engine_timeline_clear(&timeline);
	check_estimates(&timeline, fill(&timeline, 30));
	engine_timeline_free(&timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates_are_of_the_set_and_place_asked_for),
		cmocka_unit_test(a_base_that_is_not_counted_is_left_out),
		cmocka_unit_test(a_long_run_keeps_its_totals_in_bounded_memory),
		cmocka_unit_test(
			without_memory_no_slice_is_written_beyond_the_end),
		cmocka_unit_test(a_cleared_timeline_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
