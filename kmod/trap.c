// SPDX-License-Identifier: GPL-2.0-only
/*
 * trap.c - a holder whose permission was taken away tries again
 *
 * Where perf's driver writes the permission register too (PMUv3's since Linux
 * 5.17), a few of its writes cannot be met otherwise: each write of 0 to
 * kernel.perf_user_access clears the register of every CPU, and KVM puts its
 * own copy back when a vCPU leaves. A holder would get SIGILL. So where the
 * kernel is about to send that, this looks first: if the register lacks what
 * the process is granted, it is written and the instruction executed again.
 *
 * A trap may be taken on one CPU and looked at on another, whose register is
 * right: so each place in a program gets one more try.
 */
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>

#include "process.h"
#include "trap.h"

/* The last try that nothing seemed to be wrong with. */
struct upmu_trap {
	struct task_struct *task;
	unsigned long address;
};

static DEFINE_PER_CPU(struct upmu_trap, upmu_trap);
static bool upmu_trap_set;

static bool upmu_trap_again(unsigned long address)
{
	struct upmu_trap *last = this_cpu_ptr(&upmu_trap);
	u32 bits = current->mm
			   ? upmu_process_bits(upmu_process_with(current->mm))
			   : 0;

	if (!bits)
		return false;
	if (bits & ~upmu_regs_user_access()) {
		upmu_access_refresh_local();
		return true;
	}
	if (last->task == current && last->address == address)
		return false;
	last->task = current;
	last->address = address;
	return true;
}

/* Before force_signal_inject(signal, code, address, ...); interrupts off. */
static int upmu_trap_before_signal(struct kprobe *probe, struct pt_regs *regs)
{
	if (upmu_compat_argument(regs, 0) != SIGILL ||
	    !upmu_trap_again(upmu_compat_argument(regs, 2)))
		return 0;
	upmu_compat_return(regs);
	return 1;
}

static struct kprobe upmu_trap_probe = {
	.symbol_name = "force_signal_inject",
	.pre_handler = upmu_trap_before_signal,
};

bool upmu_trap_works(void)
{
	return upmu_trap_set || !upmu_publish_user_access();
}

int upmu_trap_init(void)
{
	int err;

	if (!upmu_publish_user_access())
		return 0;
	err = register_kprobe(&upmu_trap_probe);
	if (err)
		pr_warn("no kprobe in this kernel (error %d): neither CYCLES nor RAW\n",
			err);
	upmu_trap_set = !err;
	return 0;
}

void upmu_trap_exit(void)
{
	if (upmu_trap_set)
		unregister_kprobe(&upmu_trap_probe);
}
