/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - the processes that leases cover
 *
 * One object per covered process, found by its memory at a context switch (a
 * thread runs with its process's mm) and by its ID at fork, exec and exit. What
 * it forks is covered by its families (family.h).
 */
#ifndef UPMU_PROCESS_H
#define UPMU_PROCESS_H

#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "family.h"

struct linux_binprm;

/**
 * struct upmu_process - one covered process
 * @by_mm: in the table that the scheduler asks, the first with that memory only
 * @sharers: of the first: all others with that memory (vfork, CLONE_VM)
 * @most: of the first: what any lease of theirs permits, or did until a switch
 *	asked all of them; and above that, how often more was permitted
 * @sharing: of the others: among those
 * @by_pid: in the table that fork, exec and exit ask
 * @listed: in the list of all
 * @mm: its memory; the mm_struct is pinned (not the memory), for a bare
 *	pointer could come back as another process's
 * @pid: its thread group, pinned
 * @own: leases that it took itself
 * @holds: the same, by struct upmu_hold.of_process
 * @family: innermost of those that cover it or what it forks; NULL: none
 * @executed: it executed a program since it was forked
 * @written: enum upmu_written, under its own leases
 * @free: frees it after the readers
 *
 * Changed under upmu_lock, but @written (atomic); @mm, @pid and @executed stay
 * as they were when it was added. A context switch reads @by_mm, @sharers,
 * @most, @sharing, @mm, @own.bits, @family and @executed.
 */
struct upmu_process {
	struct hlist_node by_mm;
	struct hlist_head sharers;
	u32 most;
	struct hlist_node sharing;
	struct hlist_node by_pid;
	struct list_head listed;
	struct mm_struct *mm;
	struct pid *pid;
	struct upmu_leases own;
	struct list_head holds;
	struct upmu_family *family;
	bool executed;
	atomic_t written;
	struct rcu_work free;
};

#define UPMU_PROCESS_BITS 13

/**
 * struct upmu_table - what every context switch asks; upmu_lock, RCU to read
 * @by_mm: the covered processes, by a hash of their memory
 * @otherwise: what everybody is permitted, by `open`
 */
struct upmu_table {
	DECLARE_HASHTABLE(by_mm, UPMU_PROCESS_BITS);
	u32 otherwise;
};

extern struct upmu_table upmu_table;

/* Cheap; mm_structs are at least 64 bytes apart. */
static __always_inline unsigned int
upmu_process_place(const struct mm_struct *mm)
{
	unsigned long value = (unsigned long)mm;

	value ^= value >> UPMU_PROCESS_BITS;
	value >>= 6;
	return value % BIT(UPMU_PROCESS_BITS);
}

static __always_inline struct hlist_head *
upmu_process_bucket(const struct mm_struct *mm)
{
	return &upmu_table.by_mm[upmu_process_place(mm)];
}

/*
 * The first of the covered processes with memory @mm, NULL: none. RCU,
 * interrupts off, or upmu_lock.
 */
static __always_inline struct upmu_process *
upmu_process_with(const struct mm_struct *mm)
{
	struct hlist_node *node = READ_ONCE(upmu_process_bucket(mm)->first);
	struct upmu_process *process;

	for (; unlikely(node); node = READ_ONCE(node->next)) {
		process = hlist_entry(node, struct upmu_process, by_mm);
		if (process->mm == mm)
			return process;
	}
	return NULL;
}

/* process.c */

int upmu_process_init(void);
void upmu_process_exit(void);
/* Before what forks may be covered: keeps objects in reserve. Sleeps. */
int upmu_process_fill_reserve(void);

/* A new one that nobody finds yet; NULL: no memory. Sleeps. */
struct upmu_process *upmu_process_new(struct task_struct *task);
/* The same in a tracepoint. */
struct upmu_process *upmu_process_new_atomic(struct task_struct *task);
/* One that was never added, or NULL. */
void upmu_process_discard(struct upmu_process *process);
/* One that nobody finds any more: freed when nobody reads it. */
void upmu_process_retire(struct upmu_process *process);

/*
 * What @process is permitted, NULL being all that are not covered; this and the
 * next two: upmu_lock, RCU, or interrupts off.
 */
u32 upmu_process_bits(struct upmu_process *process);
/* What the leases that cover @process permit. */
u32 upmu_process_leased(const struct upmu_process *process);
/* In @family, its innermost; what a founder executed before is nothing to it. */
bool upmu_process_executed_in(const struct upmu_process *process,
			      const struct upmu_family *family);

/* The rest of it with upmu_lock held. */

/* What @process passes on to what it forks, and as to whom. */
struct upmu_family *upmu_process_passes(const struct upmu_process *process,
					bool *executed);
/* Its next lease is of a family: its own, or @spare, which it then takes. */
struct upmu_family *upmu_process_found(struct upmu_process *process,
				       struct upmu_family **spare);
/* @process came (1) or goes (-1). */
void upmu_family_count(const struct upmu_process *process, int by);
/* Neither holds anything nor is covered by anything. */
bool upmu_process_is_idle(const struct upmu_process *process);
/* Leases that cover it. */
unsigned int upmu_process_leases(const struct upmu_process *process);

/* table.c */

/* NULL: not covered. upmu_lock, RCU, or interrupts off. */
struct upmu_process *upmu_process_find(const struct pid *pid);
/* The next three with upmu_lock held. */
void upmu_process_add(struct upmu_process *process);
/* Takes it out; it is freed when nobody reads it any more. */
void upmu_process_del(struct upmu_process *process);
/* A lease of @process, which was added, permits @bits as of now. */
void upmu_process_permit(const struct upmu_process *process, u32 bits);
/* All that are idle are taken out; upmu_lock is not held. */
void upmu_process_forget(void);

/* written.c */

/* By `open` alone, under no lease. */
extern struct upmu_writer upmu_open_writer;
/*
 * @task, permitted by whose memory is @mm (NULL: nobody's), wrote registers
 * (enum upmu_written); interrupts off.
 */
void upmu_process_wrote(struct task_struct *task, const struct mm_struct *mm,
			u32 written);

/*
 * fork.c: the probes of sched_process_fork and _exec, and what that of _exit
 * calls; no sleep, upmu_lock not held.
 */
void upmu_process_forked(void *data, struct task_struct *parent,
			 struct task_struct *child);
void upmu_process_executed(void *data, struct task_struct *task, pid_t old_pid,
			   struct linux_binprm *bprm);
void upmu_process_exited(struct task_struct *task);

#endif
