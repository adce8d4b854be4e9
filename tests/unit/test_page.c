// SPDX-License-Identifier: MIT
/* The source page: pages, the lease that they need, big.LITTLE, fork. */
#include "one_set.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/set/set.h"
#include "said.h"

static const struct upmu_options page_only = {
	.size = sizeof(struct upmu_options),
	.source = "page",
};

static void open_page(const char *events)
{
	int ret = upmu_open(&set, events, &page_only);

	if (ret)
		fail_msg("%s: %d: %s", events, ret, upmu_explain());
}

static void assert_refused(int error, const char *words)
{
	assert_int_equal(upmu_open(&set, "cycles", &page_only), error);
	assert_null(set);
	assert_said(words);
}

static uint32_t index_seen_by(size_t position)
{
	const struct perf_event_mmap_page *page =
		upmu_counter_at(set, position)->page;

	return page->index;
}

static void a_page_is_as_large_as_the_kernel_says(void **state)
{
	(void)state;
	fake.page_size = 16384;
	open_page("cycles");
	assert_int_equal(fake.mapped_size, 16384);
}

static void each_event_has_the_page_that_perf_gave_it(void **state)
{
	(void)state;
	open_page("cycles,r8");
	for (size_t i = 0; i < 2; i++) {
		assert_ptr_equal(upmu_counter_at(set, i)->page,
				 set->slots[i].page[0]);
		assert_int_equal(index_seen_by(i), 1);
		assert_int_equal(upmu_counter_at(set, i)->position, i);
	}
	assert_ptr_equal(upmu_counter_at(set, 1), upmu_counter_at(set, 0) + 1);
}

static void user_reads_are_asked_for_of_perf(void **state)
{
	(void)state;
	open_page("r8,task-clock");
	assert_int_equal(
		fake.events[set->groups[0].fd[0] - FAKE_FD].attr.config1, 2);
	assert_int_equal(
		fake.events[set->groups[0].fd[1] - FAKE_FD].attr.config1, 0);
}

/* ---- who has the cycle counter ----------------------------------------- */

#define LONG 1u /* config1: 64 bits, the cycle counter and no other */
/* A program of 32 bits cannot read 64 in one instruction: it asks for 32. */
#define LONG_HERE (sizeof(void *) < 8 ? 0 : LONG)
#define V7_ONLY	  0xffu /* config: the cycle counter and no other */
#define ANY	  0x11u

static const struct perf_event_attr *attr_of(const struct upmu *of,
					     size_t position)
{
	return &fake.events[of->groups[0].fd[position] - FAKE_FD].attr;
}

static void boot_a53(void)
{
	fake_boot("pi3-64");
	fake_write("/proc/sys/kernel/perf_user_access", "1\n");
	fake.registers = 8;
}

static void of_two_sets_on_a_thread_one_has_the_long_cycle_counter(void **state)
{
	struct upmu *second, *third;

	(void)state;
	boot_a53();
	open_page("cycles,r8");
	assert_int_equal(attr_of(set, 0)->config1 & LONG, LONG_HERE);
	assert_int_equal(attr_of(set, 1)->config1 & LONG, 0);
	assert_int_equal(upmu_open(&second, "r8,cycles", &page_only), 0);
	assert_int_equal(attr_of(second, 1)->config1 & LONG, 0);
	/* The second may be on the cycle counter as well as on another. */
	upmu_close(set);
	assert_int_equal(upmu_open(&third, "cycles", &page_only), 0);
	assert_int_equal(attr_of(third, 0)->config1 & LONG, 0);
	upmu_close(second);
	upmu_close(third);
	open_page("cycles");
	assert_int_equal(attr_of(set, 0)->config1 & LONG, LONG_HERE);
}

static void on_armv7_the_second_set_counts_cycles_elsewhere(void **state)
{
	struct upmu *second;

	(void)state;
	open_page("cycles,r8");
	assert_int_equal(attr_of(set, 0)->config, V7_ONLY);
	assert_int_equal(upmu_open(&second, "r8,cycles", &page_only), 0);
	assert_int_equal(attr_of(second, 1)->config, ANY);
	assert_string_equal(upmu_unit(second, 1), "cycles");
	upmu_close(second);
	assert_int_equal(upmu_open(&second, "cycles,cycles:u", &page_only), 0);
	assert_int_equal(attr_of(second, 0)->config, ANY);
	assert_int_equal(attr_of(second, 1)->config, ANY);
	upmu_close(set);
	set = second;
	upmu_close(set);
	open_page("cycles,cycles:u");
	assert_int_equal(attr_of(set, 0)->config, V7_ONLY);
	assert_int_equal(attr_of(set, 1)->config, ANY);
}

/* perf stat -a, or upmu stat over this program, was first. */
static void a_cycle_counter_of_others_is_left_to_them(void **state)
{
	(void)state;
	fake.never_runs = true;
	open_page("cycles");
	assert_int_equal(attr_of(set, 0)->config, ANY);
	upmu_close(set);
	boot_a53();
	fake.never_runs = true;
	open_page("cycles");
	assert_int_equal(attr_of(set, 0)->config1 & LONG, 0);
}

/* As many as fit beside the cycle counter: now they take turns. */
static void a_second_set_that_needs_the_cycle_counter_shares_it(void **state)
{
	const struct upmu_options read_only = { .size = sizeof(read_only),
						.source = "read" };
	struct upmu *second;

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles,r8", &read_only), 0);
	fake.ordinary = 2;
	assert_int_equal(upmu_open(&second, "r8,r9,cycles", &read_only), 0);
	assert_int_equal(attr_of(second, 2)->config, V7_ONLY);
	assert_int_equal(fake_open_fds(), 5);
	upmu_close(second);
}

static void all_sets_share_one_lease(void **state)
{
	struct upmu *other;

	(void)state;
	open_page("cycles");
	assert_int_equal(upmu_open(&other, "r8", &page_only), 0);
	assert_int_equal(fake.live_leases, 1);
	assert_int_equal(fake.last_lease.mode, UPMU_MODE_COUNT);
	upmu_close(other);
	assert_int_equal(fake.live_leases, 1);
	upmu_close(set);
	set = NULL;
	assert_int_equal(fake.live_leases, 0);
}

static void no_lease_is_taken_where_the_sysctl_permits(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_user_access", "1\n");
	open_page("cycles");
	assert_int_equal(fake.leases, 0);
}

static void a_sysctl_of_0_is_told_with_the_command(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_user_access", "0\n");
	assert_refused(-EOPNOTSUPP, "kernel.perf_user_access is 0");
	assert_said("hint: sudo sysctl kernel.perf_user_access=1");
}

static void no_module_makes_the_set_read_by_system_call(void **state)
{
	(void)state;
	fake.device_error = -ENOENT;
	assert_refused(-ENXIO, "not loaded");
	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	assert_string_equal(upmu_source(set), "read");
	assert_int_equal(index_seen_by(0), 0);
}

static void a_kernel_that_publishes_no_index_is_not_taken(void **state)
{
	(void)state;
	fake.index = 0;
	assert_refused(-EOPNOTSUPP, "does not tell the counter's number");
}

/* Another set is on the cycle counter: the trial's turn is over again. */
static void an_index_is_missed_only_in_an_event_that_runs_all_the_time(void **s)
{
	struct upmu *second;

	(void)s;
	open_page("cycles");
	fake.index = 0;
	fake.takes_turns = true;
	assert_int_equal(upmu_open(&second, "r11,r8", &page_only), 0);
	upmu_close(second);
	/* Another user of perf has it: cycles go to any counter. */
	upmu_close(set);
	open_page("cycles");
	assert_int_equal(attr_of(set, 0)->config, ANY);
	upmu_close(set);
	set = NULL;
	fake.takes_turns = false;
	assert_refused(-EOPNOTSUPP, "does not tell the counter's number");
}

static void a_verdict_says_its_size(void **state)
{
	struct upmu_verdict verdict = { .size = UPMU_VERDICT_SIZE_1 - 1 };

	(void)state;
	assert_int_equal(upmu_probe(0, &verdict), -EINVAL);
	assert_null(verdict.source);
	verdict.size = UPMU_VERDICT_SIZE_1;
	assert_int_equal(upmu_probe(0, &verdict), 0);
	assert_string_equal(verdict.source, "page");
	assert_int_equal(verdict.size, UPMU_VERDICT_SIZE_1);
}

static void a_page_that_cannot_be_mapped_is_told(void **state)
{
	(void)state;
	fake.map_error = -EPERM;
	assert_refused(-EPERM, "cannot map perf's page");
	assert_said("hint: sudo sysctl kernel.perf_event_mlock_kb=4096");
	fake.map_error = -ENOMEM;
	assert_refused(-ENOMEM, "cannot map perf's page: Cannot");
	assert_no_hint();
}

static void a_processor_without_registers_is_refused(void **state)
{
	(void)state;
	fake.registers = 0;
	assert_refused(-EOPNOTSUPP, "on ARM processors only");
}

static void off_the_hardware_counts_come_from_the_kernel(void **state)
{
	uint64_t first, second, both[2];

	(void)state;
	open_page("cycles,r8");
	fake_leave_hardware();
	first = upmu_inline_fallback(upmu_counter_at(set, 1));
	second = upmu_inline_fallback(upmu_counter_at(set, 1));
	assert_int_equal(second - first, FAKE_STEP);
	assert_int_equal(upmu_count_all(set, both, 2), 0);
	assert_int_equal(both[1] - second, FAKE_STEP);
}

static void room_for_another_number_of_values_is_einval(void **state)
{
	struct upmu_value values[3] = { { 7, 7, 7 } };
	uint64_t counts[3] = { 7 };

	(void)state;
	open_page("cycles,r8");
	assert_int_equal(upmu_read(set, values, 3), -EINVAL);
	assert_said("room for 3 values, but the set has 2");
	assert_int_equal(upmu_count_all(set, counts, 1), -EINVAL);
	assert_int_equal(values[0].count, 7);
	assert_int_equal(counts[0], 7);
}

static void reading_gives_counts_with_their_times(void **state)
{
	struct upmu_value before[2], after[2];

	(void)state;
	open_page("cycles,r8");
	assert_int_equal(upmu_read(set, before, 2), 0);
	assert_int_equal(upmu_read(set, after, 2), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(after[i].count - before[i].count, FAKE_STEP);
		assert_int_equal(after[i].enabled_ns - before[i].enabled_ns,
				 FAKE_STEP);
		assert_int_equal(after[i].running_ns, after[i].enabled_ns);
	}
}

static void boot_rk3399(uint64_t cpus)
{
	fake_boot("rk3399");
	fake_write("/proc/sys/kernel/perf_user_access", "1\n");
	fake.registers = 8;
	fake.cpus = cpus;
}

static void two_kinds_of_core_get_an_event_each_and_add_up(void **state)
{
	struct upmu_value before[2], after[2];
	uint64_t count;

	(void)state;
	boot_rk3399(0x3f);
	fake.on_type = 8;
	open_page("cycles,instructions");
	assert_int_equal(set->pmus, 2);
	assert_int_equal(fake_open_fds(), 4);
	assert_int_equal(fake_open_pages(), 4);
	assert_string_equal(upmu_event_name(set, 1), "instructions");
	/* The inline read knows one page: it is sent to the library. */
	assert_int_equal(index_seen_by(0), 0);
	fake_leave_hardware();
	assert_int_equal(upmu_read(set, before, 2), 0);
	assert_int_equal(upmu_read(set, after, 2), 0);
	assert_int_equal(after[0].count - before[0].count, 2 * FAKE_STEP);
	assert_int_equal(after[0].enabled_ns - before[0].enabled_ns,
			 2 * FAKE_STEP);
	assert_int_equal(after[0].running_ns - before[0].running_ns,
			 2 * FAKE_STEP);
	count = upmu_inline_fallback(upmu_counter_at(set, 0));
	assert_int_equal(count - after[0].count, 2 * FAKE_STEP);
}

static void whether_cycles_are_taken_is_asked_of_the_cpus_own_pmu(void **state)
{
	static const uint32_t types[] = { 8, 9 };

	(void)state;
	for (size_t kind = 0; kind < 2; kind++) {
		fake_boot("odroid-xu4");
		fake.on_type = types[kind];
		open_page("cycles,instructions");
		for (size_t pmu = 0; pmu < 2; pmu++) {
			int fd = set->groups[pmu].fd[0];

			assert_int_equal(fake.events[fd - FAKE_FD].attr.config,
					 V7_ONLY);
		}
		upmu_close(set);
		set = NULL;
	}
}

static void both_pmus_are_asked_by_their_own_numbers(void **state)
{
	uint32_t types[2];

	(void)state;
	boot_rk3399(0x3f);
	open_page("instructions");
	for (size_t pmu = 0; pmu < 2; pmu++)
		types[pmu] =
			fake.events[set->groups[pmu].fd[0] - FAKE_FD].attr.type;
	assert_int_equal(types[0], 8);
	assert_int_equal(types[1], 9);
}

static void a_thread_bound_to_one_kind_reads_inline(void **state)
{
	(void)state;
	boot_rk3399(0x30);
	open_page("l1d_cache_rd");
	assert_int_equal(set->pmus, 1);
	assert_int_equal(fake.events[set->groups[0].fd[0] - FAKE_FD].attr.type,
			 9);
	assert_int_equal(index_seen_by(0), 1);
}

static void a_thread_that_may_go_elsewhere_later_is_counted_there(void **state)
{
	struct upmu_value before[2], after[2];

	(void)state;
	boot_rk3399(0xf); /* LITTLE only */
	fake.on_type = 8;
	open_page("cycles,instructions");
	assert_int_equal(set->pmus, 2);
	assert_int_equal(upmu_read(set, before, 2), 0);
	/* taskset -p, or the program itself */
	fake.cpus = 0x3f;
	fake.on_type = 9;
	fake_work(1000000);
	assert_int_equal(upmu_read(set, after, 2), 0);
	assert_in_range(after[0].count - before[0].count, 1000000,
			1000000 + 4 * FAKE_STEP);
	assert_int_equal(after[0].running_ns, after[0].enabled_ns);
}

static void a_thread_that_promises_to_stay_reads_inline(void **state)
{
	const struct upmu_options bound = { .size = sizeof(bound),
					    .source = "page",
					    .flags = UPMU_OPEN_BOUND };
	static const uint64_t cpus[] = { 0xf, 0x30 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		boot_rk3399(cpus[i]);
		assert_int_equal(upmu_open(&set, "cycles", &bound), 0);
		assert_int_equal(set->pmus, 1);
		assert_int_equal(attr_of(set, 0)->type, 8 + i);
		assert_int_equal(index_seen_by(0), 1);
		upmu_close(set);
		set = NULL;
	}
}

/* The kinds that it may run on now come first: raw has their codes. */
static void a_pmu_for_later_may_refuse(void **state)
{
	(void)state;
	boot_rk3399(0x30);
	open_page("cycles,instructions");
	assert_int_equal(attr_of(set, 0)->type, 9);
	assert_int_equal(set->pmus, 2);
	upmu_close(set);
	set = NULL;
	fake.perf_error = -ENOENT;
	fake.perf_error_from = (int)fake.perf_opens + 4;
	open_page("cycles,instructions");
	assert_int_equal(set->pmus, 1);
	assert_int_equal(fake_open_fds(), 2);
}

static void a_child_reads_by_system_call_and_leaves_the_lease_alone(void **s)
{
	uint64_t count;
	int status;
	pid_t child;

	(void)s;
	open_page("cycles");
	child = fork();
	if (!child) {
		/* Not the parent's page, which a real child has no map of. */
		if (index_seen_by(0))
			_exit(1);
		count = upmu_inline_fallback(upmu_counter_at(set, 0));
		if (count == UPMU_NO_COUNT || fake.live_leases)
			_exit(2);
		upmu_close(set);
		_exit(fake_open_fds() ? 3 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(index_seen_by(0), 1);
	assert_int_equal(fake.live_leases, 1);
}

static void a_child_takes_a_lease_of_its_own(void **state)
{
	struct upmu *own;
	int status;
	pid_t child;

	(void)state;
	open_page("cycles");
	child = fork();
	if (!child) {
		if (upmu_open(&own, "cycles", &page_only))
			_exit(1);
		/* The parent's set ends here; the child's lease must not. */
		upmu_close(set);
		if (fake.live_leases != 1)
			_exit(2);
		upmu_close(own);
		_exit((int)fake.live_leases);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* It is opened the short way, as the first did; what went wrong is told. */
static void a_second_set_whose_pages_tell_nothing_is_refused(void **state)
{
	struct upmu *second = NULL;

	(void)state;
	open_page("cycles");
	fake.index = 0;
	assert_int_equal(upmu_open(&second, "cycles", &page_only), -EOPNOTSUPP);
	assert_null(second);
	assert_said("does not tell the counter's number");
	fake.index = 1;
	assert_int_equal(upmu_open(&second, "cycles", &page_only), 0);
	upmu_close(second);
}

/* What has its counters keeps them, whatever is asked anew. */
static void a_set_that_finds_no_counter_is_opened_once(void **state)
{
	struct upmu *second;
	size_t before;

	(void)state;
	open_page("cycles");
	before = fake.perf_opens;
	fake.index = 0;
	fake.never_runs = true;
	assert_int_equal(upmu_open(&second, "cycles,r8", &page_only), 0);
	assert_int_equal(fake.perf_opens, before + 2);
	upmu_close(second);
}

static uint64_t config_of_a_watch(void)
{
	struct upmu_watch *watch;
	uint64_t config = 0;

	assert_int_equal(upmu_watch_open(&watch, "cycles", 1000, NULL), 0);
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open &&
		    fake.events[i].attr.sample_period == 1000)
			config = fake.events[i].attr.config;
	upmu_watch_close(watch);
	return config;
}

static void a_watch_leaves_the_cycle_counter_to_a_set(void **state)
{
	(void)state;
	assert_int_equal(config_of_a_watch(), V7_ONLY);
	open_page("cycles");
	assert_int_equal(config_of_a_watch(), ANY);
}

#define PAGE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, boot_pi2, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(a_page_is_as_large_as_the_kernel_says),
		PAGE_TEST(each_event_has_the_page_that_perf_gave_it),
		PAGE_TEST(user_reads_are_asked_for_of_perf),
		PAGE_TEST(
			of_two_sets_on_a_thread_one_has_the_long_cycle_counter),
		PAGE_TEST(on_armv7_the_second_set_counts_cycles_elsewhere),
		PAGE_TEST(a_cycle_counter_of_others_is_left_to_them),
		PAGE_TEST(a_second_set_that_needs_the_cycle_counter_shares_it),
		PAGE_TEST(all_sets_share_one_lease),
		PAGE_TEST(no_lease_is_taken_where_the_sysctl_permits),
		PAGE_TEST(a_sysctl_of_0_is_told_with_the_command),
		PAGE_TEST(no_module_makes_the_set_read_by_system_call),
		PAGE_TEST(a_kernel_that_publishes_no_index_is_not_taken),
		PAGE_TEST(
			an_index_is_missed_only_in_an_event_that_runs_all_the_time),
		PAGE_TEST(a_verdict_says_its_size),
		PAGE_TEST(a_page_that_cannot_be_mapped_is_told),
		PAGE_TEST(a_processor_without_registers_is_refused),
		PAGE_TEST(off_the_hardware_counts_come_from_the_kernel),
		PAGE_TEST(room_for_another_number_of_values_is_einval),
		PAGE_TEST(reading_gives_counts_with_their_times),
		PAGE_TEST(two_kinds_of_core_get_an_event_each_and_add_up),
		PAGE_TEST(
			whether_cycles_are_taken_is_asked_of_the_cpus_own_pmu),
		PAGE_TEST(both_pmus_are_asked_by_their_own_numbers),
		PAGE_TEST(a_thread_bound_to_one_kind_reads_inline),
		PAGE_TEST(
			a_thread_that_may_go_elsewhere_later_is_counted_there),
		PAGE_TEST(a_thread_that_promises_to_stay_reads_inline),
		PAGE_TEST(a_pmu_for_later_may_refuse),
		PAGE_TEST(
			a_child_reads_by_system_call_and_leaves_the_lease_alone),
		PAGE_TEST(a_child_takes_a_lease_of_its_own),
		PAGE_TEST(a_second_set_whose_pages_tell_nothing_is_refused),
		PAGE_TEST(a_set_that_finds_no_counter_is_opened_once),
		PAGE_TEST(a_watch_leaves_the_cycle_counter_to_a_set),
	};

	return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
