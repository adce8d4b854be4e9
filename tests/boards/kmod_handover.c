// SPDX-License-Identifier: MIT
/*
 * kmod_handover ROUNDS - counters change hands, and nothing is left in between
 * kmod_handover ends ROUNDS - the last of it only: perf counts after each end
 *
 * From one RAW holder to the next, from perf to a holder and back, with CPUs
 * that are off meanwhile, under load, and beside pinned events.
 */
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/boards/kmod.h"

#define MARK_TYPE   0x55
#define MARK_COUNT  0x12345
#define MOST_EVENTS 32

static int cpus;

static bool counts_everywhere(double within)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		if (!counts_on(cpu, within))
			return false;
	return true;
}

static void set_last_cpu(bool on)
{
	set_online(cpus - 1, on);
}

static void away_test(void)
{
	int fd;

	if (cpus < 2)
		return;
	fd = take(UPMU_MODE_CYCLES);
	set_last_cpu(false);
	close(fd);
	set_last_cpu(true);
	tap(fd >= 0 && counts_everywhere(5),
	    "perf_counts_cycles_on_a_cpu_that_was_off_when_the_lease_ended",
	    "%d", fd);
}

/* Keeps putting an event on its CPU's counters and taking it off. */
static pid_t stress(int cpu)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	pin(cpu);
	fd = event_open(PERF_TYPE_RAW, 8, 0, 0, -1, 0);
	for (;;) {
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

static void load_test(int rounds)
{
	int done = 0, lost = 0;

	while (done < rounds) {
		pid_t load[MOST_EVENTS];

		for (int cpu = 0; cpu < cpus; cpu++)
			load[cpu] = stress(cpu);
		for (int n = 0; n < 8 && done < rounds; n++, done++)
			close(take(UPMU_MODE_CYCLES));
		for (int cpu = 0; cpu < cpus; cpu++)
			kill(load[cpu], SIGKILL);
		while (wait(NULL) > 0)
			;
		lost += !counts_everywhere(5);
	}
	tap(!lost && done, "perf_counts_cycles_after_leases_under_load",
	    "%d leases, lost %d times", done, lost);
}

/* Each end of CYCLES and of RAW, the last CPU off at each second one. */
static void back_test(int rounds)
{
	int lost = 0, refused = 0, ends[2] = { 0, 0 };
	pid_t load[MOST_EVENTS];

	for (int cpu = 0; cpu < cpus; cpu++)
		load[cpu] = stress(cpu);
	for (int n = 0; n < rounds; n++) {
		uint32_t mode = n & 1 ? UPMU_MODE_RAW : UPMU_MODE_CYCLES;
		bool off = cpus > 1 && n & 2;
		int fd = take(mode);

		refused += fd < 0;
		ends[n & 1] += fd >= 0;
		if (off)
			set_last_cpu(false);
		close(fd);
		if (off)
			set_last_cpu(true);
		lost += !counts_everywhere(5);
	}
	for (int cpu = 0; cpu < cpus; cpu++)
		kill(load[cpu], SIGKILL);
	while (wait(NULL) > 0)
		;
	tap(!lost && ends[0] && ends[1] && !refused,
	    "perf_counts_cycles_on_every_cpu_after_each_end",
	    "%d ends of CYCLES, %d of RAW, %d refused, lost %d times", ends[0],
	    ends[1], refused, lost);
}

static void raw_leaver(int ready)
{
	int fd = take(UPMU_MODE_RAW);

	if (fd < 0)
		_exit(1);
	for (int cpu = cpus - 1; cpu >= 0; cpu--) {
		pin(cpu);
		upmu_regs_set_type(2, MARK_TYPE);
		upmu_regs_set_counter(2, MARK_COUNT);
	}
	(void)!write(ready, "x", 1);
	usleep(3000);
	_exit(0);
}

static bool finds_marks(void)
{
	bool found = false;

	for (int cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		found |= (upmu_regs_type(2) & 0xff) == MARK_TYPE ||
			 upmu_regs_counter(2) == MARK_COUNT;
	}
	return found;
}

/* A taker that spins on EBUSY; 1: it found the last one's registers. */
static int handover(void)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = UPMU_MODE_RAW };
	int ready[2], fd, found;
	pid_t leaver;
	char byte;

	if (pipe(ready))
		return -1;
	leaver = fork();
	if (!leaver)
		raw_leaver(ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return -1;
	fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);
	while (ioctl(fd, UPMU_IOC_LEASE, &lease))
		if (errno != EBUSY)
			return -1;
	found = finds_marks();
	close(fd);
	close(ready[0]);
	waitpid(leaver, NULL, 0);
	return found;
}

static void raw_test(int rounds)
{
	int leaks = 0, failed = 0;

	for (int n = 0; n < rounds; n++) {
		int found = handover();

		leaks += found > 0;
		failed += found < 0;
	}
	tap(!leaks && !failed,
	    "the_next_raw_holder_never_finds_the_last_ones_registers",
	    "%d handovers, %d leaks, %d failed", rounds, leaks, failed);
}

static bool alive(int fd)
{
	struct times times;

	return read(fd, &times, sizeof(times)) == sizeof(times);
}

static int finds_no_owner_here(void *unused)
{
	(void)unused;
	return file_has(UPMU_STATE, "\nrefused pid 0 comm kmod_handover\n");
}

static int asks_in_a_namespace(void *unused)
{
	(void)unused;
	return !unshare(CLONE_NEWPID) && in_child(finds_no_owner_here, NULL);
}

static void container_test(const char *claim)
{
	if (access("/proc/self/ns/pid", F_OK))
		tap_skip(claim, "this kernel has no PID namespaces");
	else
		tap(in_child(asks_in_a_namespace, NULL) == 1, claim, NULL);
}

static void pinned_cpu_test(void)
{
	int counters = (int)info_of(-1).counters, open = 0, lease;
	int fds[MOST_EVENTS];
	bool lived = true;
	char owner[64];

	tap(file_has(UPMU_STATE, "\nleases 0") &&
		    !file_has(UPMU_STATE, "\nrefused "),
	    "the_state_names_nobody_where_nothing_was_refused", NULL);
	fds[open++] = event_open(PERF_TYPE_HARDWARE, 0, 0, -1, 0, 1);
	while (open <= counters && open < MOST_EVENTS)
		fds[open++] =
			event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, 0, 1);
	lease = take(UPMU_MODE_CYCLES);
	usleep(50000);
	close(lease);
	for (int n = 0; n < open; n++)
		lived &= alive(fds[n]);
	tap(lived && lease == -EBUSY,
	    "cycles_is_refused_where_a_pinned_event_would_lose_its_counter",
	    "%d", lease);
	snprintf(owner, sizeof(owner), "\nrefused pid %d comm kmod_handover\n",
		 getpid());
	tap(file_has(UPMU_STATE, owner), "and_the_state_names_the_events_owner",
	    NULL);
	container_test("by_no_number_that_may_be_anothers_in_a_container");
	while (open)
		close(fds[--open]);
}

/* Of a group only the first is called pinned, and all of it is. */
static void pinned_group_test(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.pinned = 1 };
	int counters = (int)info_of(-1).counters, open = 0, lease;
	int fds[MOST_EVENTS];
	bool lived;

	fds[open++] = (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, 0);
	attr.type = PERF_TYPE_RAW;
	attr.config = EVENT_CYCLES;
	attr.pinned = 0;
	while (open <= counters && open < MOST_EVENTS)
		fds[open++] = (int)syscall(__NR_perf_event_open, &attr, -1, 0,
					   fds[0], 0);
	usleep(10000);
	lived = fds[0] >= 0 && read(fds[0], &attr, sizeof(attr)) > 0;
	lease = take(UPMU_MODE_CYCLES);
	usleep(50000);
	close(lease);
	tap(lived && read(fds[0], &attr, sizeof(attr)) > 0 && lease == -EBUSY,
	    "or_a_pinned_group_that_has_all_of_them", "%d", lease);
	while (open)
		close(fds[--open]);
}

static void pinned_lives(int fd, int lease, const char *claim)
{
	usleep(10000);
	close(lease);
	tap(lease == -EBUSY && alive(fd) &&
		    file_has(UPMU_STATE, " comm kmod_handover\n"),
	    claim, "%d, %s", lease, alive(fd) ? "alive" : "dead");
	close(fd);
}

/* Neither is on a counter when the lease is asked for. */
static void pinned_off_test(void)
{
	int fd = event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, 0, 1), lease;

	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	lease = take(UPMU_MODE_RAW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	pinned_lives(fd, lease,
		     "raw_is_refused_for_a_pinned_event_of_a_cpu_that_is_off");
}

#define GROUPS "/cgroups"
#define GROUP  GROUPS "/idle"

static void pinned_cgroup_test(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.config = EVENT_CYCLES,
		.pinned = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int group, fd, lease;

	mkdir(GROUPS, 0700);
	mount("none", GROUPS, "cgroup2", 0, NULL);
	poke(GROUPS "/cgroup.subtree_control", "+pids"); /* perf's come along */
	mkdir(GROUP, 0700);
	group = open(GROUP, O_RDONLY | O_CLOEXEC);
	fd = (int)syscall(__NR_perf_event_open, &attr, group, 0, -1,
			  PERF_FLAG_PID_CGROUP);
	if (fd < 0) {
		tap_skip("and_for_one_of_a_cgroup_that_is_idle",
			 "this kernel counts no cgroups");
		return;
	}
	lease = take(UPMU_MODE_RAW);
	pin(0);
	poke(GROUP "/cgroup.procs", "0");
	usleep(10000);
	poke(GROUPS "/cgroup.procs", "0");
	pinned_lives(fd, lease, "and_for_one_of_a_cgroup_that_is_idle");
	close(group);
}

static void pinned_sleeper(int go, int done)
{
	int fd = event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, 0, -1, 1);
	char byte;

	spin_loop(100000);
	(void)!write(done, "x", 1);
	(void)!read(go, &byte, 1);
	spin_loop(100000);
	_exit(!alive(fd));
}

static void pinned_task_test(void)
{
	int go[2], done[2], status = -1, lease;
	pid_t sleeper;
	char byte;

	if (pipe(go) || pipe(done))
		return;
	sleeper = fork();
	if (!sleeper)
		pinned_sleeper(go[0], done[1]);
	(void)!read(done[0], &byte, 1);
	usleep(50000);
	lease = take(UPMU_MODE_RAW);
	(void)!write(go[1], "x", 1);
	waitpid(sleeper, &status, 0);
	tap(lease == -EBUSY && status == 0,
	    "raw_is_refused_for_a_pinned_event_of_a_task_that_sleeps", "%d, %d",
	    lease, status);
	close(lease);
}

/* What opens events and what takes leases share. */
struct race {
	/* Of the CPU where they are opened: a task's raw event is of the first
	 * PMU, which another kind of core has.
	 */
	uint32_t pmu;
	volatile unsigned int calls;
	volatile bool over;
	volatile unsigned int opened, died;
};

/* One that is dead at once was opened while perf was kept off. */
static void race_open(struct race *race, pid_t pid, int cpu)
{
	int fd = event_open(race->pmu, EVENT_CYCLES, 0, pid, cpu, 1);
	bool lived = fd >= 0 && alive(fd);

	for (int n = 0; n < 4; n++)
		sched_yield();
	race->opened += lived;
	race->died += lived && !alive(fd);
	close(fd);
}

static void race_take(struct race *race, unsigned int calls)
{
	int fd;

	while (race->calls < calls) {
		race->calls++;
		fd = take(race->calls % 2 ? UPMU_MODE_RAW : UPMU_MODE_CYCLES);
		if (fd >= 0)
			close(fd);
		usleep(race->calls % 7 * 100);
	}
	race->over = true;
}

static int inherited(uint32_t pmu)
{
	struct perf_event_attr attr = {
		.type = pmu,
		.size = sizeof(attr),
		.config = EVENT_CYCLES,
		.pinned = 1,
		.inherit = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
}

/* What this process does is not in it, nor in what it has of it. */
static bool stands(int fd)
{
	uint64_t before = total(fd).running;

	spin_loop(1000);
	return total(fd).running == before;
}

/* Parent and child may have changed theirs. */
static void race_inherit(struct race *race)
{
	int fd = inherited(race->pmu), died = 0;
	bool lived = fd >= 0 && alive(fd);
	pid_t child = fork();

	if (!child)
		_exit(stands(fd));
	waitpid(child, &died, 0);
	race->opened += lived;
	race->died += lived && (died || stands(fd));
	close(fd);
}

enum race_of { RACE_CPU, RACE_TASK, RACE_CHILD };

/* The other CPU's, or its own, which each switch takes off its counter. */
static void races(struct race *race, enum race_of of)
{
	pin(1);
	race->pmu = pmu_type(info_of(-1).pmu);
	if (of == RACE_TASK && !fork())
		while (!race->over)
			sched_yield();
	while (!race->over)
		if (of == RACE_CHILD)
			race_inherit(race);
		else if (of == RACE_TASK)
			race_open(race, 0, -1);
		else
			race_open(race, -1, 1);
	_exit(0);
}

#define MOST_SLEEPERS 500

/* Each is looked at for pinned events, which takes its time: fork takes more.
 */
static int sleepers_beside(enum race_of of)
{
	return of == RACE_CHILD ? MOST_SLEEPERS : 100;
}

static void sleep_beside(pid_t *sleepers, int most)
{
	for (int n = 0; n < most; n++) {
		sleepers[n] = fork();
		if (!sleepers[n])
			_exit(pause());
	}
}

static void pinned_race_test(unsigned int calls, enum race_of of,
			     const char *claim)
{
	struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t opener = fork(), sleepers[MOST_SLEEPERS];
	int most = sleepers_beside(of);

	if (!opener)
		races(race, of);
	sleep_beside(sleepers, most);
	pin(0);
	race_take(race, calls);
	waitpid(opener, NULL, 0);
	for (int n = 0; n < most; n++)
		kill(sleepers[n], SIGKILL);
	while (wait(NULL) > 0)
		;
	tap(race->opened && !race->died, claim, "%u calls, %u opened, %u dead",
	    race->calls, race->opened, race->died);
	munmap(race, sizeof(*race));
}

/* perf sets its counter anew when its event is switched on. */
static int user_takes(void *event)
{
	uint32_t before;

	if (setgid(1000) || setuid(1000) || take(UPMU_MODE_CYCLES) < 0)
		return 2;
	pin(0);
	spin_loop(1000000);
	before = upmu_regs_cycles32();
	ioctl(*(int *)event, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(*(int *)event, PERF_EVENT_IOC_ENABLE, 0);
	return upmu_regs_cycles32() - before > 1u << 30;
}

static void user_test(void)
{
	int fd = event_open(PERF_TYPE_HARDWARE, 0, 0, -1, 0, 0), status;

	chmod(UPMU_DEVICE, 0666);
	status = in_child(user_takes, &fd);
	tap(status == 0,
	    "an_ordinary_users_lease_takes_the_cycle_counter_from_perf", "%d",
	    status);
	close(fd);
	chmod(UPMU_DEVICE, 0660);
}

static void poll_test(void)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = UPMU_MODE_CYCLES };
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC), status = 0;
	pid_t waiter = fork();

	if (!waiter) {
		struct pollfd waits = { .fd = fd, .events = 0, .revents = 0 };

		alarm(30); /* one that wakes by a time limit proves nothing */
		_exit(poll(&waits, 1, -1) != 1 || !(waits.revents & POLLHUP));
	}
	usleep(300000); /* it waits by now */
	if (!ioctl(fd, UPMU_IOC_LEASE, &lease))
		close(dup(fd)); /* ends it */
	waitpid(waiter, &status, 0);
	tap(status == 0, "poll_that_began_before_the_lease_wakes_when_it_ends",
	    "%x", status);
	close(fd);
}

/* A CPU that is off from before a lease's end until the module is gone. */
static bool unload(void)
{
	int fd = take(UPMU_MODE_CYCLES), failed;

	set_last_cpu(false);
	close(fd);
	failed = system("rmmod upmu");
	set_last_cpu(true);
	return fd >= 0 && !failed && counts_everywhere(5);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 30;
	unsigned int calls;

	cpus = cpus_online();
	if (argc > 1 && !strcmp(argv[1], "unload"))
		return !unload();
	if (argc > 2 && !strcmp(argv[1], "ends")) {
		back_test(atoi(argv[2]));
		return tap_done();
	}
	away_test();
	pinned_cpu_test();
	pinned_group_test();
	pinned_off_test();
	pinned_cgroup_test();
	pinned_task_test();
	calls = rounds < 100 ? 20 * rounds : 2000;
	pinned_race_test(
		calls, RACE_CPU,
		"nor_does_one_die_that_is_opened_while_a_lease_is_taken");
	pinned_race_test(calls, RACE_TASK,
			 "nor_one_of_a_task_that_is_switched_meanwhile");
	pinned_race_test(6 * calls, RACE_CHILD, "nor_what_a_child_inherits");
	user_test();
	poll_test();
	raw_test(rounds);
	load_test(rounds);
	back_test(rounds);
	return tap_done();
}
