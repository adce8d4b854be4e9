// SPDX-License-Identifier: MIT
/* The estimator and its slices on many programs: as good as is promised. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/multiplex_programs.h"
#include "bench/multiplex_turns.h"

#define RUNS 100 /* of each kind of program; seeds are fixed */

static const struct trial_options four_sets = {
	.runs = RUNS, .sets = 4, .slice_ms = 4, .switch_us = 8
};

static void estimates_and_intervals_keep_the_promised_bar(void **state)
{
	struct trial_options o = four_sets;
	double perf = 0, linear = 0, held = 0, apart = 0, apart_held = 0;
	struct trial t;

	(void)state;
	for (o.kind = 0; o.kind < PROGRAM_KINDS; o.kind++) {
		trial_run(&o, &t);
		print_message("# %s: %.2f of perf, %.2f of linear scaling, "
			      "held %.1f %%\n",
			      program_name(o.kind), t.upmu / t.perf,
			      t.upmu / t.linear, 100 * t.held);
		assert_true(t.upmu <= 1.1 * t.linear);
		assert_true(t.held >= 0.85); /* 0.88, less chance's share */
		assert_true(t.wide < 1.6);   /* 1.5, the same */
		assert_int_equal(t.empty, 0);
		apart += t.apart;
		apart_held += t.apart_held;
		perf += log(t.upmu / t.perf);
		linear += log(t.upmu / t.linear);
		held += t.held;
	}
	assert_true(exp(perf / PROGRAM_KINDS) <= 0.60);
	assert_true(exp(linear / PROGRAM_KINDS) <= 0.60);
	assert_true(held / PROGRAM_KINDS >= 0.93);
	/* What excludes linear scaling has a reason. */
	assert_true(apart > 0 && apart_held >= 0.93 * apart);
}

/* 1 % and 7 %, and what the first slices cost before it is known. */
static void slices_grow_until_switching_is_cheap(void **state)
{
	struct trial_options o = four_sets;
	struct trial t;

	(void)state;
	o.low_s = o.high_s = 5;
	trial_run(&o, &t);
	assert_true(t.cost < 0.01);
	o.switch_us = 200;
	trial_run(&o, &t);
	assert_true(t.cost < 0.03);
	o.low_s = o.high_s = 0.1;
	trial_run(&o, &t);
	assert_true(t.cost < 0.15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates_and_intervals_keep_the_promised_bar),
		cmocka_unit_test(slices_grow_until_switching_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
