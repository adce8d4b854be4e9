// SPDX-License-Identifier: MIT
/*
 * Sets of the source raw: registers of the model, a lease of a module that is
 * made up, and what becomes of a running set when either is taken away.
 */
#include "tests/unit/fake_kernel.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/model/current.h"
#include "tests/model/own_time.h"
#include "tests/unit/said.h"

#define MS 1000000u

static const struct upmu_options raw = {
	.size = sizeof(raw),
	.source = "raw",
};

static struct upmu *set;
static struct upmu_value values[2];
static uint64_t counts[2];

static int boot(void **state)
{
	model_init(&model, MODEL_KIND, 4);
	model.user_access = UPMU_USER_EN;
	model.is_user = true;
	fake_boot("pi2");
	fake.cpus = 1 << 2;
	this_cpu = 2;
	(void)state;
	for (int i = 0; i < 2; i++) {
		values[i] = (struct upmu_value){ 7, 7, 7 };
		counts[i] = 7;
	}
	return upmu_open(&set, "cycles,r8", &raw);
}

static int close_it(void **state)
{
	upmu_close(set);
	set = NULL;
	assert_int_equal(fake_open_fds(), 0);
	assert_int_equal(fake.live_leases, 0);
	return end(state);
}

static void work(void)
{
	model_pass(&model, 1000, false);
	model_happen(&model, 8, 300, false);
}

static uint64_t count_of(size_t position)
{
	return upmu_count(upmu_counter_at(set, position));
}

/* Every way to use a running set gives @error, and touches nothing. */
static void assert_all_fail(int error, const char *words)
{
	assert_int_equal(upmu_read(set, values, 2), error);
	assert_said(words);
	assert_int_equal(upmu_count_all(set, counts, 2), error);
	assert_said(words);
	assert_int_equal(upmu_stop(set), error);
	assert_said(words);
	assert_int_equal(upmu_start(set), error);
	assert_said(words);
	assert_true(count_of(1) == UPMU_NO_COUNT);
	assert_said(words);
	assert_int_equal(values[0].count, 7);
	assert_int_equal(counts[0], 7);
}

static void registers_are_counted_from_zero(void **state)
{
	(void)state;
	work();
	assert_int_equal(count_of(0), 1000);
	assert_int_equal(count_of(1), 300);
	now_ns += 5 * MS;
	work();
	assert_int_equal(upmu_read(set, values, 2), 0);
	assert_int_equal(values[0].count, 2000);
	assert_int_equal(values[1].count, 600);
	assert_int_equal(values[1].enabled_ns, 5 * MS);
	assert_int_equal(values[1].running_ns, 5 * MS);
}

static void user_only_leaves_the_kernel_out(void **state)
{
	const struct upmu_options user = { .size = sizeof(user),
					   .source = "raw",
					   .flags = UPMU_OPEN_USER_ONLY };

	(void)state;
	upmu_close(set);
	set = NULL;
	fake.info.pmu_version = 1; /* has no filters */
	assert_int_equal(upmu_open(&set, "cycles,r8", &user), -EINVAL);
	fake.info.pmu_version = 2;
	assert_int_equal(upmu_open(&set, "cycles,r8", &user), 0);
	work();
	model_pass(&model, 1000, true);
	model_happen(&model, 8, 300, true);
	assert_int_equal(count_of(0), 1000);
	assert_int_equal(count_of(1), 300);
}

/* The model has none: what the register is told is what there is to see. */
static void the_hypervisor_is_counted_where_h_asks_for_it(void **state)
{
	static const struct {
		const char *events;
		bool asks;
	} cases[] = {
		{ "r8", false },    { "r8:u", false },	{ "r8:k", false },
		{ "r8:uk", false }, { "r8:h", true },	{ "r8:uh", true },
		{ "r8:kh", true },  { "r8:ukh", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		upmu_close(set);
		set = NULL;
		assert_int_equal(upmu_open(&set, cases[i].events, &raw), 0);
		assert_int_equal(!!(model.type[0] & UPMU_TYPE_NSH),
				 cases[i].asks);
	}
}

static void a_stopped_set_stands_and_goes_on(void **state)
{
	(void)state;
	work();
	assert_int_equal(upmu_stop(set), 0);
	work();
	now_ns += 10000 * (uint64_t)MS;
	assert_int_equal(count_of(0), 1000);
	assert_int_equal(upmu_start(set), 0);
	work();
	assert_int_equal(upmu_count_all(set, counts, 2), 0);
	assert_int_equal(counts[0], 2000);
	assert_int_equal(counts[1], 600);
}

static void counts_go_on_past_2_to_the_32(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		now_ns += MS;
		model_pass(&model, 0xe0000000, false);
		assert_int_equal(count_of(0), (uint64_t)(i + 1) * 0xe0000000u);
	}
}

/* With open=all there is no lease that would refuse it. */
static void assert_one_set_at_a_time(void)
{
	struct upmu *second = NULL;

	upmu_close(set);
	assert_int_equal(upmu_open(&set, "cycles,r8", &raw), 0);
	work();
	assert_int_equal(upmu_open(&second, "r3,cycles", &raw), -EBUSY);
	assert_said("another set counts by the registers of CPU 2");
	assert_null(second);
	/* The first goes on undisturbed. */
	work();
	assert_int_equal(count_of(0), 2000);
	assert_int_equal(count_of(1), 600);
	upmu_close(set);
	assert_int_equal(upmu_open(&set, "r8,cycles", &raw), 0);
	work();
	assert_int_equal(count_of(0), 300);
}

static void a_second_set_on_a_cpu_is_refused(void **state)
{
	(void)state;
	assert_one_set_at_a_time();
}

static void a_second_set_is_refused_where_all_may_read_too(void **state)
{
	(void)state;
	fake.info.open = UPMU_OPEN_ALL;
	assert_one_set_at_a_time();
}

static void on_another_cpu_a_running_set_is_exdev(void **state)
{
	(void)state;
	work();
	this_cpu = 3;
	assert_all_fail(-EXDEV, "those of CPU 2, this thread runs on CPU 3");
	this_cpu = 2;
	assert_int_equal(count_of(0), 1000);
}

/* Its registers stand at 0, as those of a CPU that nobody uses. */
static struct model_pmu elsewhere;

static void change_cpu(void)
{
	struct model_pmu here = model;

	model = elsewhere;
	elsewhere = here;
	this_cpu ^= 1;
}

/* Each way to use a set that is moved in the midst of it. */
static void moved_while_it_is_read_a_set_gives_no_number(void **state)
{
	(void)state;
	elsewhere = model;
	model_pass(&elsewhere, 5000, false);
	work();
	after_getcpu = change_cpu;
	assert_int_equal(upmu_read(set, values, 2), -EXDEV);
	assert_said("those of CPU 2, this thread runs on CPU 3");
	change_cpu();
	after_getcpu = change_cpu;
	assert_int_equal(upmu_count_all(set, counts, 2), -EXDEV);
	change_cpu();
	after_getcpu = change_cpu;
	assert_true(count_of(0) == UPMU_NO_COUNT);
	change_cpu();
	assert_int_equal(values[0].count, 7);
	assert_int_equal(counts[0], 7);
	assert_int_equal(count_of(0), 1000);
	assert_int_equal(count_of(1), 300);
}

static void moved_while_it_is_switched_a_set_stays_as_it_is(void **state)
{
	(void)state;
	elsewhere = model;
	after_getcpu = change_cpu;
	assert_int_equal(upmu_stop(set), -EXDEV);
	change_cpu();
	work();
	assert_int_equal(count_of(0), 1000);
	assert_int_equal(upmu_stop(set), 0);
	after_getcpu = change_cpu;
	assert_int_equal(upmu_start(set), -EXDEV);
	change_cpu();
	work();
	assert_int_equal(count_of(0), 1000);
	assert_int_equal(upmu_start(set), 0);
	work();
	assert_int_equal(count_of(0), 2000);
}

static void wait_long(void)
{
	now_ns += 269 * MS;
}

static void held_up_while_it_is_read_a_set_gives_no_number(void **state)
{
	(void)state;
	work();
	after_getcpu = wait_long;
	assert_int_equal(upmu_read(set, values, 2), -EOVERFLOW);
	assert_int_equal(values[0].count, 7);
}

/* The registers there belong to whatever runs there. */
static void closed_on_another_cpu_no_register_is_touched(void **state)
{
	unsigned int accesses = model.accesses;

	(void)state;
	this_cpu = 3;
	upmu_close(set);
	set = NULL;
	assert_int_equal(model.accesses, accesses);
}

static void a_broken_lease_is_estale(void **state)
{
	(void)state;
	work();
	fake.info.lease_state = UPMU_STATE_BROKEN;
	now_ns += MS;
	assert_all_fail(-ESTALE, "the lease was broken");
	assert_said("hint: dmesg | grep upmu");
}

static void an_ended_lease_is_estale(void **state)
{
	(void)state;
	fake.info.lease_state = UPMU_STATE_ENDED;
	now_ns += MS;
	assert_all_fail(-ESTALE, "the lease has ended");
}

/* Asking costs a system call: a count trusts the last answer for 1 ms. */
static void reading_asks_for_the_lease_each_time(void **state)
{
	(void)state;
	assert_int_equal(upmu_read(set, values, 2), 0);
	values[0].count = 7;
	fake.info.lease_state = UPMU_STATE_BROKEN;
	assert_int_equal(upmu_read(set, values, 2), -ESTALE);
	assert_int_equal(values[0].count, 7);
	now_ns += MS - 1;
	assert_true(count_of(0) != UPMU_NO_COUNT);
	now_ns += 1;
	assert_true(count_of(0) == UPMU_NO_COUNT);
}

static void registers_open_to_all_and_then_not_are_estale(void **state)
{
	(void)state;
	upmu_close(set);
	fake.info.open = UPMU_OPEN_ALL;
	assert_int_equal(upmu_open(&set, "cycles,r8", &raw), 0);
	assert_int_equal(fake.live_leases, 0);
	work();
	assert_int_equal(count_of(1), 300);
	fake.info.open = 0;
	now_ns += MS;
	assert_all_fail(-ESTALE, "parameter open is no longer 'all'");
	assert_said("hint: echo all | sudo tee");
}

static void unread_for_too_long_is_eoverflow(void **state)
{
	(void)state;
	work();
	now_ns += 269 * MS;
	assert_int_equal(upmu_read(set, values, 2), -EOVERFLOW);
	assert_said("269 ms since the last reading");
	assert_int_equal(upmu_count_all(set, counts, 2), -EOVERFLOW);
	assert_true(count_of(0) == UPMU_NO_COUNT);
	assert_int_equal(values[0].count, 7);
	assert_int_equal(counts[0], 7);
	assert_true(model.enabled & MODEL_CYCLES);
	assert_int_equal(upmu_stop(set), -EOVERFLOW);
	assert_false(model.enabled & MODEL_CYCLES);
}

/* The cycles are read all the time, the other event is not. */
static void where_one_count_is_not_known_none_is_given(void **state)
{
	(void)state;
	work();
	now_ns += 200 * MS;
	assert_int_equal(count_of(0), 1000);
	now_ns += 100 * MS;
	assert_int_equal(upmu_count_all(set, counts, 2), -EOVERFLOW);
	assert_int_equal(counts[0], 7);
	assert_int_equal(counts[1], 7);
	assert_int_equal(count_of(0), 1000);
}

/* What it counted is not known better because it was stopped. */
static void stopped_too_late_it_is_eoverflow_until_it_starts(void **state)
{
	uint64_t first;

	(void)state;
	now_ns += 269 * MS;
	assert_int_equal(upmu_stop(set), -EOVERFLOW);
	assert_int_equal(upmu_read(set, values, 2), -EOVERFLOW);
	assert_int_equal(upmu_count_all(set, counts, 2), -EOVERFLOW);
	assert_true(count_of(0) == UPMU_NO_COUNT);
	assert_int_equal(upmu_stop(set), 0);
	assert_int_equal(upmu_start(set), 0);
	first = count_of(0);
	work();
	assert_int_equal(count_of(0) - first, 1000);
	assert_int_equal(upmu_stop(set), 0);
	assert_int_equal(upmu_read(set, values, 2), 0);
	assert_int_equal(values[0].count - first, 1000);
}

static void read_often_enough_it_is_not(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++) {
		work();
		now_ns += 268 * MS;
		assert_int_equal(upmu_read(set, values, 2), 0);
		assert_int_equal(values[0].count, i * 1000);
	}
}

static void in_a_child_the_parents_registers_are_estale(void **state)
{
	int status;
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		if (upmu_read(set, values, 2) != -ESTALE ||
		    upmu_start(set) != -ESTALE || upmu_stop(set) != -ESTALE ||
		    count_of(0) != UPMU_NO_COUNT)
			_exit(1);
		if (!strstr(upmu_explain(), "a child opens a set of its own"))
			_exit(2);
		upmu_close(set);
		if (fake.unlocks)
			_exit(4); /* the lock is the parent's as well */
		_exit(model.enabled & MODEL_CYCLES ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void closing_stops_what_was_counted(void **state)
{
	(void)state;
	assert_true(model.enabled & MODEL_CYCLES);
	upmu_close(set);
	set = NULL;
	assert_false(model.enabled & MODEL_CYCLES);
	/* Not by the descriptor's end: a child may have a copy. */
	assert_int_equal(fake.unlocks, 1);
}

static void more_events_than_counters_are_enospc(void **state)
{
	struct upmu *other = NULL;

	(void)state;
	assert_int_equal(upmu_open(&other, "r1,r2,r3,r4,r5", &raw), -ENOSPC);
	assert_said("this core has 4 event counters");
	assert_null(other);
	/* Cycles have a counter of their own, and the second takes another. */
	upmu_close(set);
	set = NULL;
	assert_int_equal(upmu_open(&other, "cycles,r1,cycles,r2,r3", &raw), 0);
	upmu_close(other);
}

static void an_event_that_an_emulator_leaves_at_0_is_refused(void **state)
{
	struct upmu *other = NULL;

	(void)state;
	fake_boot("qemu-virt-32");
	fake.cpus = 1 << 2;
	assert_int_equal(upmu_open(&other, "cycles,r3", &raw), -EOPNOTSUPP);
	assert_said("'r3' would stay 0");
	assert_null(other);
}

static void boot_an_emulator(void)
{
	upmu_close(set);
	set = NULL;
	fake_boot("qemu-virt-32");
	fake.cpus = 1 << 2;
}

/* QEMU without -icount has the event and leaves it at 0. */
static void instructions_that_an_emulator_does_not_count_are_refused(void **s)
{
	(void)s;
	boot_an_emulator();
	assert_int_equal(upmu_open(&set, "cycles,instructions", &raw),
			 -EOPNOTSUPP);
	assert_said("'instructions' would stay 0");
	assert_null(set);
}

static void execute(struct model_pmu *pmu, const struct model_access *next)
{
	(void)next;
	model_happen(pmu, 8, 3, false);
}

static void instructions_that_an_emulator_counts_are_counted_from_0(void **s)
{
	(void)s;
	boot_an_emulator();
	model.before = execute;
	assert_int_equal(upmu_open(&set, "cycles,instructions", &raw), 0);
	model.before = NULL;
	assert_in_range(count_of(1), 0, 50);
}

static void a_thread_that_may_move_is_exdev(void **state)
{
	struct upmu *other = NULL;

	(void)state;
	fake.cpus = 0xc;
	assert_int_equal(upmu_open(&other, "cycles", &raw), -EXDEV);
	assert_said("this thread may run on 2");
	assert_said("hint: taskset -c");
	assert_null(other);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, boot, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(registers_are_counted_from_zero),
		CASE(user_only_leaves_the_kernel_out),
		CASE(the_hypervisor_is_counted_where_h_asks_for_it),
		CASE(a_stopped_set_stands_and_goes_on),
		CASE(counts_go_on_past_2_to_the_32),
		CASE(a_second_set_on_a_cpu_is_refused),
		CASE(a_second_set_is_refused_where_all_may_read_too),
		CASE(on_another_cpu_a_running_set_is_exdev),
		CASE(moved_while_it_is_read_a_set_gives_no_number),
		CASE(moved_while_it_is_switched_a_set_stays_as_it_is),
		CASE(held_up_while_it_is_read_a_set_gives_no_number),
		CASE(closed_on_another_cpu_no_register_is_touched),
		CASE(a_broken_lease_is_estale),
		CASE(an_ended_lease_is_estale),
		CASE(reading_asks_for_the_lease_each_time),
		CASE(registers_open_to_all_and_then_not_are_estale),
		CASE(unread_for_too_long_is_eoverflow),
		CASE(where_one_count_is_not_known_none_is_given),
		CASE(stopped_too_late_it_is_eoverflow_until_it_starts),
		CASE(read_often_enough_it_is_not),
		CASE(in_a_child_the_parents_registers_are_estale),
		CASE(closing_stops_what_was_counted),
		CASE(more_events_than_counters_are_enospc),
		CASE(an_event_that_an_emulator_leaves_at_0_is_refused),
		CASE(instructions_that_an_emulator_does_not_count_are_refused),
		CASE(instructions_that_an_emulator_counts_are_counted_from_0),
		CASE(a_thread_that_may_move_is_exdev),
	};

	return cmocka_run_group_tests_name("raw_set", tests, NULL, NULL);
}
