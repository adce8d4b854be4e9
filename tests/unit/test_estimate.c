// SPDX-License-Identifier: MIT
/* The estimator: exact where it can be; see test_estimate_bars.c. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "lib/engine/estimate.h"

#define N 40

/* Each fourth slice counts; the program has two phases and no noise. */
static double make_phases(struct estimate_slice *slice, size_t n)
{
	double total = 0;

	for (size_t i = 0; i < n; i++) {
		int slow = i % 8 < 3;
		double time = 3 + (double)(i % 4);
		double count = time * (slow ? 320 : 10);

		slice[i] = (struct estimate_slice){
			.time = time,
			.cycles = time * 1000,
			.instructions = time * (slow ? 400 : 1000),
			.count = i % 4 == 1 ? count : NAN,
		};
		total += count;
	}
	return total;
}

static void assert_near(double value, double wanted)
{
	assert_true(fabs(value - wanted) <= 1e-9 * fabs(wanted));
}

static void phases_without_noise_are_estimated_exactly(void **state)
{
	struct estimate_slice slice[N];
	double total = make_phases(slice, N);
	struct estimate e;

	(void)state;
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_near(e.total, total);
	/* Where a slice ends between two events is all that is not known. */
	assert_true(e.low < total && e.high > total);
	assert_true(e.high - e.low < 8);
	assert_int_equal(e.slices, N / 4);
	/* Linear scaling is not: the test would be worth nothing if it were. */
	assert_true(fabs(estimate_linear(slice, N) / total - 1) > 0.005);
}

static void units_of_time_do_not_matter(void **state)
{
	struct estimate_slice slice[N];
	struct estimate in_ms, in_ns;

	(void)state;
	make_phases(slice, N);
	for (size_t i = 0; i < N; i++)
		slice[i].count *= 1 + 0.1 * (double)(i % 5);
	assert_int_equal(estimate_total(slice, N, &in_ms), 0);
	for (size_t i = 0; i < N; i++)
		slice[i].time *= 1e6;
	assert_int_equal(estimate_total(slice, N, &in_ns), 0);
	assert_near(in_ns.total, in_ms.total);
	assert_near(in_ns.low, in_ms.low);
	assert_near(in_ns.high, in_ms.high);
}

static void an_event_counted_in_every_slice_is_not_estimated(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;
	double total = 0;

	(void)state;
	make_phases(slice, N);
	for (size_t i = 0; i < N; i++) {
		slice[i].count = (double)(i * i);
		total += slice[i].count;
	}
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_near(e.total, total);
	assert_near(e.low, total);
}

static void no_counted_slice_is_no_data(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e = { .total = 7 };

	(void)state;
	make_phases(slice, N);
	for (size_t i = 0; i < N; i++)
		slice[i].count = NAN;
	assert_int_equal(estimate_total(slice, N, &e), -ENODATA);
	assert_int_equal(estimate_total(slice, 0, &e), -ENODATA);
	assert_true(e.total == 7);
	assert_true(isnan(estimate_linear(slice, N)));
}

static void one_slice_has_no_upper_bound(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	make_phases(slice, N);
	for (size_t i = 0; i < N; i++)
		slice[i].count = i == 5 ? 100 : NAN;
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_true(e.total > 100);
	assert_true(e.low == 100);
	assert_true(isinf(e.high));
}

static void two_to_five_slices_give_an_ordered_interval(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	for (size_t counted = 2; counted <= 5; counted++) {
		make_phases(slice, N);
		for (size_t i = 4 * counted; i < N; i++)
			slice[i].count = NAN;
		assert_int_equal(estimate_total(slice, N, &e), 0);
		assert_int_equal(e.slices, counted);
		assert_true(e.low <= e.total && e.total <= e.high);
		assert_false(isnan(e.high));
	}
}

static void no_estimate_is_below_what_was_counted(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;
	double seen = 0;

	(void)state;
	/* Counts fall steeply with instructions: a line would go below 0. */
	for (size_t i = 0; i < N; i++) {
		int mine = i % 4 == 0;

		slice[i] = (struct estimate_slice){
			.time = 4,
			.cycles = 4000,
			.instructions = mine ? 1000 + 100.0 * i : 9000,
			.count = mine ? 4000 - 100.0 * i : NAN,
		};
		if (mine)
			seen += slice[i].count;
	}
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_true(e.total >= seen);
	assert_true(e.low >= seen);
	assert_true(e.high >= e.total);
}

static void an_event_never_seen_is_estimated_as_0_to_a_few(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	make_phases(slice, N);
	for (size_t i = 1; i < N; i += 2)
		slice[i].count = 0;
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_true(e.total == 0 && e.low == 0);
	/* 10 of 18 ms were counted: (8 / 18)^4 is above 2.5 %, ^5 below. */
	assert_true(e.high == 4);
}

static void unknown_instructions_and_cycles_fall_back_to_time(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < N; i++)
		slice[i] = (struct estimate_slice){ 2 + i % 3, NAN, NAN,
						    i % 2 ? 2 + i % 3 : NAN };
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_near(e.total, estimate_linear(slice, N));
}

static void rare_bursts_bend_the_interval_upwards(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < N; i++)
		slice[i] = (struct estimate_slice){
			.time = 4,
			.cycles = 4000,
			.instructions = 3000 + 100 * (double)(i % 3),
			.count = i % 4	   ? NAN
				 : i == 20 ? 1000
					   : 10,
		};
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_true(e.high - e.total > 1.5 * (e.total - e.low));
}

static void a_fit_is_not_asked_for_what_it_has_not_seen(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		int mine = i % 4 == 0;

		slice[i] = (struct estimate_slice){
			.time = 4,
			.cycles = 4000,
			.instructions = mine ? 1000 + 100.0 * i : 9000,
			.count = mine ? 4000 - 80.0 * i : NAN,
		};
	}
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_near(e.total, estimate_linear(slice, N));
	assert_true(e.low < e.total && e.total < e.high);
}

/* What was not counted has as many instructions a cycle as the outermost. */
static void a_fit_is_asked_for_the_outermost_that_it_has_seen(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;
	double total;

	(void)state;
	for (size_t outermost = 1; outermost <= 2; outermost++) {
		total = 0;
		for (size_t i = 0; i < N; i++) {
			bool mine = i % 4 == 0;
			size_t ratio = mine ? 1 + i / 4 % 2 : outermost;
			double instructions = 1024 * (double)ratio;

			slice[i] = (struct estimate_slice){
				.time = 4,
				.cycles = 4096,
				.instructions = instructions,
				.count = mine ? 3 * instructions : NAN,
			};
			total += 3 * instructions;
		}
		assert_int_equal(estimate_total(slice, N, &e), 0);
		assert_near(e.total, total);
	}
}

static void few_events_have_the_binomial_interval(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < N; i++)
		slice[i] = (struct estimate_slice){ 4, 4000, 4000,
						    i % 4 ? NAN : i == 20 };
	assert_int_equal(estimate_total(slice, N, &e), 0);
	/* 0.75^18 * (0.75 + 19 * 0.25) is above 2.5 %, one more is below. */
	assert_near(e.total, 4);
	assert_true(e.low == 1);
	assert_true(e.high == 19);
}

/* Another user had the counters for a day. Of 40 events tables of Poisson's
 * distribution have 28.58 to 54.47. Step by step that took hours. */
static void few_events_in_a_millionth_of_the_time_are_reckoned_at_once(void **s)
{
	const struct estimate_slice slice[] = { { 1e6, 1e6, NAN, 20 },
						{ 1e6, 1e6, NAN, 20 },
						{ 8e13, 8e13, NAN, NAN } };
	clock_t start = clock();
	struct estimate e;

	(void)s;
	assert_int_equal(estimate_total(slice, 3, &e), 0);
	assert_true(fabs(e.low / 4e7 - 28.58) < 0.01);
	assert_true(fabs(e.high / 4e7 - 54.47) < 0.01);
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void an_interval_of_five_times_the_total_is_unknown(void **state)
{
	struct estimate_slice slice[N];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < N; i++)
		slice[i] = (struct estimate_slice){ 4, 4000, 4000, NAN };
	slice[4].count = 1000;
	slice[8].count = 1;
	assert_int_equal(estimate_total(slice, N, &e), 0);
	assert_true(isinf(e.high));
	assert_true(e.low == 1001);
}

/* Where two slices matter at most, the bend is near its steepest. */
static void a_phase_of_one_slice_has_an_upper_bound(void **state)
{
	struct estimate_slice slice[3 * N];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < 3 * N; i++)
		slice[i] = (struct estimate_slice){ 4, 4000, 4000,
						    i % 3 ? NAN : 100 };
	slice[60].count = 100000;
	assert_int_equal(estimate_total(slice, 3 * N, &e), 0);
	assert_true(e.high > 2 * e.total);
	assert_true(e.high < 10 * e.total);
}

/*
 * What the comment of lib/engine/estimate.c says, reckoned by a program in
 * another language: fits of one column and of two, neighbours that are alike
 * or not, few slices, few events, bursts.
 */
static const struct reckoned {
	size_t n, every, at, front, tail; /* slices, which of them count */
	size_t phase, mod, fit, wave, noise, far, burst;
	double total, low, high;
} reckoned[] = {
	{ 60, 3, 1, 4, 5, 8, 11, 1, 0, 40, 1000, 0, 11957.872859, 11624.386636,
	  12299.263118 },
	{ 60, 3, 1, 0, 0, 8, 11, 1, 3, 40, 1000, 0, 14547.440651, 14116.894266,
	  15016.052684 },
	{ 64, 3, 2, 2, 7, 16, 11, 1, 20, 97, 1000, 0, 35446.293532,
	  33333.646652, 38937.709202 },
	{ 90, 2, 1, 0, 9, 6, 11, 0, 6, 150, 31, 900, 17753.522833, 13189.155577,
	  22282.68076 },
	{ 24, 4, 1, 0, 0, 16, 13, 1, 0, 50, 1000, 0, 5136.9201454, 4658.2540759,
	  5593.1691539 },
	{ 20, 4, 3, 0, 0, 16, 13, 1, 0, 50, 1000, 0, 4194.9645603, 3062.073012,
	  5195.4043406 },
	{ 16, 4, 2, 0, 0, 16, 13, 1, 0, 50, 1000, 0, 3180.3930201, 1663.9069951,
	  4697.559397 },
	{ 9, 4, 1, 0, 0, 16, 13, 1, 0, 50, 1000, 0, 2066.2301033, 1322.6203568,
	  2807.8456046 },
	{ 50, 3, 1, 1, 3, 16, 13, 0, 0, 3, 1000, 0, 99.001744103, 73, 132 },
	{ 60, 3, 2, 1, 3, 16, 13, 0, 0, 2, 20, 9, 58.304185459, 18,
	  310.77816186 },
	{ 50, 4, 0, 5, 3, 16, 11, 0, 0, 3, 31, 900, 7798.4775445, 914,
	  INFINITY },
	{ 57, 2, 1, 4, 4, 8, 13, 0, 0, 50, 20, 0, 1175.2165953, 1012.6215135,
	  1315.8591066 },
	{ 62, 5, 4, 3, 0, 5, 11, 2, 20, 3, 31, 900, 34907.572292, 29688.27133,
	  40608.900314 },
	{ 31, 4, 3, 1, 5, 16, 17, 0, 1, 30, 20, 60, 780.08010064, 419.7540957,
	  1133.7895904 },
	{ 87, 3, 3, 6, 4, 6, 13, 1, 6, 150, 31, 0, 28120.372916, 26341.744256,
	  29850.110902 },
	{ 67, 2, 3, 5, 0, 5, 13, 2, 3, 3, 20, 60, 28441.246552, 27986.522233,
	  29265.357146 },
	{ 45, 3, 4, 4, 5, 8, 13, 1, 6, 97, 20, 300, 15972.757289, 13975.622715,
	  23818.428635 },
	{ 73, 1, 2, 3, 6, 8, 17, 0, 0, 50, 20, 60, 1947.0432356, 1746.9178725,
	  2069.0007125 },
	{ 65, 3, 2, 1, 2, 16, 17, 0, 20, 30, 37, 0, 19345.320432, 17664.363641,
	  21055.132567 },
	{ 67, 3, 1, 1, 6, 5, 13, 0, 0, 4, 31, 0, 99.738519945, 73, 135 },
	{ 51, 5, 0, 3, 5, 6, 11, 0, 0, 3, 37, 7, 100.11748834, 19,
	  219.01859587 },
	{ 5, 4, 1, 0, 0, 16, 13, 0, 0, 7, 1000, 0, 21.231478433, 4, INFINITY },
	{ 20, 1, 0, 0, 0, 16, 13, 0, 0, 3, 1000, 0, 26.082577174, 26.014723961,
	  26.216951064 },
};

static void make_reckoned(struct estimate_slice *slice,
			  const struct reckoned *as)
{
	for (size_t i = 0; i < as->n; i++) {
		size_t time = 2 + i * 5 % 4;
		size_t wave = i % 16 < 8 ? i % 16 : 16 - i % 16;
		bool in_phase = i % as->phase * 2 < as->phase;
		size_t instructions =
			time * (300 + 200 * in_phase + i * i * 7 % as->mod);
		size_t count = instructions / 8 * as->fit +
			       time * wave * as->wave + i * i * 11 % as->noise +
			       (i % as->far == 5 ? as->burst : 0);

		slice[i] = (struct estimate_slice){
			.time = (double)time,
			.cycles = (double)(time * 1000 + i * 37 % 50),
			.instructions = (double)instructions,
			.count = i % as->every == as->at % as->every &&
						 i >= as->front &&
						 i < as->n - as->tail
					 ? (double)count
					 : NAN,
		};
	}
}

static void assert_as_reckoned(double value, double wanted)
{
	assert_true(value == wanted || fabs(value - wanted) <= 1e-9 * wanted);
}

static void estimates_are_what_another_program_reckons(void **state)
{
	struct estimate_slice slice[90];
	struct estimate e;

	(void)state;
	for (size_t i = 0; i < sizeof(reckoned) / sizeof(*reckoned); i++) {
		make_reckoned(slice, &reckoned[i]);
		assert_int_equal(estimate_total(slice, reckoned[i].n, &e), 0);
		assert_as_reckoned(e.total, reckoned[i].total);
		assert_as_reckoned(e.low, reckoned[i].low);
		assert_as_reckoned(e.high, reckoned[i].high);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_without_noise_are_estimated_exactly),
		cmocka_unit_test(units_of_time_do_not_matter),
		cmocka_unit_test(
			an_event_counted_in_every_slice_is_not_estimated),
		cmocka_unit_test(no_counted_slice_is_no_data),
		cmocka_unit_test(one_slice_has_no_upper_bound),
		cmocka_unit_test(two_to_five_slices_give_an_ordered_interval),
		cmocka_unit_test(no_estimate_is_below_what_was_counted),
		cmocka_unit_test(
			an_event_never_seen_is_estimated_as_0_to_a_few),
		cmocka_unit_test(
			unknown_instructions_and_cycles_fall_back_to_time),
		cmocka_unit_test(rare_bursts_bend_the_interval_upwards),
		cmocka_unit_test(a_fit_is_not_asked_for_what_it_has_not_seen),
		cmocka_unit_test(
			a_fit_is_asked_for_the_outermost_that_it_has_seen),
		cmocka_unit_test(few_events_have_the_binomial_interval),
		cmocka_unit_test(
			few_events_in_a_millionth_of_the_time_are_reckoned_at_once),
		cmocka_unit_test(
			an_interval_of_five_times_the_total_is_unknown),
		cmocka_unit_test(a_phase_of_one_slice_has_an_upper_bound),
		cmocka_unit_test(estimates_are_what_another_program_reckons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
