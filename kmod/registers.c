// SPDX-License-Identifier: GPL-2.0-only
/*
 * registers.c - the PMU registers of this CPU, saved and put back
 *
 * Interrupts are off throughout, so perf does not come between a selector and
 * the register that it selects.
 */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "counters.h"

/* Something for a counter to count until it has passed 2^32. */
#define UPMU_OVERFLOW_SPINS 64

void upmu_registers_save(struct upmu_registers *saved, u32 mask)
{
	unsigned int n;

	saved->control = upmu_regs_control();
	saved->selected = upmu_regs_selected();
	saved->enabled = upmu_regs_enabled() & mask;
	saved->interrupts = upmu_regs_interrupts() & mask;
	saved->counters = upmu_regs_counters();
	if (mask == UPMU_ALL_COUNTERS)
		upmu_regs_change_control(UPMU_CONTROL_E, 0);
	upmu_regs_isb(); /* flags and counts after all has stopped */
	saved->overflow = upmu_regs_overflow() & mask;
	if (mask & UPMU_MASK_CYCLES) {
		saved->cycles = upmu_regs_cycles64();
		if (upmu_regs_has_filter())
			saved->filter = upmu_regs_type(31);
	}
	for (n = 0; n < saved->counters; n++) {
		if (!(mask & BIT(n)))
			continue;
		saved->type[n] = upmu_regs_type(n);
		saved->counter[n] = upmu_regs_counter(n);
	}
	upmu_regs_select(saved->selected);
	upmu_regs_isb();
}

/* Where flags cannot be written: let the counters themselves set them. */
static void upmu_registers_overflow(u32 mask, unsigned int counters)
{
	unsigned int n, spins;
	/* software increments, or cycles */
	u32 idle = upmu_regs_has_enables() ? 0 : UPMU_REGS_EVENT_CYCLES;

	for (n = 0; n < counters; n++) {
		if (!(mask & BIT(n)))
			continue;
		upmu_regs_set_type(n, idle);
		upmu_regs_set_counter(n, U32_MAX);
	}
	if (mask & UPMU_MASK_CYCLES)
		upmu_regs_set_cycles(U32_MAX);
	upmu_regs_enable(mask);
	upmu_regs_change_control(UPMU_CONTROL_D, UPMU_CONTROL_E);
	upmu_regs_isb();
	upmu_regs_software_increment(mask & ~UPMU_MASK_CYCLES);
	for (spins = 0; spins < UPMU_OVERFLOW_SPINS; spins++)
		upmu_regs_isb();
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	upmu_regs_disable(mask);
	upmu_regs_isb();
}

static void upmu_registers_put_flags(u32 flags, u32 mask, unsigned int counters)
{
	upmu_regs_clear_overflow(mask);
	if (!flags)
		return;
	if (upmu_regs_has_overflow_set())
		upmu_regs_set_overflow(flags);
	else
		upmu_registers_overflow(flags, counters);
}

void upmu_registers_restore(const struct upmu_registers *saved, u32 mask)
{
	/* All that mode switches; the cycle counter alone knows no export. */
	u32 control = mask & ~UPMU_MASK_CYCLES
			      ? UPMU_CONTROL_SAVED
			      : UPMU_CONTROL_E | UPMU_CONTROL_D;
	unsigned int n;

	upmu_regs_disable_interrupts(mask);
	upmu_regs_disable(mask);
	/* nothing counts or interrupts while it is rewritten */
	upmu_regs_isb();
	upmu_registers_put_flags(saved->overflow & mask, mask, saved->counters);
	if (mask & UPMU_MASK_CYCLES) {
		upmu_regs_set_cycles(saved->cycles);
		if (upmu_regs_has_filter())
			upmu_regs_set_type(31, saved->filter);
	}
	for (n = 0; n < saved->counters; n++) {
		if (!(mask & BIT(n)))
			continue;
		upmu_regs_set_type(n, saved->type[n]);
		upmu_regs_set_counter(n, saved->counter[n]);
	}
	upmu_regs_select(saved->selected);
	upmu_regs_change_control(control, saved->control & control);
	upmu_regs_isb(); /* nothing counts on by a holder's PMCR.E */
	upmu_regs_enable_interrupts(saved->interrupts & mask);
	upmu_regs_enable(saved->enabled & mask);
	upmu_regs_isb();
}

/* A RAW holder's start from zero: they would tell what the last user counted. */
static void upmu_registers_begin_all(void)
{
	unsigned int n, counters = upmu_regs_counters();

	for (n = 0; n < counters; n++) {
		upmu_regs_set_type(n, UPMU_REGS_EVENT_IDLE);
		upmu_regs_set_counter(n, 0);
	}
	upmu_regs_set_cycles(0);
}

void upmu_registers_begin(u32 mask)
{
	u32 selected = upmu_regs_selected();

	upmu_regs_disable_interrupts(mask);
	upmu_regs_isb(); /* a flag set until now is not to interrupt */
	if (mask == UPMU_ALL_COUNTERS)
		upmu_registers_begin_all();
	upmu_regs_clear_overflow(mask);
	if (upmu_regs_has_filter())
		upmu_regs_set_type(31, upmu_regs_filter_none());
	upmu_regs_select(selected);
	if (mask == UPMU_ALL_COUNTERS)
		mask = UPMU_MASK_CYCLES | (BIT(upmu_regs_counters()) - 1);
	upmu_regs_enable(mask);
	upmu_regs_change_control(UPMU_CONTROL_D, UPMU_CONTROL_E);
	upmu_regs_isb();
}
