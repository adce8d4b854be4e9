// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrap.c - the PMU driver's functions, while there are leases
 *
 * Pinned kernel events would hold counters too, but perf takes all pinned
 * events out and puts them back whenever somebody opens another one, and that
 * rewrites their registers. So the driver's own entry points are wrapped: for
 * counters that are taken perf's events are told that they are in use, and the
 * global switch (PMCR.E) is left on. An event that finds no counter waits, and
 * its time_running says so.
 *
 * perf's own `cycles` goes to an ordinary counter while PMCCNTR is taken.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/perf/arm_pmu.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "counters.h"
#include "guard.h"

/* The 32-bit drivers' own code for PMCCNTR, and what an event counter counts.
 */
#define UPMU_DRIVER_CYCLES 0xffu
#define UPMU_EVENT_CYCLES  0x11u /* DDI 0406C C12.8.2 */
#define UPMU_V6_ANY_EVENT  0x00u /* only to be placed as any other event is */

/* Where perf's events were kept from a counter; set with interrupts off. */
cpumask_t upmu_cpus_waiting;

static bool upmu_wrap_wanted; /* upmu_mutex, cpus_read_lock() */

static void upmu_kick_handler(struct perf_event *event,
			      struct perf_sample_data *data,
			      struct pt_regs *regs)
{
}

/* As perf's driver codes it; arm64's places cycles anywhere by itself. */
static bool upmu_is_driver_cycles(u64 config)
{
	return upmu_core_arch() != 8 && (config & 0xff) == UPMU_DRIVER_CYCLES;
}

/* ARM1176's 0xff counts cycles on an event counter too. */
static int upmu_place_cycles(const struct upmu_pmu *upmu,
			     struct pmu_hw_events *hw, struct perf_event *event)
{
	u64 config = event->hw.config_base;
	u32 other =
		upmu_core_arch() == 6 ? UPMU_V6_ANY_EVENT : UPMU_EVENT_CYCLES;
	int idx;

	event->hw.config_base = (config & ~0xffull) | other;
	idx = upmu->ops.get_event_idx(hw, event);
	if (idx < 0 || upmu_core_arch() == 6)
		event->hw.config_base = config;
	return idx;
}

static int upmu_place(const struct upmu_pmu *upmu, struct pmu_hw_events *hw,
		      struct perf_event *event)
{
	if (upmu_is_driver_cycles(event->hw.config_base))
		return upmu_place_cycles(upmu, hw, event);
	return upmu->ops.get_event_idx(hw, event);
}

/* Beside what is taken; the cycle counter always is. */
static int upmu_place_beside(const struct upmu_pmu *upmu,
			     struct pmu_hw_events *hw, struct perf_event *event)
{
	bool was_used;
	int idx;

	/* Interrupts are off; this CPU may not have been taken yet. */
	was_used = __test_and_set_bit(upmu->cycles_idx, hw->used_mask);
	idx = upmu_place(upmu, hw, event);
	if (!was_used)
		__clear_bit(upmu->cycles_idx, hw->used_mask);
	return idx;
}

/*
 * Until this CPU's are taken, a pinned event that had a counter gets one again:
 * the second look of the taking may not have come to it yet, and it would be
 * dead. So does what a child inherits of one. Another that never had any is
 * dead at once, as long as the lease is held, and who opened it sees that.
 */
static bool upmu_place_still(const struct perf_event *event)
{
	return !upmu_counters_held() && event->group_leader->attr.pinned &&
	       (event->parent || local64_read(&event->hw.prev_count));
}

static int upmu_place_here(const struct upmu_pmu *upmu,
			   struct pmu_hw_events *hw, struct perf_event *event)
{
	u32 wanted = upmu_counters_wanted();
	int idx = -EAGAIN;

	if (!wanted)
		return upmu->ops.get_event_idx(hw, event);
	if (upmu_is_driver_cycles(event->hw.config_base))
		cpumask_set_cpu(smp_processor_id(), &upmu_cpus_waiting);
	if (wanted != UPMU_ALL_COUNTERS)
		idx = upmu_place_beside(upmu, hw, event);
	if (idx >= 0)
		return idx;
	cpumask_set_cpu(smp_processor_id(), &upmu_cpus_waiting);
	smp_mb__after_atomic(); /* who ends it looks in the other order */
	if (upmu_counters_wanted() && !upmu_place_still(event))
		return idx;
	return upmu->ops.get_event_idx(hw, event);
}

static int upmu_get_event_idx(struct pmu_hw_events *hw,
			      struct perf_event *event)
{
	const struct upmu_pmu *upmu = upmu_publish_find(event->pmu);
	int idx;

	/* perf asks whether a group would fit an empty PMU: as ever. */
	if (hw != raw_cpu_ptr(upmu->pmu->hw_events))
		return upmu->ops.get_event_idx(hw, event);
	if (event->overflow_handler == upmu_kick_handler)
		return -EAGAIN;
	idx = upmu_place_here(upmu, hw, event);
	if (idx >= 0)
		upmu_guard_perf_takes(upmu_publish_mask(upmu, idx));
	return idx;
}

static void upmu_clear_event_idx(struct pmu_hw_events *hw,
				 struct perf_event *event)
{
	const struct upmu_pmu *upmu = upmu_publish_find(event->pmu);
	u64 config = event->hw.config_base;

	upmu->ops.clear_event_idx(hw, event);
	if ((config & 0xff) == UPMU_EVENT_CYCLES &&
	    upmu_is_driver_cycles(upmu->pmu->map_event(event)))
		event->hw.config_base =
			(config & ~0xffull) | UPMU_DRIVER_CYCLES;
}

static void upmu_pmu_start(struct arm_pmu *pmu)
{
	if (upmu_counters_held() == UPMU_ALL_COUNTERS)
		return;
	upmu_access_yield();
	upmu_publish_find(&pmu->pmu)->ops.start(pmu);
	upmu_access_regain();
}

/*
 * First in all that perf does to its events here: one that goes leaves nothing
 * to compare with what was written.
 */
static void upmu_pmu_stop(struct arm_pmu *pmu)
{
	upmu_access_check();
	if (!upmu_counters_held())
		upmu_publish_find(&pmu->pmu)->ops.stop(pmu);
}

/*
 * arm64's handler calls its own start, which writes the permission register,
 * and stops all counters while it runs: the cycle counter too.
 */
static irqreturn_t upmu_pmu_handle_irq(struct arm_pmu *pmu)
{
	irqreturn_t handled;

	if (upmu_counters_held() == UPMU_ALL_COUNTERS)
		return IRQ_NONE; /* the flags are the holder's */
	upmu_access_check();
	upmu_guard_pause(true);
	upmu_access_yield();
	handled = upmu_publish_find(&pmu->pmu)->ops.handle_irq(pmu);
	upmu_access_regain();
	upmu_guard_pause(false);
	return handled;
}

/* Before perf believes a counter: whoever runs here may have written it. */
static u64 upmu_pmu_read_counter(struct perf_event *event)
{
	upmu_access_check_event(event);
	return upmu_publish_find(event->pmu)->ops.read_counter(event);
}

static const struct upmu_pmu_ops upmu_ours = {
	.get_event_idx = upmu_get_event_idx,
	.clear_event_idx = upmu_clear_event_idx,
	.read_counter = upmu_pmu_read_counter,
	.handle_irq = upmu_pmu_handle_irq,
	.start = upmu_pmu_start,
	.stop = upmu_pmu_stop,
};

/* Where each function lies in the driver's structure and in ours. */
static const struct upmu_function {
	size_t pmu, ops;
} upmu_functions[] = {
	{ offsetof(struct arm_pmu, get_event_idx),
	  offsetof(struct upmu_pmu_ops, get_event_idx) },
	{ offsetof(struct arm_pmu, clear_event_idx),
	  offsetof(struct upmu_pmu_ops, clear_event_idx) },
	{ offsetof(struct arm_pmu, read_counter),
	  offsetof(struct upmu_pmu_ops, read_counter) },
	{ offsetof(struct arm_pmu, handle_irq),
	  offsetof(struct upmu_pmu_ops, handle_irq) },
	{ offsetof(struct arm_pmu, start),
	  offsetof(struct upmu_pmu_ops, start) },
	{ offsetof(struct arm_pmu, stop), offsetof(struct upmu_pmu_ops, stop) },
};

static const struct upmu_function *const upmu_functions_end =
	upmu_functions + ARRAY_SIZE(upmu_functions);

static void **upmu_in_pmu(const struct arm_pmu *pmu,
			  const struct upmu_function *at)
{
	return (void *)pmu + at->pmu;
}

static void **upmu_in_ops(const struct upmu_pmu_ops *ops,
			  const struct upmu_function *at)
{
	return (void *)ops + at->ops;
}

void upmu_wrap_look(const struct arm_pmu *pmu, struct upmu_pmu_ops *ops)
{
	const struct upmu_function *at;

	for (at = upmu_functions; at < upmu_functions_end; at++)
		*upmu_in_ops(ops, at) = READ_ONCE(*upmu_in_pmu(pmu, at));
}

static void upmu_wrap_one(struct upmu_pmu *upmu)
{
	const struct upmu_function *at;

	if (upmu->wrapped)
		return;
	upmu_wrap_look(upmu->pmu, &upmu->ops);
	smp_wmb(); /* what a wrapper reads comes before the wrapper */
	for (at = upmu_functions; at < upmu_functions_end; at++)
		WRITE_ONCE(*upmu_in_pmu(upmu->pmu, at),
			   *upmu_in_ops(&upmu_ours, at));
	/* Who sees it sees the functions, too. */
	smp_store_release(&upmu->wrapped, true);
}

static bool upmu_wrap_is_ours(const struct upmu_pmu *upmu)
{
	struct upmu_pmu_ops now;

	upmu_wrap_look(upmu->pmu, &now);
	return !memcmp(&now, &upmu_ours, sizeof(now));
}

/* Each is ours or the driver's: nobody else's is there that may call ours. */
static bool upmu_wrap_is_alone(const struct upmu_pmu *upmu)
{
	const struct upmu_function *at;
	void *now;

	for (at = upmu_functions; at < upmu_functions_end; at++) {
		now = READ_ONCE(*upmu_in_pmu(upmu->pmu, at));
		if (now != *upmu_in_ops(&upmu_ours, at) &&
		    now != *upmu_in_ops(&upmu->driver, at))
			return false;
	}
	return true;
}

static void upmu_unwrap_one(struct upmu_pmu *upmu)
{
	const struct upmu_function *at;
	void **function;

	/* Who calls ours may put it back at any time. */
	if (!upmu->wrapped || !upmu_wrap_is_alone(upmu))
		return;
	WRITE_ONCE(upmu->wrapped, false);
	smp_wmb(); /* whoever finds the driver's again finds it not wrapped */
	for (at = upmu_functions; at < upmu_functions_end; at++) {
		function = upmu_in_pmu(upmu->pmu, at);
		if (READ_ONCE(*function) == *upmu_in_ops(&upmu_ours, at))
			WRITE_ONCE(*function, *upmu_in_ops(&upmu->ops, at));
	}
}

void upmu_wrap(void)
{
	struct upmu_pmu *upmu;

	upmu_wrap_wanted = true;
	upmu_for_each_pmu(upmu)
		upmu_wrap_one(upmu);
}

void upmu_wrap_new(struct upmu_pmu *upmu)
{
	if (upmu_wrap_wanted)
		upmu_wrap_one(upmu);
}

void upmu_unwrap(void)
{
	struct upmu_pmu *upmu;

	upmu_wrap_wanted = false;
	/* One that still runs does what the driver's own does. */
	upmu_for_each_pmu(upmu)
		upmu_unwrap_one(upmu);
}

bool upmu_wrap_intact(void)
{
	struct upmu_pmu *upmu;

	upmu_for_each_pmu(upmu) {
		/* Pairs with upmu_wrap_one(). */
		if (!smp_load_acquire(&upmu->wrapped) ||
		    upmu_wrap_is_ours(upmu))
			continue;
		smp_rmb(); /* they may have been put back meanwhile */
		if (READ_ONCE(upmu->wrapped))
			return false;
	}
	return true;
}

static bool upmu_wrap_is_called(void)
{
	struct upmu_pmu *upmu;

	upmu_for_each_pmu(upmu)
		if (READ_ONCE(upmu->wrapped) && !upmu_wrap_is_alone(upmu))
			return true;
	return false;
}

void upmu_wrap_pin(void)
{
	static bool pinned;
	bool called = upmu_wrap_is_called();

	lockdep_assert_held(&upmu_mutex);
	if (called == pinned)
		return;
	if (!called)
		module_put(THIS_MODULE);
	else if (!try_module_get(THIS_MODULE))
		return; /* unloading, which waits */
	pinned = called;
	if (pinned)
		pr_warn("somebody wraps perf's PMU driver around this module, which cannot be unloaded now\n");
}

void upmu_wrap_wait(void)
{
	while (upmu_wrap_is_called()) {
		pr_warn_once("unloading waits for who wraps the PMU driver\n");
		msleep(100);
	}
	upmu_unwrap();
	/* perf asks whether a group would fit with preemption on. */
	synchronize_rcu();
	synchronize_rcu_tasks();
}

/*
 * Opening a pinned event makes perf take every event off that CPU's counters
 * and place them anew; this one itself is never placed.
 */
static long upmu_wrap_kick_here(void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, smp_processor_id(),
						 NULL, upmu_kick_handler, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

/* In a kernel thread: an ordinary user's would be refused. */
int upmu_wrap_kick(struct cpumask *cpus)
{
	unsigned int cpu;
	int err, first = 0;

	for_each_online_cpu(cpu) {
		if (!cpumask_test_and_clear_cpu(cpu, cpus))
			continue;
		err = work_on_cpu(cpu, upmu_wrap_kick_here, NULL);
		first = first ? first : err;
	}
	return first;
}

void upmu_wrap_mark(unsigned int cpu, bool used)
{
	struct upmu_pmu *upmu = upmu_publish_of_cpu(cpu);
	unsigned long *mask;

	if (!upmu)
		return;
	mask = per_cpu_ptr(upmu->pmu->hw_events, cpu)->used_mask;
	if (used)
		__set_bit(upmu->cycles_idx, mask);
	else
		__clear_bit(upmu->cycles_idx, mask);
}

u32 upmu_wrap_perf_mask(void)
{
	struct upmu_pmu *upmu = upmu_publish_of_cpu(smp_processor_id());
	const struct pmu_hw_events *hw;
	u32 mask = 0;
	int idx;

	if (!upmu)
		return 0;
	hw = this_cpu_ptr(upmu->pmu->hw_events);
	for (idx = 0; idx < ARMPMU_MAX_HWEVENTS; idx++)
		if (hw->events[idx])
			mask |= upmu_publish_mask(upmu, idx);
	return mask;
}
