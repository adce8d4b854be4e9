/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * take.h - counters that are taken from perf and given to user mode
 *
 * take       which, for whom, and what each CPU's registers were before
 * registers  the registers of one CPU, saved and put back
 * reserve    perf keeps off them
 */
#ifndef UPMU_TAKE_H
#define UPMU_TAKE_H

#include "upmu.h"

#define UPMU_TAKE_ALL 0xffffffffu

/**
 * struct upmu_registers - the PMU of one CPU, as far as kernel mode can see it
 *
 * Masks have bit n for event counter n and bit 31 for the cycle counter.
 */
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

/* registers.c: this CPU, interrupts off */

/* All that @mask names; everything stands still afterwards if @mask is all. */
void upmu_registers_save(struct upmu_registers *saved, u32 mask);
/* As saved, for the counters in @mask. */
void upmu_registers_restore(const struct upmu_registers *saved, u32 mask);
/* Quiet and running: what a holder of @mask begins with. */
void upmu_registers_begin(u32 mask);

/* reserve.c */

/* perf lets go of the counters in @mask (the cycle counter or all). Sleep. */
void upmu_reserve_begin(u32 mask);
void upmu_reserve_end(void);
/* perf's entry points are still ours. */
bool upmu_reserve_intact(void);
/*
 * Where they are not, whoever replaced them calls ours: this module cannot be
 * unloaded until it has let go of them. upmu_mutex.
 */
void upmu_reserve_pin(void);
/* A pinned event, which would be lost for good, is on some counter. */
bool upmu_reserve_pinned(void);
/* This CPU, interrupts off: the counters that perf's events are on. */
u32 upmu_reserve_perf_mask(void);
void upmu_reserve_cpu_up(void);

#endif
