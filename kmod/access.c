// SPDX-License-Identifier: GPL-2.0-only
/*
 * access.c - the permission register of each CPU follows the running process
 *
 * Permission depends on the lease alone, not on an event being on the counter:
 * a reader preempted between looking at perf's page and reading the register
 * must still be allowed to read.
 */
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "upmu.h"

/**
 * struct upmu_access - this CPU's permission register
 * @granted: bits that were last written for a process
 * @prior: what it held before
 * @steered: @prior is to be put back
 */
struct upmu_access {
	u32 granted;
	u32 prior;
	bool steered;
};

static DEFINE_PER_CPU(struct upmu_access, upmu_access);
static unsigned int upmu_access_users; /* upmu_mutex */
static bool upmu_access_on;

u32 upmu_access_bits(u32 mode)
{
	struct upmu_core core;

	/* Before PMUv3 there is one bit and it includes writing. */
	if (upmu_core_probe(&core) || core.version < 3)
		return UPMU_USER_EN;
	switch (mode) {
	case UPMU_MODE_COUNT:
		return UPMU_USER_ER | UPMU_USER_CR;
	case UPMU_MODE_CYCLES:
		return UPMU_USER_CR;
	default:
		return UPMU_USER_EN | UPMU_USER_SW | UPMU_USER_CR |
		       UPMU_USER_ER;
	}
}

void upmu_access_default(u32 bits)
{
	WRITE_ONCE(upmu_covers.otherwise, bits);
}

/* A process, not a kernel thread, comes to run here. */
static __always_inline void upmu_access_switch(const struct mm_struct *mm)
{
	u32 bits = upmu_cover_bits(mm);

	/*
	 * A grant is written each time: kernels that gate a core in idle
	 * without telling CPU_PM lose it. Its end is written once.
	 */
	if (likely(!(bits | this_cpu_read(upmu_access.granted))))
		return;
	upmu_regs_set_user_access(bits);
	this_cpu_write(upmu_access.granted, bits);
}

/* Each context switch of the machine runs this while a lease is held. */
void notrace upmu_access_on_switch(UPMU_SWITCH_ARGS)
{
	const struct mm_struct *mm = next->mm;

	/* Kernel threads never run user mode; the next process decides. */
	if (mm)
		upmu_access_switch(mm);
}

void upmu_access_refresh_local(void)
{
	struct mm_struct *mm = current->mm;
	u32 bits = READ_ONCE(upmu_covers.otherwise);

	if (!READ_ONCE(upmu_access_on))
		return;
	/* A kernel thread would leave what the last process had. */
	if (!mm) {
		this_cpu_write(upmu_access.granted, bits);
		upmu_regs_set_user_access(bits);
		return;
	}
	upmu_access_switch(mm);
}

void upmu_access_reassert(void)
{
	u32 bits = this_cpu_read(upmu_access.granted);

	if (bits)
		upmu_regs_set_user_access(bits | upmu_regs_user_access());
}

static void upmu_access_refresh_here(void *unused)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_access_refresh_local();
	local_irq_restore(flags);
}

void upmu_access_refresh(void)
{
	on_each_cpu(upmu_access_refresh_here, NULL, 1);
}

/* Interrupts off. The first grant on this CPU starts from "closed". */
static void upmu_access_steer(void)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);
	struct upmu_core core;

	if (upmu_core_probe(&core))
		return;
	if (!access->steered) {
		access->prior = upmu_regs_user_access();
		access->steered = true;
	}
	access->granted = 0;
	upmu_regs_set_user_access(0);
	upmu_access_refresh_local();
}

static void upmu_access_release(void)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);

	if (!access->steered)
		return;
	upmu_regs_set_user_access(access->prior);
	access->granted = 0;
	access->steered = false;
}

void upmu_access_cpu_up(void)
{
	if (READ_ONCE(upmu_access_on))
		upmu_access_steer();
	else
		upmu_access_release(); /* ended while this CPU was away */
}

static void upmu_access_cpu_up_here(void *unused)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_access_cpu_up();
	local_irq_restore(flags);
}

int upmu_access_get(void)
{
	int err;

	lockdep_assert_held(&upmu_mutex);
	if (upmu_access_users)
		goto out;
	err = upmu_watch_get();
	if (err)
		return err;
	cpus_read_lock();
	WRITE_ONCE(upmu_access_on, true);
	on_each_cpu(upmu_access_cpu_up_here, NULL, 1);
	cpus_read_unlock();
out:
	upmu_access_users++;
	return 0;
}

void upmu_access_put(void)
{
	lockdep_assert_held(&upmu_mutex);
	if (--upmu_access_users)
		return;
	cpus_read_lock();
	WRITE_ONCE(upmu_access_on, false);
	on_each_cpu(upmu_access_cpu_up_here, NULL, 1);
	cpus_read_unlock();
	upmu_watch_put();
}
