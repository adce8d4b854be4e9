/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * family.h - what holders give to the processes that they fork
 *
 * What a process forks is covered by its leases with CHILDREN as they are then.
 * Those make up a family: its counts are shared by all that were forked into
 * it, so that the end of a lease is one change however many it covers. A lease
 * taken after the first fork founds a new family, whose outer one the last was.
 */
#ifndef UPMU_FAMILY_H
#define UPMU_FAMILY_H

#include <linux/kref.h>
#include <linux/pid.h>
#include <linux/spinlock.h>

#include "upmu.h"

/* Guards both tables of processes, every process, family and live hold. */
extern raw_spinlock_t upmu_lock;

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

/*
 * The one that @family is in, and whether a process in it has executed a
 * program in that one too. upmu_lock, or RCU.
 */
static inline struct upmu_family *
upmu_family_next(const struct upmu_family *family, bool *executed)
{
	/* The flag is seen no later. */
	struct upmu_family *outer = smp_load_acquire(&family->outer);

	*executed |= READ_ONCE(family->outer_executed);
	return outer;
}

/* Those that cover a process in it. */
static inline const struct upmu_leases *
upmu_family_leases(const struct upmu_family *family, bool executed)
{
	return executed ? &family->exec : &family->all;
}

struct upmu_family *upmu_family_new(void);
struct upmu_family *upmu_family_get(struct upmu_family *family);
void upmu_family_put(struct upmu_family *family);
/* Waits until all that were put have been freed. */
void upmu_family_exit(void);

/* The rest with upmu_lock held. */

/* One lease of @mode more (1) or less (-1). */
void upmu_leases_change(struct upmu_leases *leases, u32 mode, int by);
unsigned int upmu_leases_sum(const struct upmu_leases *leases);
/*
 * The innermost of @family and its outer ones that has a lease in force; NULL:
 * none. A process that executed a program has done so for all outer ones too.
 */
struct upmu_family *upmu_family_live(struct upmu_family *family,
				     bool *executed);
/* Past those of its outer ones that no lease is in force of. */
void upmu_family_trim(struct upmu_family *family);

#endif
