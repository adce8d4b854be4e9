// SPDX-License-Identifier: GPL-2.0-only
/* process.c - the processes that leases cover */
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "process.h"

DEFINE_RAW_SPINLOCK(upmu_lock);
static struct workqueue_struct *upmu_reaper; /* loading */

/*
 * fork and exec are met in tracepoints, where PREEMPT_RT cannot allocate: what
 * they need is kept in reserve and made up for by a work.
 */
#define UPMU_RESERVE 256

static LIST_HEAD(upmu_reserve); /* by listed; upmu_lock, as the next */
static unsigned int upmu_reserve_count;

static u32 upmu_family_bits(const struct upmu_family *family, bool executed)
{
	u32 bits = 0;

	for (; family; family = upmu_family_next(family, &executed))
		bits |= READ_ONCE(upmu_family_leases(family, executed)->bits);
	return bits;
}

u32 upmu_process_leased(const struct upmu_process *process)
{
	return READ_ONCE(process->own.bits) |
	       upmu_family_bits(READ_ONCE(process->family), process->executed);
}

/*
 * Of its families, and of those that share its memory: thousands may. Where all
 * were asked in vain they need not be the next time.
 */
static noinline notrace u32 upmu_process_others_bits(struct upmu_process *first,
						     u32 bits)
{
	/* Who permits more changes it after that: see upmu_process_permit(). */
	u32 most = smp_load_acquire(&first->most);
	const struct hlist_node *node = READ_ONCE(first->sharers.first);
	const struct upmu_process *sharer;

	bits |= upmu_process_leased(first);
	for (; node && most & UPMU_USER_ALL & ~bits;
	     node = READ_ONCE(node->next)) {
		sharer = hlist_entry(node, struct upmu_process, sharing);
		bits |= upmu_process_leased(sharer);
	}
	if (most & UPMU_USER_ALL & ~bits)
		cmpxchg(&first->most, most, most & (bits | ~UPMU_USER_ALL));
	return bits;
}

/* The usual holder, and what it forked, need no frame. */
u32 notrace upmu_process_bits(struct upmu_process *process)
{
	u32 bits = READ_ONCE(upmu_table.otherwise);
	const struct upmu_family *family;
	const struct upmu_leases *leases;
	u32 most;

	if (!process)
		return bits;
	most = READ_ONCE(process->most) & UPMU_USER_ALL;
	bits |= READ_ONCE(process->own.bits);
	if (!(most & ~bits))
		return bits;
	family = READ_ONCE(process->family);
	if (family) {
		leases = upmu_family_leases(family, process->executed);
		bits |= READ_ONCE(leases->bits);
	}
	if (!(most & ~bits))
		return bits;
	return upmu_process_others_bits(process, bits);
}

void upmu_family_count(const struct upmu_process *process, int by)
{
	struct upmu_family *family = process->family;
	bool executed = process->executed;

	for (; family; family = upmu_family_next(family, &executed)) {
		if (family->founder == process->pid)
			continue;
		WRITE_ONCE(family->processes, family->processes + by);
		WRITE_ONCE(family->executed,
			   family->executed + (executed ? by : 0));
	}
}

bool upmu_process_executed_in(const struct upmu_process *process,
			      const struct upmu_family *family)
{
	return process->executed &&
	       !(family && family->founder == process->pid);
}

struct upmu_family *upmu_process_passes(const struct upmu_process *process,
					bool *executed)
{
	struct upmu_family *first = process->family, *family;

	*executed = upmu_process_executed_in(process, first);
	first = upmu_family_live(first, executed);
	for (family = first; family; family = family->outer)
		upmu_family_trim(family);
	return first;
}

struct upmu_family *upmu_process_found(struct upmu_process *process,
				       struct upmu_family **spare)
{
	struct upmu_family *last = process->family, *family = *spare;
	bool executed;

	lockdep_assert_held(&upmu_lock);
	if (last && last->founder == process->pid && !last->joined &&
	    !atomic_read(&last->told[1].written) &&
	    !READ_ONCE(last->told[1].uncovered))
		return last;
	*spare = NULL;
	family->founder = process->pid;
	family->outer =
		upmu_family_get(upmu_process_passes(process, &executed));
	family->outer_executed = executed;
	/* A context switch may look at it as soon as it is there. */
	smp_store_release(&process->family, family);
	upmu_family_put(last);
	return family;
}

unsigned int upmu_process_leases(const struct upmu_process *process)
{
	const struct upmu_family *family = process->family;
	unsigned int sum = upmu_leases_sum(&process->own);
	const struct upmu_leases *leases;
	bool executed = process->executed;

	for (; family; family = upmu_family_next(family, &executed)) {
		leases = upmu_family_leases(family, executed);
		if (family->founder != process->pid)
			sum += upmu_leases_sum(leases);
	}
	return sum;
}

bool upmu_process_is_idle(const struct upmu_process *process)
{
	bool executed = process->executed;

	return list_empty(&process->holds) &&
	       !upmu_family_live(process->family, &executed);
}

void upmu_process_discard(struct upmu_process *process)
{
	if (!process)
		return;
	upmu_family_put(process->family);
	if (process->mm)
		mmdrop(process->mm);
	put_pid(process->pid);
	kfree(process);
}

static void upmu_process_reap(struct work_struct *work)
{
	struct rcu_work *late = to_rcu_work(work);

	upmu_process_discard(container_of(late, struct upmu_process, free));
}

void upmu_process_retire(struct upmu_process *process)
{
	queue_rcu_work(upmu_reaper, &process->free);
}

static struct upmu_process *upmu_process_alloc(gfp_t gfp)
{
	struct upmu_process *process = kzalloc(sizeof(*process), gfp);

	if (process) {
		INIT_RCU_WORK(&process->free, upmu_process_reap);
		INIT_LIST_HEAD(&process->holds);
	}
	return process;
}

static struct upmu_process *upmu_process_set(struct upmu_process *process,
					     struct task_struct *task)
{
	if (process) {
		mmgrab(task->mm);
		process->mm = task->mm;
		process->pid = get_pid(task_tgid(task));
	}
	return process;
}

struct upmu_process *upmu_process_new(struct task_struct *task)
{
	return upmu_process_set(upmu_process_alloc(GFP_KERNEL), task);
}

int upmu_process_fill_reserve(void)
{
	struct upmu_process *process;
	unsigned long flags;

	while (READ_ONCE(upmu_reserve_count) < UPMU_RESERVE) {
		process = upmu_process_alloc(GFP_KERNEL);
		if (!process)
			return -ENOMEM;
		raw_spin_lock_irqsave(&upmu_lock, flags);
		list_add(&process->listed, &upmu_reserve);
		WRITE_ONCE(upmu_reserve_count, upmu_reserve_count + 1);
		raw_spin_unlock_irqrestore(&upmu_lock, flags);
	}
	return 0;
}

static void upmu_process_refill(struct work_struct *work)
{
	upmu_process_fill_reserve();
}

static DECLARE_WORK(upmu_refill, upmu_process_refill);

static struct upmu_process *upmu_process_from_reserve(void)
{
	struct upmu_process *process;
	unsigned long flags;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	process = list_first_entry_or_null(&upmu_reserve, struct upmu_process,
					   listed);
	if (process) {
		list_del(&process->listed);
		WRITE_ONCE(upmu_reserve_count, upmu_reserve_count - 1);
	}
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	if (READ_ONCE(upmu_reserve_count) < UPMU_RESERVE / 2)
		queue_work(upmu_reaper, &upmu_refill);
	return process;
}

struct upmu_process *upmu_process_new_atomic(struct task_struct *task)
{
	struct upmu_process *process = upmu_process_from_reserve();

	if (!process && !IS_ENABLED(CONFIG_PREEMPT_RT))
		process = upmu_process_alloc(GFP_ATOMIC | __GFP_NOWARN);
	return upmu_process_set(process, task);
}

int upmu_process_init(void)
{
	upmu_reaper = alloc_workqueue("upmu_reaper", WQ_UNBOUND, 0);
	return upmu_reaper ? 0 : -ENOMEM;
}

void upmu_process_exit(void)
{
	struct upmu_process *process, *next;

	rcu_barrier(); /* each queue_rcu_work() has become a work */
	destroy_workqueue(upmu_reaper);
	upmu_family_exit();
	list_for_each_entry_safe(process, next, &upmu_reserve, listed)
		kfree(process);
}
