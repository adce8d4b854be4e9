// SPDX-License-Identifier: MIT
/*
 * kmod_written - programs that write to registers they may only read by custom
 *
 * kmod_written        takes leases, writes, looks at what became of it
 * kmod_written reset  resets all counters, stops the cycle counter, exits
 * kmod_written lease  the same under a lease
 */
#include <poll.h>
#include <sys/prctl.h>

#include "tests/boards/kmod.h"

#define TOLD_ROUNDS 20

#define NOWHERE 0xc0000000u /* PMXEVTYPER.P, .U: counts nothing */

static bool cycles_run(void)
{
	uint32_t first = upmu_regs_cycles32();

	spin_loop(10000);
	return upmu_regs_cycles32() != first;
}

static short told(int fd)
{
	struct pollfd waits = { .fd = fd, .events = POLLPRI, .revents = 0 };

	return poll(&waits, 1, 5000) == 1 ? waits.revents : 0;
}

/* What a counter far off adds; the boards count a cycle in each nanosecond. */
static int64_t off_by(struct times before, struct times after, double begun)
{
	return (int64_t)(after.value - before.value) -
	       (int64_t)((seconds() - begun) * 1e9);
}

#define FAR (1 << 30)

/* One reset put everybody's counts off by 2^31. */
static void reset_test(void)
{
	double begun = seconds();
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int lease = take(UPMU_MODE_COUNT);
	struct times before = total(perf), after;

	spin_loop(1000000);
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_isb();
	after = total(perf);
	tap(off_by(before, after, begun) < FAR,
	    "perf_does_not_believe_a_counter_that_was_reset", "%llu",
	    (unsigned long long)(after.value - before.value));
	tap(info_of(lease).lease_written & UPMU_WRITTEN_COUNTS,
	    "what_is_noticed_as_perf_reads_is_told", "%x",
	    info_of(lease).lease_written);
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_isb();
	leave_the_cpu();
	spin_loop(100000);
	after = total(perf);
	tap(off_by(before, after, begun) < FAR &&
		    after.value - before.value > 100000,
	    "nor_after_a_switch_and_it_counts_on", "%llu",
	    (unsigned long long)(after.value - before.value));
	tap(told(lease) & POLLPRI, "the_holder_is_told_by_poll", NULL);
	tap(info_of(lease).lease_written & UPMU_WRITTEN_COUNTS, "and_by_info",
	    "%x", info_of(lease).lease_written);
	tap(!system("dmesg | grep -q \"upmu: under the count lease of "
		    "kmod_written .* wrote the PMU's registers\""),
	    "and_the_log_says_who", NULL);
	close(lease);
	close(perf);
}

/* What perf's event lost of what it had counted before the holder came. */
static int64_t lost_by_reset(int perf)
{
	struct times before = total(perf);
	double begun = seconds();
	int64_t counted;

	spin_loop(3000000);
	leave_the_cpu();
	counted = (int64_t)((seconds() - begun) * 1e9);
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_isb();
	leave_the_cpu();
	return counted - (int64_t)(total(perf).value - before.value);
}

/* This machine may let it wait between coming to its CPU and writing. */
static void safe_test(uint32_t type, uint64_t config, uint32_t mode,
		      const char *claim)
{
	int perf = event_open(type, config, 0, -1, 0, 0);
	int lease = take(mode);
	int64_t lost = 0;

	for (int tries = 0; tries < 5 && (!tries || lost > 0); tries++)
		lost = lost_by_reset(perf);
	tap(lease >= 0 && lost <= 0, claim, "%lld", (long long)lost);
	close(lease);
	close(perf);
}

/* A counter that is off is not one that perf is taking off. */
static void stopped_and_reset_test(void)
{
	double begun = seconds();
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int lease = take(UPMU_MODE_COUNT);
	struct times before = total(perf), after;

	spin_loop(1000000);
	upmu_regs_disable(~0u);
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_isb();
	after = total(perf);
	tap(off_by(before, after, begun) < FAR,
	    "perf_does_not_believe_a_counter_switched_off_and_reset", "%llu",
	    (unsigned long long)(after.value - before.value));
	close(lease);
	close(perf);
}

/* A fifth of the CPU at most, for waking alone can be all it is able to do. */
static void often(void)
{
	struct sched_param param = { .sched_priority = 1 };
	double pause_us = 100;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setscheduler(0, SCHED_FIFO, &param);
	for (;;) {
		double begun = seconds(), over_us;

		usleep(pause_us);
		over_us = (seconds() - begun) * 1e6 - pause_us;
		pause_us = over_us < 2500 ? 100 + 4 * over_us : 10000;
	}
}

static void writes_and_exits(void)
{
	if (take(UPMU_MODE_COUNT) < 0 ||
	    mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		 0) == MAP_FAILED)
		_exit(1);
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_isb();
	_exit(0);
}

/* While its memory goes, others run: it has none when the module is told. */
static void exit_test(void)
{
	double begun = seconds(); /* before anything is counted */
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0), status = -1;
	pid_t beside = fork(), writer;
	struct times times, none = { 0, 0, 0 };
	int64_t off;

	if (!beside)
		often();
	writer = fork();
	if (!writer)
		writes_and_exits();
	waitpid(writer, &status, 0);
	times = total(perf);
	off = off_by(none, times, begun);
	tap(status == 0 && off < FAR,
	    "nor_what_a_process_wrote_just_before_it_ended", "%d, %lld", status,
	    (long long)off);
	kill(beside, SIGKILL);
	waitpid(beside, NULL, 0);
	close(perf);
}

/*
 * Noticed is what no core counts in the time since the writer came to its CPU,
 * which a machine with other work lengthens: then it is done again.
 */
#define TRIES	   50
#define SOON_S	   0.05 /* of upmu(4)'s 60 milliseconds */
#define SOON_CYC_S 0.2	/* 2^30 cycles, four a nanosecond */

static void set_all_forward(void)
{
	for (unsigned int n = 0; n < upmu_regs_counters(); n++)
		upmu_regs_set_counter(n, 0xfff00000u);
	upmu_regs_isb();
}

static void set_cycles_forward(void)
{
	upmu_regs_set_cycles(upmu_regs_cycles32() + 0x40000000u);
}

/* Under @lease; false: not within @soon of coming to the CPU. */
static bool writes_soon(void (*write_it)(void), double soon)
{
	double begun = seconds(), took;

	usleep(2000);
	write_it();
	took = seconds() - begun;
	leave_the_cpu();
	return took < soon / 2 && seconds() - begun < soon;
}

static void perf_forward_test(void)
{
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0), lease = -1;
	uint32_t written = 0;
	double begun = 0;
	struct times before = { 0, 0, 0 };
	bool soon = false;

	for (int n = 0; n < TRIES && !soon; n++) {
		close(lease);
		lease = take(UPMU_MODE_COUNT);
		begun = seconds();
		before = total(perf);
		soon = writes_soon(set_all_forward, SOON_S);
		written = info_of(lease).lease_written;
	}
	tap(soon && off_by(before, total(perf), begun) < FAR &&
		    written & UPMU_WRITTEN_COUNTS,
	    "perf_does_not_believe_a_counter_set_forward", "%d, %x", soon,
	    written);
	close(lease);
	close(perf);
}

static void forward_test(void)
{
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int lease = take(UPMU_MODE_COUNT);
	bool soon = false;

	for (int n = 0; n < 20; n++) {
		spin_loop(1000000);
		leave_the_cpu();
	}
	tap(!info_of(lease).lease_written,
	    "a_holder_beside_which_perf_counts_is_accused_of_nothing", "%x",
	    info_of(lease).lease_written);
	close(lease);
	close(perf);
	perf_forward_test();
	lease = take(UPMU_MODE_CYCLES);
	usleep(1100000); /* in which it may count 2^32: it came after that */
	for (int n = 0; n < TRIES && !soon; n++)
		soon = writes_soon(set_cycles_forward, SOON_CYC_S);
	tap(soon && info_of(lease).lease_written & UPMU_WRITTEN_COUNTS,
	    "a_cycle_counter_set_forward_is_told", "%x",
	    info_of(lease).lease_written);
	close(lease);
}

/* Each for itself: one that is noticed has the other looked at. */
static void control_test(uint32_t clear, uint32_t set, const char *claim)
{
	int lease = take(UPMU_MODE_CYCLES);

	upmu_regs_change_control(clear, set);
	upmu_regs_isb();
	leave_the_cpu();
	tap(cycles_run() && !(upmu_regs_control() & UPMU_CONTROL_D) &&
		    info_of(lease).lease_written & UPMU_WRITTEN_CONTROL,
	    claim, "%x", info_of(lease).lease_written);
	close(lease);
}

static void stop_test(void)
{
	int lease = take(UPMU_MODE_CYCLES), next;

	tap(cycles_run() && !info_of(lease).lease_written,
	    "a_holder_that_reads_is_accused_of_nothing", "%x",
	    info_of(lease).lease_written);
	upmu_regs_disable(UPMU_MASK_CYCLES);
	upmu_regs_isb();
	leave_the_cpu();
	tap(cycles_run() && info_of(lease).lease_written & UPMU_WRITTEN_ENABLES,
	    "a_cycle_counter_switched_off_runs_after_the_next_switch", "%x",
	    info_of(lease).lease_written);
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	close(lease);
	next = take(UPMU_MODE_CYCLES);
	tap(cycles_run(), "the_next_holder_starts_from_a_running_counter",
	    NULL);
	close(next);
}

static void type_test(void)
{
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int lease = take(UPMU_MODE_COUNT);
	struct times before = total(perf), after;

	for (unsigned int n = 0; n < upmu_regs_counters(); n++)
		upmu_regs_set_type(n, 0x42);
	leave_the_cpu();
	spin_loop(200000);
	after = total(perf);
	tap(after.value - before.value > 200000 &&
		    info_of(lease).lease_written & UPMU_WRITTEN_TYPES,
	    "what_perf_counts_is_set_again", "%llu, %x",
	    (unsigned long long)(after.value - before.value),
	    info_of(lease).lease_written);
	close(lease);
	close(perf);
}

/* perf takes its event away before the writer's next switch. */
static void closed_test(void)
{
	int lease = take(UPMU_MODE_COUNT);
	int perf = event_open(pmu_type_here(), 0x11, 0, 0, -1, 0);

	leave_the_cpu();
	for (unsigned int n = 0; n < upmu_regs_counters(); n++)
		upmu_regs_set_type(n, 0x42);
	close(perf);
	leave_the_cpu();
	tap(info_of(lease).lease_written == UPMU_WRITTEN_TYPES,
	    "types_written_to_an_event_that_is_closed_are_told", "%x",
	    info_of(lease).lease_written);
	close(lease);
	lease = take(UPMU_MODE_COUNT);
	perf = event_open(pmu_type_here(), 0x11, 0, 0, -1, 0);
	leave_the_cpu();
	upmu_regs_disable(~0u);
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	ioctl(perf, PERF_EVENT_IOC_DISABLE, 0);
	tap(info_of(lease).lease_written ==
		    (UPMU_WRITTEN_ENABLES | UPMU_WRITTEN_CONTROL),
	    "and_so_is_what_switched_off_one_that_is_disabled", "%x",
	    info_of(lease).lease_written);
	ioctl(perf, PERF_EVENT_IOC_RESET, 0);
	ioctl(perf, PERF_EVENT_IOC_ENABLE, 0);
	spin_loop(200000);
	tap(total(perf).value > 200000, "which_counts_when_it_is_enabled",
	    "%llu", (unsigned long long)total(perf).value);
	close(perf);
	close(lease);
}

/* A filter stops a counter as well as a switch does. */
static void filter_test(uint32_t type, uint64_t config, const char *claim)
{
	int perf = event_open(type, config, 0, -1, 0, 0);
	int lease = take(UPMU_MODE_COUNT);
	struct times was = total(perf), is;

	for (unsigned int n = 0; n < upmu_regs_counters(); n++)
		upmu_regs_set_type(n, upmu_regs_type(n) | NOWHERE);
	upmu_regs_set_type(31, NOWHERE);
	leave_the_cpu();
	spin_loop(200000);
	is = total(perf);
	tap(is.value - was.value > 200000 &&
		    info_of(lease).lease_written & UPMU_WRITTEN_TYPES,
	    claim, "%llu, %x", (unsigned long long)(is.value - was.value),
	    info_of(lease).lease_written);
	close(lease);
	close(perf);
}

static void filters_and_exits(void)
{
	if (take(UPMU_MODE_CYCLES) >= 0) {
		upmu_regs_set_type(31, NOWHERE);
		upmu_regs_isb();
	}
	_exit(0);
}

static void held_filter_test(void)
{
	int lease = take(UPMU_MODE_CYCLES);

	if (!fork())
		filters_and_exits();
	wait(NULL);
	leave_the_cpu();
	tap(lease >= 0 && cycles_run(), "nor_does_it_stop_other_holders_cycles",
	    NULL);
	close(lease);
}

/* Written, and over, before any switch. */
static void written_late_test(void)
{
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int lease = take(UPMU_MODE_COUNT), copy = dup(lease), next;

	upmu_regs_disable(~0u);
	upmu_regs_isb();
	close(lease);
	tap(info_of(copy).lease_written & UPMU_WRITTEN_ENABLES,
	    "what_was_written_just_before_the_end_is_told", "%x",
	    info_of(copy).lease_written);
	close(copy);
	lease = take(UPMU_MODE_COUNT);
	upmu_regs_disable(~0u);
	leave_the_cpu();
	next = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	leave_the_cpu();
	tap(info_of(lease).lease_written && !info_of(next).lease_written,
	    "and_to_no_lease_that_was_taken_later", "%x, %x",
	    info_of(lease).lease_written, info_of(next).lease_written);
	close(next);
	close(lease);
	close(perf);
}

/* What was written before it, and not looked at since. */
static uint32_t blames_a_later_one(uint32_t flags)
{
	uint32_t later;
	int next;

	upmu_regs_disable(~0u);
	upmu_regs_isb();
	next = take_flags(UPMU_MODE_COUNT, flags, O_CLOEXEC);
	leave_the_cpu();
	later = next < 0 ? ~0u : info_of(next).lease_written;
	close(next);
	return later;
}

static void written_before_test(const char *open, const char *claim)
{
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int lease = open ? -1 : take(UPMU_MODE_COUNT);
	uint32_t plain, children;

	if (open)
		poke("/sys/module/upmu/parameters/open", open);
	leave_the_cpu();
	plain = blames_a_later_one(0);
	children = blames_a_later_one(UPMU_LEASE_CHILDREN);
	tap(!plain && !children && (open || info_of(lease).lease_written),
	    claim, "%x, %x, %x", plain, children,
	    open ? 0 : info_of(lease).lease_written);
	if (open)
		poke("/sys/module/upmu/parameters/open", "none");
	close(lease);
	close(perf);
}

/* perf switches off what interrupts too often, until the next tick. */
static void throttle_test(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.sample_period = 1000 };
	int lease = take(UPMU_MODE_COUNT);
	int perf = (int)syscall(__NR_perf_event_open, &attr, 0, 0, -1, 0);

	for (int n = 0; n < 20; n++) {
		spin_loop(1000000);
		usleep(100);
	}
	tap(perf >= 0 && lease >= 0 && !info_of(lease).lease_written,
	    "who_reads_beside_an_event_that_is_throttled_wrote_nothing", "%x",
	    info_of(lease).lease_written);
	close(perf);
	close(lease);
}

/* Its end is told while what it wrote is being told. */
static int writes_and_closes(void *unused)
{
	int fd;

	(void)unused;
	prctl(PR_SET_NAME, "once");
	fd = take(UPMU_MODE_COUNT);
	upmu_regs_disable(UPMU_MASK_CYCLES);
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	close(fd);
	return fd < 0;
}

#define ONCE_LINES \
	"dmesg | sed -n 's/.*lease of once (pid \\([0-9]*\\)).*/\\1/p'"

static void told_once_test(void)
{
	int perf = event_open(PERF_TYPE_RAW, 0x11, 0, -1, 0, 0);
	int failed = 0;

	for (int n = 0; n < TOLD_ROUNDS; n++) {
		failed += in_child(writes_and_closes, NULL) != 0;
		usleep(100000); /* the log tells of so many a second */
	}
	tap(!failed && !system("[ -n \"$(" ONCE_LINES ")\" ]") &&
		    !system("[ -z \"$(" ONCE_LINES " | sort | uniq -d)\" ]"),
	    "the_log_tells_once_of_a_holder_that_ends_as_it_wrote", NULL);
	close(perf);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		if (!strcmp(argv[1], "lease") && take(UPMU_MODE_COUNT) < 0)
			return 1;
		upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
		upmu_regs_disable(UPMU_MASK_CYCLES);
		return 0;
	}
	pin(0);
	reset_test();
	safe_test(PERF_TYPE_HARDWARE, 0, UPMU_MODE_COUNT,
		  "what_perf_counted_before_a_holder_came_is_safe_from_it");
	safe_test(PERF_TYPE_RAW, EVENT_CYCLES, UPMU_MODE_COUNT,
		  "on_an_event_counter_too");
	safe_test(PERF_TYPE_RAW, EVENT_CYCLES, UPMU_MODE_CYCLES,
		  "and_from_one_of_the_cycle_counter");
	stop_test();
	control_test(UPMU_CONTROL_E, 0, "and_so_for_all_counters_stopped");
	control_test(0, UPMU_CONTROL_D, "and_for_cycles_divided_by_64");
	type_test();
	filter_test(PERF_TYPE_RAW, 0x11,
		    "a_filter_that_stops_perfs_counter_is_taken_out");
	filter_test(PERF_TYPE_HARDWARE, 0, "and_one_of_the_cycle_counter");
	held_filter_test();
	written_late_test();
	written_before_test(NULL, "nor_to_one_that_was_taken_at_once");
	written_before_test("cycles", "nor_what_was_written_by_open_before");
	throttle_test();
	closed_test();
	stopped_and_reset_test();
	exit_test();
	forward_test();
	told_once_test();
	return tap_done();
}
