/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - the processes that leases cover
 *
 * One object per covered process, found by its memory at a context switch (a
 * thread runs with its process's mm) and by its ID at fork, exec and exit.
 *
 * What it forks is covered by its leases with CHILDREN as they are then. Those
 * make up a family: its counts are shared by all that were forked into it, so
 * that the end of a lease is one change however many it covers. A lease taken
 * after the first fork founds a new family, whose outer one the last was.
 */
#ifndef UPMU_PROCESS_H
#define UPMU_PROCESS_H

#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/pid.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "upmu.h"

struct linux_binprm;

/**
 * struct upmu_leases - so many leases of each mode
 * @of: by mode
 * @bits: what they permit
 */
struct upmu_leases {
	unsigned int of[UPMU_MODES];
	u32 bits;
};

/**
 * struct upmu_writer - who wrote registers first, for the log
 * @pid: 0: nobody did
 * @comm: its name
 *
 * @pid by cmpxchg, then @comm by whoever was the first.
 */
struct upmu_writer {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct upmu_told - what happened to processes that a family's leases cover
 * @written: enum upmu_written (atomic), by any of them
 * @writer: the first of those
 * @uncovered: one more could not be covered for want of memory
 */
struct upmu_told {
	atomic_t written;
	struct upmu_writer writer;
	bool uncovered;
};

/**
 * struct upmu_family - what a holder gives to the processes that it forks
 * @ref: its founder, its processes, its leases, and families within it
 * @all: its leases
 * @exec: those of them that a process keeps when it executes a program
 * @founder: the holder; only ever compared
 * @outer: the family that the founder was in itself
 * @outer_executed: and had executed a program in
 * @processes: in it now
 * @executed: those of them that executed a program
 * @joined: somebody was forked into it: later leases are not for it
 * @told: [1]: its leases that also cover who executed a program; [0]: others
 * @rcu: frees it after the readers
 *
 * Changed under upmu_lock, but @told and @ref; @founder stays as it was when it
 * was made known. A context switch reads the bits, @founder and the outer ones,
 * which change only past families without a lease.
 */
struct upmu_family {
	struct kref ref;
	struct upmu_leases all;
	struct upmu_leases exec;
	const struct pid *founder;
	struct upmu_family *outer;
	bool outer_executed;
	unsigned int processes;
	unsigned int executed;
	bool joined;
	struct upmu_told told[2];
	struct rcu_head rcu;
};

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
/* By `open` alone, under no lease. */
extern struct upmu_writer upmu_open_writer;

/* Guards both tables, every process, family and hold in force. */
extern raw_spinlock_t upmu_lock;

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

/* What @process is permitted, NULL being all that are not covered. */
u32 upmu_process_bits(struct upmu_process *process);

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

int upmu_process_init(void);
void upmu_process_exit(void);
/* Before what forks may be covered: keeps objects in reserve. Sleeps. */
int upmu_process_fill_reserve(void);

/* A new one that nobody finds yet; NULL: no memory. Sleeps. */
struct upmu_process *upmu_process_new(struct task_struct *task);
struct upmu_family *upmu_family_new(void);
/* One that was never added, or NULL. */
void upmu_process_discard(struct upmu_process *process);
void upmu_family_put(struct upmu_family *family);

/* NULL: not covered. upmu_lock, RCU, or interrupts off. */
struct upmu_process *upmu_process_find(const struct pid *pid);

/* All that are idle are taken out; upmu_lock is not held. */
void upmu_process_forget(void);
/* One that nobody finds any more: freed when nobody reads it. */
void upmu_process_retire(struct upmu_process *process);

/* The rest with upmu_lock held. */

/* What the leases that cover @process permit; or RCU, or interrupts off. */
u32 upmu_process_leased(const struct upmu_process *process);
/* @process came (1) or goes (-1). */
void upmu_family_count(const struct upmu_process *process, int by);

void upmu_process_add(struct upmu_process *process);
/* Takes it out; it is freed when nobody reads it any more. */
void upmu_process_del(struct upmu_process *process);
/* A lease of @process, which was added, permits @bits as of now. */
void upmu_process_permit(const struct upmu_process *process, u32 bits);
/* Neither holds anything nor is covered by anything. */
bool upmu_process_is_idle(const struct upmu_process *process);
/* Leases that cover it. */
unsigned int upmu_process_leases(const struct upmu_process *process);
/* Its next lease is of a family: its own, or @spare, which it then takes. */
struct upmu_family *upmu_process_found(struct upmu_process *process,
				       struct upmu_family **spare);
/* @task wrote registers (enum upmu_written); interrupts off. */
void upmu_process_wrote(struct task_struct *task, u32 written);

/*
 * The probes of sched_process_fork and _exec, and what that of _exit calls; no
 * sleep, upmu_lock not held.
 */
void upmu_process_forked(void *data, struct task_struct *parent,
			 struct task_struct *child);
void upmu_process_executed(void *data, struct task_struct *task, pid_t old_pid,
			   struct linux_binprm *bprm);
void upmu_process_exited(struct task_struct *task);

#endif
