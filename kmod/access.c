// SPDX-License-Identifier: GPL-2.0-only
/*
 * access.c - the permission register of each CPU follows the running process
 *
 * Permission depends on the lease alone, not on an event being on the counter:
 * a reader preempted between looking at perf's page and reading the register
 * must still be allowed to read.
 *
 * Where perf's driver writes the register too (kernel.perf_user_access), it
 * does so whenever it starts a PMU: what it permits is kept and added to.
 */
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "counters.h"
#include "guard.h"
#include "process.h"

/**
 * struct upmu_access - this CPU's permission register
 * @granted: bits that a lease or `open` gives to what runs here
 * @mm: the memory of that, NULL: no lease covers it; only compared
 * @prior: what it held before, or what perf's driver last wrote
 * @steered: @prior is to be put back
 * @lent: a vCPU is loaded, and the register KVM's, which puts @prior back
 * @kvms: what it held as perf's driver was about to write it
 * @selected: PMSELR as the vCPU was loaded
 *
 * On this CPU with interrupts off; /proc/upmu reads @granted of all.
 */
struct upmu_access {
	u32 granted;
	const struct mm_struct *mm;
	u32 prior;
	bool steered;
	bool lent;
	u32 kvms;
	u32 selected;
};

static DEFINE_PER_CPU(struct upmu_access, upmu_access);
static bool upmu_access_on; /* upmu_mutex, cpus_read_lock() */

u32 upmu_access_bits(u32 mode)
{
	/* Before PMUv3 there is one bit and it includes writing. */
	if (!upmu_core_any_v3())
		return UPMU_USER_EN;
	switch (mode) {
	case UPMU_MODE_COUNT:
		return UPMU_USER_ER | UPMU_USER_CR;
	case UPMU_MODE_CYCLES:
		return UPMU_USER_CR;
	default:
		return UPMU_USER_ALL;
	}
}

u32 upmu_access_granted(int cpu)
{
	return READ_ONCE(per_cpu_ptr(&upmu_access, cpu)->granted);
}

static bool notrace upmu_access_is_lent(void)
{
	return IS_ENABLED(CONFIG_KVM) && this_cpu_read(upmu_access.lent);
}

static void notrace upmu_access_write(u32 bits)
{
	if (!upmu_access_is_lent())
		upmu_regs_set_user_access(bits);
}

/*
 * What was taken from the register past perf's driver, by a write of 0 to
 * kernel.perf_user_access, is not put back. A pseudo-NMI that came between has
 * set @prior anew.
 */
static void notrace upmu_access_heed(void)
{
	u32 prior = this_cpu_read(upmu_access.prior);

	if (upmu_access_is_lent())
		return;
	this_cpu_cmpxchg(upmu_access.prior, prior,
			 prior & upmu_regs_user_access());
}

/* Beside what perf's driver permits, whose pseudo-NMI may set @prior anew. */
static noinline notrace void upmu_access_add(u32 bits)
{
	u32 prior;

	upmu_access_heed();
	do {
		prior = this_cpu_read(upmu_access.prior);
		upmu_access_write(bits | prior);
	} while (prior != this_cpu_read(upmu_access.prior));
}

/*
 * The register comes last: a pseudo-NMI between the two is perf's, which asks
 * what is granted and writes the register as well.
 */
static void notrace upmu_access_set(u32 bits)
{
	WRITE_ONCE(*raw_cpu_ptr(&upmu_access.granted), bits);
	if (unlikely(upmu_publish_user_access()))
		upmu_access_add(bits);
	else
		upmu_access_write(bits);
}

/*
 * A grant is written each time: kernels that gate a core in idle without
 * telling CPU_PM lose it. Its end is written once.
 */
static void notrace upmu_access_follow(struct upmu_process *process)
{
	u32 bits = upmu_process_bits(process);

	if (bits & UPMU_USER_EN)
		upmu_guard_arm();
	upmu_access_set(bits);
}

static bool upmu_access_may_write(void)
{
	return this_cpu_read(upmu_access.granted) & UPMU_USER_EN;
}

/*
 * A kernel thread wrote nothing; a process that ends has no memory any more,
 * and may have. Not in line: the switch of all others needs no frame then.
 */
static noinline notrace void upmu_access_left(struct task_struct *prev)
{
	u32 written;

	if (!upmu_access_may_write() || prev->flags & PF_KTHREAD)
		return;
	written = upmu_guard_check();
	if (unlikely(written))
		upmu_process_wrote(prev, this_cpu_read(upmu_access.mm),
				   written);
}

void upmu_access_check(void)
{
	upmu_access_left(current);
}

void upmu_access_check_event(struct perf_event *event)
{
	if (upmu_access_may_write() && current->mm &&
	    upmu_guard_check_event(event))
		upmu_process_wrote(current, this_cpu_read(upmu_access.mm),
				   UPMU_WRITTEN_COUNTS);
}

static noinline notrace void upmu_access_change(struct task_struct *prev,
						struct upmu_process *next)
{
	struct upmu_access *access = raw_cpu_ptr(&upmu_access);

	/* One without a PMU came online after the lease was granted. */
	if (unlikely(!access->steered))
		return;
	upmu_access_left(prev);
	access->mm = next ? next->mm : NULL; /* others' is not pinned */
	upmu_access_follow(next);
}

/*
 * Each context switch of the machine runs this while a lease is held. Where
 * `open` grants something to everybody, something is granted already.
 */
void notrace upmu_access_on_switch(UPMU_SWITCH_ARGS)
{
	struct upmu_process *process;

	/* Kernel threads never run user mode; the next process decides. */
	if (!next->mm) {
		upmu_access_left(prev);
		return;
	}
	process = upmu_process_with(next->mm);
	if (unlikely(process) || this_cpu_read(upmu_access.granted))
		upmu_access_change(prev, process);
}

void upmu_access_refresh_here(void *unused)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);
	/* A kernel thread, of no memory, would leave what the last one had. */
	struct upmu_process *process = upmu_process_with(current->mm);

	if (!access->steered)
		return;
	upmu_access_check();
	access->mm = process ? process->mm : NULL;
	upmu_access_follow(process);
}

static void upmu_access_withdraw(void)
{
	if (!this_cpu_read(upmu_access.steered))
		return;
	if (upmu_publish_user_access())
		upmu_access_heed();
	upmu_access_write(this_cpu_read(upmu_access.prior));
}

void upmu_access_yield(void)
{
	if (!upmu_publish_user_access())
		return;
	if (upmu_access_is_lent())
		this_cpu_write(upmu_access.kvms, upmu_regs_user_access());
	upmu_access_withdraw();
}

void upmu_access_regain(void)
{
	bool lent = upmu_access_is_lent();
	u32 kvms = this_cpu_read(upmu_access.kvms);

	if (!upmu_publish_user_access())
		return;
	/*
	 * Before 6.5 perf's driver heeds no vCPU. Without EN it was not KVM's
	 * yet, or no longer, and what perf wrote is to stay.
	 */
	if (lent && kvms & UPMU_USER_EN)
		upmu_regs_set_user_access(kvms);
	if (lent || !this_cpu_read(upmu_access.steered))
		return;
	this_cpu_write(upmu_access.prior, upmu_regs_user_access());
	upmu_access_set(this_cpu_read(upmu_access.granted));
}

void upmu_access_lend(void)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);

	if (!upmu_core_of(smp_processor_id()))
		return;
	if (!access->steered)
		access->prior = upmu_regs_user_access();
	upmu_access_withdraw();
	access->selected = upmu_regs_selected();
	access->lent = true;
}

void upmu_access_take_back(void)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);

	if (access->lent && upmu_counters_held() == UPMU_ALL_COUNTERS)
		upmu_regs_select(access->selected); /* the holder's */
	access->lent = false;
	if (upmu_publish_user_access())
		upmu_access_regain(); /* perf may have changed KVM's copy */
	else if (access->steered)
		upmu_access_set(access->granted);
}

void upmu_access_refresh(void)
{
	on_each_cpu(upmu_access_refresh_here, NULL, 1);
}

/* The first grant on this CPU starts from "closed", or from perf's. */
static void upmu_access_steer(void)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);

	if (!upmu_core_of(smp_processor_id()))
		return;
	if (!access->steered && !access->lent)
		access->prior = upmu_regs_user_access();
	else if (upmu_publish_user_access()) /* idle may have reset it */
		upmu_access_heed();
	upmu_guard_begin();
	access->steered = true;
	upmu_access_refresh_here(NULL);
}

static void upmu_access_release(void)
{
	struct upmu_access *access = this_cpu_ptr(&upmu_access);

	if (!access->steered)
		return;
	upmu_access_check();
	WRITE_ONCE(access->granted, 0);
	access->steered = false;
	upmu_guard_end();
	if (upmu_publish_user_access())
		upmu_access_heed();
	upmu_access_write(access->prior);
}

void upmu_access_cpu_up(void *unused)
{
	if (READ_ONCE(upmu_access_on))
		upmu_access_steer();
	else
		upmu_access_release(); /* ended while this CPU was away */
}

void upmu_access_steer_all(bool on)
{
	lockdep_assert_held(&upmu_mutex);
	WRITE_ONCE(upmu_access_on, on);
	on_each_cpu(upmu_access_cpu_up, NULL, 1);
}
