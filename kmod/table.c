// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - covered processes, found by their ID and by their memory
 */
#include <linux/hashtable.h>
#include <linux/rculist.h>

#include "process.h"

struct upmu_table upmu_table;
/* upmu_lock; RCU to read */
static DEFINE_HASHTABLE(upmu_by_pid, UPMU_PROCESS_BITS);

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
	struct upmu_process *first;

	first = (struct upmu_process *)upmu_process_with(process->mm);
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
	next->sharers.first = node->next;
	if (node->next)
		node->next->pprev = &next->sharers.first;
	hlist_replace_rcu(&process->by_mm, &next->by_mm);
}

void upmu_table_add(struct upmu_process *process)
{
	lockdep_assert_held(&upmu_lock);
	hlist_add_head_rcu(&process->by_pid, upmu_pid_bucket(process->pid));
	upmu_table_add_by_mm(process);
}

void upmu_table_del(struct upmu_process *process)
{
	lockdep_assert_held(&upmu_lock);
	hlist_del_rcu(&process->by_pid);
	upmu_table_del_by_mm(process);
}
