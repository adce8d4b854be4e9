// SPDX-License-Identifier: GPL-2.0-only
/*
 * late.c - for tests only: how long interrupts were off
 *
 * A timer of each CPU, due every LATE_PERIOD_NS, runs in the interrupt itself.
 * How late it was at worst is how long interrupts were off, less one period at
 * most; the functions that were at work tell whose doing it was. On a board
 * with -icount a nanosecond is an instruction. Writing "1" to /proc/upmu_late
 * begins, "0" ends, "x" switches them off for
 * 100 us; reading tells what came of it.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>

#include "../compat.h"
#include "late.h"

#define LATE_PERIOD_NS 10000
#define LATE_MADE_US   100
#define LATE_LOOK_NS   10000 /* to look whose it was takes longer */
#define LATE_DEPTH     32

struct late {
	struct hrtimer timer;
	bool runs;
	u64 rounds;
	s64 worst_ns, pages_ns;
	unsigned long where, ours;
};

static DEFINE_PER_CPU(struct late, late_here);
static DEFINE_MUTEX(late_mutex);

/* Pages are given out and back in portions, by whoever asks for the next. */
static const char *const late_pages[] = {
	"free_unref_page", "free_frozen_page",	     "free_pcppages_bulk",
	"rmqueue",	   "get_page_from_freelist", NULL
};

static const char *const late_upmu[] = { " [upmu]", NULL };

struct late_stack {
	unsigned long entries[LATE_DEPTH];
	unsigned int count;
};

/* The innermost of the functions at work that has such a name; 0: none. */
static unsigned long late_at_work(const struct late_stack *stack,
				  const char *const *texts)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int n, t;

	for (n = 0; n < stack->count; n++) {
		snprintf(name, sizeof(name), "%ps", (void *)stack->entries[n]);
		for (t = 0; texts[t]; t++)
			if (strstr(name, texts[t]))
				return stack->entries[n];
	}
	return 0;
}

/* Who called what was interrupted, or that where it is not to be found. */
static unsigned long late_caller(const struct late_stack *stack,
				 unsigned long interrupted)
{
	unsigned int n;

	for (n = 0; n + 1 < stack->count; n++)
		if (stack->entries[n] == interrupted)
			return stack->entries[n + 1];
	return interrupted;
}

static void late_note(struct late *late, s64 ns)
{
	struct pt_regs *regs = get_irq_regs();
	struct late_stack stack;

	stack.count = stack_trace_save(stack.entries, LATE_DEPTH, 0);
	if (ns > LATE_LOOK_NS && late_at_work(&stack, late_pages)) {
		late->pages_ns = max(late->pages_ns, ns);
		return;
	}
	late->worst_ns = ns;
	late->where = regs ? late_caller(&stack, instruction_pointer(regs)) : 0;
	late->ours = late_at_work(&stack, late_upmu);
}

static enum hrtimer_restart late_handle(struct hrtimer *timer)
{
	struct late *late = container_of(timer, struct late, timer);
	s64 ns =
		ktime_to_ns(ktime_sub(ktime_get(), hrtimer_get_expires(timer)));

	late->rounds++;
	if (ns > late->worst_ns)
		late_note(late, ns);
	hrtimer_forward_now(timer, ns_to_ktime(LATE_PERIOD_NS));
	return HRTIMER_RESTART;
}

static void late_begin(void *unused)
{
	struct late *late = this_cpu_ptr(&late_here);

	late->rounds = 0;
	late->worst_ns = 0;
	late->where = 0;
	late->pages_ns = 0;
	late->ours = 0;
	upmu_compat_hrtimer_setup(&late->timer, late_handle, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&late->timer, ns_to_ktime(LATE_PERIOD_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
	late->runs = true;
}

static void late_end(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct late *late = per_cpu_ptr(&late_here, cpu);

		if (late->runs)
			hrtimer_cancel(&late->timer);
		late->runs = false;
	}
}

static void late_make(void)
{
	unsigned long flags;

	local_irq_save(flags);
	udelay(LATE_MADE_US);
	local_irq_restore(flags);
}

static int late_show(struct seq_file *m, void *unused)
{
	int cpu;

	for_each_online_cpu(cpu) {
		const struct late *late = per_cpu_ptr(&late_here, cpu);

		seq_printf(m, "cpu %d rounds %llu\n", cpu, late->rounds);
		seq_printf(m, "late_ns %lld at %pS under %pS\n", late->worst_ns,
			   (void *)late->where, (void *)late->ours);
		seq_printf(m, "pages_ns %lld\n", late->pages_ns);
	}
	return 0;
}

static ssize_t late_write(struct file *file, const char __user *text,
			  size_t length, loff_t *position)
{
	char first;

	if (!length || get_user(first, text))
		return -EFAULT;
	if (first == 'x') {
		late_make();
		return length;
	}
	mutex_lock(&late_mutex);
	late_end();
	if (first == '1')
		on_each_cpu(late_begin, NULL, 1);
	mutex_unlock(&late_mutex);
	return length;
}

static int late_open(struct inode *inode, struct file *file)
{
	return single_open(file, late_show, NULL);
}

static const struct proc_ops late_ops = {
	.proc_open = late_open,
	.proc_read = seq_read,
	.proc_write = late_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

int late_init(void)
{
	return proc_create("upmu_late", 0600, NULL, &late_ops) ? 0 : -ENOMEM;
}

void late_exit(void)
{
	remove_proc_entry("upmu_late", NULL);
	late_end();
}
