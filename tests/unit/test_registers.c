// SPDX-License-Identifier: MIT
/* CPUs whose registers upmu reads itself, without perf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/clock.h"
#include "lib/engine/registers.h"
#include "lib/engine/sets.h"
#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/registers/raw_cpu.h"
#include "said.h"

#define CPUS	2
#define LEASE	77
#define FORMER	5 /* the CPU that upmu itself may run on before */
#define VERSION 3
#define CYCLES	UPMU_RAW_CPU_CYCLES

static struct engine_target target[CPUS] = { { -1, 0 }, { -1, 3 } };
static struct engine_sets sets;

/* Four CPUs; what runs counts its code in each ns. */
static struct machine {
	uint32_t value[4][32], code[4][32], running[4];
	int at, refused; /* where upmu is, and where it may not be */
	int bound;	 /* the process that was kept on CPUs */
	cpu_set_t own, others;
	double now_ns, tick_ns; /* each look at the clock takes that */
	int check, lease, info, live, taken;
} hw;

static struct engine_event event[4];
static struct upmu_event parsed[4];
static struct engine_events events;
static struct engine_registers *raw;

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cpus);
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cpus)
{
	assert_int_equal(size, sizeof(*cpus));
	if (pid) {
		hw.bound = pid;
		hw.others = *cpus;
		return 0;
	}
	if (CPU_ISSET(hw.refused, cpus)) {
		errno = EINVAL;
		return -1;
	}
	hw.own = *cpus;
	for (hw.at = 0; !CPU_ISSET(hw.at, cpus); hw.at++)
		;
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus)
{
	assert_int_equal(pid, 0);
	assert_int_equal(size, sizeof(*cpus));
	*cpus = hw.own;
	return 0;
}

double __wrap_engine_now_ns(void);
double __wrap_engine_now_ns(void)
{
	return hw.now_ns += hw.tick_ns;
}

int __wrap_upmu_raw_cpu_check(void);
int __wrap_upmu_raw_cpu_check(void)
{
	return hw.check;
}

int __wrap_upmu_raw_cpu_check_event(const struct upmu_perf_event *perf,
				    uint32_t code, uint32_t pmu_version);
int __wrap_upmu_raw_cpu_check_event(const struct upmu_perf_event *perf,
				    uint32_t code, uint32_t pmu_version)
{
	assert_ptr_equal(perf, &event[1].perf);
	assert_int_equal(pmu_version, VERSION);
	return code == 3 ? -EINVAL : 0;
}

void __wrap_upmu_raw_cpu_set(unsigned int n, const struct upmu_perf_event *perf,
			     uint32_t code, uint32_t pmu_version);
void __wrap_upmu_raw_cpu_set(unsigned int n, const struct upmu_perf_event *perf,
			     uint32_t code, uint32_t pmu_version)
{
	assert_true(perf == &event[0].perf || perf == &event[1].perf ||
		    perf == &event[2].perf);
	assert_int_equal(pmu_version, VERSION);
	assert_false(hw.running[hw.at] >> n & 1);
	hw.code[hw.at][n] = code;
	hw.value[hw.at][n] = 0;
}

void __wrap_upmu_raw_cpu_start(uint32_t mask);
void __wrap_upmu_raw_cpu_start(uint32_t mask)
{
	hw.running[hw.at] |= mask;
}

void __wrap_upmu_raw_cpu_stop(uint32_t mask);
void __wrap_upmu_raw_cpu_stop(uint32_t mask)
{
	hw.running[hw.at] &= ~mask;
}

uint32_t __wrap_upmu_raw_cpu_read(unsigned int n);
uint32_t __wrap_upmu_raw_cpu_read(unsigned int n)
{
	return hw.value[hw.at][n];
}

int __wrap_upmu_lease_take(int *lease, uint32_t mode, uint32_t flags);
int __wrap_upmu_lease_take(int *lease, uint32_t mode, uint32_t flags)
{
	assert_int_equal(mode, UPMU_MODE_RAW);
	assert_int_equal(flags, 0);
	if (hw.lease)
		return hw.lease;
	*lease = LEASE;
	hw.taken++;
	hw.live++;
	return 0;
}

int __wrap_upmu_lease_check(int lease);
int __wrap_upmu_lease_check(int lease)
{
	assert_int_equal(lease, LEASE);
	return hw.lease;
}

void __wrap_upmu_lease_release(int lease);
void __wrap_upmu_lease_release(int lease)
{
	hw.live -= lease == LEASE;
}

int __wrap_upmu_device_info(int fd, struct upmu_info *info);
int __wrap_upmu_device_info(int fd, struct upmu_info *info)
{
	assert_int_equal(fd, LEASE);
	*info = (struct upmu_info){ .pmu_version = VERSION, .counters = 4 };
	return hw.info;
}

static void work(uint64_t ns)
{
	hw.now_ns += (double)ns;
	for (size_t c = 0; c < 4; c++)
		for (size_t n = 0; n < 32; n++)
			if (hw.running[c] >> n & 1)
				hw.value[c][n] += (uint32_t)ns * hw.code[c][n];
}

/* Cycles and code 2 are always on; codes 3 and 4 take turns; 3 is software. */
static int begin_raw(void **state)
{
	static struct engine_set raw_set[4];

	(void)state;
	hw = (struct machine){ .refused = 9, .now_ns = 1e9 };
	CPU_SET(FORMER, &hw.own);
	memset(event, 0, sizeof(event));
	for (uint16_t i = 0; i < 4; i++) {
		parsed[i].code = i + 1;
		event[i].parsed = &parsed[i];
		raw_set[i] = (struct engine_set){ .turn = i - 1,
						  .n = 1,
						  .event = { i } };
	}
	event[0].base = ENGINE_BASE_CYCLES;
	raw_set[0].n = 2;
	raw_set[0].event[1] = 1;
	raw_set[1].event[0] = 2;
	raw_set[2].event[0] = 1;
	raw_set[3] = (struct engine_set){ .turn = ENGINE_ALWAYS,
					  .lane = ENGINE_NO_LANE,
					  .n = 1,
					  .event = { 3 } };
	raw_set[0].turn = ENGINE_ALWAYS;
	raw_set[1].turn = 0;
	raw_set[2].turn = 1;
	events = (struct engine_events){ .event = event, .n = 4, .lanes = 1 };
	sets = (struct engine_sets){ .set = raw_set, .n = 4, .turns = 2 };
	raw = NULL;
	return 0;
}

static int end_raw(void **state)
{
	(void)state;
	engine_registers_close(raw);
	assert_int_equal(hw.live, 0);
	assert_true(CPU_ISSET(FORMER, &hw.own));
	assert_int_equal(CPU_COUNT(&hw.own), 1);
	return 0;
}

static void open_raw(void)
{
	const struct engine_targets targets = { .target = target, .n = CPUS };
	unsigned int counters = 0;

	assert_int_equal(
		engine_registers_open(&raw, &events, &targets, &counters), 0);
	assert_int_equal(counters, 4);
	assert_int_equal(engine_registers_assign(raw, &sets), 0);
	sets.raw = raw;
}

static void assert_read(size_t index, uint64_t ns, uint64_t first,
			uint64_t second)
{
	struct engine_reading reading;

	assert_int_equal(engine_registers_read(&sets, index, &reading), 0);
	assert_int_equal(reading.running_ns, ns);
	assert_int_equal(reading.enabled_ns, ns);
	assert_int_equal(reading.count[0], first);
	assert_int_equal(reading.count[1], second);
}

static void counts_of_all_cpus_are_added_up(void **state)
{
	(void)state;
	open_raw();
	assert_int_equal(engine_registers_cpus(raw), CPUS);
	engine_registers_switch(&sets, ENGINE_ALWAYS, true);
	engine_registers_switch(&sets, 0, true);
	work(1000);
	assert_read(0, 2000, 2000, 4000);
	assert_read(1, 2000, 6000, 0);
	assert_read(2, 0, 0, 0);
	engine_registers_switch(&sets, 0, false);
	/* One that is off is not switched off again. */
	engine_registers_switch(&sets, 0, false);
	engine_registers_switch(&sets, 1, true);
	work(500);
	assert_read(0, 3000, 3000, 6000);
	assert_read(1, 2000, 6000, 0);
	assert_read(2, 1000, 2000, 0);
	engine_registers_switch(&sets, 1, false);
	engine_registers_switch(&sets, 0, true);
	work(500);
	assert_read(1, 3000, 9000, 0);
	assert_read(2, 1000, 2000, 0);
}

/* Cycles have their own; what is always on has the first of the others. */
static void turns_share_the_counters_behind_what_is_always_on(void **state)
{
	(void)state;
	open_raw();
	engine_registers_switch(&sets, ENGINE_ALWAYS, true);
	engine_registers_switch(&sets, 0, true);
	for (size_t c = 0; c < 4; c++) {
		bool mine = c == 0 || c == 3;

		assert_int_equal(hw.running[c], mine ? 1u << CYCLES | 3 : 0);
		assert_int_equal(hw.code[c][CYCLES], mine ? 1 : 0);
		assert_int_equal(hw.code[c][0], mine ? 2 : 0);
		assert_int_equal(hw.code[c][1], mine ? 3 : 0);
	}
	engine_registers_switch(&sets, 0, false);
	assert_int_equal(hw.running[3], 1u << CYCLES | 1);
	engine_registers_switch(&sets, 1, true);
	assert_int_equal(hw.code[3][1], 2);
	engine_registers_switch(&sets, ENGINE_ALWAYS, false);
	assert_int_equal(hw.running[3], 2);
}

static void counters_of_32_bits_are_added_up_in_64(void **state)
{
	struct engine_reading reading;

	(void)state;
	open_raw();
	engine_registers_switch(&sets, ENGINE_ALWAYS, true);
	for (size_t i = 0; i < 30; i++) {
		work(500000000);
		engine_registers_fold(&sets);
	}
	assert_int_equal(engine_registers_read(&sets, 0, &reading), 0);
	assert_true(reading.count[0] == UINT64_C(30000000000));
	assert_int_equal(reading.gaps, 0);
	/* Of the kernel's events nothing. */
	assert_read(3, 0, 0, 0);
}

static void a_counter_that_may_have_gone_round_unseen_is_told(void **state)
{
	struct engine_reading reading;

	open_raw();
	engine_registers_switch(&sets, ENGINE_ALWAYS, true);
	for (unsigned int gaps = 0; gaps < 3; gaps++, work(537000000)) {
		assert_int_equal(engine_registers_read(&sets, 0, &reading), 0);
		assert_int_equal(reading.gaps, gaps * CPUS);
	}
	(void)state;
}

static unsigned int gaps_of(size_t index)
{
	struct engine_reading reading;

	assert_int_equal(engine_registers_read(&sets, index, &reading), 0);
	return reading.gaps;
}

/* Looking takes time, too. */
static void each_of_several_gaps_in_a_row_is_told_of_each_set(void **state)
{
	unsigned int gaps[2] = { 0, 0 };

	(void)state;
	open_raw();
	hw.tick_ns = 1000;
	engine_registers_switch(&sets, ENGINE_ALWAYS, true);
	engine_registers_switch(&sets, 0, true);
	for (size_t n = 0; n < 10; n++) {
		size_t set = n % 2;
		unsigned int before = gaps[set];

		if (!set)
			work(537000000);
		gaps[set] = gaps_of(set);
		assert_true(gaps[set] > before);
	}
}

static void a_broken_lease_has_no_numbers(void **state)
{
	struct engine_reading reading = { .running_ns = 7 };

	(void)state;
	open_raw();
	hw.lease = -ESTALE;
	assert_int_equal(engine_registers_read(&sets, 0, &reading), -ESTALE);
	assert_int_equal(reading.running_ns, 7);
}

/* It counts nothing meanwhile; the other does. */
static void a_cpu_that_is_not_reached_later_keeps_what_it_had(void **state)
{
	(void)state;
	open_raw();
	engine_registers_switch(&sets, 0, true);
	work(1000);
	assert_read(1, 2000, 6000, 0);
	hw.refused = 3;
	work(1000);
	assert_read(1, 4000, 9000, 0);
	hw.refused = 9;
	assert_read(1, 4000, 12000, 0);
}

static void assert_not_opened(const struct engine_target *of, size_t n,
			      int error)
{
	struct engine_target copy[2] = { of[0], of[n - 1] };
	const struct engine_targets targets = { .target = copy, .n = n };
	unsigned int counters = 11;

	assert_int_equal(
		engine_registers_open(&raw, &events, &targets, &counters),
		error);
	assert_null(raw);
	assert_int_equal(counters, 11);
	assert_int_equal(hw.live, 0);
	assert_int_equal(hw.at,
			 hw.taken || hw.lease || hw.refused == 3 ? FORMER : 0);
}

static void what_cannot_be_counted_so_leaves_all_as_it_was(void **state)
{
	static const struct engine_target process[2] = { { -1, 0 }, { 0, -1 } };

	(void)state;
	assert_not_opened(process, 2, -EOPNOTSUPP);
	assert_said("only a command or whole CPUs can be counted");
	hw.check = -ENODEV;
	assert_not_opened(target, CPUS, -ENODEV);
	hw.check = 0;
	hw.refused = 3;
	assert_not_opened(target, CPUS, -EINVAL);
	assert_said("CPU 3 does not let it in: Invalid argument");
	assert_int_equal(hw.taken, 0);
	hw.refused = 9;
	hw.lease = -EBUSY;
	assert_not_opened(target, CPUS, -EBUSY);
	hw.lease = 0;
	hw.info = -EPROTO;
	assert_not_opened(target, CPUS, -EPROTO);
	assert_int_equal(hw.taken, 1);
}

/* Of a program that upmu starts: wherever upmu itself may run. */
static void without_targets_all_cpus_of_ones_own_are_counted(void **state)
{
	const struct engine_targets none = { 0 };
	unsigned int counters;

	(void)state;
	CPU_SET(2, &hw.own);
	assert_int_equal(engine_registers_open(&raw, &events, &none, &counters),
			 0);
	assert_int_equal(engine_registers_cpus(raw), 2);
	engine_registers_bind(raw, 4242);
	assert_int_equal(hw.bound, 4242);
	assert_int_equal(CPU_COUNT(&hw.others), 2);
	assert_true(CPU_ISSET(2, &hw.others) && CPU_ISSET(FORMER, &hw.others));
	engine_registers_close(raw);
	raw = NULL;
	assert_int_equal(CPU_COUNT(&hw.own), 2);
	CPU_CLR(2, &hw.own);
	engine_registers_close(NULL);
}

static void an_event_that_has_no_counter_is_refused(void **state)
{
	(void)state;
	open_raw();
	assert_int_equal(engine_registers_refuses(raw, &event[1]), 0);
	event[1].parsed = &parsed[2];
	assert_int_equal(engine_registers_refuses(raw, &event[1]), -EINVAL);
}

static void registers_are_wanted_without_a_pmu_or_by_name(void **state)
{
	struct upmu_core_kind *kind = &events.machine.kinds[0];
	bool forced;

	(void)state;
	unsetenv("UPMU_SOURCE");
	kind->pmu_type = UPMU_PMU_TYPE_NONE;
	assert_false(engine_registers_wanted(&events, &forced));
	events.machine.n_kinds = 1;
	assert_true(engine_registers_wanted(&events, &forced));
	assert_false(forced);
	kind->pmu_type = 8;
	assert_false(engine_registers_wanted(&events, &forced));
	setenv("UPMU_SOURCE", "read", 1);
	assert_false(engine_registers_wanted(&events, &forced));
	setenv("UPMU_SOURCE", "raw", 1);
	assert_true(engine_registers_wanted(&events, &forced));
	assert_true(forced);
	unsetenv("UPMU_SOURCE");
}

int main(void)
{
#define RUN(f) cmocka_unit_test_setup_teardown(f, begin_raw, end_raw)
	const struct CMUnitTest tests[] = {
		RUN(counts_of_all_cpus_are_added_up),
		RUN(turns_share_the_counters_behind_what_is_always_on),
		RUN(counters_of_32_bits_are_added_up_in_64),
		RUN(a_counter_that_may_have_gone_round_unseen_is_told),
		RUN(each_of_several_gaps_in_a_row_is_told_of_each_set),
		RUN(a_broken_lease_has_no_numbers),
		RUN(a_cpu_that_is_not_reached_later_keeps_what_it_had),
		RUN(what_cannot_be_counted_so_leaves_all_as_it_was),
		RUN(without_targets_all_cpus_of_ones_own_are_counted),
		RUN(an_event_that_has_no_counter_is_refused),
		RUN(registers_are_wanted_without_a_pmu_or_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
