// SPDX-License-Identifier: GPL-2.0-only
/* written.c - processes that wrote registers, and whose leases that concerns */
#include <linux/rculist.h>

#include "lease.h"
#include "process.h"

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
void notrace upmu_process_wrote(struct task_struct *task,
				const struct mm_struct *mm, u32 written)
{
	struct upmu_process *process = upmu_process_find(task_tgid(task));
	struct upmu_process *by = process;

	if (!process || !upmu_process_leased(process))
		by = upmu_process_permitted(mm, written);
	if (!by || !upmu_process_leased(by))
		upmu_writer_note(&upmu_open_writer, task);
	if (by)
		upmu_process_note(by, task, written);
	/* That of its leases which ended just now is told, too. */
	if (process && process != by)
		upmu_process_note(process, task, written);
	upmu_lease_tell();
}
