// SPDX-License-Identifier: MIT
/* The verdicts of "upmu compare" on made-up runs, whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "bench/compare_runs.h"

#define TRIES  400
#define EVENTS 8

/*
 * What docs/compare.md promises; its table has each kind, with more tries.
 * Of 400 tries a true 95 % shows 92 to 98.
 */
static void intervals_hold_and_equal_programs_stay_equal(void **state)
{
	struct compare_figures f, sum = { 0 };
	size_t means = 0;

	(void)state;
	for (size_t k = 0; k < COMPARE_KINDS; k++) {
		compare_try(k, 10, EVENTS, TRIES, 7, &f);
		print_message("# %-26s %5.1f %5.1f %5.1f\n",
			      compare_kind_name(k), f.mean_held, f.change_held,
			      f.false_all);
		assert_true(f.change_held >= 91 && f.change_held <= 99);
		assert_true(f.false_all <= 8);
		sum.change_held += f.change_held / COMPARE_KINDS;
		sum.false_all += f.false_all / COMPARE_KINDS;
		if (compare_kind_drifts(k) || f.mean_held < 80)
			continue; /* a mode that ten runs may not show */
		sum.mean_held += f.mean_held;
		means++;
	}
	assert_true(means >= COMPARE_KINDS - 3);
	sum.mean_held /= (double)means;
	assert_true(sum.mean_held >= 93 && sum.mean_held <= 97);
	assert_true(sum.change_held >= 93 && sum.change_held <= 97);
	assert_true(sum.false_all <= 5);
}

static void small_true_difference_is_seen(void **state)
{
	struct compare_figures f;

	(void)state;
	/* 3 % slower at a noise of 0.05 %. */
	compare_try(1, 10, EVENTS, 50, 3, &f);
	assert_true(f.seen >= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_and_equal_programs_stay_equal),
		cmocka_unit_test(small_true_difference_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
