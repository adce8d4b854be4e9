// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - /proc/upmu
 *
 * In /proc and not in sysfs: it is a list without bound, one line per lease
 * and per CPU, while a sysfs attribute is one value and one page. Not in
 * debugfs: everybody may ask why a lease was refused, as `upmu check` does. So
 * it interrupts no CPU, keeps interrupts on and takes no lock but that of the
 * last refusal: what is shown of other CPUs is what the module last did there.
 * The list is gone through once, in however many portions it is read.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/perf/arm_pmu.h>
#include <linux/proc_fs.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>

#include "counters.h"
#include "lease.h"
#include "process.h"

/* A lease's line is shorter. */
#define UPMU_STATE_LINE 128

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
	const struct upmu_family *family = READ_ONCE(hold->family);
	unsigned int processes, executed = 0;

	if (!family)
		return 1;
	processes = READ_ONCE(family->processes);
	if (!(hold->flags & UPMU_LEASE_EXEC))
		executed = READ_ONCE(family->executed);
	return 1 + processes - min(executed, processes);
}

static void upmu_state_show_lease(struct seq_file *m,
				  const struct upmu_hold *hold)
{
	seq_printf(m,
		   "lease pid %d mode %s%s%s %s processes %u age_ms %lld comm %s\n",
		   pid_vnr(hold->pid), upmu_mode_names[hold->mode],
		   hold->flags & UPMU_LEASE_CHILDREN ? "+children" : "",
		   hold->flags & UPMU_LEASE_EXEC ? "+exec" : "",
		   READ_ONCE(hold->state) == UPMU_STATE_BROKEN ? "broken"
							       : "ok",
		   upmu_state_processes(hold),
		   ktime_ms_delta(ktime_get(), hold->since), hold->comm);
}

static int upmu_state_show(struct seq_file *m, void *unused)
{
	const struct upmu_hold *hold;
	int cpu;

	upmu_state_show_head(m);
	rcu_read_lock();
	list_for_each_entry_rcu(hold, &upmu_holds, listed) {
		if (seq_has_overflowed(m))
			break; /* this is called again, with more room */
		upmu_state_show_lease(m, hold);
	}
	rcu_read_unlock();
	for_each_online_cpu(cpu)
		upmu_state_show_cpu(m, cpu);
	return 0;
}

/* Room for all, or it would be written again and again. */
static int upmu_state_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, upmu_state_show, NULL,
				PAGE_SIZE +
					UPMU_STATE_LINE * upmu_lease_count());
}

static const struct proc_ops upmu_state_ops = {
	.proc_open = upmu_state_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

int upmu_state_init(void)
{
	return proc_create("upmu", 0444, NULL, &upmu_state_ops) ? 0 : -ENOMEM;
}

void upmu_state_exit(void)
{
	remove_proc_entry("upmu", NULL);
}
