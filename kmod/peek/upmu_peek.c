// SPDX-License-Identifier: GPL-2.0-only
/*
 * upmu_peek.c - for tests only: look at and change each CPU's PMU registers
 *
 * upmu.ko is to leave them as they were; this tells, independently of it.
 * Reading /proc/upmu_peek prints one line per CPU, without the counts that run.
 * Writing "CPU REGISTER VALUE [N]" changes one, REGISTER being as printed;
 * "CPU wrap 1" puts a function of this module before the PMU driver's `start`,
 * as a module that means to own the PMU would, "CPU wrap 0" takes it out.
 * /proc/upmu_place tells where in upmu.ko's table the reader's memory belongs.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/perf/arm_pmu.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../process.h"
#include "late.h"
#include "regs/regs.h"

struct peek {
	u32 control, enabled, interrupts, overflow, selected, access, filter;
	u32 counters;
	u32 type[UPMU_REGS_MAX_COUNTERS];
	u64 counter[UPMU_REGS_MAX_COUNTERS];
	u64 cycles;
};

static void peek_read(void *data)
{
	struct peek *peek = data;
	unsigned int n;

	peek->control = upmu_regs_control();
	peek->enabled = upmu_regs_enabled();
	peek->interrupts = upmu_regs_interrupts();
	peek->overflow = upmu_regs_overflow();
	peek->selected = upmu_regs_selected();
	peek->access = upmu_regs_user_access();
	peek->counters = upmu_regs_counters();
	peek->cycles = upmu_regs_cycles64();
	for (n = 0; n < peek->counters; n++) {
		peek->type[n] = upmu_regs_type(n);
		peek->counter[n] = upmu_regs_counter(n);
	}
	if (upmu_regs_has_filter())
		peek->filter = upmu_regs_type(31);
	upmu_regs_select(peek->selected);
}

static int peek_show(struct seq_file *m, void *unused)
{
	struct peek peek = {};
	unsigned int n;
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		smp_call_function_single(cpu, peek_read, &peek, 1);
		seq_printf(m, "cpu %d control %x enabled %x", cpu, peek.control,
			   peek.enabled);
		seq_printf(m, " interrupts %x overflow %x selected %x",
			   peek.interrupts, peek.overflow, peek.selected);
		seq_printf(m, " access %x filter %x cycles %llx", peek.access,
			   peek.filter, peek.cycles);
		for (n = 0; n < peek.counters; n++)
			seq_printf(m, " type%u %x counter%u %llx", n,
				   peek.type[n], n, peek.counter[n]);
		seq_putc(m, '\n');
	}
	cpus_read_unlock();
	return 0;
}

struct poke {
	char name[16];
	u32 value;
	u32 n;
	bool known;
};

static void poke_type(struct poke *poke, bool type)
{
	u32 selected = upmu_regs_selected();

	if (type && poke->n == 31 && !upmu_regs_has_filter())
		return; /* reserved */
	if (type)
		upmu_regs_set_type(poke->n, poke->value);
	else
		upmu_regs_set_counter(poke->n, poke->value);
	upmu_regs_select(selected);
}

static void poke_write(void *data)
{
	struct poke *poke = data;

	poke->known = true;
	if (!strcmp(poke->name, "control")) {
		upmu_regs_write_control(poke->value);
	} else if (!strcmp(poke->name, "enabled")) {
		upmu_regs_disable(~poke->value);
		upmu_regs_enable(poke->value);
	} else if (!strcmp(poke->name, "interrupts")) {
		upmu_regs_disable_interrupts(~poke->value);
		upmu_regs_enable_interrupts(poke->value);
	} else if (!strcmp(poke->name, "overflow")) {
		upmu_regs_clear_overflow(~poke->value);
		upmu_regs_set_overflow(poke->value);
	} else if (!strcmp(poke->name, "selected")) {
		upmu_regs_select(poke->value);
	} else if (!strcmp(poke->name, "access")) {
		upmu_regs_set_user_access(poke->value);
	} else if (!strcmp(poke->name, "cycles")) {
		upmu_regs_set_cycles(poke->value);
	} else if (!strcmp(poke->name, "type")) {
		poke_type(poke, true);
	} else if (!strcmp(poke->name, "counter")) {
		poke_type(poke, false);
	} else {
		poke->known = false;
	}
	upmu_regs_isb();
}

static struct arm_pmu *peek_wrapped;
static void (*peek_driver_start)(struct arm_pmu *pmu);

static void peek_start(struct arm_pmu *pmu)
{
	peek_driver_start(pmu);
}

static void peek_unwrap(void)
{
	if (!peek_wrapped)
		return;
	WRITE_ONCE(peek_wrapped->start, peek_driver_start);
	peek_wrapped = NULL;
	synchronize_rcu(); /* it is called with interrupts off */
}

static int peek_wrap(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
	};
	struct perf_event *event;

	if (peek_wrapped)
		return -EBUSY;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	peek_wrapped = to_arm_pmu(event->pmu);
	peek_driver_start = peek_wrapped->start;
	WRITE_ONCE(peek_wrapped->start, peek_start);
	perf_event_release_kernel(event);
	return 0;
}

static ssize_t peek_write(struct file *file, const char __user *text,
			  size_t length, loff_t *position)
{
	struct poke poke = {};
	char line[64] = "";
	int cpu, err;

	if (length >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, length))
		return -EFAULT;
	if (sscanf(line, "%d %15s %i %u", &cpu, poke.name, &poke.value,
		   &poke.n) < 3)
		return -EINVAL;
	if (!strcmp(poke.name, "wrap")) {
		err = poke.value ? peek_wrap(cpu) : (peek_unwrap(), 0);
		return err ? err : length;
	}
	err = smp_call_function_single(cpu, poke_write, &poke, 1);
	if (err)
		return err;
	return poke.known ? length : -EINVAL;
}

static int peek_open(struct inode *inode, struct file *file)
{
	return single_open(file, peek_show, NULL);
}

static const struct proc_ops peek_ops = {
	.proc_open = peek_open,
	.proc_read = seq_read,
	.proc_write = peek_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int peek_show_place(struct seq_file *m, void *unused)
{
	seq_printf(m, "%u\n", upmu_process_place(current->mm));
	return 0;
}

static int __init peek_init(void)
{
	int err = late_init();

	if (err)
		return err;
	if (proc_create("upmu_peek", 0600, NULL, &peek_ops) &&
	    proc_create_single("upmu_place", 0400, NULL, peek_show_place))
		return 0;
	remove_proc_subtree("upmu_peek", NULL);
	late_exit();
	return -ENOMEM;
}

static void __exit peek_exit(void)
{
	remove_proc_entry("upmu_place", NULL);
	remove_proc_entry("upmu_peek", NULL);
	peek_unwrap();
	late_exit();
}

module_init(peek_init);
module_exit(peek_exit);
MODULE_DESCRIPTION("For tests: shows and changes PMU registers");
MODULE_LICENSE("GPL");
