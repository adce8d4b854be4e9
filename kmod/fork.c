// SPDX-License-Identifier: GPL-2.0-only
/* fork.c - a covered process forks, executes a program, ends */
#include <linux/binfmts.h>
#include <linux/sched/signal.h>

#include "lease.h"
#include "process.h"

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

/* The last look at this task, which will have other memory, or none. */
static void upmu_process_check(void)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_access_check();
	local_irq_restore(flags);
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
