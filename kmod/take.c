// SPDX-License-Identifier: GPL-2.0-only
/*
 * take.c - counters taken from perf: which, for how many, what was before
 *
 * Each CPU has the registers as they were before (put back at the end) and, as
 * long as it is off or asleep, as the holder left them (put back when it comes
 * back, after perf's reset).
 */
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "take.h"

/* How soon a holder is told that somebody took its registers. */
#define UPMU_TAKE_LOOK HZ

/**
 * struct upmu_taken - one CPU
 * @before: registers before
 * @holders: registers as user mode left them
 * @session: which taking this is of; 0: nothing taken, nothing to put back
 * @mask: what was taken
 * @perf_ran: perf had events here before
 * @away: @holders is to be put back
 */
struct upmu_taken {
	struct upmu_registers before;
	struct upmu_registers holders;
	unsigned int session;
	u32 mask;
	bool perf_ran;
	bool away;
};

static DEFINE_PER_CPU(struct upmu_taken, upmu_taken);
static u32 upmu_take_mask;	       /* what is taken now */
static unsigned int upmu_take_session; /* never 0 while something is */
static unsigned int upmu_take_users;   /* upmu_mutex */

/* What perf's events are on is perf's to program. */
static void upmu_take_put_back(struct upmu_taken *cpu)
{
	u32 perf = upmu_reserve_perf_mask();

	if (perf)
		cpu->before.control |= UPMU_CONTROL_E;
	upmu_registers_restore(&cpu->before, cpu->mask & ~perf);
	cpu->session = 0;
	cpu->away = false;
}

static void upmu_take_here(struct upmu_taken *cpu, u32 mask)
{
	upmu_registers_save(&cpu->before, mask);
	/* It was on for perf's events only, and perf will see to them. */
	if (cpu->perf_ran)
		cpu->before.control &= ~UPMU_CONTROL_E;
	upmu_registers_begin(mask);
	cpu->session = upmu_take_session;
	cpu->mask = mask;
}

void upmu_take_cpu_up(void)
{
	struct upmu_taken *cpu = this_cpu_ptr(&upmu_taken);
	u32 mask = READ_ONCE(upmu_take_mask);
	struct upmu_core core;

	if (upmu_core_probe(&core))
		return;
	/* Ended while this CPU was away. */
	if (cpu->session && (!mask || cpu->session != upmu_take_session))
		upmu_take_put_back(cpu);
	if (!mask)
		return;
	upmu_reserve_cpu_up();
	if (!cpu->session)
		upmu_take_here(cpu, mask);
	else if (cpu->away)
		upmu_registers_restore(&cpu->holders, mask);
	cpu->away = false;
}

void upmu_take_cpu_down(void)
{
	struct upmu_taken *cpu = this_cpu_ptr(&upmu_taken);

	if (!READ_ONCE(upmu_take_mask) || !cpu->session)
		return;
	upmu_registers_save(&cpu->holders, cpu->mask);
	cpu->away = true;
}

static void upmu_take_note(void *unused)
{
	this_cpu_write(upmu_taken.perf_ran, upmu_reserve_perf_mask() != 0);
}

static void upmu_take_cpu_up_here(void *unused)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_take_cpu_up();
	local_irq_restore(flags);
}

static void upmu_take_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(upmu_take_looks, upmu_take_look);

static void upmu_take_look(struct work_struct *work)
{
	upmu_lease_check();
	mutex_lock(&upmu_mutex);
	upmu_reserve_pin();
	mutex_unlock(&upmu_mutex);
	if (upmu_take_taken())
		schedule_delayed_work(&upmu_take_looks, UPMU_TAKE_LOOK);
}

void upmu_take_exit(void)
{
	cancel_delayed_work_sync(&upmu_take_looks);
}

static int upmu_take_begin(u32 mask)
{
	int err = 0;

	cpus_read_lock();
	if (mask == UPMU_TAKE_ALL && upmu_reserve_pinned()) {
		err = -EBUSY;
		goto out;
	}
	on_each_cpu(upmu_take_note, NULL, 1);
	upmu_reserve_begin(mask);
	upmu_take_session = upmu_take_session + 1 ?: 1;
	WRITE_ONCE(upmu_take_mask, mask);
	on_each_cpu(upmu_take_cpu_up_here, NULL, 1);
	schedule_delayed_work(&upmu_take_looks, UPMU_TAKE_LOOK);
out:
	cpus_read_unlock();
	return err;
}

/* Which counters a mode takes, as a mask. */
static u32 upmu_take_mode_mask(u32 mode)
{
	switch (mode) {
	case UPMU_MODE_CYCLES:
		return UPMU_MASK_CYCLES;
	case UPMU_MODE_RAW:
		return UPMU_TAKE_ALL;
	default:
		return 0;
	}
}

int upmu_take_get(u32 mode)
{
	u32 mask = upmu_take_mode_mask(mode);
	int err;

	lockdep_assert_held(&upmu_mutex);
	if (!mask)
		return 0;
	if (!upmu_take_users) {
		err = upmu_take_begin(mask);
		if (err)
			return err;
	} else if (upmu_take_mask != mask) {
		return -EBUSY;
	}
	upmu_take_users++;
	return 0;
}

void upmu_take_put(u32 mode)
{
	lockdep_assert_held(&upmu_mutex);
	if (!upmu_take_mode_mask(mode) || --upmu_take_users)
		return;
	cpus_read_lock();
	upmu_reserve_end();
	WRITE_ONCE(upmu_take_mask, 0);
	on_each_cpu(upmu_take_cpu_up_here, NULL, 1);
	cpus_read_unlock();
	cancel_delayed_work(&upmu_take_looks);
}

u32 upmu_take_taken(void)
{
	return READ_ONCE(upmu_take_mask);
}

bool upmu_take_intact(void)
{
	return upmu_reserve_intact();
}
