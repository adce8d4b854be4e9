/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lease.h - what an open descriptor holds
 *
 * A hold is made with the open file and carries one lease in its life:
 *
 *   NONE --take--> LIVE --end--> ENDED, and in upmu_ending until all that it
 *                   |  ^           changed has been put back
 *                   v  |
 *                  BROKEN (somebody took its registers)
 */
#ifndef UPMU_LEASE_H
#define UPMU_LEASE_H

#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "upmu.h"

struct upmu_process;

/**
 * struct upmu_hold - what a descriptor holds, or `open`
 * @ref: its file; upmu_ending
 * @listed: in upmu_holds while in force; RCU
 * @of_process: in its process's holds
 * @ending: in upmu_ending
 * @process: who took it, while in force; NULL: `open`
 * @family: with CHILDREN, what it is of
 * @pid: of the process that took it, from then on
 * @uid: whose it was
 * @comm: its name
 * @mode: enum upmu_mode
 * @flags: enum upmu_lease_flags
 * @state: enum upmu_lease_state
 * @written: enum upmu_written, as far as told
 * @kept: the same, of what @process no longer tells
 * @since: when
 * @wait: poll()
 * @free: frees it after the readers
 *
 * upmu_mutex: @pid, @uid, @comm, @mode, @flags and @since, set while it is NONE;
 * @family at its end. upmu_lock: the lists, @process, @kept, @state (BROKEN
 * comes by cmpxchg). @written (atomic) is only told, and may lag: a work tells
 * it, and whoever settles the lease's end, perhaps at the same time.
 */
struct upmu_hold {
	struct kref ref;
	struct list_head listed;
	struct list_head of_process;
	struct list_head ending;
	struct upmu_process *process;
	struct upmu_family *family;
	struct pid *pid;
	kuid_t uid;
	char comm[TASK_COMM_LEN];
	u32 mode;
	u32 flags;
	u32 state;
	atomic_t written;
	u32 kept;
	ktime_t since;
	wait_queue_head_t wait;
	struct rcu_work free;
};

/* Those of processes that are in force; upmu_lock, RCU to read. */
extern struct list_head upmu_holds;

extern const char *const upmu_mode_names[UPMU_MODES];

/* What is put off: the end of leases, and telling of them. */
extern struct workqueue_struct *upmu_queue;

int upmu_lease_init(void);
void upmu_lease_exit(void);

/* NULL: no memory */
struct upmu_hold *upmu_hold_new(void);
void upmu_hold_put(struct upmu_hold *hold);

/* For this process; sleeps. The contract is struct upmu_lease's in uapi.h. */
int upmu_lease_take(struct upmu_hold *hold, u32 mode, u32 flags);
/* For all processes; upmu_mutex. */
int upmu_lease_take_for_all(struct upmu_hold *hold, u32 mode);
/* Idempotent; interrupts on, may not sleep. Access ends before it returns. */
void upmu_lease_end(struct upmu_hold *hold);
/* All that @pid's process took itself; the same. */
void upmu_lease_end_of(const struct pid *pid);
/* Until all that ended leases changed has been put back; sleep. */
void upmu_lease_settle(void);
void upmu_lease_settle_locked(void); /* upmu_mutex */
/* Fills what INFO tells of all leases. */
void upmu_lease_info(struct upmu_info *info);
unsigned int upmu_lease_count(void);

/* mode.c: leases that are not yet put back; upmu_mutex */

/* One of @mode more may be had beside them: 0, or -EBUSY. */
int upmu_mode_admit(u32 mode);
int upmu_mode_begin(u32 mode);
void upmu_mode_end(u32 mode);
bool upmu_mode_any_users(void);

/* tell.c */

int upmu_tell_init(void);
void upmu_tell_exit(void);
/* What was taken from perf was taken back by somebody: tell the holders. */
void upmu_lease_check(void);
/* Again in a while, as long as something is taken. */
void upmu_lease_look_soon(void);
/*
 * Something happened to covered processes: holders are told, soon. Also from
 * where the scheduler holds its locks.
 */
void upmu_lease_tell(void);
/* enum upmu_written, up to now. */
u32 upmu_lease_written(const struct upmu_hold *hold);
/* @hold is told of @written, if it was not, and the log the first time. */
void upmu_lease_tell_written(struct upmu_hold *hold, u32 written);
/*
 * What @process wrote until now is told to its holds, not to a later one;
 * upmu_lock.
 */
void upmu_lease_keep_written(struct upmu_process *process);

#endif
