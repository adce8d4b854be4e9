/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - counters that are taken from perf and given to user mode
 *
 * counters   whose each CPU's counters are
 * registers  the registers of one CPU, saved and put back
 * wrap       perf's driver keeps off them
 *
 * Masks have bit n for event counter n and bit 31 for the cycle counter.
 */
#ifndef UPMU_COUNTERS_H
#define UPMU_COUNTERS_H

#include "upmu.h"

#define UPMU_ALL_COUNTERS 0xffffffffu

/* counters.c */

/* All counters or the cycle counter are taken; upmu_mutex, cpus_read_lock() */
int upmu_counters_begin(u32 mask);
void upmu_counters_end(void);
/* What perf is to keep off, on every CPU: 0, the cycle counter, or all. */
u32 upmu_counters_wanted(void);
DECLARE_PER_CPU(u32, upmu_held_here);

/* What user mode has on this CPU; interrupts off. */
static inline u32 upmu_counters_held(void)
{
	return this_cpu_read(upmu_held_here);
}

/* Why what is wanted is not all held; NULL: it is. */
const char *upmu_counters_broken(void);

/* This CPU goes into idle, or comes out of it; interrupts off. */
void upmu_counters_cpu_down(void);
void upmu_counters_cpu_up(void);
/* It goes; interrupts off. */
void upmu_counters_cpu_offline(void);
/* It comes online, where its PMU is known; sleeps. */
void upmu_counters_cpu_online(void);

/* registers.c: this CPU, interrupts off */

/* The PMU of one CPU, as far as kernel mode can see it. */
struct upmu_registers {
	u32 control;
	u32 enabled;
	u32 interrupts;
	u32 overflow;
	u32 selected;
	u32 filter;
	u32 counters;
	u32 type[UPMU_REGS_MAX_COUNTERS];
	u64 counter[UPMU_REGS_MAX_COUNTERS];
	u64 cycles;
};

/* All that @mask names; everything stands still afterwards if @mask is all. */
void upmu_registers_save(struct upmu_registers *saved, u32 mask);
/* As saved, for the counters in @mask. */
void upmu_registers_restore(const struct upmu_registers *saved, u32 mask);
/* Quiet and running: what a holder of @mask begins with. */
void upmu_registers_begin(u32 mask);

/* wrap.c; cpus_read_lock(), upmu_mutex unless it says otherwise */

/* The driver's functions are ours on all PMUs, also on those to come. */
void upmu_wrap(void);
void upmu_unwrap(void);
/* One more PMU: a CPU comes online. */
void upmu_wrap_new(struct upmu_pmu *upmu);
/* They still are: nobody took the PMU from under us; any context. */
bool upmu_wrap_intact(void);
/* What @pmu's driver is called by now. */
void upmu_wrap_look(const struct arm_pmu *pmu, struct upmu_pmu_ops *ops);
/*
 * Where somebody replaced them whose own call ours, this module cannot be
 * unloaded until it has let go of them. upmu_mutex.
 */
void upmu_wrap_pin(void);
/* Until nobody calls ours, nor is in them; for unloading. */
void upmu_wrap_wait(void);
/* perf places all its events anew on @cpus, which it empties; an error, or 0. */
int upmu_wrap_kick(struct cpumask *cpus);
/* Those where perf's events were kept from a counter. */
extern cpumask_t upmu_cpus_waiting;
/* This CPU, interrupts off: the counters that perf's events are on. */
u32 upmu_wrap_perf_mask(void);
/*
 * This CPU, interrupts off, or one that is off. What arm64 takes for an unused
 * counter it sets to zero before it opens the PMU to a task: the cycle counter
 * must look used, or not any more.
 */
void upmu_wrap_mark(unsigned int cpu, bool used);

#endif
