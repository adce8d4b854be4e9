/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between Linux 5.10 and the newest
 *
 * What can be asked at run time (the numbering of counters, say) is probed
 * where it is used; here is what the compiler has to know. Kbuild asks the
 * kernel's headers for most of it (UPMU_HAS_...).
 */
#ifndef UPMU_COMPAT_H
#define UPMU_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/of.h>
#include <linux/perf/arm_pmu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/version.h>

#ifdef CONFIG_ARM64
#include <asm/debug-monitors.h>
#include <asm/virt.h>
#endif

/* 5.18: sched_switch tells the state that the previous task leaves in. */
#ifdef UPMU_HAS_SWITCH_STATE
#define UPMU_SWITCH_ARGS                                    \
	void *data, bool preempt, struct task_struct *prev, \
		struct task_struct *next, unsigned int prev_state
#else
#define UPMU_SWITCH_ARGS                                    \
	void *data, bool preempt, struct task_struct *prev, \
		struct task_struct *next
#endif

/* What the probe of that tracepoint is. */
typedef void upmu_switch_probe(UPMU_SWITCH_ARGS);

/* 6.16: sched_process_exit tells whether this was the last thread. */
#ifdef UPMU_HAS_EXIT_GROUP_DEAD
#define UPMU_EXIT_ARGS void *data, struct task_struct *task, bool group_dead
#else
#define UPMU_EXIT_ARGS void *data, struct task_struct *task
#endif

/* 6.2: a task has one context for all its events. RCU. */
static inline struct perf_event_context *
upmu_compat_perf_context(struct task_struct *task)
{
#ifdef UPMU_HAS_PERF_CONTEXTS
	return rcu_dereference(task->perf_event_ctxp[perf_hw_context]);
#else
	return rcu_dereference(task->perf_event_ctxp);
#endif
}

/* Before 6.0 under other names: readers of then are not known. */
#ifndef PERF_EVENT_FLAG_USER_READ_CNT
#define PERF_EVENT_FLAG_USER_READ_CNT 0
#endif

/*
 * The events of @cpu; NULL: it had none of @pmu's yet. Once there it stays.
 * 6.16: what names it is allocated.
 */
static inline struct perf_event_context *
upmu_compat_cpu_context(const struct pmu *pmu, int cpu)
{
#ifdef UPMU_HAS_PERF_CONTEXTS
	return &per_cpu_ptr(pmu->pmu_cpu_context, cpu)->ctx;
#elif defined(UPMU_HAS_CPU_CONTEXT_POINTER)
	return READ_ONCE((*per_cpu_ptr(pmu->cpu_pmu_context, cpu))->epc.ctx);
#else
	return READ_ONCE(per_cpu_ptr(pmu->cpu_pmu_context, cpu)->epc.ctx);
#endif
}

/*
 * The function that sends a process the signal for an instruction that it may
 * not execute; a kprobe that stands before it has what it is called with in
 * @regs. Whether that is why, and not to call it; then the registers of the
 * process.
 */
#define UPMU_STATE_THUMB 0x00000020u /* in CPSR and its like on arm64 */
#define UPMU_STATE_IT	 0x0600fc00u

#ifdef CONFIG_ARM64
#define UPMU_SENDS_SIGNAL "force_signal_inject"
#define UPMU_STATE_STEP	  ((u32)DBG_SPSR_SS) /* an instruction to come */

static inline bool upmu_compat_is_undefined(struct pt_regs *regs)
{
	return regs_get_kernel_argument(regs, 0) == SIGILL &&
	       regs_get_kernel_argument(regs, 1) == ILL_ILLOPC;
}

static inline void upmu_compat_return(struct pt_regs *regs)
{
	instruction_pointer_set(regs, procedure_link_pointer(regs));
}

static inline u32 upmu_compat_state(const struct pt_regs *user)
{
	return user->pstate;
}

static inline void upmu_compat_set_state(struct pt_regs *user, u32 state)
{
	user->pstate = (user->pstate & ~0xffffffffull) | state;
}

/* From a vCPU's loading until it leaves the register of user access is KVM's. */
static inline bool upmu_compat_lends(void)
{
	return IS_ENABLED(CONFIG_KVM) && is_kernel_in_hyp_mode();
}

#define upmu_compat_register(user, n) ((user)->regs[n])
#define UPMU_IS_A64(user)	      (!compat_user_mode(user))
#else
#define UPMU_SENDS_SIGNAL "force_sig_fault"
#define UPMU_STATE_STEP	  0u

/* ILL_ILLTRP: a system call that there is not, and that has been executed. */
static inline bool upmu_compat_is_undefined(struct pt_regs *regs)
{
	return regs->ARM_r0 == SIGILL && regs->ARM_r1 == ILL_ILLOPC;
}

static inline void upmu_compat_return(struct pt_regs *regs)
{
	regs->ARM_pc = regs->ARM_lr;
}

static inline u32 upmu_compat_state(const struct pt_regs *user)
{
	return user->ARM_cpsr;
}

static inline void upmu_compat_set_state(struct pt_regs *user, u32 state)
{
	user->ARM_cpsr = state;
}

static inline bool upmu_compat_lends(void)
{
	return false;
}

#define upmu_compat_register(user, n) ((user)->uregs[n])
#define UPMU_IS_A64(user)	      false
#endif

/* Up to 6.11 a set of counters has a lock, which the v6 and v7 drivers take. */
static inline void upmu_compat_hw_events_init(struct pmu_hw_events *events)
{
#ifdef UPMU_HAS_HW_EVENTS_LOCK
	raw_spin_lock_init(&events->pmu_lock);
#endif
}

/* 6.13: the timer and its function are set up in one call. */
static inline void
upmu_compat_hrtimer_setup(struct hrtimer *timer,
			  enum hrtimer_restart (*function)(struct hrtimer *),
			  clockid_t clock, enum hrtimer_mode mode)
{
#ifdef UPMU_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/*
 * What of_node_init() does. That is inline and names of_node_ktype, which is
 * not exported: the type is taken from another node.
 */
static inline void upmu_compat_node_init(struct device_node *node,
					 struct device_node *like)
{
	kobject_init(&node->kobj, get_ktype(&like->kobj));
#ifdef UPMU_HAS_FWNODE_INIT /* 5.11 */
	fwnode_init(&node->fwnode, &of_fwnode_ops);
#else
	node->fwnode.ops = &of_fwnode_ops;
#endif
}

#endif
