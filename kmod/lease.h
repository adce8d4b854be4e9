/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lease.h - a lease and the processes that it covers
 *
 * A hold is one lease; a cover is one process that it covers: the holder and,
 * where asked, its children. The scheduler asks by memory (a thread runs with
 * its process's mm); fork, exec and exit ask by process.
 */
#ifndef UPMU_LEASE_H
#define UPMU_LEASE_H

#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "upmu.h"

/* Of one process at a time, those of its parents that cover it included. */
#define UPMU_LEASES_MAX 64

/**
 * struct upmu_hold - one lease
 * @ref: its open file, and the work that ends it
 * @live: in the list of leases while in force
 * @covers: the processes covered
 * @process: who took it
 * @comm: that process's name then
 * @mode: enum upmu_mode
 * @flags: enum upmu_lease_flags
 * @state: enum upmu_lease_state
 * @since: when
 * @wait: poll()
 * @end: puts back what the lease changed
 * @tell: wakes who waits in poll()
 * @free: frees it
 */
struct upmu_hold {
	struct kref ref;
	struct list_head live;
	struct list_head covers;
	struct pid *process;
	char comm[TASK_COMM_LEN];
	u32 mode;
	u32 flags;
	u32 state;
	ktime_t since;
	wait_queue_head_t wait;
	struct work_struct end;
	struct work_struct tell;
	struct work_struct free;
};

/**
 * struct upmu_cover - one process that a lease covers
 * @by_mm: in the table that the scheduler asks
 * @by_process: in the table that fork, exec and exit ask
 * @of_hold: in its hold's covers
 * @mm: its memory; the mm_struct is pinned (not the memory), for a bare
 *	pointer could come back as another process's
 * @process: its thread group, pinned
 * @hold: its lease, which outlives it
 * @bits: permission
 * @free: frees it after the readers
 */
struct upmu_cover {
	struct hlist_node by_mm;
	struct hlist_node by_process;
	struct list_head of_hold;
	struct mm_struct *mm;
	struct pid *process;
	struct upmu_hold *hold;
	u32 bits;
	struct rcu_work free;
};

/* cover.c */

/* Guards both tables, the covers of each hold, and the list of holds. */
extern raw_spinlock_t upmu_covers_lock;

int upmu_cover_init(void);
void upmu_cover_exit(void);
struct upmu_cover *upmu_cover_new(struct upmu_hold *hold,
				  struct task_struct *task);
/* The same where nothing may sleep, upmu_covers_lock held; NULL: no memory. */
struct upmu_cover *upmu_cover_new_atomic(struct upmu_hold *hold,
					 struct task_struct *task);
/* To be called before what forks may be covered; sleeps. */
int upmu_cover_fill_reserve(void);
/* One that was never added. */
void upmu_cover_discard(struct upmu_cover *cover);
void upmu_cover_add(struct upmu_cover *cover);
/* Takes it out; it is freed when nobody reads it any more. */
void upmu_cover_del(struct upmu_cover *cover);
/* The covers of @process one after the other; @last NULL: the first. */
struct upmu_cover *upmu_cover_next(const struct pid *process,
				   struct upmu_cover *last);
unsigned int upmu_cover_count(const struct pid *process);
/* Runs in a work of its own, some time before unloading. */
void upmu_cover_defer(struct work_struct *work);

static inline bool upmu_cover_is_holder(const struct upmu_cover *cover)
{
	return cover->process == cover->hold->process;
}

/* lease.c */

void upmu_hold_get(struct upmu_hold *hold);
void upmu_hold_put(struct upmu_hold *hold);
int upmu_lease_take(struct upmu_hold **out, u32 mode, u32 flags);
/* Idempotent; interrupts on, may not sleep. Access ends before it returns. */
void upmu_lease_end(struct upmu_hold *hold);
/* Wait until what an ended lease changed has been put back. */
void upmu_lease_settle(struct upmu_hold *hold);
/* Its counts are not to be trusted from now on; says so. As _end(). */
void upmu_lease_break(struct upmu_hold *hold, const char *reason);

#endif
