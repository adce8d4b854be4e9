/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guard.h - holders that may write are looked after
 *
 * All of it on this CPU with interrupts off.
 */
#ifndef UPMU_GUARD_H
#define UPMU_GUARD_H

#include "upmu.h"

struct upmu_registers;

/* Leases begin and end: what no event of perf is on stays as it was between. */
void upmu_guard_begin(void);
void upmu_guard_end(void);
/* Is about to be taken: @before is what is there, less what a holder wrote. */
void upmu_guard_taken(struct upmu_registers *before);
/* What was taken (@mask) is as @before again, and is to stay so. */
void upmu_guard_given_back(const struct upmu_registers *before, u32 mask);
/* perf puts an event on @mask, and will switch it off. */
void upmu_guard_perf_takes(u32 mask);
/* Somebody who may write comes to run here. */
void upmu_guard_arm(void);
/* Who may write leaves: what it wrote (enum upmu_written) is put right. */
u32 upmu_guard_check(void);
/* The count of @event alone, while perf works on it: was it written? */
bool upmu_guard_check_event(struct perf_event *event);
/* perf's handler has taken the overflow flags: no check until it is done. */
void upmu_guard_pause(bool pause);

#endif
