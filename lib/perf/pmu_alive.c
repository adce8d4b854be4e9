// SPDX-License-Identifier: MIT
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/explain.h"
#include "lib/perf/perf.h"
#include "lib/sys.h"

#define LOOPS 20000u
#define TRIES 3

/* More than any ARM core's clock has cycles in a nanosecond, with room for the
 * time between perf's two readings. */
#define CYCLES_PER_NS 16u
#define SLACK	      1000000u

enum answer { UNKNOWN, ALIVE, DEAD };

static atomic_int known = UNKNOWN;
static atomic_int instructions = UNKNOWN; /* of an emulator */

static void spin(void)
{
	for (unsigned int i = 0; i < LOOPS; i++)
		__asm__ volatile("" ::: "memory");
}

static enum answer try_once(int fd)
{
	struct upmu_value before, after;
	uint64_t cycles, ran_ns;

	/* Of another kind of core: wanted for some time, and never ran. By a
	 * clock of 32 kHz neither time has begun yet. */
	if (upmu_perf_read(fd, &before) ||
	    (before.enabled_ns && !before.running_ns))
		return UNKNOWN;
	spin();
	if (upmu_perf_read(fd, &after))
		return UNKNOWN;
	ran_ns = after.running_ns - before.running_ns;
	cycles = after.count - before.count;
	if (!ran_ns)
		return UNKNOWN;
	/* A register stuck at zero gives 0 or multiples of perf's period. */
	if (!cycles || cycles > ran_ns * CYCLES_PER_NS + SLACK)
		return DEAD;
	return ALIVE;
}

static enum answer ask_counter(int fd)
{
	enum answer answer = UNKNOWN;

	if (fd < 0)
		return UNKNOWN;
	for (int i = 0; i < TRIES && answer != ALIVE; i++)
		answer = try_once(fd);
	upmu_sys_close(fd);
	return answer;
}

static enum answer ask_cycles(void)
{
	enum answer answer = ask_counter(upmu_perf_open_cycles(0, -1));

	/* They may be another kind of core's. */
	if (answer == UNKNOWN)
		answer = ask_counter(upmu_perf_open_cycles(0, sched_getcpu()));
	return answer;
}

int upmu_pmu_alive(void)
{
	if (atomic_load(&known) == UNKNOWN)
		atomic_store(&known, ask_cycles());
	if (atomic_load(&known) != DEAD)
		return 0;
	upmu_explain_set(-ENODEV,
			 "the PMU does not count: perf has it, but its cycle "
			 "counter stands still (secure firmware holds it, or "
			 "an emulator has none)");
	upmu_explain_hint("upmu check");
	return -ENODEV;
}

int upmu_emulator_explain(const char *event)
{
	return upmu_explain_set(-EOPNOTSUPP,
				"'%s' would stay 0: this board is emulated, "
				"and QEMU counts them with -icount only",
				event);
}

int upmu_emulator_alive(const struct upmu_perf_event *event)
{
	const struct upmu_perf_target self = {
		.cpu = -1,
		.group_fd = -1,
		.flags = UPMU_PERF_EXCLUDE_KERNEL,
	};

	if (atomic_load(&instructions) == UNKNOWN)
		atomic_store(&instructions,
			     ask_counter(upmu_perf_open(event, &self)));
	if (atomic_load(&instructions) != DEAD)
		return 0;
	return upmu_emulator_explain(event->name);
}

void upmu_pmu_alive_forget(void)
{
	atomic_store(&instructions, UNKNOWN);
	atomic_store(&known, UNKNOWN);
}
