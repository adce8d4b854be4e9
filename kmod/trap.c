// SPDX-License-Identifier: GPL-2.0-only
/*
 * trap.c - before a process that is permitted something gets SIGILL
 *
 * On PMUv3 three things end in SIGILL that need not.
 *
 * The permission was taken away: perf's driver, where it writes the register
 * too (since Linux 5.17), cannot be met at each write. One of 0 to
 * kernel.perf_user_access clears the register of every CPU, and KVM puts its
 * own copy back when a vCPU leaves. If the register lacks what the process is
 * granted, it is written and the instruction executed again. A trap may be
 * taken on one CPU and looked at on another, whose register is right: so each
 * place in a program gets a few more tries.
 *
 * Where the kernel runs at EL2, the register is KVM's from a vCPU's loading on,
 * and what it was is put back when the scheduler has gone on to another process:
 * what is granted is not to be in that, and the guest's is not to be written.
 * At EL1, too, KVM selects counter 0, where a holder of RAW has another.
 *
 * A program that sees in PMUSERENR that something is permitted makes sure that
 * the cycle counter is on before it reads it, as libx264 does: it reads PMCR
 * and writes PMCNTENSET, which who may only read may not. What it reads is told
 * to it, and writing what is there already is nothing: that is done for it. It
 * changes nothing, so whatever would change something gets SIGILL as before.
 *
 * A reader by kernel.perf_user_access looks at the index in perf's page, then
 * reads that counter, then asks whether the page changed meanwhile. While RAW
 * is held perf starts no PMU, so that the register stays as the last task had
 * it. A reader whose events were taken off their counters in between reads 0,
 * which it throws away: that changed the page. Where one of its events counts
 * it is perf's to permit, and is tried again if perf does so by now.
 */
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "process.h"

/*
 * The last try that nothing seemed to be wrong with. On this CPU with
 * interrupts off; @task is only compared.
 */
struct upmu_trap {
	struct task_struct *task;
	unsigned long address;
	unsigned long when;
	unsigned int tries;
};

/* A trap met a right register so often in so many jiffies: it is no accident. */
#define UPMU_TRAP_TRIES	  64
#define UPMU_TRAP_JIFFIES 2

static DEFINE_PER_CPU(struct upmu_trap, upmu_trap);
static bool upmu_trap_set; /* loading */

enum upmu_trap_what {
	UPMU_TRAP_CONTROL, /* PMCR */
	UPMU_TRAP_ENABLES, /* PMCNTENSET */
	UPMU_TRAP_COUNTER, /* what reads a counter, or selects it */
};

/**
 * struct upmu_trap_code - an instruction
 * @code: its bits
 * @varies: those that may be anything
 * @what: its register
 */
struct upmu_trap_code {
	u32 code, varies;
	enum upmu_trap_what what;
};

#define UPMU_A64_READS BIT(21)
#define UPMU_A64_RT    0x1fu

/* DDI 0487 C5.2.17, D19.1.1; PMEVCNTR<n>_EL0 has n in its last bits */
static const struct upmu_trap_code upmu_trap_a64[] = {
	{ 0xd51b9c00, UPMU_A64_READS | UPMU_A64_RT, UPMU_TRAP_CONTROL },
	{ 0xd51b9c20, UPMU_A64_READS | UPMU_A64_RT, UPMU_TRAP_ENABLES },
	{ 0xd51b9ca0, UPMU_A64_READS | UPMU_A64_RT, UPMU_TRAP_COUNTER },
	{ 0xd53b9d00, UPMU_A64_RT, UPMU_TRAP_COUNTER }, /* PMCCNTR_EL0 */
	{ 0xd53b9d40, UPMU_A64_RT, UPMU_TRAP_COUNTER }, /* PMXEVCNTR_EL0 */
	{ 0xd53be800, 0x3e0 | UPMU_A64_RT, UPMU_TRAP_COUNTER },
	{}
};

#define UPMU_A32_READS BIT(20)
#define UPMU_A32_RT    0xf000f000u /* and the condition */
#define UPMU_A32_RT2   0x000f0000u

/* DDI 0406C A8.8.98 MCR, A8.8.107 MRC, A8.8.108 MRRC: the same in T32 */
static const struct upmu_trap_code upmu_trap_a32[] = {
	{ 0x0e090f1c, UPMU_A32_READS | UPMU_A32_RT, UPMU_TRAP_CONTROL },
	{ 0x0e090f3c, UPMU_A32_READS | UPMU_A32_RT, UPMU_TRAP_ENABLES },
	{ 0x0e090fbc, UPMU_A32_READS | UPMU_A32_RT, UPMU_TRAP_COUNTER },
	{ 0x0e190f1d, UPMU_A32_RT, UPMU_TRAP_COUNTER },	       /* PMCCNTR */
	{ 0x0e190f5d, UPMU_A32_RT, UPMU_TRAP_COUNTER },	       /* PMXEVCNTR */
	{ 0x0e1e0f18, 0xe3 | UPMU_A32_RT, UPMU_TRAP_COUNTER }, /* PMEVCNTR<n> */
	{ 0x0c500f09, UPMU_A32_RT2 | UPMU_A32_RT, UPMU_TRAP_COUNTER },
	{}
};

/**
 * struct upmu_trapped - an instruction that trapped
 * @is_known: an access to a register of the PMU, as follows
 * @what: which
 * @reads: or writes
 * @n: general register
 * @n2: that of the upper half, or @n
 */
struct upmu_trapped {
	bool is_known;
	enum upmu_trap_what what;
	bool reads;
	unsigned int n, n2;
};

static bool upmu_trap_find(const struct upmu_trap_code *known, u32 code,
			   struct upmu_trapped *trapped)
{
	while (known->code && (code ^ known->code) & ~known->varies)
		known++;
	trapped->what = known->what;
	return known->code;
}

static bool upmu_trap_decode_a64(u32 code, struct upmu_trapped *trapped)
{
	trapped->reads = code & UPMU_A64_READS;
	trapped->n = code & UPMU_A64_RT;
	trapped->n2 = trapped->n;
	return trapped->n != 31 && upmu_trap_find(upmu_trap_a64, code, trapped);
}

static bool upmu_trap_decode_a32(u32 code, struct upmu_trapped *trapped)
{
	trapped->reads = code & UPMU_A32_READS;
	trapped->n = code >> 12 & 0xf;
	trapped->n2 = (code >> 24 & 0xf) == 0xc ? code >> 16 & 0xf : trapped->n;
	return code >> 28 != 0xf && trapped->n != 15 &&
	       upmu_trap_find(upmu_trap_a32, code, trapped);
}

static void upmu_trap_look(struct pt_regs *user, struct upmu_trapped *trapped)
{
	unsigned long at = instruction_pointer(user);
	u32 code;

	pagefault_disable();
	/* 0 is no access: its page was taken away when it had been executed. */
	if (__copy_from_user_inatomic(&code, (void __user *)at, sizeof(code)))
		code = 0;
	pagefault_enable();
	if (UPMU_IS_A64(user)) {
		trapped->is_known = upmu_trap_decode_a64(code, trapped);
		return;
	}
	if (upmu_compat_state(user) & UPMU_STATE_THUMB)
		code = code << 16 | code >> 16;
	trapped->is_known = upmu_trap_decode_a32(code, trapped);
}

static bool upmu_trap_was_here(struct pt_regs *user)
{
	const struct upmu_trap *last = this_cpu_ptr(&upmu_trap);

	return last->task == current &&
	       last->address == instruction_pointer(user);
}

/*
 * To the next instruction: in T32 perhaps of an IT block, DDI 0406C A2.5.2. A
 * debugger that steps is told before that one, not after it.
 */
static void upmu_trap_step(struct pt_regs *user)
{
	u32 state = upmu_compat_state(user) & ~UPMU_STATE_STEP;
	u32 it = (state >> 8 & 0xfc) | (state >> 25 & 3);

	/* Not another's: one who looks often kept that trying for ever. */
	if (upmu_trap_was_here(user))
		this_cpu_write(upmu_trap.task, NULL); /* it goes on */
	instruction_pointer_set(user, instruction_pointer(user) + 4);
	if (!UPMU_IS_A64(user) && state & UPMU_STATE_THUMB) {
		it = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
		state &= ~UPMU_STATE_IT;
		state |= (it & 0xfc) << 8 | (it & 3) << 25;
	}
	upmu_compat_set_state(user, state);
}

static bool upmu_trap_answer(struct pt_regs *user,
			     const struct upmu_trapped *trapped)
{
	u32 is, value;

	if (!trapped->is_known || trapped->what == UPMU_TRAP_COUNTER)
		return false;
	is = trapped->what == UPMU_TRAP_ENABLES ? upmu_regs_enabled()
						: upmu_regs_control();
	value = upmu_compat_register(user, trapped->n);
	if (trapped->reads)
		upmu_compat_register(user, trapped->n) = is;
	else if (trapped->what == UPMU_TRAP_ENABLES
			 ? value & ~is
			 : (value ^ is) & (UPMU_CONTROL_SAVED | UPMU_CONTROL_P |
					   UPMU_CONTROL_C))
		return false;
	upmu_trap_step(user);
	return true;
}

/* This task reads events by perf's pages; are some on a counter? */
static bool upmu_trap_is_reader(bool *counts)
{
	const struct perf_event_context *context;
	const struct perf_event *event;
	bool reads = false;

	*counts = false;
	rcu_read_lock();
	context = upmu_compat_perf_context(current);
	if (context)
		list_for_each_entry_rcu(event, &context->event_list,
					event_entry) {
			if (!upmu_publish_find(event->pmu) ||
			    !(event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT))
				continue;
			reads = true;
			*counts |= READ_ONCE(event->state) ==
				   PERF_EVENT_STATE_ACTIVE;
		}
	rcu_read_unlock();
	return reads;
}

static bool upmu_trap_answer_late(struct pt_regs *user,
				  const struct upmu_trapped *trapped)
{
	if (!trapped->is_known || trapped->what != UPMU_TRAP_COUNTER)
		return false;
	if (trapped->reads) {
		upmu_compat_register(user, trapped->n) = 0;
		upmu_compat_register(user, trapped->n2) = 0;
	}
	upmu_trap_step(user);
	return true;
}

/*
 * The register is right by now, or the instruction's page comes back with the
 * next try; a few at each place. Not for some time: where others run meanwhile,
 * or try too, that would begin anew each time.
 */
static bool upmu_trap_try(struct pt_regs *user)
{
	struct upmu_trap *last = this_cpu_ptr(&upmu_trap);

	if (!upmu_trap_was_here(user) ||
	    time_after(jiffies, last->when + UPMU_TRAP_JIFFIES))
		last->tries = 0;
	last->task = current;
	last->address = instruction_pointer(user);
	last->when = jiffies;
	return last->tries++ < UPMU_TRAP_TRIES;
}

static bool upmu_trap_reader(struct pt_regs *user,
			     const struct upmu_trapped *trapped)
{
	bool counts;

	if (!upmu_trap_is_reader(&counts))
		return false;
	if (!counts)
		return upmu_trap_answer_late(user, trapped) ||
		       upmu_trap_try(user);
	return upmu_regs_user_access() & UPMU_USER_CR && upmu_trap_try(user);
}

static bool upmu_trap_again(struct pt_regs *user)
{
	u32 bits = current->mm
			   ? upmu_process_bits(upmu_process_with(current->mm))
			   : 0;
	struct upmu_trapped trapped;

	upmu_trap_look(user, &trapped);
	if (!bits)
		return upmu_trap_reader(user, &trapped);
	/* One without a PMU came online after the lease was granted. */
	if (!upmu_core_of(smp_processor_id()))
		return false;
	if (!(bits & UPMU_USER_EN) && upmu_trap_answer(user, &trapped))
		return true;
	/* Where perf's driver writes it too, or KVM: before 5.17 as 0. */
	if (bits & ~upmu_regs_user_access()) {
		upmu_access_refresh_here(NULL);
		return true;
	}
	return upmu_trap_try(user);
}

/* Interrupts off. */
static int upmu_trap_before_signal(struct kprobe *probe, struct pt_regs *regs)
{
	struct pt_regs *user = current_pt_regs();

	if (!upmu_compat_is_undefined(regs) || !user_mode(user) ||
	    !upmu_trap_again(user))
		return 0;
	upmu_compat_return(regs);
	return 1;
}

/* With it, Linux makes no jump of the probe, which could not return early. */
static void upmu_trap_after(struct kprobe *probe, struct pt_regs *regs,
			    unsigned long flags)
{
}

static struct kprobe upmu_trap_probe = {
	.symbol_name = UPMU_SENDS_SIGNAL,
	.pre_handler = upmu_trap_before_signal,
	.post_handler = upmu_trap_after,
};

/* Interrupts off. */
static int upmu_trap_vcpu_loads(struct kprobe *probe, struct pt_regs *regs)
{
	upmu_access_lend();
	return 0;
}

static int upmu_trap_vcpu_left(struct kretprobe_instance *instance,
			       struct pt_regs *regs)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_access_take_back();
	local_irq_restore(flags);
	return 0;
}

static struct kprobe upmu_trap_load = {
	.symbol_name = "kvm_arch_vcpu_load",
	.pre_handler = upmu_trap_vcpu_loads,
};

static struct kretprobe upmu_trap_put = {
	.kp.symbol_name = "kvm_arch_vcpu_put",
	.handler = upmu_trap_vcpu_left,
};

/*
 * Where perf's driver or KVM writes the register, nothing is granted that this
 * does not hold. On 32 bits (ARM_PMUV3 there, which no distribution's kernel
 * has) that was never tried.
 */
bool upmu_trap_works(void)
{
	if (!upmu_publish_user_access() && !upmu_compat_lends())
		return true;
	return upmu_trap_set && upmu_core_arch() == 8;
}

/* Who sees a vCPU come sees it leave. */
static int upmu_trap_init_kvm(void)
{
	int err;

	if (!IS_ENABLED(CONFIG_KVM))
		return 0;
	/* By default as many as there are CPUs: too few where two take one. */
	upmu_trap_put.maxactive = 2 * num_possible_cpus();
	err = register_kretprobe(&upmu_trap_put);
	if (err)
		return err;
	err = register_kprobe(&upmu_trap_load);
	if (err)
		unregister_kretprobe(&upmu_trap_put);
	return err;
}

int upmu_trap_init(void)
{
	int err;

	if (upmu_access_bits(UPMU_MODE_CYCLES) & UPMU_USER_EN)
		return 0; /* what may be read may be written */
	err = register_kprobe(&upmu_trap_probe);
	if (!err) {
		err = upmu_trap_init_kvm();
		if (err)
			unregister_kprobe(&upmu_trap_probe);
	}
	if (err)
		pr_warn("no kprobe in this kernel (error %d): no mode that needs one, and programs that look at PMCR get SIGILL\n",
			err);
	upmu_trap_set = !err;
	return 0;
}

void upmu_trap_exit(void)
{
	if (!upmu_trap_set)
		return;
	unregister_kprobe(&upmu_trap_probe);
	if (!IS_ENABLED(CONFIG_KVM))
		return;
	unregister_kprobe(&upmu_trap_load);
	unregister_kretprobe(&upmu_trap_put);
}
