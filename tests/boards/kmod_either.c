// SPDX-License-Identifier: MIT
/*
 * kmod_either           each mode is refused with its reason, or it holds
 * kmod_either EVENT     the same; perf is asked for this raw event, in hex
 * kmod_either late MODE the same, of a CPU 1 that comes online meanwhile
 *
 * For kernels that nobody ships: a lease is not granted and lost again when
 * perf's driver writes the permission register. And for a CPU whose ID
 * registers do not tell of its PMU.
 */
#include "tests/boards/kmod.h"

#define ONLINE "/sys/devices/system/cpu/cpu1/online"

#define SECONDS (cpus_online() > 1 ? 2 : 0.2)

static const char *const names[] = { "", "count", "cycles", "raw" };

static volatile sig_atomic_t illegal;
static unsigned long asked = EVENT_CYCLES;

static void on_illegal(int number)
{
	illegal++;
	kmod_on_illegal(number);
}

/* Events that start and stop, and one that samples, on this very CPU. */
static pid_t perf_beside(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.sample_period = 1000000 };
	pid_t pid = fork();

	if (pid)
		return pid;
	pin(0);
	syscall(__NR_perf_event_open, &attr, -1, 0, -1, 0);
	for (;;) {
		close(event_open(PERF_TYPE_HARDWARE, 0, 2, 0, -1, 0));
		usleep(1000);
	}
}

/* Under RAW no event has a counter; perf asks each CPU's own PMU. */
static void alone(void)
{
	int cpu, perf, runs = 0;

	for (cpu = 0; cpu < cpus_online(); cpu++) {
		perf = event_open(PERF_TYPE_RAW, asked, 0, -1, cpu, 0);
		usleep(20000);
		runs += counter_read(&(struct counter){ perf, NULL }).running !=
			0;
		close(perf);
	}
	tap(!runs, "and_keeps_perf_off_every_cpu", "%d of %d not", runs, cpu);
}

static void holds(const char *name, int lease)
{
	struct sigaction action = { .sa_handler = on_illegal,
				    .sa_flags = SA_NODEFER };
	volatile unsigned long reads = 0;
	double end = seconds() + SECONDS;
	char claim[60];
	pid_t beside;

	pin(0);
	beside = perf_beside();
	illegal = 0;
	sigaction(SIGILL, &action, NULL);
	while (seconds() < end) {
		if (sigsetjmp(kmod_illegal, 0)) {
			usleep(1000);
			continue;
		}
		for (int n = 0; n < 100; n++, reads++)
			upmu_regs_cycles32();
	}
	kill(beside, SIGKILL);
	waitpid(beside, NULL, 0);
	if (!strcmp(name, "raw"))
		alone();
	close(lease);
	snprintf(claim, sizeof(claim), "%s_is_granted_and_holds", name);
	tap(!illegal && reads > 1000, claim, "%lu reads, %d SIGILL", reads,
	    (int)illegal);
}

static void refused(const char *name, int error, uint32_t mode)
{
	struct upmu_info info = info_of(-1);
	char claim[60];

	snprintf(claim, sizeof(claim), "%s_is_refused_with_a_reason", name);
	tap(error == -EOPNOTSUPP && info.reason != UPMU_REASON_NONE &&
		    !(info.modes & 1u << mode) && !try_cycles(NULL),
	    claim, "%d, modes %x, reason %u", error, info.modes, info.reason);
}

/* perf goes on by the driver that it has. */
static void perf_test(const char *claim)
{
	struct counter counter = { -1, NULL };
	int cpu = sched_getcpu();

	pin(cpu);
	counter.fd = event_open(PERF_TYPE_RAW, asked, 0, 0, cpu, 0);
	spin_loop(100000);
	tap(counter_read(&counter).value > 100000 &&
		    counter_read(&counter).running,
	    claim, "%llu", (unsigned long long)counter_read(&counter).value);
	close(counter.fd);
}

/* A trap that is tried again for ever would be ended by the alarm. */
static int tries_on_cpu_1(void *mode)
{
	if (take(*(uint32_t *)mode) < 0)
		return 2;
	if (poke(ONLINE, "1"))
		return 3;
	pin(1);
	alarm(20);
	return try_cycles(NULL);
}

/* Leases were granted while that CPU was off; nothing is done on it then. */
static void late_test(uint32_t mode)
{
	char claim[80];
	int status;

	poke(ONLINE, "0");
	status = in_child(tries_on_cpu_1, &mode);
	no_leases_soon();
	snprintf(claim, sizeof(claim),
		 "who_holds_%s_gets_sigill_on_a_cpu_that_came_late",
		 names[mode]);
	tap(status == 0, claim, "%d", status);
	pin(1);
	snprintf(claim, sizeof(claim), "where_perf_counts_after_%s",
		 names[mode]);
	perf_test(claim);
	pin(0);
}

/* One that can be had here. */
static uint32_t mode_called(const char *name)
{
	uint32_t mode = UPMU_MODE_RAW;

	while (mode && strcmp(names[mode], name))
		mode--;
	return info_of(-1).modes & 1u << mode ? mode : light_mode();
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "late"))
		late_test(mode_called(argv[2]));
	if (argc == 2)
		asked = strtoul(argv[1], NULL, 16);
	for (uint32_t mode = UPMU_MODE_COUNT; mode <= UPMU_MODE_RAW; mode++) {
		int lease = take(mode);

		if (lease >= 0)
			holds(names[mode], lease);
		else
			refused(names[mode], lease, mode);
		no_leases_soon();
	}
	perf_test("and_perf_counts");
	tap(info_of(-1).leases == 0, "nothing_is_held_in_the_end", NULL);
	return tap_done();
}
