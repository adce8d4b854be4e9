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
#include <math.h>
#include <string.h>

#include "tools/stat/run.h"

#define MS 1000000u

enum { LITTLE, BIG };

static struct stat_reading told[4];
static struct stat_event event[4];
static struct stat_events events;
static struct stat_set set[4];
static struct stat_reading mark[4], since[4];
static struct stat_count count[4];
static struct stat_options options;
static struct stat_report report;
static struct stat_targets targets;
static struct stat_run run;
static double now_ns;

/* What collect.c asks of its neighbours. */

int stat_set_read(const struct stat_sets *sets, size_t index,
		  struct stat_reading *reading)
{
	(void)sets;
	now_ns += 1000; /* a system call */
	*reading = told[index];
	return 0;
}

double stat_now_ns(void)
{
	return now_ns;
}

double stat_turns_cost(const struct stat_turns *turns)
{
	(void)turns;
	return 0;
}

int stat_timeline_estimate(const struct stat_timeline *timeline, int turn,
			   size_t lane, size_t place, struct estimate *out)
{
	(void)timeline, (void)turn, (void)lane, (void)place;
	*out = (struct estimate){ .total = 1 };
	return 0;
}

/* One set of one event for each lane of @lanes. */
static void begin_run(size_t lanes)
{
	memset(told, 0, sizeof(told));
	memset(event, 0, sizeof(event));
	memset(mark, 0, sizeof(mark));
	memset(since, 0, sizeof(since));
	memset(count, 0, sizeof(count));
	targets = (struct stat_targets){ 0 };
	events = (struct stat_events){ .event = event,
				       .n = lanes,
				       .lanes = lanes };
	report = (struct stat_report){ .options = &options,
				       .events = &events,
				       .count = count };
	run = (struct stat_run){ .report = &report,
				 .events = &events,
				 .targets = &targets,
				 .sets = { .set = set, .n = lanes },
				 .pass = -1,
				 .mark = mark,
				 .since = since };
	for (size_t i = 0; i < lanes; i++)
		set[i] = (struct stat_set){ .turn = STAT_ALWAYS,
					    .lane = (int)i,
					    .n = 1,
					    .event = { i } };
	now_ns = 1e9;
}

static void tell(size_t index, uint64_t enabled_ns, uint64_t running_ns)
{
	told[index] = (struct stat_reading){ .enabled_ns = enabled_ns,
					     .running_ns = running_ns,
					     .count = { running_ns } };
}

static void assert_raw(size_t index, uint64_t raw)
{
	assert_int_equal(count[index].state, STAT_COUNTED);
	assert_false(count[index].estimated);
	assert_int_equal(count[index].raw, raw);
}

static void assert_extended(size_t index, double total)
{
	assert_int_equal(count[index].state, STAT_COUNTED);
	assert_true(count[index].estimated);
	assert_true(fabs(count[index].estimate.total - total) < total / 1e4);
}

static void a_program_half_on_each_kind_of_core_is_not_doubled(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 5 * MS);
	tell(BIG, 10 * MS, 5 * MS);
	stat_collect(&run);
	assert_raw(LITTLE, 5 * MS);
	assert_raw(BIG, 5 * MS);
}

static void a_program_on_one_kind_leaves_the_other_uncounted(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 10 * MS);
	tell(BIG, 10 * MS, 0);
	stat_collect(&run);
	assert_raw(LITTLE, 10 * MS);
	assert_int_equal(count[BIG].state, STAT_NOT_COUNTED);
}

/* Half of the time others had the counters of both kinds. */
static void lost_time_is_shared_out(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 4 * MS);
	tell(BIG, 10 * MS, 1 * MS);
	stat_collect(&run);
	assert_extended(LITTLE, 8 * MS);
	assert_extended(BIG, 2 * MS);
}

/* Attached sets are started and read one after another. */
static void what_reading_takes_is_no_lost_time(void **state)
{
	(void)state;
	begin_run(2);
	run.skew_ns = 2000;
	tell(LITTLE, 10 * MS, 5 * MS);
	tell(BIG, 10 * MS + 1500, 5 * MS - 1500);
	stat_collect(&run);
	assert_raw(LITTLE, 5 * MS);
	assert_raw(BIG, 5 * MS - 1500);
}

static void each_interval_has_its_own_times(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 10 * MS, 10 * MS);
	tell(BIG, 10 * MS, 0);
	stat_collect(&run);
	tell(LITTLE, 20 * MS, 12 * MS);
	tell(BIG, 20 * MS, 8 * MS);
	stat_collect(&run);
	assert_raw(LITTLE, 2 * MS);
	assert_raw(BIG, 8 * MS);
}

/* Two threads at a time, one on each kind. */
static void threads_on_both_kinds_add_up(void **state)
{
	(void)state;
	begin_run(2);
	tell(LITTLE, 20 * MS, 10 * MS);
	tell(BIG, 20 * MS, 10 * MS);
	stat_collect(&run);
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
	run.sets.turns = 2;
	run.pass = 1;
	tell(2, 10 * MS, 5 * MS);
	tell(3, 10 * MS, 5 * MS);
	stat_collect(&run);
	assert_raw(2, 5 * MS);
	assert_raw(3, 5 * MS);
}

static void cpus_have_times_of_their_own(void **state)
{
	struct stat_target cpus[] = { { .pid = -1, .cpu = 0 },
				      { .pid = -1, .cpu = 4 } };

	(void)state;
	begin_run(2);
	targets = (struct stat_targets){ .target = cpus, .n = 2 };
	tell(LITTLE, 10 * MS, 10 * MS);
	tell(BIG, 10 * MS, 5 * MS);
	stat_collect(&run);
	assert_raw(LITTLE, 10 * MS);
	assert_extended(BIG, 10 * MS);
}

static void on_like_cores_lost_time_is_extended(void **state)
{
	(void)state;
	begin_run(1);
	tell(0, 10 * MS, 5 * MS);
	stat_collect(&run);
	assert_extended(0, 10 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_program_half_on_each_kind_of_core_is_not_doubled),
		cmocka_unit_test(
			a_program_on_one_kind_leaves_the_other_uncounted),
		cmocka_unit_test(lost_time_is_shared_out),
		cmocka_unit_test(what_reading_takes_is_no_lost_time),
		cmocka_unit_test(each_interval_has_its_own_times),
		cmocka_unit_test(threads_on_both_kinds_add_up),
		cmocka_unit_test(in_passes_each_pass_has_its_own_times),
		cmocka_unit_test(cpus_have_times_of_their_own),
		cmocka_unit_test(on_like_cores_lost_time_is_extended),
	};

	return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
