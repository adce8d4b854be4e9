// SPDX-License-Identifier: GPL-2.0-only
/*
 * fold.c - counts beyond 32 bits on a PMU that has no interrupt
 *
 * perf adds what a counter has counted to 64 bits when the counter's event is
 * read, when it leaves the CPU, and at the overflow interrupt. Without that
 * interrupt a thread that has its CPU to itself for 2^32 counts loses them, and
 * what is read through perf's page is wrong from 2^31 on. So while such a PMU
 * counts anything on a CPU, a timer there does ten times a second what the
 * interrupt would do. Where nothing is counted no timer runs.
 *
 * The timer is pinned to its CPU, where perf's own accesses to the counters
 * run with interrupts off, and fires in interrupt context (_HARD) on PREEMPT_RT
 * too: a real-time thread that never leaves the CPU cannot hold it up.
 */
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/perf/arm_pmu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include "upmu.h"

/*
 * A counter may be read from the page for 2^31 counts after each fold. A core
 * that does four of a thing per cycle at 2.5 GHz does 10^9, half of that, in
 * this time.
 */
#define UPMU_FOLD_PERIOD_NS (100 * NSEC_PER_MSEC)

static DEFINE_PER_CPU(struct hrtimer, upmu_fold_timer);

/* It has no interrupt, and is one for all CPUs. */
static bool upmu_fold_has(const struct upmu_pmu *upmu)
{
	return upmu->pmu->pmu.capabilities & PERF_PMU_CAP_NO_INTERRUPT;
}

/*
 * Stopping takes the count into 64 bits; starting writes the counter anew,
 * without which it would come to 2^31, where the page's reader sees a negative
 * number. The tens of cycles between the two are not counted.
 */
static bool upmu_fold_events(struct arm_pmu *pmu)
{
	struct pmu_hw_events *hw = this_cpu_ptr(pmu->hw_events);
	bool found = false;
	int i;

	for (i = 0; i < ARMPMU_MAX_HWEVENTS; i++) {
		struct perf_event *event = hw->events[i];

		if (!event)
			continue;
		found = true;
		if (event->hw.state & PERF_HES_STOPPED)
			continue;
		event->pmu->stop(event, PERF_EF_UPDATE);
		event->pmu->start(event, PERF_EF_RELOAD);
	}
	return found;
}

static enum hrtimer_restart upmu_fold_fire(struct hrtimer *timer)
{
	struct upmu_pmu *upmu;
	bool found = false;

	/* Its CPU went away and the timer was moved here: not our counters. */
	if (timer != this_cpu_ptr(&upmu_fold_timer))
		return HRTIMER_NORESTART;
	upmu_access_check(); /* before a counter is believed, as perf's stop */
	upmu_for_each_pmu(upmu)
		if (upmu_fold_has(upmu))
			found |= upmu_fold_events(upmu->pmu);
	if (!found)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(UPMU_FOLD_PERIOD_NS));
	return HRTIMER_RESTART;
}

/* Interrupts off. */
static void upmu_fold_start_timer(void)
{
	hrtimer_start(this_cpu_ptr(&upmu_fold_timer),
		      ns_to_ktime(UPMU_FOLD_PERIOD_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* In place of the PMU's `add`, which takes up a counter; interrupts off. */
static int upmu_fold_add(struct perf_event *event, int flags)
{
	int err = upmu_publish_find(event->pmu)->add(event, flags);

	if (!err && !hrtimer_is_queued(this_cpu_ptr(&upmu_fold_timer)))
		upmu_fold_start_timer();
	return err;
}

/* Also takes a timer back that moved away when this CPU went offline. */
void upmu_fold_cpu_online(void)
{
	if (upmu_fold_active())
		upmu_fold_start_timer();
}

void upmu_fold_pmu(const struct upmu_pmu *upmu)
{
	if (!upmu_fold_has(upmu))
		return;
	WRITE_ONCE(upmu->pmu->pmu.add, upmu_fold_add);
	pr_info("perf's %s has no interrupt: while in use it is folded every %u ms\n",
		upmu->pmu->name, (u32)(UPMU_FOLD_PERIOD_NS / NSEC_PER_MSEC));
}

bool upmu_fold_active(void)
{
	const struct upmu_pmu *upmu;

	upmu_for_each_pmu(upmu)
		if (upmu_fold_has(upmu))
			return true;
	return false;
}

int upmu_fold_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		upmu_compat_hrtimer_setup(per_cpu_ptr(&upmu_fold_timer, cpu),
					  upmu_fold_fire, CLOCK_MONOTONIC,
					  HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

void upmu_fold_exit(void)
{
	struct upmu_pmu *upmu;
	int cpu;

	upmu_for_each_pmu(upmu)
		if (upmu_fold_has(upmu))
			WRITE_ONCE(upmu->pmu->pmu.add, upmu->add);
	/* perf calls with interrupts off: after this no call is under way. */
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&upmu_fold_timer, cpu));
}
