// SPDX-License-Identifier: MIT
/* CPUs that go off while they are counted, by what perf's reads say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/sets.h"

#define MS   1000000u
#define CPUS 2
#define SETS 2

/* The first set takes turns, the second one is on all the time. */
enum { TURN, BASE };

static struct upmu_group group[SETS][CPUS];
static struct engine_set set[SETS];
static struct engine_target target[CPUS] = { { -1, 0 }, { -1, 3 } };
static struct engine_sets sets;
static uint64_t clock_ns[SETS][CPUS];
static int fails[CPUS];
static unsigned int reads;

/* A descriptor is the number of its set and target here. */
static int number(size_t s, size_t t)
{
	return (int)(s * CPUS + t);
}

static int answer(int fd, struct upmu_value *value, size_t n)
{
	reads++;
	for (size_t i = 0; i < n; i++)
		value[i] = (struct upmu_value){
			.enabled_ns = clock_ns[fd / CPUS][fd % CPUS],
			.running_ns = clock_ns[fd / CPUS][fd % CPUS],
		};
	return 0;
}

int __wrap_upmu_perf_read_group(int fd, struct upmu_value *values, size_t n);
int __wrap_upmu_perf_read_group(int fd, struct upmu_value *values, size_t n)
{
	int error = fails[fd % CPUS];

	return error ? error : answer(fd, values, n);
}

int __wrap_upmu_perf_read_first(int fd, struct upmu_value *value);
int __wrap_upmu_perf_read_first(int fd, struct upmu_value *value)
{
	return answer(fd, value, 1);
}

static int begin_run(void **state)
{
	const struct engine_targets targets = { .target = target, .n = CPUS };

	(void)state;
	memset(clock_ns, 0, sizeof(clock_ns));
	memset(fails, 0, sizeof(fails));
	sets = (struct engine_sets){
		.set = set, .n = SETS, .turns = 1, .targets = CPUS
	};
	for (size_t s = 0; s < SETS; s++) {
		set[s] = (struct engine_set){
			.turn = s == BASE ? ENGINE_ALWAYS : 0,
			.n = 1,
			.group = group[s],
		};
		for (size_t t = 0; t < CPUS; t++)
			group[s][t] =
				(struct upmu_group){ .fd = { number(s, t) },
						     .n = 1,
						     .pid = -1,
						     .cpu = target[t].cpu };
	}
	return engine_cpus_init(&sets, &targets);
}

static int end_run(void **state)
{
	(void)state;
	free(sets.cpu);
	return 0;
}

static void run(size_t s, unsigned int first_ms, unsigned int second_ms)
{
	clock_ns[s][0] += (uint64_t)first_ms * MS;
	clock_ns[s][1] += (uint64_t)second_ms * MS;
}

/* One interval: as long as @first and @second were on; then they are read. */
static void interval(unsigned int first_ms, unsigned int second_ms)
{
	struct engine_reading ignored;

	run(TURN, first_ms / 2, second_ms / 2);
	run(BASE, first_ms, second_ms);
	engine_set_read(&sets, TURN, &ignored);
	engine_set_read(&sets, BASE, &ignored);
	engine_cpus_look(&sets, 100 * MS);
}

static void a_cpu_whose_clock_stood_went_off(void **state)
{
	(void)state;
	interval(100, 100);
	assert_false(engine_cpu_is_lost(&sets, 1));
	interval(100, 40);
	assert_false(engine_cpu_is_lost(&sets, 0));
	assert_true(engine_cpu_is_lost(&sets, 1));
	/* It is back, its events are not. */
	interval(100, 100);
	assert_true(engine_cpu_is_lost(&sets, 1));
}

static void clocks_may_differ_a_little(void **state)
{
	(void)state;
	interval(99, 100);
	interval(120, 99);
	assert_false(engine_cpu_is_lost(&sets, 0));
	assert_false(engine_cpu_is_lost(&sets, 1));
	interval(100, 97);
	assert_true(engine_cpu_is_lost(&sets, 1));
}

static void a_cpu_that_could_not_be_read_is_not_said_to_be_off(void **state)
{
	(void)state;
	interval(100, 100);
	fails[1] = -EIO;
	interval(100, 0);
	assert_false(engine_cpu_is_lost(&sets, 1));
}

static void a_group_that_came_apart_is_read_and_told_at_once(void **state)
{
	struct engine_reading reading;

	(void)state;
	interval(100, 100);
	fails[1] = -EINVAL;
	assert_int_equal(engine_set_read(&sets, TURN, &reading), 0);
	assert_int_equal(reading.enabled_ns, 100 * MS);
	assert_true(engine_cpu_is_lost(&sets, 1));
	assert_false(engine_cpu_is_lost(&sets, 0));
}

/* Its clock stands while another's turn is. */
static void a_set_that_takes_turns_tells_nothing_of_its_cpu(void **state)
{
	(void)state;
	interval(100, 100);
	interval(100, 100);
	assert_false(engine_cpu_is_lost(&sets, 0));
	set[BASE].turn = 1;
	interval(100, 0);
	assert_false(engine_cpu_is_lost(&sets, 1));
}

static void a_cgroup_that_sleeps_is_on_no_cpu_that_went_off(void **state)
{
	(void)state;
	for (size_t t = 0; t < CPUS; t++)
		group[BASE][t].pid = 0; /* a descriptor */
	interval(100, 100);
	interval(100, 0);
	assert_false(engine_cpu_is_lost(&sets, 1));
}

/* Of unlike cores: the first set is of the first one's events. */
static void a_set_that_is_not_on_a_cpu_tells_nothing_of_it(void **state)
{
	(void)state;
	set[TURN].turn = ENGINE_ALWAYS;
	group[TURN][1].n = 0;
	run(TURN, 100, 0);
	interval(100, 100);
	assert_false(engine_cpu_is_lost(&sets, 1));
	run(TURN, 100, 0);
	interval(100, 40);
	assert_false(engine_cpu_is_lost(&sets, 0));
	assert_true(engine_cpu_is_lost(&sets, 1));
}

/* One that registers count has none. */
static void a_set_without_groups_is_passed_by(void **state)
{
	struct engine_reading ignored;

	(void)state;
	set[TURN].turn = ENGINE_ALWAYS;
	set[TURN].group = NULL;
	run(BASE, 100, 40);
	engine_set_read(&sets, BASE, &ignored);
	engine_cpus_look(&sets, 100 * MS);
	assert_true(engine_cpu_is_lost(&sets, 1));
}

static void looking_costs_no_reading(void **state)
{
	(void)state;
	reads = 0;
	interval(100, 100);
	assert_int_equal(reads, SETS * CPUS);
}

int main(void)
{
#define RUN(f) cmocka_unit_test_setup_teardown(f, begin_run, end_run)
	const struct CMUnitTest tests[] = {
		RUN(a_cpu_whose_clock_stood_went_off),
		RUN(clocks_may_differ_a_little),
		RUN(a_cpu_that_could_not_be_read_is_not_said_to_be_off),
		RUN(a_group_that_came_apart_is_read_and_told_at_once),
		RUN(a_set_that_takes_turns_tells_nothing_of_its_cpu),
		RUN(a_cgroup_that_sleeps_is_on_no_cpu_that_went_off),
		RUN(a_set_that_is_not_on_a_cpu_tells_nothing_of_it),
		RUN(a_set_without_groups_is_passed_by),
		RUN(looking_costs_no_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
