// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - who is permitted, since when, until when
 *
 * A lease ends in two steps. Access ends at once, on every CPU, in whatever
 * context the reason was met (a tracepoint may not sleep). What the lease
 * changed is put back by whoever comes first: close(), the next taker, or a
 * work. Until that is done the lease counts among those that exclude others.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "lease.h"
#include "process.h"

/* Everything that sleeps: taking, ending, opening. */
DEFINE_MUTEX(upmu_mutex);
LIST_HEAD(upmu_holds);
static LIST_HEAD(upmu_ending); /* upmu_lock, as the next */
static unsigned int upmu_in_force;
struct workqueue_struct *upmu_queue; /* loading */

const char *const upmu_mode_names[UPMU_MODES] = {
	[UPMU_MODE_COUNT] = "count",
	[UPMU_MODE_CYCLES] = "cycles",
	[UPMU_MODE_RAW] = "raw",
};

/* Holds */

struct upmu_hold *upmu_hold_new(void)
{
	struct upmu_hold *hold = kzalloc(sizeof(*hold), GFP_KERNEL);

	if (!hold)
		return NULL;
	kref_init(&hold->ref);
	INIT_LIST_HEAD(&hold->ending);
	init_waitqueue_head(&hold->wait);
	return hold;
}

static void upmu_hold_free(struct work_struct *work)
{
	struct upmu_hold *hold =
		container_of(to_rcu_work(work), struct upmu_hold, free);

	put_pid(hold->pid);
	kfree(hold);
}

static void upmu_hold_release(struct kref *ref)
{
	struct upmu_hold *hold = container_of(ref, struct upmu_hold, ref);

	INIT_RCU_WORK(&hold->free, upmu_hold_free);
	queue_rcu_work(upmu_queue, &hold->free);
}

void upmu_hold_put(struct upmu_hold *hold)
{
	kref_put(&hold->ref, upmu_hold_release);
}

/* Beginning */

static int upmu_lease_admit_user(kuid_t uid)
{
	const struct upmu_hold *hold;
	unsigned int count = 0;

	if (capable(CAP_SYS_RESOURCE))
		return 0;
	rcu_read_lock();
	list_for_each_entry_rcu(hold, &upmu_holds, listed)
		count += uid_eq(hold->uid, uid);
	rcu_read_unlock();
	return count < UPMU_LEASES_PER_USER ? 0 : -EMFILE;
}

static int upmu_lease_admit_process(const struct pid *pid)
{
	const struct upmu_process *process;
	unsigned long flags;
	unsigned int count;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	process = upmu_process_find(pid);
	count = process ? upmu_process_leases(process) : 0;
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	return count < UPMU_LEASES_MAX ? 0 : -EMFILE;
}

/* What is new and not used stays with the caller. */
static void upmu_lease_cover(struct upmu_hold *hold,
			     struct upmu_process **process,
			     struct upmu_family **family)
{
	struct upmu_process *found = upmu_process_find(hold->pid);
	struct upmu_family *of = NULL;

	if (!found) {
		found = *process;
		*process = NULL;
		upmu_process_add(found);
	}
	upmu_lease_keep_written(found);
	if (hold->flags & UPMU_LEASE_CHILDREN) {
		of = upmu_process_found(found, family);
		kref_get(&of->ref);
		upmu_leases_change(&of->all, hold->mode, 1);
	}
	if (hold->flags & UPMU_LEASE_EXEC)
		upmu_leases_change(&of->exec, hold->mode, 1);
	smp_wmb(); /* whoever polls may look at them at once */
	WRITE_ONCE(hold->process, found);
	WRITE_ONCE(hold->family, of);
	upmu_leases_change(&found->own, hold->mode, 1);
	upmu_process_permit(found, upmu_access_bits(hold->mode));
	list_add_tail(&hold->of_process, &found->holds);
	list_add_tail_rcu(&hold->listed, &upmu_holds);
	WRITE_ONCE(upmu_in_force, upmu_in_force + 1);
}

static int upmu_lease_begin(struct upmu_hold *hold,
			    struct upmu_process **process,
			    struct upmu_family **family)
{
	unsigned long flags;
	int err;

	lockdep_assert_held(&upmu_mutex);
	err = upmu_mode_admit(hold->mode);
	if (!err && process)
		err = upmu_lease_admit_process(hold->pid);
	if (!err && process)
		err = upmu_lease_admit_user(hold->uid);
	if (!err)
		err = upmu_mode_begin(hold->mode);
	if (err)
		return err;
	if (hold->mode != UPMU_MODE_COUNT)
		upmu_lease_look_soon();
	hold->since = ktime_get();
	upmu_access_refresh(); /* what was written until now is not its doing */
	raw_spin_lock_irqsave(&upmu_lock, flags);
	/* Who sees it sees the mode, too. */
	smp_store_release(&hold->state, UPMU_STATE_LIVE);
	if (process)
		upmu_lease_cover(hold, process, family);
	else
		WRITE_ONCE(upmu_table.otherwise, upmu_access_bits(hold->mode));
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	upmu_access_refresh();
	return 0;
}

static int upmu_lease_take_with(struct upmu_hold *hold, u32 mode, u32 flags,
				struct upmu_process **process,
				struct upmu_family **family)
{
	lockdep_assert_held(&upmu_mutex);
	if (READ_ONCE(hold->state) != UPMU_STATE_NONE)
		return -EALREADY;
	put_pid(hold->pid); /* of a try that failed */
	WRITE_ONCE(hold->pid, get_pid(task_tgid(current)));
	hold->uid = current_uid();
	get_task_comm(hold->comm, current);
	upmu_state_name(hold->comm, hold->comm);
	hold->mode = mode;
	hold->flags = flags;
	return upmu_lease_begin(hold, process, family);
}

int upmu_lease_take(struct upmu_hold *hold, u32 mode, u32 flags)
{
	struct upmu_process *process = upmu_process_new(current);
	struct upmu_family *family = NULL;
	int err = -ENOMEM;

	if (!process)
		return -ENOMEM;
	if (flags & UPMU_LEASE_CHILDREN) {
		family = upmu_family_new();
		if (!family || upmu_process_fill_reserve())
			goto out;
	}
	mutex_lock(&upmu_mutex);
	upmu_lease_settle_locked();
	err = upmu_lease_take_with(hold, mode, flags, &process, &family);
	mutex_unlock(&upmu_mutex);
	if (!err)
		upmu_lease_check();
out:
	upmu_process_discard(process);
	upmu_family_put(family);
	return err;
}

int upmu_lease_take_for_all(struct upmu_hold *hold, u32 mode)
{
	upmu_lease_settle_locked();
	return upmu_lease_take_with(hold, mode, 0, NULL, NULL);
}

/* Ending */

static bool upmu_lease_is_over(const struct upmu_hold *hold)
{
	u32 state = READ_ONCE(hold->state);

	return state == UPMU_STATE_NONE || state == UPMU_STATE_ENDED;
}

static void upmu_lease_uncover(struct upmu_hold *hold)
{
	struct upmu_process *process = hold->process;

	WRITE_ONCE(hold->kept, upmu_lease_written(hold));
	upmu_leases_change(&process->own, hold->mode, -1);
	if (hold->family)
		upmu_leases_change(&hold->family->all, hold->mode, -1);
	if (hold->flags & UPMU_LEASE_EXEC)
		upmu_leases_change(&hold->family->exec, hold->mode, -1);
	list_del_rcu(&hold->listed);
	list_del(&hold->of_process);
	/* Who finds none finds what it told. */
	smp_store_release(&hold->process, NULL);
	WRITE_ONCE(upmu_in_force, upmu_in_force - 1);
	if (upmu_process_is_idle(process))
		upmu_process_del(process);
}

static void upmu_lease_end_locked(struct upmu_hold *hold)
{
	lockdep_assert_held(&upmu_lock);
	if (upmu_lease_is_over(hold))
		return;
	WRITE_ONCE(hold->state, UPMU_STATE_ENDED);
	if (hold->process)
		upmu_lease_uncover(hold);
	else
		WRITE_ONCE(upmu_table.otherwise, 0);
	kref_get(&hold->ref);
	list_add_tail(&hold->ending, &upmu_ending);
}

static void upmu_lease_settle_work(struct work_struct *work)
{
	upmu_lease_settle();
}

static DECLARE_WORK(upmu_settle, upmu_lease_settle_work);

/* Access that ended in the tables ends on every CPU; the rest follows. */
static void upmu_lease_ended(void)
{
	upmu_access_refresh();
	queue_work(upmu_queue, &upmu_settle);
}

void upmu_lease_end(struct upmu_hold *hold)
{
	unsigned long flags;
	bool over;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	over = upmu_lease_is_over(hold);
	upmu_lease_end_locked(hold);
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	if (!over)
		upmu_lease_ended();
}

void upmu_lease_end_of(const struct pid *pid)
{
	struct upmu_process *process;
	unsigned long flags;
	bool ended = false;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	/* The object goes with the last one. */
	while ((process = upmu_process_find(pid)) &&
	       !list_empty(&process->holds)) {
		upmu_lease_end_locked(list_first_entry(&process->holds,
						       struct upmu_hold,
						       of_process));
		ended = true;
	}
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	if (ended)
		upmu_lease_ended();
}

void upmu_lease_settle_locked(void)
{
	struct upmu_hold *hold, *next;
	struct upmu_family *family;
	unsigned long flags;
	bool covered = false;
	LIST_HEAD(ended);

	lockdep_assert_held(&upmu_mutex);
	raw_spin_lock_irqsave(&upmu_lock, flags);
	list_splice_init(&upmu_ending, &ended);
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	if (list_empty(&ended))
		return;
	upmu_access_refresh(); /* who ended it may be on its way to that only */
	list_for_each_entry_safe(hold, next, &ended, ending) {
		list_del_init(&hold->ending);
		upmu_mode_end(hold->mode);
		upmu_lease_tell_written(hold, upmu_lease_written(hold));
		family = hold->family;
		covered |= family && READ_ONCE(family->processes);
		WRITE_ONCE(hold->family, NULL);
		upmu_family_put(family);
		wake_up_interruptible_all(&hold->wait);
		upmu_hold_put(hold);
	}
	if (covered || !upmu_mode_any_users())
		upmu_process_forget();
}

void upmu_lease_settle(void)
{
	mutex_lock(&upmu_mutex);
	upmu_lease_settle_locked();
	mutex_unlock(&upmu_mutex);
}

void upmu_lease_info(struct upmu_info *info)
{
	const struct upmu_hold *first;

	rcu_read_lock();
	info->leases = READ_ONCE(upmu_in_force);
	first = list_first_or_null_rcu(&upmu_holds, struct upmu_hold, listed);
	if (first) {
		info->holder_pid = pid_vnr(first->pid);
		info->holder_mode = first->mode;
		strscpy(info->holder_comm, first->comm,
			sizeof(info->holder_comm));
	}
	rcu_read_unlock();
}

unsigned int upmu_lease_count(void)
{
	return READ_ONCE(upmu_in_force);
}

int upmu_lease_init(void)
{
	upmu_queue = alloc_ordered_workqueue("upmu", 0);
	return upmu_queue ? 0 : -ENOMEM;
}

/*
 * Nobody holds anything: what was changed has been put back by those who closed
 * a file, or `open`. No probe of the scheduler's is there any more.
 */
void upmu_lease_exit(void)
{
	rcu_barrier(); /* each queue_rcu_work() has become a work */
	destroy_workqueue(upmu_queue);
}
