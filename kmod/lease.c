// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - who is permitted, since when, until when
 *
 * A lease ends in two steps. Access ends at once, on every CPU, in whatever
 * context the reason was met (a tracepoint may not sleep). What the lease
 * changed is put back by a work on an ordered queue; close() and the next
 * taker wait for that.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "lease.h"

/* Everything that sleeps: taking, ending, opening. */
DEFINE_MUTEX(upmu_mutex);
static LIST_HEAD(upmu_holds);
static unsigned int upmu_live;
static struct workqueue_struct *upmu_queue;

static const char *const upmu_mode_names[] = {
	[UPMU_MODE_COUNT] = "count",
	[UPMU_MODE_CYCLES] = "cycles",
	[UPMU_MODE_RAW] = "raw",
};

static void upmu_hold_free(struct work_struct *work)
{
	struct upmu_hold *hold = container_of(work, struct upmu_hold, free);

	put_pid(hold->process);
	kfree(hold);
}

/* The last reference may go in a tracepoint: PREEMPT_RT cannot free there. */
static void upmu_hold_release(struct kref *ref)
{
	struct upmu_hold *hold = container_of(ref, struct upmu_hold, ref);

	upmu_cover_defer(&hold->free);
}

void upmu_hold_get(struct upmu_hold *hold)
{
	kref_get(&hold->ref);
}

void upmu_hold_put(struct upmu_hold *hold)
{
	kref_put(&hold->ref, upmu_hold_release);
}

/* What a mode needs beside the permission. */
static int upmu_mode_begin(u32 mode)
{
	int err;

	err = upmu_take_get(mode);
	if (err)
		return err;
	err = upmu_access_get();
	if (err)
		upmu_take_put(mode);
	return err;
}

static void upmu_mode_end(u32 mode)
{
	upmu_access_put();
	upmu_take_put(mode);
}

static void upmu_lease_tell(struct work_struct *work)
{
	struct upmu_hold *hold = container_of(work, struct upmu_hold, tell);

	wake_up_interruptible_all(&hold->wait);
	upmu_hold_put(hold);
}

static void upmu_lease_put_back(struct work_struct *work)
{
	struct upmu_hold *hold = container_of(work, struct upmu_hold, end);

	wake_up_interruptible_all(&hold->wait);
	mutex_lock(&upmu_mutex);
	upmu_mode_end(hold->mode);
	mutex_unlock(&upmu_mutex);
	upmu_hold_put(hold);
}

static struct upmu_hold *upmu_hold_new(u32 mode, u32 flags)
{
	struct upmu_hold *hold;

	hold = kzalloc(sizeof(*hold), GFP_KERNEL);
	if (!hold)
		return NULL;
	kref_init(&hold->ref);
	INIT_LIST_HEAD(&hold->covers);
	INIT_WORK(&hold->end, upmu_lease_put_back);
	INIT_WORK(&hold->tell, upmu_lease_tell);
	INIT_WORK(&hold->free, upmu_hold_free);
	init_waitqueue_head(&hold->wait);
	hold->process = get_pid(task_tgid(current));
	get_task_comm(hold->comm, current);
	hold->mode = mode;
	hold->flags = flags;
	hold->state = UPMU_STATE_LIVE;
	hold->since = ktime_get();
	return hold;
}

/* RAW is alone: the first in the list tells. */
static int upmu_lease_admit(u32 mode)
{
	const struct upmu_hold *first =
		list_first_entry_or_null(&upmu_holds, struct upmu_hold, live);

	if (!first)
		return upmu_open_admit(mode);
	if (mode == UPMU_MODE_RAW || first->mode == UPMU_MODE_RAW)
		return -EBUSY;
	return upmu_open_admit(mode);
}

bool upmu_lease_any(bool raw_only)
{
	const struct upmu_hold *first =
		list_first_entry_or_null(&upmu_holds, struct upmu_hold, live);

	lockdep_assert_held(&upmu_mutex);
	return first && (!raw_only || first->mode == UPMU_MODE_RAW);
}

/* What covers a process is walked at each context switch, interrupts off. */
static int upmu_lease_admit_process(const struct pid *process)
{
	unsigned long flags;
	unsigned int count;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	count = upmu_cover_count(process);
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	return count < UPMU_LEASES_MAX ? 0 : -EMFILE;
}

static int upmu_lease_begin(struct upmu_hold *hold, struct upmu_cover *cover)
{
	unsigned long flags;
	int err;

	lockdep_assert_held(&upmu_mutex);
	err = upmu_lease_admit(hold->mode);
	if (!err)
		err = upmu_lease_admit_process(hold->process);
	if (err)
		return err;
	err = upmu_mode_begin(hold->mode);
	if (err)
		return err;
	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	list_add_tail(&hold->live, &upmu_holds);
	upmu_live++;
	upmu_cover_add(cover);
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	upmu_access_refresh();
	return 0;
}

int upmu_lease_take(struct upmu_hold **out, u32 mode, u32 flags)
{
	struct upmu_cover *cover;
	struct upmu_hold *hold;
	int err = -ENOMEM;

	hold = upmu_hold_new(mode, flags);
	if (!hold)
		return -ENOMEM;
	if (flags & UPMU_LEASE_CHILDREN && upmu_cover_fill_reserve())
		goto err_hold;
	cover = upmu_cover_new(hold, current);
	if (!cover)
		goto err_hold;
	upmu_lease_flush();
	mutex_lock(&upmu_mutex);
	err = upmu_lease_begin(hold, cover);
	mutex_unlock(&upmu_mutex);
	if (err)
		goto err_cover;
	*out = hold;
	upmu_lease_check();
	return 0;

err_cover:
	upmu_cover_discard(cover);
err_hold:
	upmu_hold_put(hold);
	return err;
}

void upmu_lease_end(struct upmu_hold *hold)
{
	struct upmu_cover *cover, *next;
	unsigned long flags;
	bool was_live;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	was_live = hold->state != UPMU_STATE_ENDED;
	if (was_live) {
		WRITE_ONCE(hold->state, UPMU_STATE_ENDED);
		list_del(&hold->live);
		upmu_live--;
		list_for_each_entry_safe(cover, next, &hold->covers, of_hold)
			upmu_cover_del(cover);
		upmu_hold_get(hold); /* the work's */
	}
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	if (!was_live)
		return;
	upmu_access_refresh();
	queue_work(upmu_queue, &hold->end);
}

void upmu_lease_flush(void)
{
	if (upmu_queue) /* `open` may be given before there is one */
		flush_workqueue(upmu_queue);
}

void upmu_lease_settle(struct upmu_hold *hold)
{
	flush_work(&hold->end);
}

void upmu_lease_break(struct upmu_hold *hold, const char *reason)
{
	if (cmpxchg(&hold->state, UPMU_STATE_LIVE, UPMU_STATE_BROKEN) !=
	    UPMU_STATE_LIVE)
		return;
	pr_warn("the %s lease of %s (pid %d) is broken: %s\n",
		upmu_mode_names[hold->mode], hold->comm, pid_nr(hold->process),
		reason);
	upmu_hold_get(hold); /* the work's */
	queue_work(upmu_queue, &hold->tell);
}

static struct upmu_hold *upmu_lease_first_taker(void)
{
	struct upmu_hold *hold, *found = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	list_for_each_entry(hold, &upmu_holds, live)
		if (hold->mode != UPMU_MODE_COUNT &&
		    hold->state == UPMU_STATE_LIVE) {
			found = hold;
			upmu_hold_get(found);
			break;
		}
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	return found;
}

void upmu_lease_check(void)
{
	struct upmu_hold *hold;

	if (upmu_take_intact())
		return;
	if (upmu_open_mode())
		pr_warn_once("open=%s is broken: somebody replaced what keeps perf off\n",
			     upmu_open_name());
	while ((hold = upmu_lease_first_taker())) {
		upmu_lease_break(hold, "somebody replaced what keeps perf off");
		upmu_hold_put(hold);
	}
}

void upmu_lease_info(struct upmu_info *info)
{
	const struct upmu_hold *first;
	unsigned long flags;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	info->leases = upmu_live;
	first = list_first_entry_or_null(&upmu_holds, struct upmu_hold, live);
	if (first) {
		info->holder_pid = pid_vnr(first->process);
		info->holder_mode = first->mode;
		strscpy(info->holder_comm, first->comm,
			sizeof(info->holder_comm));
	}
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
}

/* The holds of @process that it took itself, one at a time; with a reference.
 */
static struct upmu_hold *upmu_lease_taken_by(const struct pid *process)
{
	struct upmu_hold *found = NULL;
	struct upmu_cover *cover = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	while ((cover = upmu_cover_next(process, cover)))
		if (upmu_cover_is_holder(cover)) {
			found = cover->hold;
			upmu_hold_get(found);
			break;
		}
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	return found;
}

static void upmu_lease_end_taken_by(const struct pid *process)
{
	struct upmu_hold *hold;

	while ((hold = upmu_lease_taken_by(process))) {
		upmu_lease_end(hold);
		upmu_hold_put(hold);
	}
}

/* @task is a child of @cover's process, or that process in a new program. */
static bool upmu_lease_extend(const struct upmu_cover *cover,
			      struct task_struct *task)
{
	struct upmu_cover *more = upmu_cover_new_atomic(cover->hold, task);

	if (more)
		upmu_cover_add(more);
	return more;
}

void upmu_lease_forked(struct task_struct *parent, struct task_struct *child)
{
	struct upmu_hold *broken = NULL;
	struct upmu_cover *cover = NULL;
	unsigned long flags;

	if (!child->mm || task_tgid(child) == task_tgid(parent))
		return;
	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	while ((cover = upmu_cover_next(task_tgid(parent), cover))) {
		if (!(cover->hold->flags & UPMU_LEASE_CHILDREN))
			continue;
		if (!upmu_lease_extend(cover, child) && !broken) {
			broken = cover->hold;
			upmu_hold_get(broken);
		}
	}
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	if (broken) {
		upmu_lease_break(broken, "no memory to cover a child");
		upmu_hold_put(broken);
	}
}

void upmu_lease_executed(struct task_struct *task, bool privileged)
{
	struct pid *process = task_tgid(task);
	struct upmu_cover *cover, *next;
	struct upmu_hold *broken = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	for (cover = upmu_cover_next(process, NULL); cover; cover = next) {
		next = upmu_cover_next(process, cover);
		if (upmu_cover_is_holder(cover))
			continue;
		/* New covers go before the first: the walk misses them. */
		if (cover->hold->flags & UPMU_LEASE_EXEC && !privileged &&
		    !upmu_lease_extend(cover, task) && !broken) {
			broken = cover->hold;
			upmu_hold_get(broken);
		}
		upmu_cover_del(cover);
	}
	/* No switch happened: this CPU still permits what the old mm had. */
	upmu_access_refresh_local();
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	upmu_lease_end_taken_by(process);
	if (broken) {
		upmu_lease_break(broken, "no memory to cover a program");
		upmu_hold_put(broken);
	}
}

void upmu_lease_exited(struct task_struct *task)
{
	struct pid *process = task_tgid(task);
	struct upmu_cover *cover, *next;
	unsigned long flags;

	/* A process ends with its last thread. */
	if (atomic_read(&task->signal->live))
		return;
	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	for (cover = upmu_cover_next(process, NULL); cover; cover = next) {
		next = upmu_cover_next(process, cover);
		if (!upmu_cover_is_holder(cover))
			upmu_cover_del(cover);
	}
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
	upmu_lease_end_taken_by(process);
}

/* A process names itself: no line breaks and no escapes from it. */
static void upmu_hold_name(char name[TASK_COMM_LEN], const char *comm)
{
	unsigned int n;

	for (n = 0; n < TASK_COMM_LEN - 1 && comm[n]; n++)
		name[n] = isascii(comm[n]) && isprint(comm[n]) ? comm[n] : '?';
	name[n] = '\0';
}

static void upmu_hold_show(struct seq_file *m, struct upmu_hold *hold)
{
	char name[TASK_COMM_LEN];
	unsigned int processes = 0;
	struct list_head *each;

	list_for_each(each, &hold->covers) processes++;
	upmu_hold_name(name, hold->comm);
	seq_printf(m,
		   "lease pid %d mode %s%s%s %s processes %u age_ms %lld comm %s\n",
		   pid_vnr(hold->process), upmu_mode_names[hold->mode],
		   hold->flags & UPMU_LEASE_CHILDREN ? "+children" : "",
		   hold->flags & UPMU_LEASE_EXEC ? "+exec" : "",
		   hold->state == UPMU_STATE_BROKEN ? "broken" : "ok",
		   processes, ktime_ms_delta(ktime_get(), hold->since), name);
}

void upmu_lease_show(struct seq_file *m)
{
	struct upmu_hold *hold;
	unsigned long flags;

	raw_spin_lock_irqsave(&upmu_covers_lock, flags);
	seq_printf(m, "leases %u\n", upmu_live);
	list_for_each_entry(hold, &upmu_holds, live)
		upmu_hold_show(m, hold);
	raw_spin_unlock_irqrestore(&upmu_covers_lock, flags);
}

int upmu_lease_init(void)
{
	int err;

	upmu_queue = alloc_ordered_workqueue("upmu", 0);
	if (!upmu_queue)
		return -ENOMEM;
	err = upmu_cover_init();
	if (err)
		destroy_workqueue(upmu_queue);
	return err;
}

void upmu_lease_exit(void)
{
	upmu_take_exit();
	destroy_workqueue(upmu_queue);
	upmu_cover_exit();
}
