// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - /proc/upmu
 *
 * In /proc and not in sysfs: it is a list without bound, one line per lease
 * and per CPU, while a sysfs attribute is one value and one page. Not in
 * debugfs: everybody may ask why a lease was refused, as `upmu check` does. So
 * it interrupts no CPU, keeps interrupts on and takes no lock: what is shown
 * of other CPUs is what the module last did there.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/proc_fs.h>
#include <linux/perf/arm_pmu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>

#include "counters.h"
#include "lease.h"
#include "pinned.h"
#include "process.h"

/* Items beside the leases, and the second's position after any of them. */
static int upmu_state_head, upmu_state_cpus;
#define UPMU_STATE_CPUS 0x40000000

static void upmu_state_show_head(struct seq_file *m)
{
	upmu_lease_check();
	seq_printf(m, "abi %d\n", UPMU_ABI);
	seq_printf(m, "published %s\n", upmu_publish_active() ? "yes" : "no");
	seq_printf(m, "raw %s\n", upmu_raw_group() ? "group" : "root");
	seq_printf(m, "open %s\n", upmu_open_name());
	seq_printf(m, "taken 0x%08x\n", upmu_counters_wanted());
	upmu_pinned_show(m);
	seq_printf(m, "leases %u\n", upmu_lease_count());
}

static void upmu_state_show_cpu(struct seq_file *m, int cpu)
{
	const struct upmu_core *core = upmu_core_of(cpu);
	const struct upmu_pmu *upmu = upmu_publish_of_cpu(cpu);

	if (!core)
		seq_printf(m, "cpu %d pmu none\n", cpu);
	else
		seq_printf(m,
			   "cpu %d pmu %s version %u counters %u access 0x%x\n",
			   cpu, upmu ? upmu->pmu->name : "unregistered",
			   core->version, core->counters,
			   upmu_access_granted(cpu));
}

/* A process names itself: no line breaks and no escapes from it. */
void upmu_state_name(char name[TASK_COMM_LEN], const char *comm)
{
	unsigned int n;

	for (n = 0; n < TASK_COMM_LEN - 1 && comm[n]; n++)
		name[n] = isascii(comm[n]) && isprint(comm[n]) ? comm[n] : '?';
	name[n] = '\0';
}

/* Itself and those of its family that it covers. */
static unsigned int upmu_state_processes(const struct upmu_hold *hold)
{
	const struct upmu_family *family = hold->family;

	if (!family)
		return 1;
	return 1 + family->processes -
	       (hold->flags & UPMU_LEASE_EXEC ? 0 : family->executed);
}

static void upmu_state_show_lease(struct seq_file *m,
				  const struct upmu_hold *hold)
{
	char name[TASK_COMM_LEN];

	upmu_state_name(name, hold->comm);
	seq_printf(m,
		   "lease pid %d mode %s%s%s %s processes %u age_ms %lld comm %s\n",
		   pid_vnr(hold->pid), upmu_mode_names[hold->mode],
		   hold->flags & UPMU_LEASE_CHILDREN ? "+children" : "",
		   hold->flags & UPMU_LEASE_EXEC ? "+exec" : "",
		   hold->state == UPMU_STATE_BROKEN ? "broken" : "ok",
		   upmu_state_processes(hold),
		   ktime_ms_delta(ktime_get(), hold->since), name);
}

static void upmu_state_show_cpus(struct seq_file *m)
{
	int cpu;

	for_each_online_cpu(cpu)
		upmu_state_show_cpu(m, cpu);
}

/* @lease, or what comes after the last one. */
static void *upmu_state_item(struct upmu_hold *lease, loff_t *position)
{
	if (lease)
		return lease;
	*position = UPMU_STATE_CPUS;
	return &upmu_state_cpus;
}

static void *upmu_state_start(struct seq_file *m, loff_t *position)
	__acquires(RCU)
{
	rcu_read_lock();
	if (!*position)
		return &upmu_state_head;
	if (*position > UPMU_STATE_CPUS)
		return NULL;
	return upmu_state_item(upmu_lease_nth(*position - 1), position);
}

static void *upmu_state_next(struct seq_file *m, void *item, loff_t *position)
{
	++*position;
	if (item == &upmu_state_cpus)
		return NULL;
	if (item == &upmu_state_head)
		return upmu_state_item(upmu_lease_nth(0), position);
	return upmu_state_item(upmu_lease_after(item), position);
}

static void upmu_state_stop(struct seq_file *m, void *item) __releases(RCU)
{
	rcu_read_unlock();
}

static int upmu_state_show(struct seq_file *m, void *item)
{
	if (item == &upmu_state_head)
		upmu_state_show_head(m);
	else if (item == &upmu_state_cpus)
		upmu_state_show_cpus(m);
	else
		upmu_state_show_lease(m, item);
	return 0;
}

static const struct seq_operations upmu_state_ops = {
	.start = upmu_state_start,
	.next = upmu_state_next,
	.stop = upmu_state_stop,
	.show = upmu_state_show,
};

int upmu_state_init(void)
{
	return proc_create_seq("upmu", 0444, NULL, &upmu_state_ops) ? 0
								    : -ENOMEM;
}

void upmu_state_exit(void)
{
	remove_proc_entry("upmu", NULL);
}
