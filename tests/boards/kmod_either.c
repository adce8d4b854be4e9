// SPDX-License-Identifier: MIT
/*
 * kmod_either - each mode is refused with its reason, or it holds
 *
 * For kernels that nobody ships: a lease is not granted and lost again when
 * perf's driver writes the permission register.
 */
#include "tests/boards/kmod.h"

#define SECONDS (cpus_online() > 1 ? 2 : 0.2)

static const char *const names[] = { "", "count", "cycles", "raw" };

static volatile sig_atomic_t illegal;

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

int main(void)
{
	for (uint32_t mode = UPMU_MODE_COUNT; mode <= UPMU_MODE_RAW; mode++) {
		int lease = take(mode);

		if (lease >= 0)
			holds(names[mode], lease);
		else
			refused(names[mode], lease, mode);
		no_leases_soon();
	}
	tap(info_of(-1).leases == 0, "nothing_is_held_in_the_end", NULL);
	return tap_done();
}
