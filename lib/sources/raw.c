// SPDX-License-Identifier: MIT
/*
 * raw: the registers, programmed from user mode under a RAW lease of upmu.ko
 * or its parameter open=all. No perf: whatever runs on the CPU is counted, so
 * the thread must be bound to one CPU, and the counters are 32 bits wide and
 * extended in here.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/perf/perf.h"
#include "lib/registers/registers.h"
#include "lib/registers/raw_cpu.h"
#include "lib/sources/source.h"
#include "lib/sys.h"
#include "regs/regs.h"

#if UPMU_REGS_ARCH == UPMU_REGS_V8_64
#define COMPILED_FOR 8
#elif UPMU_REGS_ARCH == UPMU_REGS_ARM
#define COMPILED_FOR UPMU_REGS_ARM /* 6 and 7: it asks at run time */
#elif UPMU_REGS_ARCH == UPMU_REGS_V6
#define COMPILED_FOR 6
#elif UPMU_REGS_ARCH == UPMU_REGS_NONE
#define COMPILED_FOR 0
#else
#define COMPILED_FOR 7
#endif

static int check_processor(void)
{
	if (!COMPILED_FOR || !upmu_processor_registers())
		return upmu_explain_set(-EOPNOTSUPP,
					"counters are read by register on ARM "
					"processors only");
	if (COMPILED_FOR != UPMU_REGS_ARM &&
	    upmu_processor_registers() != COMPILED_FOR)
		return upmu_explain_set(-EOPNOTSUPP,
					"this library was compiled for the "
					"registers of ARMv%d, the processor "
					"has those of ARMv%u",
					COMPILED_FOR,
					upmu_processor_registers());
	/* Where perf sees zeros the registers may even be undefined (QEMU's
	 * ARM1176), and ARMv6 has none that tells. */
	return upmu_pmu_alive();
}

/* Taking the lease stops perf: ask whether it would be granted instead. */
static int raw_probe(void)
{
	struct upmu_info info;
	int ret, fd;

	ret = check_processor();
	if (ret)
		return ret;
	fd = upmu_device_open(&info);
	if (fd < 0)
		return fd;
	upmu_sys_close(fd);
	return upmu_lease_would(&info, UPMU_MODE_RAW);
}

#if COMPILED_FOR

/* Fastest ARM core, and most counts of one event in a cycle: within this time
 * a 32-bit counter goes round at most once. */
#define COUNTS_PER_NS 16u
#define BLIND_NS      (UINT64_C(0x100000000) / COUNTS_PER_NS)

/* Asking the module costs a system call, a hundred times the registers. */
#define TRUST_NS 1000000u

struct counter {
	unsigned int n; /* of the register */
	atomic_uint_fast64_t total;
	atomic_uint_fast64_t folded_ns; /* when it was last looked at */
};

struct state {
	int fd;
	int cpu;
	uint32_t mask; /* of the counters in use */
	bool is_leased;
	atomic_uint_fast64_t asked_ns; /* when the lease was last seen good */
	uint64_t started_ns;
	uint64_t run_ns; /* before that */
	bool is_running;
	uint64_t stopped_ns;
	struct counter counters[UPMU_EVENTS_MAX];
};

/* Leaves /dev/upmu open, with a RAW lease where one is needed. */
static int get_registers(int *fd, struct upmu_info *info)
{
	int ret;

	ret = check_processor();
	if (ret)
		return ret;
	*fd = upmu_device_open(info);
	if (*fd < 0)
		return *fd;
	if (info->open == UPMU_OPEN_ALL)
		return 0;
	upmu_sys_close(*fd);
	return upmu_lease_take(fd, UPMU_MODE_RAW, 0);
}

static int bound_cpu(int *cpu)
{
	cpu_set_t allowed;
	int ret;

	ret = upmu_sys_affinity(0, &allowed);
	if (ret)
		return upmu_explain_set(ret, "cannot tell the CPUs of this "
					     "thread");
	if (CPU_COUNT(&allowed) != 1) {
		upmu_explain_set(-EXDEV,
				 "raw counters belong to one CPU, and this "
				 "thread may run on %d",
				 CPU_COUNT(&allowed));
		upmu_explain_hint("taskset -c 0 COMMAND");
		return -EXDEV;
	}
	for (*cpu = 0; !CPU_ISSET(*cpu, &allowed); ++*cpu)
		;
	return 0;
}

/*
 * Where open=all no lease keeps users apart. Those who come by this library
 * lock the byte of /dev/upmu that has the CPU's number.
 */
static int lock_cpu(int fd, int cpu)
{
	int ret = upmu_sys_lock(fd, cpu);

	if (ret == -EBUSY)
		return upmu_explain_set(ret,
					"another set counts by the registers "
					"of CPU %d: one at a time can",
					cpu);
	if (ret)
		return upmu_explain_set(ret, "cannot lock " UPMU_DEVICE ": %s",
					strerror(-ret));
	return 0;
}

/* Cycles go to their own counter; what it cannot take needs another. */
static int assign(struct state *state, const struct upmu_wanted *wanted,
		  const struct upmu_info *info)
{
	unsigned int next = 0;

	for (size_t i = 0; i < wanted->size; i++) {
		const struct upmu_wanted_event *event = &wanted->events[i];
		bool is_free = !(state->mask & UPMU_MASK_CYCLES);
		int ret = upmu_raw_cpu_check_event(
			&event->perf[0],
			event->is_hardware ? event->code[0] : UINT32_MAX,
			info->pmu_version);

		if (ret)
			return ret;
		if (event->is_cycles && is_free) {
			state->counters[i].n = UPMU_RAW_CPU_CYCLES;
			state->mask |= UPMU_MASK_CYCLES;
			continue;
		}
		if (next == info->counters) {
			upmu_explain_set(-ENOSPC,
					 "'%s' does not fit: this core has %u "
					 "event counters and one for cycles",
					 event->name, info->counters);
			upmu_explain_hint("ask for fewer events in one set");
			return -ENOSPC;
		}
		state->counters[i].n = next;
		state->mask |= UINT32_C(1) << next++;
	}
	return 0;
}

/* An emulator that does not count instructions leaves even these at 0. */
#define LOOKS 1000

static bool counts_any(unsigned int n, const struct upmu_wanted_event *event,
		       uint32_t pmu_version)
{
	struct upmu_perf_event all = event->perf[0];
	uint32_t count = 0;

	all.exclude_user = all.exclude_kernel = false;
	upmu_raw_cpu_set(n, &all, event->code[0], pmu_version);
	upmu_raw_cpu_start(UINT32_C(1) << n);
	for (int i = 0; !count && i < LOOKS; i++)
		count = upmu_raw_cpu_read(n);
	upmu_raw_cpu_stop(UINT32_C(1) << n);
	return count;
}

static int check_emulator(const struct state *state,
			  const struct upmu_wanted *wanted,
			  const struct upmu_info *info)
{
	for (size_t i = 0; wanted->is_emulated && i < wanted->size; i++) {
		const struct upmu_wanted_event *event = &wanted->events[i];

		if (event->is_instructions &&
		    !counts_any(state->counters[i].n, event, info->pmu_version))
			return upmu_emulator_explain(event->name);
	}
	return 0;
}

static void program(const struct state *state, const struct upmu_wanted *wanted,
		    const struct upmu_info *info)
{
	for (size_t i = 0; i < wanted->size; i++) {
		const struct upmu_wanted_event *event = &wanted->events[i];

		upmu_raw_cpu_set(state->counters[i].n, &event->perf[0],
				 event->code[0], info->pmu_version);
	}
	/* They stand before the first instruction of the caller. */
	upmu_raw_cpu_stop(state->mask);
}

static int open_raw(struct upmu *set, const struct upmu_wanted *wanted)
{
	struct upmu_info info;
	struct state *state;
	int cpu = -1, ret;

	ret = bound_cpu(&cpu);
	if (ret)
		return ret;
	state = calloc(1, sizeof(*state));
	if (!state)
		return upmu_explain_set(-ENOMEM, "out of memory");
	state->cpu = cpu;
	ret = get_registers(&state->fd, &info);
	if (ret) {
		free(state);
		return ret;
	}
	state->is_leased = info.open != UPMU_OPEN_ALL;
	set->state = state;
	ret = assign(state, wanted, &info);
	if (!ret)
		ret = upmu_wanted_check_emulated(wanted);
	if (!ret)
		ret = lock_cpu(state->fd, cpu);
	if (!ret)
		ret = check_emulator(state, wanted, &info);
	if (ret) {
		state->mask = 0;
		set->source->close(set);
		return ret;
	}
	program(state, wanted, &info);
	return 0;
}

/* The module puts the registers of a lease back; those of open=all are left
 * standing. Another process (a child) must not touch them. */
static void close_raw(struct upmu *set)
{
	struct state *state = set->state;

	if (!state)
		return;
	if (state->mask && sched_getcpu() == state->cpu && !set->is_child &&
	    !upmu_lease_check_any(state->fd, state->is_leased))
		upmu_raw_cpu_stop(state->mask);
	/* A child's copy of the descriptor would keep the lock. */
	if (!set->is_child)
		upmu_sys_unlock(state->fd, state->cpu);
	upmu_sys_close(state->fd);
	free(state);
	set->state = NULL;
}

static int check_cpu(const struct upmu *set)
{
	const struct state *state = set->state;
	int cpu = sched_getcpu();

	if (set->is_child)
		return upmu_explain_set(-ESTALE,
					"the registers are the parent's: a "
					"child opens a set of its own");
	if (cpu != state->cpu)
		return upmu_explain_set(-EXDEV,
					"the raw counters are those of CPU %d, "
					"this thread runs on CPU %d",
					state->cpu, cpu);
	return 0;
}

static int check_lease(struct state *state, uint64_t now)
{
	int ret = upmu_lease_check_any(state->fd, state->is_leased);

	if (!ret)
		atomic_store(&state->asked_ns, now);
	return ret;
}

static int check(const struct upmu *set)
{
	int ret = check_cpu(set);

	return ret ? ret : check_lease(set->state, upmu_sys_clock_ns());
}

/* A lease that broke is noticed by the first count a millisecond later, and
 * by upmu_read() at once. */
static int check_recent(const struct upmu *set, uint64_t now)
{
	struct state *state = set->state;
	int ret = check_cpu(set);

	if (ret || now - atomic_load(&state->asked_ns) < TRUST_NS)
		return ret;
	return check_lease(state, now);
}

static int check_time(const struct state *state, const struct counter *counter,
		      uint64_t now)
{
	uint64_t last = atomic_load(&counter->folded_ns);

	/* One that was stopped too late is not known better afterwards. */
	if (!state->is_running)
		now = state->stopped_ns;
	if (now <= last || now - last <= BLIND_NS)
		return 0;
	return upmu_explain_set(-EOVERFLOW,
				"%llu ms since the last reading: a 32-bit "
				"counter may have gone round unseen; read "
				"every %u ms",
				(unsigned long long)(now - last) / 1000000,
				(unsigned int)(BLIND_NS / 1000000));
}

/* What a register was, and what its total had been before that. */
struct look {
	uint_fast64_t total;
	uint32_t low;
};

static void look(struct counter *counters, size_t n, struct look *looks)
{
	for (size_t i = 0; i < n; i++) {
		looks[i].total = atomic_load(&counters[i].total);
		looks[i].low = upmu_raw_cpu_read(counters[i].n);
	}
}

/* The low half of the total is what the register was; threads of this CPU and
 * signal handlers may have come between: -EAGAIN. */
static int fold(struct counter *counter, struct look *seen, uint64_t *count)
{
	*count = seen->total + (uint32_t)(seen->low - (uint32_t)seen->total);
	return atomic_compare_exchange_strong(&counter->total, &seen->total,
					      *count)
		       ? 0
		       : -EAGAIN;
}

/*
 * Where the thread was moved while it looked, it has seen another CPU's
 * registers. One that was held up for long has seen a counter go round, maybe:
 * the time is that before this look, to that after the next.
 */
static int try_fold(const struct upmu *set, struct counter *counters, size_t n,
		    uint64_t before, uint64_t *counts)
{
	struct look looks[UPMU_EVENTS_MAX];
	uint64_t after;
	int ret;

	look(counters, n, looks);
	ret = check_cpu(set);
	after = upmu_sys_clock_ns();
	for (size_t i = 0; !ret && i < n; i++) {
		ret = check_time(set->state, &counters[i], after);
		if (!ret)
			ret = fold(&counters[i], &looks[i], &counts[i]);
		if (!ret)
			atomic_store(&counters[i].folded_ns, before);
	}
	return ret;
}

static int fold_some(const struct upmu *set, size_t first, size_t n,
		     uint64_t now, uint64_t *counts)
{
	struct state *state = set->state;
	int ret;

	do
		ret = try_fold(set, &state->counters[first], n, now, counts);
	while (ret == -EAGAIN);
	return ret;
}

static int counts(const struct upmu *set, uint64_t *out)
{
	uint64_t now = upmu_sys_clock_ns();
	int ret = check_recent(set, now);

	return ret ? ret : fold_some(set, 0, set->size, now, out);
}

static int raw_count(struct upmu *set, size_t position, uint64_t *out)
{
	uint64_t now = upmu_sys_clock_ns();
	int ret = check_recent(set, now);

	return ret ? ret : fold_some(set, position, 1, now, out);
}

static int read_raw(struct upmu *set, struct upmu_value *values)
{
	const struct state *state = set->state;
	uint64_t totals[UPMU_EVENTS_MAX];
	uint64_t ns = state->run_ns;
	uint64_t now = upmu_sys_clock_ns();
	int ret = check(set);

	if (!ret)
		ret = fold_some(set, 0, set->size, now, totals);
	if (ret)
		return ret;
	if (state->is_running)
		ns += now - state->started_ns;
	for (size_t i = 0; i < set->size; i++)
		values[i] = (struct upmu_value){ totals[i], ns, ns };
	return 0;
}

/* Moved in the midst of it, the thread has switched another CPU's counters. */
static int start(struct upmu *set)
{
	struct state *state = set->state;
	int ret = check(set);

	if (ret || state->is_running)
		return ret;
	state->started_ns = upmu_sys_clock_ns();
	for (size_t i = 0; i < set->size; i++)
		atomic_store(&state->counters[i].folded_ns, state->started_ns);
	upmu_raw_cpu_start(state->mask);
	ret = check_cpu(set);
	state->is_running = !ret;
	return ret;
}

static int stop(struct upmu *set)
{
	struct state *state = set->state;
	uint64_t totals[UPMU_EVENTS_MAX];
	int ret = check(set);

	if (ret || !state->is_running)
		return ret;
	upmu_raw_cpu_stop(state->mask);
	ret = check_cpu(set);
	if (ret)
		return ret;
	state->is_running = false;
	state->stopped_ns = upmu_sys_clock_ns();
	state->run_ns += state->stopped_ns - state->started_ns;
	return fold_some(set, 0, set->size, state->stopped_ns, totals);
}
#endif

const struct upmu_source upmu_source_raw = {
	.name = "raw",
	.probe = raw_probe,
#if COMPILED_FOR
	.open = open_raw,
	.close = close_raw,
	.start = start,
	.stop = stop,
	.read = read_raw,
	.counts = counts,
	.count = raw_count,
#endif
};
