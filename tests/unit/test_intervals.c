// SPDX-License-Identifier: MIT
/* What becomes of many intervals: their sum, their sparkline. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/stat/stat.h"

/* An interval of 10 ms, of whose events a third were seen. */
static struct engine_count interval(enum engine_state state, double total)
{
	return (struct engine_count){
		.state = state,
		.estimated = state == ENGINE_COUNTED,
		.raw = (uint64_t)(total / 4),
		.enabled_ns = 10000000,
		.running_ns = state == ENGINE_COUNTED ? 3000000 : 0,
		.estimate = { .total = total,
			      .low = total - 30,
			      .high = total + 40,
			      .slices = 2 },
	};
}

static struct engine_count sum_of(const struct engine_count *count, size_t n)
{
	struct stat_sum sum = { 0 };
	struct engine_count out;

	for (size_t i = 0; i < n; i++)
		stat_sum_add(&sum, &count[i], 1);
	stat_sum_finish(&sum, &out, 1);
	return out;
}

static void errors_of_intervals_add_up_as_squares(void **state)
{
	const struct engine_count count[] = { interval(ENGINE_COUNTED, 1000),
					      interval(ENGINE_COUNTED, 2000) };
	struct engine_count sum = sum_of(count, 2);

	(void)state;
	assert_true(sum.estimated);
	assert_float_equal(sum.estimate.total, 3000, 1e-9);
	assert_float_equal(sum.estimate.low, 3000 - 30 * sqrt(2), 1e-9);
	assert_float_equal(sum.estimate.high, 3000 + 40 * sqrt(2), 1e-9);
	assert_int_equal(sum.estimate.slices, 4);
	assert_int_equal(sum.running_ns, 6000000);
}

static void
an_interval_without_the_event_is_not_left_out_of_the_sum(void **state)
{
	const struct engine_count count[] = { interval(ENGINE_NOT_COUNTED, 0),
					      interval(ENGINE_COUNTED, 1000),
					      interval(ENGINE_COUNTED, 2000),
					      interval(ENGINE_NOT_COUNTED, 0) };
	struct engine_count sum = sum_of(count, 4);

	(void)state;
	assert_int_equal(sum.state, ENGINE_COUNTED);
	assert_float_equal(sum.estimate.total, 6000, 1e-9);
	assert_true(isinf(sum.estimate.high));
	assert_float_equal(sum.estimate.low, 750, 1e-9);
	/* Wanted in all of the time, counted in 6 of 40 ms. */
	assert_int_equal(sum.enabled_ns, 40000000);
	assert_int_equal(sum.raw, 750);
}

static void what_no_interval_counted_has_no_sum(void **state)
{
	const struct engine_count never[] = { interval(ENGINE_NOT_COUNTED, 0),
					      interval(ENGINE_NOT_COUNTED, 0) };
	const struct engine_count none[] = { { .state =
						       ENGINE_NOT_SUPPORTED } };

	(void)state;
	assert_int_equal(sum_of(never, 2).state, ENGINE_NOT_COUNTED);
	assert_int_equal(sum_of(none, 1).state, ENGINE_NOT_SUPPORTED);
}

/* A task that slept wanted nothing. */
static void an_interval_in_which_nothing_was_wanted_changes_no_sum(void **state)
{
	struct engine_count count[] = { interval(ENGINE_COUNTED, 1000),
					interval(ENGINE_NOT_COUNTED, 0) };
	struct engine_count sum;

	(void)state;
	count[1].enabled_ns = 0;
	sum = sum_of(count, 2);
	assert_float_equal(sum.estimate.total, 1000, 1e-9);
	assert_float_equal(sum.estimate.high, 1040, 1e-9);
}

/* ---- the sparkline ------------------------------------------------------- */

/* Of 1 ms each, in which it was counted for @length_s. */
static char *plot_of(size_t intervals, size_t gap, double length_s)
{
	struct engine_event event = { .name = "cycles", .unit = "" };
	static struct engine_events events; /* large */
	struct stat_options options = { .interval_ms = 1, .repeat = 1 };
	struct engine_count count = { 0 };
	struct stat_report report = { .options = &options,
				      .events = &events,
				      .count = &count,
				      .length_s = length_s,
				      .place_name = "" };
	char *text = NULL;
	size_t size;
	FILE *out;

	events.event = &event;
	events.n = 1;
	for (size_t i = 1; i <= intervals; i++) {
		count.state = i % gap ? ENGINE_COUNTED : ENGINE_NOT_COUNTED;
		count.raw = 1000;
		report.interval_s = (double)i / 1000;
		report.intervals = i;
		assert_int_equal(stat_plot_take(&report), 0);
	}
	out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_int_equal(stat_write_plot(out, &report), 0);
	fclose(out);
	return text;
}

static void joined_points_of_a_sparkline_have_what_there_is(void **state)
{
	/* Points of 16 intervals, of each of which one was not counted. */
	char *text = plot_of(10000, 16, 0.001), *line = strstr(text, "cycles");
	char *spark = line ? strstr(line, "/s ") : NULL, *end;

	(void)state;
	assert_non_null(spark);
	spark += 3;
	end = strstr(spark, " 1 M to 1 M");
	assert_non_null(end);
	*end = '\0';
	assert_true(strlen(spark) > 20);
	assert_null(strchr(spark, ' '));
	free(text);
}

static void rates_are_over_the_time_in_which_it_was_counted(void **state)
{
	char *text = plot_of(3, 100, 0.00025);

	(void)state;
	assert_non_null(strstr(text, " 4 M/s "));
	assert_non_null(strstr(text, " 4 M to 4 M"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_intervals_add_up_as_squares),
		cmocka_unit_test(
			an_interval_without_the_event_is_not_left_out_of_the_sum),
		cmocka_unit_test(what_no_interval_counted_has_no_sum),
		cmocka_unit_test(
			an_interval_in_which_nothing_was_wanted_changes_no_sum),
		cmocka_unit_test(
			joined_points_of_a_sparkline_have_what_there_is),
		cmocka_unit_test(
			rates_are_over_the_time_in_which_it_was_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
