// SPDX-License-Identifier: GPL-2.0-only
/*
 * cover.c - the processes that leases cover
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "lease.h"

DEFINE_RAW_SPINLOCK(upmu_covers_lock);
struct upmu_covers upmu_covers;
static struct hlist_head upmu_by_process[1 << UPMU_COVER_BITS];
static struct workqueue_struct *upmu_reaper;

/*
 * fork and exec are met in tracepoints, where PREEMPT_RT cannot allocate: what
 * they need is kept in reserve and made up for by a work.
 */
#define UPMU_COVER_RESERVE 256

static LIST_HEAD(upmu_reserve_covers); /* by of_hold; upmu_covers_lock */
static unsigned int upmu_reserve_count;

static struct hlist_head *upmu_process_bucket(const struct pid *process)
{
	return &upmu_by_process[hash_ptr(process, UPMU_COVER_BITS)];
}

/* A process may hold a COUNT and a CYCLES lease at the same time. */
u32 notrace upmu_cover_search(const struct mm_struct *mm)
{
	const struct upmu_cover *cover;
	u32 bits = 0;

	hlist_for_each_entry_rcu(cover, upmu_cover_bucket(mm), by_mm, true) {
		if (cover->mm == mm)
			bits |= cover->bits;
	}
	return bits ? bits : READ_ONCE(upmu_covers.otherwise);
}

void upmu_cover_discard(struct upmu_cover *cover)
{
	mmdrop(cover->mm);
	put_pid(cover->process);
	kfree(cover);
}

static void upmu_cover_reap(struct work_struct *work)
{
	struct rcu_work *late = to_rcu_work(work);

	upmu_cover_discard(container_of(late, struct upmu_cover, free));
}

static struct upmu_cover *upmu_cover_alloc(gfp_t gfp)
{
	struct upmu_cover *cover = kzalloc(sizeof(*cover), gfp);

	if (cover)
		INIT_RCU_WORK(&cover->free, upmu_cover_reap);
	return cover;
}

static void upmu_cover_set(struct upmu_cover *cover, struct upmu_hold *hold,
			   struct task_struct *task)
{
	mmgrab(task->mm);
	cover->mm = task->mm;
	cover->process = get_pid(task_tgid(task));
	cover->hold = hold;
	cover->bits = upmu_access_bits(hold->mode);
}

struct upmu_cover *upmu_cover_new(struct upmu_hold *hold,
				  struct task_struct *task)
{
	struct upmu_cover *cover = upmu_cover_alloc(GFP_KERNEL);

	if (cover)
		upmu_cover_set(cover, hold, task);
	return cover;
}

int upmu_cover_fill_reserve(void)
{
	struct upmu_cover *cover;
	unsigned long flags;

	while (READ_ONCE(upmu_reserve_count) < UPMU_COVER_RESERVE) {
		cover = upmu_cover_alloc(GFP_KERNEL);
		if (!cover)
			return -ENOMEM;
		raw_spin_lock_irqsave(&upmu_covers_lock, flags);
		list_add(&cover->of_hold, &upmu_reserve_covers);
		upmu_reserve_count++;
		raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	}
	return 0;
}

static void upmu_cover_refill(struct work_struct *work)
{
	upmu_cover_fill_reserve();
}

static DECLARE_WORK(upmu_cover_refill_work, upmu_cover_refill);

static struct upmu_cover *upmu_cover_from_reserve(void)
{
	struct upmu_cover *cover;

	cover = list_first_entry_or_null(&upmu_reserve_covers,
					 struct upmu_cover, of_hold);
	if (cover) {
		list_del(&cover->of_hold);
		upmu_reserve_count--;
	}
	if (upmu_reserve_count < UPMU_COVER_RESERVE / 2)
		queue_work(upmu_reaper, &upmu_cover_refill_work);
	return cover;
}

struct upmu_cover *upmu_cover_new_atomic(struct upmu_hold *hold,
					 struct task_struct *task)
{
	struct upmu_cover *cover;

	lockdep_assert_held(&upmu_covers_lock);
	cover = upmu_cover_from_reserve();
	if (!cover && !IS_ENABLED(CONFIG_PREEMPT_RT))
		cover = upmu_cover_alloc(GFP_ATOMIC | __GFP_NOWARN);
	if (cover)
		upmu_cover_set(cover, hold, task);
	return cover;
}

void upmu_cover_add(struct upmu_cover *cover)
{
	lockdep_assert_held(&upmu_covers_lock);
	list_add_tail(&cover->of_hold, &cover->hold->covers);
	hlist_add_head(&cover->by_process, upmu_process_bucket(cover->process));
	hlist_add_head_rcu(&cover->by_mm, upmu_cover_bucket(cover->mm));
}

void upmu_cover_del(struct upmu_cover *cover)
{
	lockdep_assert_held(&upmu_covers_lock);
	list_del(&cover->of_hold);
	hlist_del(&cover->by_process);
	hlist_del_rcu(&cover->by_mm);
	queue_rcu_work(upmu_reaper, &cover->free);
}

struct upmu_cover *upmu_cover_next(const struct pid *process,
				   struct upmu_cover *last)
{
	struct upmu_cover *cover;

	lockdep_assert_held(&upmu_covers_lock);
	if (last) {
		cover = last;
		hlist_for_each_entry_continue(cover, by_process)
			if (cover->process == process)
				return cover;
		return NULL;
	}
	hlist_for_each_entry(cover, upmu_process_bucket(process), by_process)
		if (cover->process == process)
			return cover;
	return NULL;
}

unsigned int upmu_cover_count(const struct pid *process)
{
	struct upmu_cover *cover = NULL;
	unsigned int count = 0;

	while ((cover = upmu_cover_next(process, cover)))
		count++;
	return count;
}

void upmu_cover_defer(struct work_struct *work)
{
	queue_work(upmu_reaper, work);
}

int upmu_cover_init(void)
{
	upmu_reaper = alloc_workqueue("upmu_reaper", WQ_UNBOUND, 0);
	return upmu_reaper ? 0 : -ENOMEM;
}

void upmu_cover_exit(void)
{
	struct upmu_cover *cover, *next;

	rcu_barrier(); /* each queue_rcu_work() has become a work */
	destroy_workqueue(upmu_reaper);
	list_for_each_entry_safe(cover, next, &upmu_reserve_covers, of_hold)
		kfree(cover);
}
