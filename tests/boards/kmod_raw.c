// SPDX-License-Identifier: MIT
/*
 * kmod_raw - programs the PMU from user mode as the articles do
 *
 * kmod_raw         takes a RAW lease and tries everything
 * kmod_raw mess    takes one, changes every register on every CPU, exits
 * kmod_raw hold    the same, prints "held", waits to be killed
 * kmod_raw still   as hold, with all counters stopped
 * kmod_raw perf    opens perf events on every CPU, prints "counting", waits;
 *                  at SIGTERM prints whether each of them has counted on
 * kmod_raw writes  exits 0 where PMCR can be written
 */
#include "tests/boards/kmod.h"

#define EVENT_SOFTWARE 0x00

static void mess_here(void)
{
	unsigned int n, counters = upmu_regs_counters();

	for (n = 0; n < counters; n++) {
		upmu_regs_set_type(n, 0x21 + n);
		upmu_regs_set_counter(n, 0xabcd0000u + n);
	}
	upmu_regs_set_cycles(0xfffffff0u);
	upmu_regs_enable(UPMU_MASK_CYCLES | 1);
	upmu_regs_write_control(UPMU_CONTROL_E | UPMU_CONTROL_D);
	upmu_regs_select(1);
	spin_loop(1000); /* the cycle counter overflows */
	upmu_regs_cycles32();
}

static int mess(bool hold, bool still)
{
	int fd = take(UPMU_MODE_RAW), cpus = cpus_online();

	if (fd < 0)
		return -fd;
	for (int cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		mess_here();
		if (still)
			upmu_regs_change_control(UPMU_CONTROL_E, 0);
	}
	if (!hold)
		return 0;
	printf("held\n");
	fflush(stdout);
	for (;;)
		pause();
}

static volatile sig_atomic_t asked;

static void on_term(int number)
{
	asked = number;
}

/* perf of the whole machine, on both kinds of counter */
static int perf_beside(void)
{
	int cpus = cpus_online(), open = 0, moved = 0;
	struct counter counters[32];
	uint64_t values[32];

	for (int cpu = 0; cpu < cpus && open < 30; cpu++) {
		counters[open++].fd =
			event_open(PERF_TYPE_HARDWARE, 0, 0, -1, cpu, 0);
		counters[open++].fd =
			event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, cpu, 0);
	}
	signal(SIGTERM, on_term);
	printf("counting\n");
	fflush(stdout);
	while (!asked)
		usleep(10000);
	for (int n = 0; n < open; n++)
		values[n] = counter_read(&counters[n]).value;
	spin_loop(3000000);
	for (int n = 0; n < open; n++) {
		uint64_t now = counter_read(&counters[n]).value;

		moved += now > values[n] && now != UINT64_MAX;
	}
	printf("%d of %d count\n", moved, open);
	return moved == open ? 0 : 1;
}

static void article_tests(void)
{
	uint32_t first, second;
	uint64_t count;

#ifdef UPMU_CONTROL_LC
	/* overflow at 2^32 and the divider, as on ARMv7 */
	upmu_regs_change_control(UPMU_CONTROL_LC, 0);
#endif
	/* select, type, reset, start, stop, read: event 0 counts increments */
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	upmu_regs_set_type(2, EVENT_SOFTWARE);
	upmu_regs_change_control(0, UPMU_CONTROL_P);
	upmu_regs_enable(1u << 2);
	upmu_regs_isb();
	for (int n = 0; n < 200; n++)
		upmu_regs_software_increment(1u << 2);
	upmu_regs_isb();
	upmu_regs_disable(1u << 2);
	upmu_regs_software_increment(1u << 2);
	upmu_regs_isb();
	count = upmu_regs_counter(2);
	tap(count == 200, "an_event_counter_counts_what_it_was_told",
	    "%llu of 200", (unsigned long long)count);

	upmu_regs_set_cycles(0x80000000u);
	upmu_regs_change_control(0, UPMU_CONTROL_C);
	upmu_regs_isb();
	first = upmu_regs_cycles32();
	tap(first < 0x80000000u, "the_cycle_counter_resets", "%u", first);
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	upmu_regs_isb();
	first = upmu_regs_cycles32();
	spin_loop(100000);
	second = upmu_regs_cycles32();
	tap(first == second, "everything_stops_with_E", "%u %u", first, second);

	/* overflow: past 2^32 with the flag, written one to clear */
	upmu_regs_set_cycles(0xffffff00u);
	upmu_regs_clear_overflow(UPMU_MASK_CYCLES);
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	spin_loop(10000);
	upmu_regs_cycles32(); /* QEMU looks for overflows when it is read */
	tap(upmu_regs_overflow() & UPMU_MASK_CYCLES,
	    "an_overflow_sets_its_flag", "%x", upmu_regs_overflow());
	upmu_regs_clear_overflow(UPMU_MASK_CYCLES);
	tap(!(upmu_regs_overflow() & UPMU_MASK_CYCLES),
	    "and_writing_one_clears_it", NULL);
	tap(upmu_regs_cycles32() < 0xffffff00u,
	    "the_counter_went_on_and_was_not_restarted_at_2_to_31", "%x",
	    upmu_regs_cycles32());
}

/*
 * Counts of a second, over so long that a host which is busy elsewhere
 * between the two clocks changes little.
 */
static double rate(void)
{
	uint32_t start = upmu_regs_cycles32();
	double begin = seconds(), passed;

	do {
		spin_loop(1000);
		passed = seconds() - begin;
	} while (passed < 0.2);
	return (upmu_regs_cycles32() - start) / passed;
}

/* The counter and when it was read, to a tenth of a second. */
static uint32_t cycles_at(double *when)
{
	uint32_t cycles;
	double before;
	int tries = 100;

	do {
		before = seconds();
		cycles = upmu_regs_cycles32();
		*when = seconds();
	} while (*when - before > 0.1 && --tries);
	return cycles;
}

/* Counts a second, undivided */
static double divider_test(void)
{
	double plain, divided;

	upmu_regs_change_control(UPMU_CONTROL_D, UPMU_CONTROL_E);
	plain = rate();
	upmu_regs_change_control(0, UPMU_CONTROL_D);
	divided = rate();
	tap(divided * 32 < plain && plain < divided * 128,
	    "the_divider_counts_each_64th", "%.0f, %.0f a second", plain,
	    divided);
	upmu_regs_change_control(UPMU_CONTROL_D, 0);
	return plain;
}

static void perf_tests(double per_second)
{
	int flexible = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				  0, 0, -1, 0);
	struct counter counter = { flexible, NULL };
	struct times times;
	double began, now, off, most_off = 0;
	uint32_t start, count;
	uint64_t type;
	int pinned[8];

	if (!perf_has_pmu()) {
		tap_skip("perf_events_of_others_wait_and_say_so",
			 "perf has no PMU here");
		return;
	}
	spin_loop(300000);
	times = counter_read(&counter);
	tap(flexible >= 0 && times.enabled && !times.running &&
		    times.value == 0,
	    "perf_events_of_others_wait_and_say_so",
	    "enabled %llu running %llu", (unsigned long long)times.enabled,
	    (unsigned long long)times.running);

	/* what `perf stat -a -e cycles:D` does, over and over */
	upmu_regs_set_type(1, 0x55);
	upmu_regs_set_counter(1, 0x1234);
	start = cycles_at(&began);
	for (int n = 0; n < 200; n++) {
		for (int k = 0; k < 8; k++)
			pinned[k] = event_open(
				k & 1 ? PERF_TYPE_RAW : PERF_TYPE_HARDWARE,
				k & 1 ? 8 : 0, 0, -1, k % cpus_online(), 1);
		count = cycles_at(&now) - start;
		/* a restart at -2^31 is 2.1 s of an emulated core's */
		off = (int32_t)(count - (uint32_t)(uint64_t)((now - began) *
							     per_second));
		off = off < 0 ? -off : off;
		most_off = off > most_off ? off : most_off;
		began = now;
		start += count;
		for (int k = 0; k < 8; k++)
			close(pinned[k]);
	}
	type = upmu_regs_type(1);
	tap((type & 0xff) == 0x55 && upmu_regs_counter(1) == 0x1234,
	    "pinned_events_opened_meanwhile_change_no_register",
	    "type %llx counter %llx", (unsigned long long)type,
	    (unsigned long long)upmu_regs_counter(1));
	tap(most_off < 1u << 30 && upmu_regs_control() & UPMU_CONTROL_E,
	    "nor_do_they_stop_or_restart_the_cycle_counter",
	    "%.0f off the clock at most", most_off);
	close(flexible);
}

static void after_tests(int lease)
{
	int flexible = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				  0, 0, -1, 0);
	struct counter counter = { flexible, NULL };
	struct times times = { 0, 0, 0 };

	close(lease);
	if (!perf_has_pmu())
		return;
	for (int n = 0; n < 50 && !times.running; n++) {
		spin_loop(300000);
		times = counter_read(&counter);
	}
	tap(times.running && times.value,
	    "an_event_that_waited_counts_when_raw_has_ended", "%llu",
	    (unsigned long long)times.value);
	close(flexible);
}

static void pinned_before_test(void)
{
	int pinned = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0,
				-1, 0, 1),
	    fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = UPMU_MODE_RAW };

	if (perf_has_pmu()) {
		tap(pinned >= 0 && ioctl(fd, UPMU_IOC_LEASE, &lease) == -1 &&
			    errno == EBUSY,
		    "raw_beside_a_pinned_event_is_ebusy", "%d", errno);
		tap(info_of(fd).size && !info_of(fd).lease_mode,
		    "and_nothing_is_told_of_what_was_not_granted", "%u",
		    info_of(fd).lease_mode);
	}
	close(fd);
	close(pinned);
}

int main(int argc, char **argv)
{
	double per_second, begun, took;
	uint32_t flags, cycles;
	int lease;

	if (argc > 1 && !strcmp(argv[1], "perf"))
		return perf_beside();
	if (argc > 1 && !strcmp(argv[1], "writes"))
		return !try_write();
	if (argc > 1)
		return mess(strcmp(argv[1], "mess"), !strcmp(argv[1], "still"));
	pin(0);
	pinned_before_test();
	begun = seconds();
	lease = take(UPMU_MODE_RAW);
	if (!tap(lease >= 0, "root_takes_a_raw_lease", "%d", lease))
		return tap_done();
	cycles = upmu_regs_cycles32();
	flags = upmu_regs_overflow();
	took = seconds() - begun;
	/* The boards count a cycle a nanosecond, also without a core. */
	tap(took > 4 || !flags, "it_starts_without_flags", "%x", flags);
	tap(cycles < took * 1e9 + 1e6, "and_with_a_cycle_counter_from_zero",
	    "%u", cycles);
	article_tests();
	per_second = divider_test();
	perf_tests(per_second);
	after_tests(lease);
	return tap_done();
}
