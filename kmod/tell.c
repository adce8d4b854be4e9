// SPDX-License-Identifier: GPL-2.0-only
/* tell.c - what becomes of a lease is told to its holder and to the log */
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/ratelimit.h>
#include <linux/rculist.h>

#include "counters.h"
#include "lease.h"
#include "process.h"

/* How soon a holder is told that somebody took its registers. */
#define UPMU_LOOK_PERIOD HZ

/* By its family; NULL: it is of none. RCU. */
static const struct upmu_told *upmu_lease_told(const struct upmu_hold *hold)
{
	/* Its flags do not change any more then. */
	const struct upmu_family *family = smp_load_acquire(&hold->family);

	return family ? &family->told[!!(hold->flags & UPMU_LEASE_EXEC)] : NULL;
}

u32 upmu_lease_written(const struct upmu_hold *hold)
{
	const struct upmu_process *process;
	const struct upmu_told *told;
	u32 written = 0;

	rcu_read_lock();
	process = READ_ONCE(hold->process);
	told = upmu_lease_told(hold);
	if (process)
		written |= atomic_read(&process->written);
	if (told)
		written |= atomic_read(&told->written);
	rcu_read_unlock();
	smp_rmb(); /* what they no longer tell was kept before */
	return written | atomic_read(&hold->written) | READ_ONCE(hold->kept);
}

void upmu_lease_keep_written(struct upmu_process *process)
{
	u32 written = atomic_read(&process->written);
	struct upmu_hold *hold;

	list_for_each_entry(hold, &process->holds, of_process)
		WRITE_ONCE(hold->kept, hold->kept | written);
	smp_mb__before_atomic(); /* upmu_lease_written(), the other way round */
	atomic_andnot(written, &process->written);
}

static void upmu_lease_log_written(const struct upmu_hold *hold)
{
	/* Who may take one lease may take a thousand in a second. */
	static DEFINE_RATELIMIT_STATE(limit, HZ, 20);
	const char *by = "it or one that shares its memory";
	const struct upmu_told *told;
	char name[TASK_COMM_LEN + 32];

	if (!__ratelimit(&limit))
		return;
	rcu_read_lock();
	told = upmu_lease_told(hold);
	if (told && READ_ONCE(told->writer.pid)) {
		snprintf(name, sizeof(name), "the process %s (pid %d)",
			 told->writer.comm, told->writer.pid);
		by = name;
	}
	rcu_read_unlock();
	pr_notice("under the %s lease of %s (pid %d) %s wrote the PMU's registers; put right, but counts of others may lack a part\n",
		  upmu_mode_names[hold->mode], hold->comm, pid_nr(hold->pid),
		  by);
}

void upmu_lease_tell_written(struct upmu_hold *hold, u32 written)
{
	u32 before = atomic_fetch_or(written, &hold->written);

	if (!(written & ~before))
		return;
	wake_up_interruptible_all(&hold->wait);
	if (!before)
		upmu_lease_log_written(hold);
}

static void upmu_lease_break(struct upmu_hold *hold, const char *reason)
{
	if (cmpxchg(&hold->state, UPMU_STATE_LIVE, UPMU_STATE_BROKEN) !=
	    UPMU_STATE_LIVE)
		return;
	pr_warn("the %s lease of %s (pid %d) is broken: %s\n",
		upmu_mode_names[hold->mode], hold->comm, pid_nr(hold->pid),
		reason);
	wake_up_interruptible_all(&hold->wait);
}

/*
 * Asked again for each: a lease that was taken meanwhile may have found all in
 * order.
 */
void upmu_lease_check(void)
{
	const char *reason = upmu_counters_broken();
	struct upmu_hold *hold;

	if (!reason)
		return;
	if (upmu_open_choice() != UPMU_OPEN_NONE)
		pr_warn_once("open=%s is broken: %s\n", upmu_open_name(),
			     reason);
	rcu_read_lock();
	list_for_each_entry_rcu(hold, &upmu_holds, listed) {
		if (hold->mode == UPMU_MODE_COUNT)
			continue;
		smp_rmb(); /* as it is with this lease, not before */
		reason = upmu_counters_broken();
		if (reason)
			upmu_lease_break(hold, reason);
	}
	rcu_read_unlock();
}

static void upmu_lease_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(upmu_looks, upmu_lease_look);

static void upmu_lease_look(struct work_struct *work)
{
	upmu_lease_check();
	mutex_lock(&upmu_mutex);
	upmu_wrap_pin();
	if (upmu_counters_wanted())
		upmu_lease_look_soon();
	mutex_unlock(&upmu_mutex);
}

void upmu_lease_look_soon(void)
{
	schedule_delayed_work(&upmu_looks, UPMU_LOOK_PERIOD);
}

static void upmu_lease_tell_one(struct upmu_hold *hold)
{
	const struct upmu_told *told = upmu_lease_told(hold);

	upmu_lease_tell_written(hold, upmu_lease_written(hold));
	if (told && READ_ONCE(told->uncovered))
		upmu_lease_break(hold, "no memory to cover a child");
}

static void upmu_lease_tell_all(struct work_struct *work)
{
	struct upmu_hold *hold;

	rcu_read_lock();
	list_for_each_entry_rcu(hold, &upmu_holds, listed)
		upmu_lease_tell_one(hold);
	rcu_read_unlock();
	upmu_open_tell();
}

static DECLARE_WORK(upmu_tell, upmu_lease_tell_all);

static void upmu_lease_tell_irq(struct irq_work *work)
{
	queue_work(upmu_queue, &upmu_tell);
}

static struct irq_work upmu_tell_irq;

void upmu_lease_tell(void)
{
	irq_work_queue(&upmu_tell_irq);
}

int upmu_tell_init(void)
{
	init_irq_work(&upmu_tell_irq, upmu_lease_tell_irq);
	return 0;
}

/* Nothing is held, and no probe of the scheduler's is there any more. */
void upmu_tell_exit(void)
{
	cancel_delayed_work_sync(&upmu_looks);
	upmu_wrap_wait();
	irq_work_sync(&upmu_tell_irq);
}
