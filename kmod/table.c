// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - covered processes, found by their ID and by their memory, or all
 */
#include <linux/hashtable.h>
#include <linux/rculist.h>

#include "process.h"

struct upmu_table upmu_table;
/* upmu_lock; RCU to read */
static DEFINE_HASHTABLE(upmu_by_pid, UPMU_PROCESS_BITS);
static LIST_HEAD(upmu_processes); /* upmu_lock, as the next */
static unsigned int upmu_process_count;

/* So many are looked at with interrupts off. */
#define UPMU_TABLE_PORTION 16u

static struct hlist_head *upmu_pid_bucket(const struct pid *pid)
{
	return &upmu_by_pid[hash_ptr(pid, HASH_BITS(upmu_by_pid))];
}

struct upmu_process *upmu_process_find(const struct pid *pid)
{
	struct upmu_process *process;

	hlist_for_each_entry_rcu(process, upmu_pid_bucket(pid), by_pid,
				 lockdep_is_held(&upmu_lock))
		if (process->pid == pid)
			return process;
	return NULL;
}

/* Who has other memory does not walk past all that share this. */
static void upmu_table_add_by_mm(struct upmu_process *process)
{
	struct upmu_process *first = upmu_process_with(process->mm);

	if (first)
		hlist_add_head_rcu(&process->sharing, &first->sharers);
	else
		hlist_add_head_rcu(&process->by_mm,
				   upmu_process_bucket(process->mm));
}

/*
 * The first one's next becomes the first. Whoever found the first before goes
 * on by @sharers and @sharing, which stay as they were for that.
 */
static void upmu_table_del_by_mm(struct upmu_process *process)
{
	struct hlist_node *node = process->sharers.first;
	struct upmu_process *next;

	if (hlist_unhashed(&process->by_mm)) {
		hlist_del_rcu(&process->sharing);
		return;
	}
	if (!node) {
		hlist_del_rcu(&process->by_mm);
		return;
	}
	next = hlist_entry(node, struct upmu_process, sharing);
	next->most = READ_ONCE(process->most);
	next->sharers.first = node->next;
	if (node->next)
		node->next->pprev = &next->sharers.first;
	hlist_replace_rcu(&process->by_mm, &next->by_mm);
}

/* A switch that did not find @bits yet lowers nothing that was changed here. */
void upmu_process_permit(const struct upmu_process *process, u32 bits)
{
	struct upmu_process *first = upmu_process_with(process->mm);
	u32 most;

	lockdep_assert_held(&upmu_lock);
	do
		most = READ_ONCE(first->most);
	while (cmpxchg(&first->most, most, (most | bits) + UPMU_USER_ALL + 1) !=
	       most);
}

void upmu_process_add(struct upmu_process *process)
{
	lockdep_assert_held(&upmu_lock);
	list_add_tail(&process->listed, &upmu_processes);
	WRITE_ONCE(upmu_process_count, upmu_process_count + 1);
	hlist_add_head_rcu(&process->by_pid, upmu_pid_bucket(process->pid));
	upmu_table_add_by_mm(process);
	upmu_process_permit(process, upmu_process_leased(process));
	upmu_family_count(process, 1);
}

void upmu_process_del(struct upmu_process *process)
{
	lockdep_assert_held(&upmu_lock);
	upmu_family_count(process, -1);
	list_del(&process->listed);
	WRITE_ONCE(upmu_process_count, upmu_process_count - 1);
	hlist_del_rcu(&process->by_pid);
	upmu_table_del_by_mm(process);
	upmu_process_retire(process);
}

static void upmu_table_forget(unsigned int many)
{
	struct upmu_process *process;

	lockdep_assert_held(&upmu_lock);
	while (many-- && !list_empty(&upmu_processes)) {
		process = list_first_entry(&upmu_processes, struct upmu_process,
					   listed);
		if (upmu_process_is_idle(process))
			upmu_process_del(process);
		else
			list_move_tail(&process->listed, &upmu_processes);
	}
}

/*
 * Else each switch of many that share memory looked in vain for one among them
 * that a lease covers.
 */
void upmu_process_forget(void)
{
	unsigned int many = READ_ONCE(upmu_process_count), portion;
	unsigned long flags;

	for (; many; many -= portion) {
		portion = min(many, UPMU_TABLE_PORTION);
		raw_spin_lock_irqsave(&upmu_lock, flags);
		upmu_table_forget(portion);
		raw_spin_unlock_irqrestore(&upmu_lock, flags);
	}
}
