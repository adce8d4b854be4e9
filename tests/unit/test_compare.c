// SPDX-License-Identifier: MIT
/* What "upmu compare" says of numbers: against tables and by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tools/compare/stats.h"

static void assert_near(double value, double wanted, double off)
{
	if (!(fabs(value - wanted) <= off))
		fail_msg("%.9g is not %.9g", value, wanted);
}

/* By hand: t = 1.4415 with 10.8732 degrees of freedom. */
static void welchs_chance_is_that_of_the_tables(void **state)
{
	struct stats_summary a = { .n = 5, .mean = 10, .deviation = 2 };
	struct stats_summary b = { .n = 8, .mean = 12, .deviation = 3 };
	struct stats_change change;

	(void)state;
	assert_near(stats_welch(&a, &b), 0.17761785, 1e-6);
	assert_near(stats_welch(&b, &a), 0.17761785, 1e-6);
	b.mean = a.mean;
	assert_near(stats_welch(&a, &b), 1, 1e-9);
	b.mean = 1000;
	assert_true(stats_welch(&a, &b) < 1e-9);
	a.deviation = b.deviation = 0;
	assert_near(stats_welch(&a, &b), 1, 0);
	stats_compare_summaries(&a, &b, 0.95, &change);
	assert_near(change.difference_low, 990, 0);
	/* The square of such a square is 0. */
	a.deviation = b.deviation = 1e-100;
	assert_near(stats_welch(&a, &b), 1, 0);
	b.deviation = 3;
	b.n = 1;
	assert_near(stats_welch(&a, &b), 1, 0);
	assert_near(stats_welch(&b, &a), 1, 0);
}

/* Runs in turns, of which each has the same number each time. */
static struct stats_change compare_constants(double first, double second)
{
	double a[7], b[7];
	const struct stats_pair pair = {
		.a = a, .b = b, .n_a = 7, .n_b = 7, .paired = true
	};
	struct stats_change change;

	for (size_t i = 0; i < 7; i++) {
		a[i] = first;
		b[i] = second;
	}
	stats_compare(&pair, 0.95, &change);
	return change;
}

static void what_is_the_same_each_time_differs_by_the_last_digit(void **state)
{
	struct stats_change change;

	(void)state;
	change = compare_constants(3000000000000001, 3000000000000002);
	assert_near(change.difference, 1, 0);
	assert_near(change.difference_low, 1, 0);
	assert_near(change.difference_high, 1, 0);
}

static void what_is_the_same_each_time_has_a_change_of_no_width(void **state)
{
	struct stats_change change = compare_constants(100, 100.1);

	(void)state;
	assert_near(change.ratio_low, 1.001, 1e-15);
	assert_near(change.ratio_high, 1.001, 1e-15);
}

/* Student's own table: two-sided, as every textbook has it. */
static void t_is_that_of_the_tables(void **state)
{
	(void)state;
	assert_near(stats_t(0.95, 1), 12.7062, 5e-4);
	assert_near(stats_t(0.95, 4), 2.77645, 5e-5);
	assert_near(stats_t(0.95, 9), 2.26216, 5e-5);
	assert_near(stats_t(0.99, 10), 3.16927, 5e-5);
	assert_near(stats_t(0.95, 1e6), 1.95996, 5e-5);
	assert_near(stats_t(0.5, 3), 0.764892, 5e-6);
}

static void mean_interval_without_skew_is_students(void **state)
{
	const double value[] = { 1, 2, 3, 4, 5 };
	struct stats_summary s;

	(void)state;
	stats_summarize(value, 5, &s);
	assert_int_equal(s.n, 5);
	assert_near(s.mean, 3, 1e-12);
	assert_near(s.median, 3, 1e-12);
	assert_near(s.deviation, 1.5811388, 1e-6);
	assert_near(s.low, 3 - 2.776445 * 1.5811388 / sqrt(5), 1e-4);
	assert_near(s.high, 3 + 2.776445 * 1.5811388 / sqrt(5), 1e-4);
}

static void one_run_has_no_interval_and_none_has_no_mean(void **state)
{
	const double value[] = { 7, NAN };
	struct stats_summary s;

	(void)state;
	stats_summarize(value, 2, &s);
	assert_int_equal(s.n, 1);
	assert_near(s.mean, 7, 0);
	assert_true(isnan(s.low) && isnan(s.high) && isnan(s.deviation));
	assert_false(s.constant);
	stats_summarize(value + 1, 1, &s);
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.mean));
}

static void interval_stays_above_0_and_leans_to_the_tail(void **state)
{
	const double value[] = { 0, 1, 1, 1, 2, 30 };
	struct stats_summary s;

	(void)state;
	stats_summarize(value, 6, &s);
	assert_true(s.low >= 0);
	assert_true(s.high - s.mean > s.mean - s.low);
	stats_summarize(value, 3, &s);
	assert_near(s.low, 0, 0);
	assert_near(s.high, 2.0 / 3 + 4.302653 / 3, 1e-5);
}

static struct stats_pair pair_of(const double *a, const double *b, size_t n)
{
	return (struct stats_pair){
		.a = a, .b = b, .n_a = n, .n_b = n, .paired = true
	};
}

/* The same drift in both rows is no doubt about their ratio. */
static void turns_take_common_drift_out(void **state)
{
	const double a[] = { 100, 120, 140, 160, 180, 200 };
	const double b[] = { 110, 132, 154, 176, 198, 220 };
	struct stats_pair pair = pair_of(a, b, 6);
	struct stats_change turns, apart;

	(void)state;
	stats_compare(&pair, 0.95, &turns);
	assert_near(turns.ratio, 1.1, 1e-12);
	assert_near(turns.ratio_low, 1.1, 1e-6);
	assert_near(turns.ratio_high, 1.1, 1e-6);
	pair.paired = false;
	stats_compare(&pair, 0.95, &apart);
	assert_true(apart.ratio_low < 0.9 && apart.ratio_high > 1.3);
}

static void mean_that_may_be_0_bounds_no_ratio(void **state)
{
	const double a[] = { 0, 0, 4, 0 }, b[] = { 4, 4, 4, 4 };
	const double none[] = { 0, 0, 0, 0 };
	struct stats_pair pair = pair_of(a, b, 4);
	struct stats_change change;

	(void)state;
	stats_compare(&pair, 0.95, &change);
	assert_true(isnan(change.ratio_low) && isnan(change.ratio_high));
	pair.a = none;
	stats_compare(&pair, 0.95, &change);
	assert_true(isnan(change.ratio));
	assert_near(change.difference, 4, 0);
	assert_near(change.difference_low, 4, 0);
}

/* 2 of the 2^6 ways to exchange are as clear as all signs alike. */
static void chance_of_six_like_signs_is_2_in_64(void **state)
{
	const double a[] = { 10, 10, 10, 10, 10, 10 };
	const double b[] = { 11, 12, 11, 12, 11, 12 };
	struct stats_pair pair = pair_of(a, b, 6);
	double p;

	(void)state;
	assert_int_equal(stats_family(&pair, 1, 0.05, &p), 0);
	assert_near(p, 2.0 / 64, 1e-12);
}

/*
 * Of several commands each comparison has a part of the 5 in 100: what 2 in 64
 * can't keep within, exchanges of any runs can.
 */
static void runs_that_suffice_for_two_commands_suffice_for_more(void **state)
{
	const double a[] = { 10, 10.1, 9.9, 10, 10.2, 9.8, 10, 10.1 };
	const double b[] = { 20, 20.1, 19.9, 20, 20.2, 19.8, 20, 20.1 };
	double p;

	(void)state;
	for (size_t commands = 2; commands <= 16; commands++) {
		double level = 0.05 / (double)(commands - 1);
		size_t least = stats_runs_least(level);

		assert_true(least <= 6);
		for (size_t n = 2; n <= 8; n++) {
			struct stats_pair pair = pair_of(a, b, n);

			assert_int_equal(stats_family(&pair, 1, level, &p), 0);
			if (n >= least)
				assert_true(p <= level);
		}
	}
	assert_int_equal(stats_runs_least(0.05), 4);
	assert_int_equal(stats_runs_least(0.05 / 2), 5);
}

/* An event that differs is judged by the noise of those that do not. */
static void family_is_stricter_than_each_event_alone(void **state)
{
	const double a[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const double b[] = { 2, 3, 4, 5, 5, 8, 8, 8 };
	const double c[] = { 3, 1, 2, 5, 4, 7, 6, 9 };
	const double d[] = { 1, 3, 3, 3, 6, 5, 8, 7 };
	struct stats_pair pair[] = { pair_of(a, b, 8), pair_of(a, c, 8),
				     pair_of(a, d, 8) };
	double alone, all[3];

	(void)state;
	assert_int_equal(stats_family(pair, 1, 0.05, &alone), 0);
	assert_int_equal(stats_family(pair, 3, 0.05, all), 0);
	assert_true(all[0] >= alone);
	assert_true(all[1] > 0.2 && all[2] > 0.2);
}

/* A file compared with itself; its sums may be off 0 by rounding. */
static void equal_runs_differ_by_no_chance(void **state)
{
	const double a[] = { 49, 47, 47, 47 }, b[] = { 47, 49, 49, 49 };
	const double c[] = { 47, 48, 47, 47, 47, 47, 47 };
	struct stats_pair two[] = { pair_of(a, a, 4), pair_of(b, b, 4) };
	struct stats_pair one = pair_of(c, c, 7);
	double p[2];

	(void)state;
	two[0].paired = two[1].paired = one.paired = false;
	assert_int_equal(stats_family(two, 2, 0.05, p), 0);
	assert_true(p[0] >= 1 && p[1] >= 1);
	assert_int_equal(stats_family(&one, 1, 0.05, p), 0);
	assert_true(p[0] >= 1);
}

static void three_runs_give_no_verdict(void **state)
{
	const double a[] = { 1, 1.01, 0.99 }, b[] = { 2, 2.01, 1.99 };
	struct stats_pair pair = pair_of(a, b, 3);
	double p;

	(void)state;
	assert_int_equal(stats_family(&pair, 1, 0.05, &p), 0);
	assert_true(p > 0.05);
}

static void run_that_was_not_measured_is_left_out(void **state)
{
	const double a[] = { 10, 10.1, 9.9, 10, NAN, 10, 10.2, 9.8 };
	const double b[] = { 20, 20.1, 19.9, 20, 20, 20, NAN, 19.8 };
	struct stats_pair pair = pair_of(a, b, 8);
	struct stats_change change;
	double p;

	(void)state;
	stats_compare(&pair, 0.95, &change);
	assert_near(change.difference, 10, 1e-9);
	assert_int_equal(stats_family(&pair, 1, 0.05, &p), 0);
	assert_near(p, 2.0 / 64, 1e-12);
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Box and Muller. */
static double normal(uint64_t *seed)
{
	double u = ((double)(next(seed) >> 11) + 0.5) * 0x1p-53;
	double v = (double)(next(seed) >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/*
 * All that the difference varies by is what the second's few runs do; a ratio
 * varies by both. What knows too many degrees of freedom holds 92 of 100.
 */
static void files_difference_has_the_freedom_of_what_varies(void **state)
{
	const size_t tries = 4000, n = 3;
	size_t difference = 0, ratio = 0;
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (size_t t = 0; t < tries; t++) {
		double a[3], b[3];
		const struct stats_pair pair = {
			.a = a, .b = b, .n_a = n, .n_b = n
		};
		struct stats_change change;

		for (size_t i = 0; i < n; i++) {
			a[i] = 1 + 0.05 * normal(&seed);
			b[i] = 100 + 5 * normal(&seed);
		}
		stats_compare(&pair, 0.95, &change);
		difference += change.difference_low <= 99 &&
			      99 <= change.difference_high;
		ratio += change.ratio_low <= 100 && 100 <= change.ratio_high;
	}
	assert_near((double)difference / (double)tries, 0.95, 0.012);
	assert_near((double)ratio / (double)tries, 0.955, 0.02);
}

static void outlier_is_named_and_noise_is_not(void **state)
{
	const double value[] = { 10, 11, 9, 10.5, 30, 9.5, 10 };
	const double same[] = { 5, 5, 5, 5, 9 };

	struct stats_summary s;

	(void)state;
	stats_summarize(value, 7, &s);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(stats_is_outlier(&s, value[i]), i == 4);
	assert_false(stats_is_outlier(&s, NAN));
	/* Where most are the same, nothing says what is far. */
	stats_summarize(same, 5, &s);
	assert_false(stats_is_outlier(&s, same[4]));
}

static void one_round_is_neither_judged_nor_a_crash(void **state)
{
	const double a[] = { 1 }, b[] = { 2 };
	struct stats_pair pair = pair_of(a, b, 1);
	struct stats_change change;
	double p;

	(void)state;
	stats_compare(&pair, 0.95, &change);
	assert_near(change.ratio, 2, 0);
	assert_true(isnan(change.ratio_low));
	assert_int_equal(stats_family(&pair, 1, 0.05, &p), 0);
	assert_true(p > 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t_is_that_of_the_tables),
		cmocka_unit_test(
			what_is_the_same_each_time_differs_by_the_last_digit),
		cmocka_unit_test(welchs_chance_is_that_of_the_tables),
		cmocka_unit_test(
			what_is_the_same_each_time_has_a_change_of_no_width),
		cmocka_unit_test(mean_interval_without_skew_is_students),
		cmocka_unit_test(one_run_has_no_interval_and_none_has_no_mean),
		cmocka_unit_test(interval_stays_above_0_and_leans_to_the_tail),
		cmocka_unit_test(turns_take_common_drift_out),
		cmocka_unit_test(mean_that_may_be_0_bounds_no_ratio),
		cmocka_unit_test(chance_of_six_like_signs_is_2_in_64),
		cmocka_unit_test(
			runs_that_suffice_for_two_commands_suffice_for_more),
		cmocka_unit_test(family_is_stricter_than_each_event_alone),
		cmocka_unit_test(equal_runs_differ_by_no_chance),
		cmocka_unit_test(three_runs_give_no_verdict),
		cmocka_unit_test(run_that_was_not_measured_is_left_out),
		cmocka_unit_test(
			files_difference_has_the_freedom_of_what_varies),
		cmocka_unit_test(outlier_is_named_and_noise_is_not),
		cmocka_unit_test(one_round_is_neither_judged_nor_a_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
