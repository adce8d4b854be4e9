// SPDX-License-Identifier: MIT
/*
 * kmod_cycles - the cycle counter runs freely for those who hold it
 *
 * kmod_cycles        takes a CYCLES lease and tries everything
 * kmod_cycles open   the same as any process may, under open=cycles
 * kmod_cycles late   the last CPU's PMU is met when a lease is held already
 * kmod_cycles runs   exits 0 where the counter can be read and moves, on each
 *                    CPU; 1 where it stands, 2 for SIGILL
 */
#include "tests/boards/kmod.h"

#define MANY 4000000 /* bytes */

static int runs_on(int cpu)
{
	uint32_t first, second;

	pin(cpu);
	if (!try_cycles(&first))
		return 2;
	spin_loop(1000);
	return !try_cycles(&second) || first == second;
}

static int runs(void)
{
	int cpus = cpus_online(), status = 0;

	for (int cpu = 0; cpu < cpus && !status; cpu++)
		status = runs_on(cpu);
	return status;
}

static volatile sig_atomic_t illegal;

/* @last was read after @since. */
static bool cannot_tell(uint32_t last, uint32_t now, double since)
{
	return qemu_fell(last, now) || seconds() - since > LONG_PAUSE;
}

/* The counter is put where it soon passes 2^31, or 2^32. */
static void near(uint32_t value)
{
	if (!try_write())
		return;
	upmu_regs_set_cycles(value);
	spin_loop(10000);
}

struct seen {
	uint64_t reads, total, longest;
	uint32_t crossed31, crossed32;
};

static void take_step(struct seen *seen, uint32_t last, uint32_t now)
{
	uint32_t step = now - last;

	if (step > seen->longest)
		seen->longest = step;
	seen->crossed31 += last < 0x80000000u && now >= 0x80000000u;
	seen->crossed32 += now < last;
	seen->total += step;
	seen->reads++;
}

/* Perf beside it. */
static void renew_events(int events[3], int open)
{
	for (int n = 0; n < open; n++)
		close(events[n]);
	for (int n = 0; n < 3; n++)
		events[n] =
			event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				   0, 0, -1, n == 2);
}

static void run_freely(struct seen *seen, double duration)
{
	double begun = seconds(), since, end = begun + duration;
	uint32_t last = upmu_regs_cycles32(), now;
	int events[3], open = 0;

	while (since = begun, (begun = seconds()) < end) {
		if (seen->reads % 512 == 0) {
			renew_events(events, open);
			open = 3;
		}
		for (int n = 0; n < 64; n++, last = now) {
			now = upmu_regs_cycles32();
			if ((now - last) >> 31 && cannot_tell(last, now, since))
				continue;
			take_step(seen, last, now);
		}
	}
	while (open)
		close(events[--open]);
}

/*
 * Reads while perf comes and goes, past 2^31 and 2^32 where that many pass:
 * each step forward, and none as long as perf's restart at -2^31 would be.
 */
static void free_running_test(double duration)
{
	struct seen seen = { .reads = 0 };

	pin(0);
	near(0x7ff00000u);
	run_freely(&seen, duration / 2);
	near(0xfff00000u);
	run_freely(&seen, duration / 2);
	tap(seen.longest < 1u << 31 && seen.reads > 1000,
	    "the_cycle_counter_is_never_rewritten_while_perf_comes_and_goes",
	    "%llu reads, %llu cycles, longest step %llu, past 2^31 %u times, "
	    "2^32 %u times",
	    (unsigned long long)seen.reads, (unsigned long long)seen.total,
	    (unsigned long long)seen.longest, seen.crossed31, seen.crossed32);
	tap(seen.crossed31 && seen.crossed32, "it_passed_2_to_31_and_2_to_32",
	    NULL);
}

static uint64_t count_spin(int fd)
{
	struct counter counter = { fd, NULL };
	uint64_t before = counter_read(&counter).value;
	struct times after;

	spin_loop(200000);
	after = counter_read(&counter);
	return after.running ? after.value - before : 0;
}

static void count_beside(void)
{
	int generic = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				 0, 0, -1, 0);
	int raw = event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, 0, -1, 0);
	struct counter page =
		counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	uint64_t one = count_spin(generic), two = count_spin(raw), value;
	/* on PMUv3 CYCLES opens the cycle counter alone */
	int count = take(UPMU_MODE_COUNT);

	/* on the boards with two CPUs a cycle is the emulator's wall clock */
	tap(one > 100000 && two > 100000 &&
		    (cpus_online() > 1 || (one < two * 2 && two < one * 2)),
	    "perfs_cycles_count_on_an_ordinary_counter_meanwhile",
	    "cycles %llu, 0x11 %llu", (unsigned long long)one,
	    (unsigned long long)two);
	if (info_of(-1).flags & UPMU_INFO_PUBLISHED)
		tap(page.page->index >= 1 && page.page->index < 32 &&
			    counter_page(&page, &value),
		    "and_their_page_names_it", "%u", page.page->index);
	else
		tap_skip("and_their_page_names_it",
			 "the module publishes nothing here");
	if (count >= 0)
		close(count);
	counter_close(&page);
	close(generic);
	close(raw);
}

static void perf_cycles_test(void)
{
	if (!perf_has_pmu()) {
		tap_skip("perfs_cycles_count_on_an_ordinary_counter_meanwhile",
			 "perf has no PMU here");
		return;
	}
	count_beside();
}

/* An event open before, on the cycle counter, goes on counting. */
static void moved_event_test(void)
{
	int fd = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0,
			    -1, 0),
	    lease;
	struct counter counter = { fd, NULL };
	struct times before, during, after;

	if (!perf_has_pmu()) {
		tap_skip("an_event_that_counted_before_counts_during_and_after",
			 "perf has no PMU here");
		return;
	}
	spin_loop(100000);
	before = counter_read(&counter);
	lease = take(UPMU_MODE_CYCLES);
	spin_loop(100000);
	during = counter_read(&counter);
	close(lease);
	spin_loop(100000);
	after = counter_read(&counter);
	tap(before.value > 50000 && during.value > before.value + 50000 &&
		    after.value > during.value + 50000,
	    "an_event_that_counted_before_counts_during_and_after",
	    "%llu %llu %llu", (unsigned long long)before.value,
	    (unsigned long long)during.value, (unsigned long long)after.value);
	close(fd);
}

/* One of a CPU that nothing takes off its counter: nobody starts it anew. */
static void standing_event_test(void)
{
	uint64_t before, after;
	int fd, lease;

	if (!perf_has_pmu()) {
		tap_skip("and_so_does_one_of_a_cpu_on_an_ordinary_counter",
			 "perf has no PMU here");
		return;
	}
	pin(0);
	fd = event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, 0, 0);
	before = count_spin(fd);
	lease = take(UPMU_MODE_CYCLES);
	close(lease);
	after = count_spin(fd);
	tap(before > 100000 && lease >= 0 && after > 100000,
	    "and_so_does_one_of_a_cpu_on_an_ordinary_counter",
	    "%llu, then %llu", (unsigned long long)before,
	    (unsigned long long)after);
	close(fd);
}

/* By its page, once it is on one; on another than @besides. A lease ends soon
 * after its descriptor is closed.
 */
static uint32_t index_of(const struct counter *counter, uint32_t besides)
{
	double end = seconds() + 5;
	uint32_t index;

	do {
		spin_loop(100000);
		index = counter->page->index;
	} while ((!index || index == besides) && seconds() < end);
	return index;
}

static void moved_back_test(void)
{
	struct counter counter =
		counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	uint32_t before, during, after;
	int lease;

	if (!(info_of(-1).flags & UPMU_INFO_PUBLISHED)) {
		tap_skip("and_is_on_the_cycle_counter_again",
			 "the module publishes nothing here");
		counter_close(&counter);
		return;
	}
	before = index_of(&counter, 0);
	lease = take(UPMU_MODE_CYCLES);
	during = index_of(&counter, before);
	close(lease);
	after = index_of(&counter, during);
	tap(before == 32 && during && during < 32 && after == 32,
	    "and_is_on_the_cycle_counter_again", "%u %u %u", before, during,
	    after);
	counter_close(&counter);
}

static bool runs_soon(int fd)
{
	struct counter counter = { fd, NULL };
	uint64_t before = counter_read(&counter).running;

	for (int n = 0; n < 50; n++) {
		spin_loop(100000);
		if (counter_read(&counter).running != before)
			return true;
	}
	return false;
}

/* Events that never leave their counters are on all that it could have. */
static void waiting_event_test(void)
{
	int pinned[32], n, fd, lease, ran, waited;
	int counters = (int)info_of(-1).counters;

	if (!perf_has_pmu()) {
		tap_skip("cycles_that_had_to_wait_have_their_counter_again",
			 "perf has no PMU here");
		return;
	}
	for (n = 0; n < counters; n++)
		pinned[n] =
			event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, 0, -1, 1);
	fd = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, -1,
			0);
	ran = runs_soon(fd);
	lease = take(UPMU_MODE_CYCLES);
	waited = !runs_soon(fd);
	close(lease);
	tap(lease >= 0 && ran && waited && runs_soon(fd),
	    "cycles_that_had_to_wait_have_their_counter_again",
	    "%d, %d, %d of %d", lease, ran, waited, counters);
	close(fd);
	while (n)
		close(pinned[--n]);
}

/* PERF_TYPE_HARDWARE would be the other PMU's. */
#define LATE_PMU    "armv7_cortex_a7"
#define LATE_CYCLES 0xff /* the 32-bit drivers' own code */

/* One that runs on @cpu before the module can look at that; -1: none. */
static pid_t early_thread(int cpu)
{
	char command[80];
	int pid = -1;
	FILE *list;

	snprintf(command, sizeof(command),
		 "grep -lx cpuhp/%d /proc/[0-9]*/comm", cpu);
	list = popen(command, "r");
	if (!list || fscanf(list, "/proc/%d", &pid) != 1)
		pid = -1;
	if (list)
		pclose(list);
	return pid;
}

static int event_before_all(int cpu, int pinned)
{
	pid_t pid = early_thread(cpu);

	return pid < 0 ? -1
		       : event_open(pmu_type(LATE_PMU), LATE_CYCLES, 0, pid, -1,
				    pinned);
}

static bool load_without(int cpu, const char *load)
{
	bool loaded = !set_online(cpu, false) && !system(load);

	if (!loaded)
		tap(false, "the_module_is_loaded_while_a_cpu_is_off", NULL);
	return loaded;
}

/* Of a PMU of its own, which the module did not find when it was loaded. */
static void late_test(void)
{
	int last = cpus_online() - 1, lease, event;
	struct counter counter;
	uint32_t index;

	if (!load_without(last, "insmod /upmu/upmu.ko"))
		return;
	lease = take(UPMU_MODE_CYCLES);
	event = event_before_all(last, 0);
	set_online(last, true);
	pin(last);
	tap(event >= 0 && !runs_on(last),
	    "a_cycle_counter_is_taken_that_perf_had_before", "%d", event);
	close(event);
	counter = counter_open(pmu_type(LATE_PMU), LATE_CYCLES);
	index = index_of(&counter, 0);
	tap(lease >= 0 && index && index < 32 && count_spin(counter.fd),
	    "perfs_cycles_keep_off_a_cycle_counter_whose_pmu_came_late",
	    "%d, %u", lease, index);
	counter_close(&counter);
	close(lease);
}

/* It cannot be moved, and nobody could know of it. */
static void late_pinned_test(void)
{
	int last = cpus_online() - 1, lease, event;
	double end = seconds() + 20;

	pin(0);
	if (!load_without(last, "rmmod upmu && insmod /upmu/upmu.ko"))
		return;
	lease = take(UPMU_MODE_RAW);
	event = event_before_all(last, 1);
	set_online(last, true);
	while (info_of(lease).lease_state == UPMU_STATE_LIVE && seconds() < end)
		usleep(10000);
	tap(event >= 0 && info_of(lease).lease_state == UPMU_STATE_BROKEN,
	    "raw_is_told_of_a_pinned_event_that_stays_where_a_pmu_came_late",
	    "%d, %u", event, info_of(lease).lease_state);
	close(lease);
	lease = take(UPMU_MODE_RAW);
	close(event);
	tap(lease == -EBUSY, "and_is_refused_the_next_time", "%d", lease);
	close(lease);
	lease = take(UPMU_MODE_RAW);
	sleep(2); /* it is looked at each second */
	tap(info_of(lease).lease_state == UPMU_STATE_LIVE,
	    "but_had_once_that_event_is_gone", "%d, %u", lease,
	    info_of(lease).lease_state);
	close(lease);
}

/* Pinned where nothing but the cycle counter is left. */
static int pinned_before_all(int cpu, int events[], int counters)
{
	pid_t pid = early_thread(cpu);

	for (int n = 0; n < counters; n++)
		events[n] = event_open(pmu_type(LATE_PMU), EVENT_CYCLES, 0, pid,
				       -1, 1);
	return event_before_all(cpu, 1);
}

/* Refused once, free when it comes again: nobody is told meanwhile. */
static void late_again_test(void)
{
	int last = cpus_online() - 1, first, second, event, state;
	int events[32], counters;
	pid_t child;

	pin(last);
	counters = (int)info_of(-1).counters;
	pin(0);
	if (!load_without(last, "rmmod upmu && insmod /upmu/upmu.ko"))
		return;
	first = take(UPMU_MODE_CYCLES);
	event = pinned_before_all(last, events, counters);
	set_online(last, true);
	state = (int)info_of(first).lease_state;
	tap(event >= 0 && state == UPMU_STATE_BROKEN,
	    "cycles_is_told_of_one_that_no_other_counter_is_left_for", "%d, %d",
	    event, state);
	set_online(last, false);
	close(event);
	for (int n = 0; n < counters; n++)
		close(events[n]);
	second = take(UPMU_MODE_CYCLES);
	child = fork();
	if (!child)
		_exit(!!set_online(last, true));
	while (!waitpid(child, NULL, WNOHANG))
		info_of(second);
	state = (int)info_of(second).lease_state;
	tap(state == UPMU_STATE_LIVE && !runs_on(last),
	    "but_no_later_lease_while_that_cpu_comes_again_without_it",
	    "%d, %d", second, state);
	close(first);
	close(second);
}

/* The fewest of some tries: of one system call that writes so many bytes. */
static uint32_t cycles_of_zeros(size_t bytes)
{
	static char buffer[MANY];
	int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	uint32_t before, after, fewest = UINT32_MAX;

	for (int try = 0; try < 20; try++) {
		before = upmu_regs_cycles32();
		if (read(zeros, buffer, bytes) != (ssize_t)bytes)
			break;
		after = upmu_regs_cycles32();
		if (after - before < fewest)
			fewest = after - before;
	}
	close(zeros);
	return fewest;
}

/* Where it runs at EL2 that takes a bit of its own. */
static void kernel_test(void)
{
	uint32_t one, many;

	pin(0);
	one = cycles_of_zeros(1);
	many = cycles_of_zeros(MANY);
	tap(many != UINT32_MAX && many / 4 > one, "it_counts_the_kernel_too",
	    "%u of one byte, %u of %d", one, many, MANY);
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "open");
	int fd = -1;

	if (argc > 1 && !strcmp(argv[1], "runs"))
		return runs();
	if (argc > 1 && !strcmp(argv[1], "late")) {
		late_test();
		late_pinned_test();
		late_again_test();
		return tap_done();
	}
	if (!all) {
		moved_event_test();
		standing_event_test();
		moved_back_test();
		waiting_event_test();
		fd = take(UPMU_MODE_CYCLES);
		tap(fd >= 0, "root_takes_a_cycles_lease", "%d", fd);
	}
	tap(runs() == 0, "the_cycle_counter_runs_on_each_cpu", NULL);
	kernel_test();
	perf_cycles_test();
	/* Where it can be put near them on an exact clock, less time does. */
	free_running_test(cpus_online() == 1 && try_write() ? 0.5 : 6);
	if (!all) {
		int second = take(UPMU_MODE_CYCLES);

		tap(second >= 0, "cycles_leases_are_many_at_a_time", NULL);
		close(fd);
		tap(try_cycles(NULL), "ending_one_leaves_the_other", NULL);
		close(second);
		tap(!try_cycles(NULL), "ending_the_last_closes_it", NULL);
	}
	return tap_done();
}
