// SPDX-License-Identifier: MIT
/*
 * Counting without perf, as rpistat did: the registers themselves, under a
 * RAW lease of upmu.ko. upmu moves to each CPU that is counted, programs and
 * reads its counters there, and adds up in 64 bits. Everything that runs on
 * such a CPU is in the numbers.
 */
#include "lib/engine/registers.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/clock.h"
#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/registers/raw_cpu.h"

/* A 32-bit counter goes round at most once in this time: half a second. Cores
 * that do without perf have less than 2.7 GHz and three counts in a cycle. */
#define COUNTS_PER_NS 8
#define BLIND_NS      (0x1p32 / COUNTS_PER_NS)

/* One set on one CPU. */
struct half {
	uint32_t last[ENGINE_SET_MAX];
	uint64_t count[ENGINE_SET_MAX];
	double on_ns; /* since when it runs */
	double folded_ns;
	uint64_t run_ns;
	unsigned int gaps; /* how often counters may have gone round unseen */
	bool is_on;
};

struct engine_registers {
	int lease;
	uint32_t pmu_version;
	const struct engine_events *events;
	size_t cpus;
	int *cpu;
	cpu_set_t before;  /* CPUs of upmu itself */
	struct half *half; /* [set * cpus + cpu] */
	unsigned int (
		*number)[ENGINE_SET_MAX]; /* counter of each event, by set */
};

bool engine_registers_wanted(const struct engine_events *events, bool *forced)
{
	const char *source = getenv("UPMU_SOURCE");

	*forced = source && !strcmp(source, "raw");
	if (*forced)
		return true;
	return events->machine.n_kinds &&
	       events->machine.kinds[0].pmu_type == UPMU_PMU_TYPE_NONE;
}

static int move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static int find_cpus(struct engine_registers *raw,
		     const struct engine_targets *targets)
{
	cpu_set_t all = raw->before;

	raw->cpu = calloc(targets->n + CPU_SETSIZE, sizeof(*raw->cpu));
	if (!raw->cpu)
		return -ENOMEM;
	for (size_t i = 0; i < targets->n; i++)
		raw->cpu[raw->cpus++] = targets->target[i].cpu;
	for (int cpu = 0; !targets->n && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all))
			raw->cpu[raw->cpus++] = cpu;
	return 0;
}

/* One that is not reached would count nothing, and nobody would know. */
static int visit_cpus(const struct engine_registers *raw)
{
	int error;

	for (size_t c = 0; c < raw->cpus; c++) {
		error = move_to(raw->cpu[c]);
		if (error)
			return upmu_explain_set(
				error,
				"without perf upmu itself goes to each CPU, "
				"and CPU %d does not let it in: %s",
				raw->cpu[c], strerror(-error));
	}
	return 0;
}

int engine_registers_open(struct engine_registers **out,
			  const struct engine_events *events,
			  const struct engine_targets *targets,
			  unsigned int *counters)
{
	struct upmu_info info;
	struct engine_registers *raw;
	int error;

	for (size_t i = 0; i < targets->n; i++)
		if (targets->target[i].pid >= 0)
			return upmu_explain_set(
				-EOPNOTSUPP,
				"without perf only a command or whole CPUs can "
				"be counted, not a running process");
	error = upmu_raw_cpu_check();
	if (error)
		return error;
	raw = calloc(1, sizeof(*raw));
	if (!raw)
		return -ENOMEM;
	raw->events = events;
	raw->lease = -1;
	sched_getaffinity(0, sizeof(raw->before), &raw->before);
	error = find_cpus(raw, targets);
	if (!error)
		error = visit_cpus(raw);
	if (!error)
		error = upmu_lease_take(&raw->lease, UPMU_MODE_RAW, 0);
	if (!error)
		error = upmu_device_info(raw->lease, &info);
	if (error) {
		engine_registers_close(raw);
		return error;
	}
	raw->pmu_version = info.pmu_version;
	*counters = info.counters;
	*out = raw;
	return 0;
}

void engine_registers_close(struct engine_registers *raw)
{
	if (!raw)
		return;
	sched_setaffinity(0, sizeof(raw->before), &raw->before);
	upmu_lease_release(raw->lease);
	free(raw->cpu);
	free(raw->half);
	free(raw->number);
	free(raw);
}

/* Why an event has no counter here; 0: it has. */
int engine_registers_refuses(const struct engine_registers *raw,
			     const struct engine_event *event)
{
	return upmu_raw_cpu_check_event(&event->perf, event->parsed->code,
					raw->pmu_version);
}

/* What is always on has the first counters, turns share the others. */
int engine_registers_assign(struct engine_registers *raw,
			    const struct engine_sets *sets)
{
	unsigned int first = 0;

	raw->half = calloc(sets->n * raw->cpus + 1, sizeof(*raw->half));
	raw->number = calloc(sets->n + 1, sizeof(*raw->number));
	if (!raw->half || !raw->number)
		return -ENOMEM;
	for (int always = 1; always >= 0; always--)
		for (size_t i = 0; i < sets->n; i++) {
			const struct engine_set *set = &sets->set[i];
			unsigned int next = first;

			if ((set->turn == ENGINE_ALWAYS) != always ||
			    set->lane < 0)
				continue;
			for (size_t k = 0; k < set->n; k++)
				raw->number[i][k] =
					raw->events->event[set->event[k]]
								.base ==
							ENGINE_BASE_CYCLES
						? UPMU_RAW_CPU_CYCLES
						: next++;
			if (always)
				first = next;
		}
	return 0;
}

static void fold(const struct engine_registers *raw,
		 const struct engine_sets *sets, size_t set, struct half *half)
{
	double before = engine_now_ns();

	for (size_t k = 0; k < sets->set[set].n; k++) {
		uint32_t now = upmu_raw_cpu_read(raw->number[set][k]);

		half->count[k] += (uint32_t)(now - half->last[k]);
		half->last[k] = now;
	}
	half->gaps += engine_now_ns() - half->folded_ns > BLIND_NS;
	half->folded_ns = before;
}

static uint32_t mask_of(const struct engine_registers *raw,
			const struct engine_sets *sets, size_t index)
{
	uint32_t mask = 0;

	for (size_t k = 0; k < sets->set[index].n; k++)
		mask |= UINT32_C(1) << raw->number[index][k];
	return mask;
}

static void switch_on(const struct engine_registers *raw,
		      const struct engine_sets *sets, size_t index,
		      struct half *half)
{
	const struct engine_set *set = &sets->set[index];

	for (size_t k = 0; k < set->n; k++) {
		const struct engine_event *event =
			&raw->events->event[set->event[k]];

		half->last[k] = 0;
		upmu_raw_cpu_set(raw->number[index][k], &event->perf,
				 event->parsed->code, raw->pmu_version);
	}
	upmu_raw_cpu_start(mask_of(raw, sets, index));
	half->on_ns = half->folded_ns = engine_now_ns();
	half->is_on = true;
}

static void switch_off(const struct engine_registers *raw,
		       const struct engine_sets *sets, size_t index,
		       struct half *half)
{
	upmu_raw_cpu_stop(mask_of(raw, sets, index));
	fold(raw, sets, index, half);
	half->run_ns += (uint64_t)(engine_now_ns() - half->on_ns);
	half->is_on = false;
}

void engine_registers_switch(const struct engine_sets *sets, int turn, bool on)
{
	struct engine_registers *raw = sets->raw;

	for (size_t c = 0; c < raw->cpus; c++) {
		if (move_to(raw->cpu[c]))
			continue;
		for (size_t i = 0; i < sets->n; i++) {
			struct half *half = &raw->half[i * raw->cpus + c];

			if (sets->set[i].turn != turn || sets->set[i].lane < 0)
				continue;
			if (on)
				switch_on(raw, sets, i, half);
			else if (half->is_on)
				switch_off(raw, sets, i, half);
		}
	}
}

int engine_registers_read(const struct engine_sets *sets, size_t set,
			  struct engine_reading *reading)
{
	struct engine_registers *raw = sets->raw;
	struct engine_reading sum = { 0 };

	if (upmu_lease_check(raw->lease))
		return -ESTALE;
	for (size_t c = 0; c < raw->cpus; c++) {
		struct half *half = &raw->half[set * raw->cpus + c];

		if (half->is_on && !move_to(raw->cpu[c]))
			fold(raw, sets, set, half);
		sum.running_ns += half->run_ns;
		sum.gaps += half->gaps;
		if (half->is_on)
			sum.running_ns +=
				(uint64_t)(engine_now_ns() - half->on_ns);
		for (size_t k = 0; k < sets->set[set].n; k++)
			sum.count[k] += half->count[k];
	}
	/* Nobody else takes the counters away. */
	sum.enabled_ns = sum.running_ns;
	*reading = sum;
	return 0;
}

void engine_registers_fold(const struct engine_sets *sets)
{
	struct engine_reading ignored;

	for (size_t i = 0; i < sets->n; i++)
		engine_registers_read(sets, i, &ignored);
}

void engine_registers_bind(const struct engine_registers *raw, pid_t pid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (size_t c = 0; c < raw->cpus; c++)
		CPU_SET(raw->cpu[c], &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

size_t engine_registers_cpus(const struct engine_registers *raw)
{
	return raw->cpus;
}
