// SPDX-License-Identifier: GPL-2.0-only
/*
 * reserve.c - counters are kept from perf
 *
 * Pinned kernel events would hold counters too, but perf takes all pinned
 * events out and puts them back whenever somebody opens another one, and that
 * rewrites their registers. So the driver's own entry points are wrapped while
 * a counter is reserved: perf's events are told that it is in use, and the
 * global switch (PMCR.E) is left on. An event that finds no counter waits, and
 * its time_running says so.
 *
 * perf's own `cycles` goes to an ordinary counter while PMCCNTR is reserved.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/perf/arm_pmu.h>

#include "take.h"

/* The 32-bit drivers' own code for PMCCNTR, and what an event counter counts.
 */
#define UPMU_DRIVER_CYCLES 0xffu
#define UPMU_EVENT_CYCLES  0x11u /* DDI 0406C C12.8.2 */
#define UPMU_V6_ANY_EVENT  0x00u /* only to be placed as any other event is */

static u32 upmu_reserved; /* mask of counters; 0, the cycle counter, or all */

static bool upmu_reserved_all(void)
{
	return READ_ONCE(upmu_reserved) == UPMU_TAKE_ALL;
}

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

static int upmu_get_event_idx(struct pmu_hw_events *hw,
			      struct perf_event *event)
{
	const struct upmu_pmu *upmu = upmu_publish_find(event->pmu);

	/* perf asks whether a group would fit an empty PMU: as ever. */
	if (hw != raw_cpu_ptr(upmu->pmu->hw_events))
		return upmu->ops.get_event_idx(hw, event);
	if (upmu_reserved_all() || event->overflow_handler == upmu_kick_handler)
		return -EAGAIN;
	if (!READ_ONCE(upmu_reserved))
		return upmu->ops.get_event_idx(hw, event);
	__set_bit(upmu->cycles_idx, hw->used_mask);
	if (upmu_is_driver_cycles(event->hw.config_base))
		return upmu_place_cycles(upmu, hw, event);
	return upmu->ops.get_event_idx(hw, event);
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
	if (upmu_reserved_all())
		return;
	upmu_publish_find(&pmu->pmu)->ops.start(pmu);
	/* arm64 since 5.17 writes the permission register in there. */
	upmu_access_reassert();
}

static void upmu_pmu_stop(struct arm_pmu *pmu)
{
	if (!READ_ONCE(upmu_reserved))
		upmu_publish_find(&pmu->pmu)->ops.stop(pmu);
}

static void upmu_reserve_wrap(struct upmu_pmu *upmu)
{
	struct arm_pmu *pmu = upmu->pmu;

	if (upmu->wrapped)
		return;
	upmu->ops = (struct upmu_pmu_ops){
		.get_event_idx = pmu->get_event_idx,
		.clear_event_idx = pmu->clear_event_idx,
		.start = pmu->start,
		.stop = pmu->stop,
	};
	upmu->wrapped = true;
	smp_wmb(); /* what a wrapper reads comes before the wrapper */
	WRITE_ONCE(pmu->clear_event_idx, upmu_clear_event_idx);
	WRITE_ONCE(pmu->get_event_idx, upmu_get_event_idx);
	WRITE_ONCE(pmu->start, upmu_pmu_start);
	WRITE_ONCE(pmu->stop, upmu_pmu_stop);
}

static bool upmu_reserve_is_ours(const struct upmu_pmu *upmu)
{
	const struct arm_pmu *pmu = upmu->pmu;

	return READ_ONCE(pmu->get_event_idx) == upmu_get_event_idx &&
	       READ_ONCE(pmu->clear_event_idx) == upmu_clear_event_idx &&
	       READ_ONCE(pmu->start) == upmu_pmu_start &&
	       READ_ONCE(pmu->stop) == upmu_pmu_stop;
}

static void upmu_reserve_unwrap(struct upmu_pmu *upmu)
{
	struct arm_pmu *pmu = upmu->pmu;

	/* Whoever replaced them calls ours, and may put them back at any time. */
	if (!upmu->wrapped || !upmu_reserve_is_ours(upmu))
		return;
	WRITE_ONCE(pmu->stop, upmu->ops.stop);
	WRITE_ONCE(pmu->start, upmu->ops.start);
	WRITE_ONCE(pmu->get_event_idx, upmu->ops.get_event_idx);
	WRITE_ONCE(pmu->clear_event_idx, upmu->ops.clear_event_idx);
	upmu->wrapped = false;
}

bool upmu_reserve_intact(void)
{
	struct upmu_pmu *upmu;

	upmu_for_each_pmu(upmu)
		if (upmu->wrapped && !upmu_reserve_is_ours(upmu))
			return false;
	return true;
}

void upmu_reserve_pin(void)
{
	static bool pinned;
	bool intact = upmu_reserve_intact();

	lockdep_assert_held(&upmu_mutex);
	if (intact != pinned)
		return;
	pinned = !intact;
	if (intact) {
		module_put(THIS_MODULE);
		return;
	}
	__module_get(THIS_MODULE);
	pr_warn("somebody wraps perf's PMU driver around this module, which cannot be unloaded now\n");
}

/*
 * Opening a pinned event makes perf take every event off that CPU's counters
 * and place them anew; this one itself is never placed.
 */
static void upmu_reserve_kick(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL,
						 upmu_kick_handler, NULL);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
}

static void upmu_reserve_kick_all(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (upmu_publish_of_cpu(cpu))
			upmu_reserve_kick(cpu);
}

/*
 * What arm64 takes for an unused counter it sets to zero before it opens the
 * PMU to a task: the cycle counter must look used.
 */
static void upmu_reserve_mark(void *data)
{
	struct upmu_pmu *upmu = upmu_publish_of_cpu(smp_processor_id());
	bool *reserved = data;
	unsigned long *used;

	if (!upmu)
		return;
	used = this_cpu_ptr(upmu->pmu->hw_events)->used_mask;
	if (*reserved)
		__set_bit(upmu->cycles_idx, used);
	else
		__clear_bit(upmu->cycles_idx, used);
}

void upmu_reserve_cpu_up(void)
{
	bool reserved = READ_ONCE(upmu_reserved) == UPMU_MASK_CYCLES;

	if (reserved)
		upmu_reserve_mark(&reserved);
}

void upmu_reserve_begin(u32 mask)
{
	struct upmu_pmu *upmu;
	bool reserved = true;

	WRITE_ONCE(upmu_reserved, mask);
	upmu_for_each_pmu(upmu)
		upmu_reserve_wrap(upmu);
	upmu_reserve_kick_all();
	if (mask == UPMU_MASK_CYCLES)
		on_each_cpu(upmu_reserve_mark, &reserved, 1);
}

void upmu_reserve_end(void)
{
	struct upmu_pmu *upmu;
	bool reserved = false;

	if (READ_ONCE(upmu_reserved) == UPMU_MASK_CYCLES)
		on_each_cpu(upmu_reserve_mark, &reserved, 1);
	WRITE_ONCE(upmu_reserved, 0);
	upmu_reserve_kick_all();
	/* One that still runs does what the driver's own does. */
	upmu_for_each_pmu(upmu)
		upmu_reserve_unwrap(upmu);
	upmu_reserve_pin();
}

/* Counters that perf's events are on, on this CPU; interrupts off. */
u32 upmu_reserve_perf_mask(void)
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

static void upmu_reserve_find_pinned(void *data)
{
	struct upmu_pmu *upmu = upmu_publish_of_cpu(smp_processor_id());
	const struct pmu_hw_events *hw;
	bool *pinned = data;
	int idx;

	if (!upmu)
		return;
	hw = this_cpu_ptr(upmu->pmu->hw_events);
	for (idx = 0; idx < ARMPMU_MAX_HWEVENTS; idx++)
		if (hw->events[idx] && hw->events[idx]->attr.pinned)
			WRITE_ONCE(*pinned, true);
}

bool upmu_reserve_pinned(void)
{
	bool pinned = false;

	on_each_cpu(upmu_reserve_find_pinned, &pinned, 1);
	return pinned;
}
