// SPDX-License-Identifier: MIT
/*
 * kmod_soak SECONDS READS HOTPLUGS ROTATIONS [count|cycles|raw]...
 *
 * Runs that long and until the figures are reached, eight times that long or
 * three minutes longer at most. HOTPLUGS 0: no CPU goes away. With cycles or
 * raw the readers read the cycle counter itself under such a lease, and
 * rotations are not counted.
 *
 * Readers whose every value must lie between two read(2)s, while a CPU comes
 * and goes, more events than counters take turns, perf counts whole CPUs,
 * holders are killed, the cycle counter is taken and given back, and a process
 * without a lease must never read. Fails below the given figures.
 */
#include "tests/boards/kmod.h"

#define MAX_EVENTS 12
#define BATCH	   16

static struct figures {
	volatile int stop, asked;
	volatile uint64_t reads, waits, wrong, illegal, failed, rotations;
	volatile uint64_t hotplugs, kills, openings, takings, refused, leaks;
	volatile uint64_t wraps, falls, pauses;
} * all;

static void add(volatile uint64_t *figure)
{
	__atomic_fetch_add(figure, 1, __ATOMIC_RELAXED);
}

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

struct watched {
	struct counter counter;
	bool was_there;
};

/* One value by the register; 0: the event waits for a counter, -1: SIGILL */
static int read_one(struct watched *one, uint64_t *value)
{
	volatile int there = -1;

	if (!sigsetjmp(kmod_illegal, 0))
		there = counter_page(&one->counter, value);
	if (there > 0 && !one->was_there)
		add(&all->rotations);
	one->was_there = there > 0;
	if (there < 0)
		add(&all->illegal);
	if (there == 0)
		add(&all->waits);
	return there;
}

/* Values of which each must be between the reads before and after them all. */
static void check(struct watched *one)
{
	uint64_t values[BATCH], before = counter_read(&one->counter).value;
	uint64_t after, last = before;
	int count = 0;

	while (count < BATCH && read_one(one, &values[count]) > 0)
		count++;
	after = counter_read(&one->counter).value;
	if (before == UINT64_MAX || after == UINT64_MAX)
		add(&all->failed);
	for (int n = 0; n < count; n++) {
		add(&all->reads);
		if (values[n] < last || values[n] > after) {
			add(&all->wrong);
			printf("# wrong: %llu <= %llu <= %llu\n",
			       (unsigned long long)last,
			       (unsigned long long)values[n],
			       (unsigned long long)after);
			fflush(stdout);
		}
		last = values[n];
	}
}

static void reader(void)
{
	/* not masked while handled: siglongjmp() need not restore it */
	struct sigaction action = { .sa_handler = kmod_on_illegal,
				    .sa_flags = SA_NODEFER };
	uint32_t counters = info_of(-1).counters;
	struct watched events[MAX_EVENTS] = { 0 };
	uint32_t count = counters + 3 > MAX_EVENTS ? MAX_EVENTS : counters + 3;

	sigaction(SIGILL, &action, NULL);
	if (take(UPMU_MODE_COUNT) < 0)
		_exit(1);
	for (uint32_t n = 0; n < count; n++) {
		events[n].counter =
			n ? counter_open(PERF_TYPE_RAW, EVENT_CYCLES)
			  : counter_open(PERF_TYPE_HARDWARE, 0);
		if (!events[n].counter.page)
			_exit(2);
	}
	while (!all->stop) {
		for (uint32_t n = 0; n < count; n++)
			check(&events[n]);
		if (random_below(256) == 0)
			usleep(random_below(2000));
	}
	_exit(0);
}

static uint32_t mode = UPMU_MODE_COUNT;

/*
 * On its CPU the cycle counter must go on: never back by less than half its
 * range, which perf's rewriting would look like. Elsewhere it may be read.
 */
static void judge_step(uint32_t last, uint32_t now, double since)
{
	if (now - last <= 0x80000000u) {
		if (now < last)
			add(&all->wraps);
		return;
	}
	if (seconds() - since > LONG_PAUSE) {
		add(&all->pauses);
		return;
	}
	add(qemu_fell(last, now) ? &all->falls : &all->wrong);
	printf("# back: %08x -> %08x\n", last, now);
	fflush(stdout);
}

static void register_reader(int cpu)
{
	struct sigaction action = { .sa_handler = kmod_on_illegal,
				    .sa_flags = SA_NODEFER };
	volatile uint32_t last = 0, now;
	volatile double since = seconds(), begun;

	sigaction(SIGILL, &action, NULL);
	if (cpu >= 0)
		pin(cpu);
	if (sigsetjmp(kmod_illegal, 0))
		add(&all->illegal);
	else
		last = upmu_regs_cycles32();
	while (!all->stop) {
		if (sigsetjmp(kmod_illegal, 0)) {
			add(&all->illegal);
			continue;
		}
		begun = seconds();
		for (int n = 0; n < BATCH; n++) {
			now = upmu_regs_cycles32();
			if (cpu >= 0)
				judge_step(last, now, since);
			last = now;
			add(&all->reads);
		}
		since = begun;
	}
	_exit(0);
}

static void holder(void)
{
	int status, failed = 0;

	failed = take_flags(mode, UPMU_LEASE_CHILDREN, O_CLOEXEC) < 0;
	all->asked = 1;
	if (failed)
		_exit(1);
	if (!fork())
		register_reader(0);
	if (!fork())
		register_reader(-1);
	while (wait(&status) > 0)
		failed |= status;
	_exit(failed ? 2 : 0);
}

/* Events of a task, which perf takes off and puts back as it comes and goes */
static void perf_task(void)
{
	while (!all->stop) {
		int first = event_open(PERF_TYPE_HARDWARE, 0, 0, 0, -1, 0);
		int second = event_open(PERF_TYPE_RAW, 8, 0, 0, -1, 0);

		spin_loop(random_below(20000));
		usleep(random_below(3000));
		close(first);
		close(second);
		add(&all->openings);
	}
	_exit(0);
}

static void hotplugger(void)
{
	int last = (int)sysconf(_SC_NPROCESSORS_CONF) - 1;

	while (!all->stop) {
		if (set_online(last, false) || set_online(last, true))
			_exit(1);
		add(&all->hotplugs);
		usleep(random_below(600000));
	}
	_exit(0);
}

/* perf -a, pinned and not; some fail on the CPU that is away. */
static void whole_machine(void)
{
	while (!all->stop) {
		int events[6];

		for (int n = 0; n < 6; n++)
			events[n] = event_open(
				n & 1 ? PERF_TYPE_RAW : PERF_TYPE_HARDWARE,
				n & 1 ? EVENT_CYCLES : 0, 0, -1, n & 1, n == 5);
		usleep(random_below(60000));
		for (int n = 0; n < 6; n++)
			if (events[n] >= 0) {
				close(events[n]);
				add(&all->openings);
			}
	}
	_exit(0);
}

static void killer(void)
{
	while (!all->stop) {
		pid_t victim = fork();

		if (!victim) {
			setpgid(0, 0);
			if (take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN,
				       0) < 0)
				_exit(1);
			if (!fork())
				signal(SIGILL, SIG_DFL);
			for (;;)
				upmu_regs_cycles32();
		}
		usleep(random_below(100000));
		/* the holder first: its child must lose it with it */
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		usleep(random_below(5000));
		kill(-victim, SIGKILL);
		add(&all->kills);
	}
	_exit(0);
}

static void taker(void)
{
	while (!all->stop) {
		int fd = take(UPMU_MODE_CYCLES);

		if (fd < 0)
			_exit(1);
		usleep(random_below(50000));
		close(fd);
		add(&all->takings);
		usleep(random_below(200000));
	}
	_exit(0);
}

static void prober(void)
{
	while (!all->stop) {
		if (try_cycles(NULL))
			add(&all->leaks);
		else
			add(&all->refused);
		usleep(random_below(5000));
	}
	_exit(0);
}

static void (*const count_roles[])(void) = {
	reader, reader, hotplugger, whole_machine, killer, taker, prober, NULL,
};

static void (*const cycles_roles[])(void) = {
	holder, hotplugger, whole_machine, perf_task, taker, prober, NULL,
};

static void (*const raw_roles[])(void) = {
	holder, hotplugger, whole_machine, perf_task, prober, NULL,
};

static void (*const *const roles_of[])(void) = {
	[UPMU_MODE_COUNT] = count_roles,
	[UPMU_MODE_CYCLES] = cycles_roles,
	[UPMU_MODE_RAW] = raw_roles,
};

#define MAX_ROLES 8

/* However little a slow machine does in DURATION. */
#define LEAST_REFUSED 100
#define LEAST_LATE_S  180

static uint64_t least_reads, least_hotplugs, least_rotations;

static bool enough(void)
{
	return all->reads >= least_reads && all->hotplugs >= least_hotplugs &&
	       all->rotations >= least_rotations &&
	       all->refused > LEAST_REFUSED;
}

static int run(double duration, bool hotplug)
{
	void (*const *roles)(void) = roles_of[mode];
	pid_t pids[MAX_ROLES] = { 0 };
	int failures = 0, status;
	double end = seconds() + duration, latest = end;

	for (int n = 0; roles[n]; n++) {
		if (roles[n] == hotplugger && !hotplug)
			continue;
		fflush(stdout);
		pids[n] = fork();
		if (!pids[n]) {
			random_state += (uint32_t)n * 7919;
			roles[n]();
		}
		/* RAW is refused beside another role's pinned events. */
		while (roles[n] == holder && !all->asked)
			usleep(1000);
	}
	latest += 7 * duration > LEAST_LATE_S ? 7 * duration : LEAST_LATE_S;
	while (seconds() < end || (!enough() && seconds() < latest))
		usleep(100000);
	all->stop = 1;
	for (int n = 0; roles[n]; n++) {
		if (!pids[n])
			continue;
		waitpid(pids[n], &status, 0);
		if (status) {
			printf("# role %d: status %x\n", n, (unsigned)status);
			failures++;
		}
	}
	return failures;
}

#define FIGURE(name) (unsigned long long)all->name

static void soak(const char *name, double duration)
{
	double start = seconds();

	mode = UPMU_MODE_COUNT;
	if (!strcmp(name, "cycles"))
		mode = UPMU_MODE_CYCLES;
	else if (!strcmp(name, "raw"))
		mode = UPMU_MODE_RAW;
	memset(all, 0, sizeof(*all));
	printf("# %s\n", name);
	tap(run(duration, least_hotplugs) == 0, "everyone_ran_to_the_end",
	    NULL);
	tap(enough(), "enough_was_tried",
	    "%.0f s: %llu register reads, %llu hotplugs, %llu rotations, %llu "
	    "perf -a events, %llu kills, %llu cycles leases",
	    seconds() - start, FIGURE(reads), FIGURE(hotplugs),
	    FIGURE(rotations), FIGURE(openings), FIGURE(kills),
	    FIGURE(takings));
	tap(all->illegal == 0, "no_sigill_where_leased", "%llu",
	    FIGURE(illegal));
	tap(all->wrong == 0 && all->failed == 0 && all->falls <= all->wraps,
	    mode == UPMU_MODE_COUNT ? "every_value_lies_between_two_reads_and_"
				      "none_runs_backwards"
				    : "the_cycle_counter_never_runs_backwards",
	    "%llu wrong, %llu failed, %llu while waiting for a counter, %llu "
	    "times past 2^32, %llu of them back to zero by the emulator, %llu "
	    "pauses too long to tell",
	    FIGURE(wrong), FIGURE(failed), FIGURE(waits), FIGURE(wraps),
	    FIGURE(falls), FIGURE(pauses));
	tap(all->leaks == 0 && all->refused > LEAST_REFUSED,
	    "sigill_where_not_leased", "%llu refused, %llu read",
	    FIGURE(refused), FIGURE(leaks));
	tap(no_leases_soon(), "nobody_holds_anything_afterwards", NULL);
}

int main(int argc, char **argv)
{
	double duration = argc > 1 ? atof(argv[1]) : 10;

	least_reads = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
	least_hotplugs = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	least_rotations = argc > 4 ? strtoull(argv[4], NULL, 0) : 10;
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc <= 5)
		soak("count", duration);
	for (int n = 5; n < argc; n++)
		soak(argv[n], duration);
	return tap_done();
}
