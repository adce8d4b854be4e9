// SPDX-License-Identifier: GPL-2.0-only
/* process.c - the processes that leases cover */
#include <linux/binfmts.h>
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "lease.h"
#include "process.h"

DEFINE_RAW_SPINLOCK(upmu_lock);
static struct workqueue_struct *upmu_reaper; /* loading */
static atomic_t upmu_families;		     /* not freed yet */

/*
 * fork and exec are met in tracepoints, where PREEMPT_RT cannot allocate: what
 * they need is kept in reserve and made up for by a work.
 */
#define UPMU_RESERVE 256

static LIST_HEAD(upmu_reserve); /* by listed; upmu_lock, as the next */
static unsigned int upmu_reserve_count;

/*
 * The one that @family is in, and whether a process in it has executed a
 * program in that one too. upmu_lock, or RCU.
 */
static struct upmu_family *upmu_family_next(const struct upmu_family *family,
					    bool *executed)
{
	/* The flag is seen no later. */
	struct upmu_family *outer = smp_load_acquire(&family->outer);

	*executed |= READ_ONCE(family->outer_executed);
	return outer;
}

/* Those that cover a process in it. */
static const struct upmu_leases *
upmu_family_leases(const struct upmu_family *family, bool executed)
{
	return executed ? &family->exec : &family->all;
}

/*
 * The innermost of @family and its outer ones that has a lease in force; NULL:
 * none. A process that executed a program has done so for all outer ones too.
 */
static struct upmu_family *upmu_family_live(struct upmu_family *family,
					    bool *executed)
{
	while (family && !upmu_family_leases(family, *executed)->bits)
		family = upmu_family_next(family, executed);
	return family;
}

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

static void upmu_family_reap(struct rcu_head *rcu)
{
	struct upmu_family *family = container_of(rcu, struct upmu_family, rcu);

	upmu_family_put(family->outer);
	kfree(family);
	atomic_dec(&upmu_families);
}

static void upmu_family_release(struct kref *ref)
{
	struct upmu_family *family = container_of(ref, struct upmu_family, ref);

	call_rcu(&family->rcu, upmu_family_reap);
}

void upmu_family_put(struct upmu_family *family)
{
	if (family)
		kref_put(&family->ref, upmu_family_release);
}

static struct upmu_family *upmu_family_get(struct upmu_family *family)
{
	if (family)
		kref_get(&family->ref);
	return family;
}

struct upmu_family *upmu_family_new(void)
{
	struct upmu_family *family = kzalloc(sizeof(*family), GFP_KERNEL);

	if (!family)
		return NULL;
	kref_init(&family->ref);
	atomic_inc(&upmu_families);
	return family;
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

/*
 * Past those of its outer ones that no lease is in force of: none of them has
 * another one ever, for somebody was forked into each. Whoever is reading sees
 * the one or the other, and the flag no later than the family that it is for.
 */
static void upmu_family_trim(struct upmu_family *family)
{
	struct upmu_family *dead = family->outer;

	while (dead &&
	       !upmu_family_leases(dead, family->outer_executed)->bits) {
		WRITE_ONCE(family->outer_executed,
			   family->outer_executed | dead->outer_executed);
		/* The flag above is seen no later than the family. */
		smp_store_release(&family->outer, upmu_family_get(dead->outer));
		upmu_family_put(dead);
		dead = family->outer;
	}
}

/* In @family, its innermost; what a founder executed before is nothing to it. */
static bool upmu_process_executed_in(const struct upmu_process *process,
				     const struct upmu_family *family)
{
	return process->executed &&
	       !(family && family->founder == process->pid);
}

/* What @process passes on to what it forks, and as to whom. */
static struct upmu_family *
upmu_process_passes(const struct upmu_process *process, bool *executed)
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

static unsigned int upmu_leases_sum(const struct upmu_leases *leases)
{
	return leases->of[UPMU_MODE_COUNT] + leases->of[UPMU_MODE_CYCLES] +
	       leases->of[UPMU_MODE_RAW];
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

/* Objects */

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

/* In a tracepoint. */
static struct upmu_process *upmu_process_new_atomic(struct task_struct *task)
{
	struct upmu_process *process = upmu_process_from_reserve();

	if (!process && !IS_ENABLED(CONFIG_PREEMPT_RT))
		process = upmu_process_alloc(GFP_ATOMIC | __GFP_NOWARN);
	return upmu_process_set(process, task);
}

/* Those that write */

static void upmu_writer_note(struct upmu_writer *writer,
			     const struct task_struct *task)
{
	if (!cmpxchg(&writer->pid, 0, task->tgid))
		/* The log reads it, later; early it would see a part. */
		data_race((upmu_state_name(writer->comm, task->comm), 0));
}

/*
 * Whose own lease permits it where one with memory @mm writes: all of those are
 * told. One of them that a lease covers; else any, or NULL.
 */
static struct upmu_process *upmu_process_permitted(const struct mm_struct *mm,
						   u32 written)
{
	struct upmu_process *first = upmu_process_with(mm), *by = first;
	struct upmu_process *process;

	if (!first)
		return NULL;
	atomic_or(written, &first->written);
	hlist_for_each_entry_rcu(process, &first->sharers, sharing) {
		atomic_or(written, &process->written);
		if (!upmu_process_leased(by))
			by = process;
	}
	return by;
}

/* Changed by atomics only: found by RCU. */
static void upmu_process_note(struct upmu_process *process,
			      const struct task_struct *task, u32 written)
{
	struct upmu_family *family = READ_ONCE(process->family);
	bool executed = upmu_process_executed_in(process, family);
	int told;

	atomic_or(written, &process->written);
	for (; family; family = upmu_family_next(family, &executed))
		for (told = executed; told < 2; told++) {
			upmu_writer_note(&family->told[told].writer, task);
			atomic_or(written, &family->told[told].written);
		}
}

/*
 * Looked for by its ID. If no lease covers it, it is one that @task shares
 * memory with, or did when it was permitted to write: one that ends has none
 * any more, one that executes a program has that one's.
 */
void notrace upmu_process_wrote(struct task_struct *task, u32 written)
{
	struct upmu_process *process = upmu_process_find(task_tgid(task));
	struct upmu_process *by = process;

	if (!process || !upmu_process_leased(process))
		by = upmu_process_permitted(upmu_access_mm(), written);
	if (!by || !upmu_process_leased(by))
		upmu_writer_note(&upmu_open_writer, task);
	if (by)
		upmu_process_note(by, task, written);
	/* That of its leases which ended just now is told, too. */
	if (process && process != by)
		upmu_process_note(process, task, written);
	upmu_lease_tell();
}

/* The last look at this task, which will have other memory, or none. */
static void upmu_process_check(void)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_access_check();
	local_irq_restore(flags);
}

/* What the scheduler tells */

/* Is @task covered, and would what it forks or executes be? */
static bool upmu_process_passes_on(struct task_struct *task, bool executes)
{
	struct upmu_process *process;
	unsigned long flags;
	bool live = false, executed = true;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	process = upmu_process_find(task_tgid(task));
	if (process && executes)
		live = upmu_family_live(process->family, &executed);
	else if (process)
		live = upmu_process_passes(process, &executed);
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	return live;
}

/* For want of memory: those that should cover it are told. */
static void upmu_process_lost(struct task_struct *task, bool executes)
{
	struct upmu_process *process;
	struct upmu_family *family;
	unsigned long flags;
	bool executed;
	int told;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	process = upmu_process_find(task_tgid(task));
	family = process ? process->family : NULL;
	executed = executes ||
		   (process && upmu_process_executed_in(process, family));
	for (; family; family = upmu_family_next(family, &executed))
		for (told = executed; told < 2; told++)
			WRITE_ONCE(family->told[told].uncovered, true);
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	upmu_lease_tell();
}

/* @child joins what covers @process. */
static void upmu_process_join(struct upmu_process *child,
			      const struct upmu_process *process)
{
	struct upmu_family *family;

	child->family =
		upmu_family_get(upmu_process_passes(process, &child->executed));
	for (family = child->family; family; family = family->outer)
		family->joined = true;
}

void upmu_process_forked(void *data, struct task_struct *parent,
			 struct task_struct *child)
{
	struct upmu_process *process, *more;
	unsigned long flags;
	bool added = false;

	if (!child->mm || task_tgid(child) == task_tgid(parent))
		return;
	if (!upmu_process_passes_on(parent, false))
		return;
	more = upmu_process_new_atomic(child);
	if (!more) {
		upmu_process_lost(parent, false);
		return;
	}
	raw_spin_lock_irqsave(&upmu_lock, flags);
	process = upmu_process_find(task_tgid(parent));
	if (process)
		upmu_process_join(more, process);
	added = more->family;
	if (added)
		upmu_process_add(more);
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
	if (!added) /* the leases ended meanwhile */
		upmu_process_retire(more);
}

/* @task's old memory is gone: another object for the new one, or none. */
static void upmu_process_replace(struct task_struct *task,
				 struct upmu_process *more)
{
	struct upmu_process *process;
	unsigned long flags;
	bool executed = true;

	raw_spin_lock_irqsave(&upmu_lock, flags);
	process = upmu_process_find(task_tgid(task));
	if (process && more) {
		more->executed = true;
		more->family = upmu_family_live(process->family, &executed);
		upmu_family_get(more->family);
	}
	if (process)
		upmu_process_del(process);
	if (more && more->family)
		upmu_process_add(more);
	else if (more)
		upmu_process_retire(more);
	/* No switch happened: this CPU still permits what the old mm had. */
	upmu_access_refresh_here(NULL);
	raw_spin_unlock_irqrestore(&upmu_lock, flags);
}

void upmu_process_executed(void *data, struct task_struct *task, pid_t old_pid,
			   struct linux_binprm *bprm)
{
	struct upmu_process *more = NULL;

	upmu_process_check();
	upmu_lease_end_of(task_tgid(task));
	if (!bprm->secureexec && upmu_process_passes_on(task, true)) {
		more = upmu_process_new_atomic(task);
		if (!more)
			upmu_process_lost(task, true);
	}
	upmu_process_replace(task, more);
}

void upmu_process_exited(struct task_struct *task)
{
	upmu_process_check();
	/* A process ends with its last thread. */
	if (atomic_read(&task->signal->live))
		return;
	upmu_lease_end_of(task_tgid(task));
	upmu_process_replace(task, NULL);
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
	while (atomic_read(&upmu_families)) /* one may put the next */
		rcu_barrier();
	list_for_each_entry_safe(process, next, &upmu_reserve, listed)
		kfree(process);
}
