// SPDX-License-Identifier: GPL-2.0-only
/*
 * pinned.c - events of perf that a lease would end for good
 *
 * A pinned event that finds no counter when its turn comes is dead: perf never
 * tries again. One that is off, of a task that sleeps or of an idle cgroup is
 * on no counter: all that perf has of each CPU and task is looked through.
 */
#include <linux/perf_event.h>
#include <linux/perf/arm_pmu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>

#include "counters.h"
#include "lease.h"

/* What is left of the one that a lease was refused for; the lock. */
static DEFINE_SPINLOCK(upmu_pinned_lock);
static struct {
	bool refused;
	pid_t pid;
	char comm[TASK_COMM_LEN];
} upmu_pinned_last;

/**
 * struct upmu_pinned - pinned events that are alive
 * @most: of one CPU, or of one task
 * @owner: whose one of them is, NULL: the kernel's; referenced
 * @only_cycles: one of them counts on the cycle counter or nowhere
 */
struct upmu_pinned {
	unsigned int most;
	struct task_struct *owner;
	bool only_cycles;
};

/* arm64: 64 bits and read in user mode; drivers/perf's get_event_idx. */
static bool upmu_pinned_only_cycles(const struct perf_event *event)
{
	return upmu_publish_user_access() && (event->attr.config1 & 3) == 3 &&
	       (event->hw.config_base & 0xffff) == 0x11;
}

static void upmu_pinned_note(struct upmu_pinned *pinned,
			     const struct perf_event *event,
			     struct task_struct *task)
{
	struct task_struct *owner = READ_ONCE(event->owner);

	if (IS_ERR_OR_NULL(owner))
		owner = task;
	if (!pinned->owner && owner)
		pinned->owner = get_task_struct(owner);
	pinned->only_cycles |= upmu_pinned_only_cycles(event);
}

/* One that is off now may be switched on meanwhile. */
static bool upmu_pinned_is_one(const struct perf_event *event)
{
	return event->group_leader->attr.pinned &&
	       READ_ONCE(event->state) >= PERF_EVENT_STATE_OFF &&
	       upmu_publish_find(event->pmu);
}

/* @task: whose they are if nobody opened them. RCU: they may be thousands. */
static void upmu_pinned_of(struct upmu_pinned *pinned,
			   struct perf_event_context *context,
			   struct task_struct *task)
{
	const struct perf_event *event;
	unsigned int count = 0;

	if (!context)
		return;
	list_for_each_entry_rcu(event, &context->event_list, event_entry) {
		if (!upmu_pinned_is_one(event))
			continue;
		count++;
		upmu_pinned_note(pinned, event, task);
	}
	pinned->most = max(pinned->most, count);
}

static void upmu_pinned_of_tasks(struct upmu_pinned *pinned)
{
	struct task_struct *process, *task;

	for_each_process_thread(process, task)
		upmu_pinned_of(pinned, upmu_compat_perf_context(task), task);
}

static void upmu_pinned_of_cpu(struct upmu_pinned *pinned, unsigned int cpu)
{
	const struct upmu_pmu *upmu = upmu_publish_of_cpu(cpu);

	if (upmu)
		upmu_pinned_of(pinned,
			       upmu_compat_cpu_context(&upmu->pmu->pmu, cpu),
			       NULL);
}

static void upmu_pinned_refuse(struct task_struct *owner)
{
	spin_lock(&upmu_pinned_lock);
	upmu_pinned_last.refused = true;
	upmu_pinned_last.pid = owner ? task_pid_nr(owner) : 0;
	upmu_state_name(upmu_pinned_last.comm,
			owner ? owner->comm : "the kernel");
	spin_unlock(&upmu_pinned_lock);
	pr_info_ratelimited("a lease is refused: a pinned perf event of %s (pid %d) would be lost\n",
			    upmu_pinned_last.comm, upmu_pinned_last.pid);
}

int upmu_pinned_admit(u32 mask)
{
	struct upmu_pinned of_cpus = {}, of_tasks = {};
	unsigned int cpu, most, counters = U32_MAX;
	struct task_struct *owner;
	bool refused;

	rcu_read_lock();
	for_each_online_cpu(cpu) {
		upmu_pinned_of_cpu(&of_cpus, cpu);
		if (upmu_core_of(cpu))
			counters = min(counters, upmu_core_of(cpu)->counters);
	}
	upmu_pinned_of_tasks(&of_tasks);
	rcu_read_unlock();
	most = of_cpus.most + of_tasks.most;
	refused = mask == UPMU_ALL_COUNTERS ? most != 0 : most > counters;
	refused |= of_cpus.only_cycles || of_tasks.only_cycles;
	owner = of_tasks.owner ? of_tasks.owner : of_cpus.owner;
	if (refused)
		upmu_pinned_refuse(owner);
	if (of_tasks.owner)
		put_task_struct(of_tasks.owner);
	if (of_cpus.owner)
		put_task_struct(of_cpus.owner);
	return refused ? -EBUSY : 0;
}

/* By its number for who reads this; 0: there is none of it there. */
void upmu_pinned_show(struct seq_file *m)
{
	rcu_read_lock();
	spin_lock(&upmu_pinned_lock);
	if (upmu_pinned_last.refused)
		seq_printf(m, "refused pid %d comm %s\n",
			   pid_vnr(find_pid_ns(upmu_pinned_last.pid,
					       &init_pid_ns)),
			   upmu_pinned_last.comm);
	spin_unlock(&upmu_pinned_lock);
	rcu_read_unlock();
}
