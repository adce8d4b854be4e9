// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu.c - a CPU comes, goes, or loses its registers in idle
 */
#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>

#include "counters.h"

static enum cpuhp_state upmu_cpuhp;

/* On that CPU, before it runs any user task, after perf has reset its PMU. */
static int upmu_cpu_online(unsigned int cpu)
{
	bool looked_after = upmu_publish_cpu(cpu);
	unsigned long flags;

	local_irq_save(flags);
	upmu_core_cpu_up(looked_after);
	local_irq_restore(flags);
	upmu_counters_cpu_online();
	local_irq_save(flags);
	upmu_access_cpu_up(NULL);
	upmu_fold_cpu_online();
	local_irq_restore(flags);
	return 0;
}

/* The permission stays: before 5.11 tasks still run here for a while. */
static int upmu_cpu_offline(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	upmu_counters_cpu_offline();
	local_irq_restore(flags);
	return 0;
}

/* Interrupts off, RCU watching. */
static int upmu_cpu_pm(struct notifier_block *block, unsigned long action,
		       void *unused)
{
	switch (action) {
	case CPU_PM_ENTER:
		upmu_counters_cpu_down();
		return NOTIFY_OK;
	case CPU_PM_EXIT:
	case CPU_PM_ENTER_FAILED:
		upmu_counters_cpu_up();
		upmu_access_cpu_up(NULL);
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

/* perf's has priority 0: on the way up it must have reset the PMU before. */
static struct notifier_block upmu_cpu_pm_block = {
	.notifier_call = upmu_cpu_pm,
	.priority = -1,
};

int upmu_cpu_init(void)
{
	int state, err;

	/* Dynamic states are started before user tasks may run on a CPU. */
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "upmu:online",
				  upmu_cpu_online, upmu_cpu_offline);
	if (state < 0)
		return state;
	upmu_cpuhp = state;
	err = cpu_pm_register_notifier(&upmu_cpu_pm_block);
	if (err)
		cpuhp_remove_state(upmu_cpuhp);
	return err;
}

void upmu_cpu_exit(void)
{
	cpu_pm_unregister_notifier(&upmu_cpu_pm_block);
	cpuhp_remove_state(upmu_cpuhp);
}
