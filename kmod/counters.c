// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - whose each CPU's counters are
 *
 *          announced             perf is off them: registers saved, begun
 *   FREE ------------> TAKING ------------------------------------> TAKEN
 *    ^  ^                 |                                           |
 *    |  '-----------------'  perf would not go: nothing was changed   |
 *    |                                                                |
 *    '----------------- RETURNING <-----------------------------------'
 *     registers restored            all leases that wanted them ended
 *
 * A state changes on its own CPU with interrupts off. A CPU that is away (off,
 * or without its registers in idle) stays TAKEN: the holder's registers are
 * kept beside those from before. When it comes back in the same session it gets
 * the holder's; in another one, or none, it goes through RETURNING first.
 * upmu_wanted and upmu_session change with upmu_mutex and cpus_read_lock()
 * held, and upmu_wanted to another mask only through 0 and all CPUs FREE.
 */
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "counters.h"
#include "guard.h"

enum upmu_cpu_state {
	UPMU_CPU_FREE,
	UPMU_CPU_TAKING,
	UPMU_CPU_TAKEN,
	UPMU_CPU_RETURNING,
};

/**
 * struct upmu_cpu - the counters of one CPU
 * @state: whose they are
 * @session: which taking this is of
 * @mask: which are taken
 * @perf_ran: perf had events here before
 * @away: @holders is to be put back
 * @before: registers before
 * @holders: registers as user mode left them
 *
 * All on this CPU with interrupts off.
 */
struct upmu_cpu {
	enum upmu_cpu_state state;
	unsigned int session;
	u32 mask;
	bool perf_ran;
	bool away;
	struct upmu_registers before;
	struct upmu_registers holders;
};

static DEFINE_PER_CPU(struct upmu_cpu, upmu_cpu);
DEFINE_PER_CPU(u32, upmu_held_here); /* @mask where @state is TAKEN */
static u32 upmu_wanted;
static unsigned int upmu_session;
static cpumask_t upmu_cpus_of_perf; /* its events are on what is wanted */
static cpumask_t upmu_cpus_refused; /* perf would not go */

static void upmu_cpu_go(struct upmu_cpu *cpu, enum upmu_cpu_state state)
{
	static const u8 from[] = {
		[UPMU_CPU_FREE] =
			BIT(UPMU_CPU_TAKING) | BIT(UPMU_CPU_RETURNING),
		[UPMU_CPU_TAKING] = BIT(UPMU_CPU_FREE),
		[UPMU_CPU_TAKEN] = BIT(UPMU_CPU_TAKING),
		[UPMU_CPU_RETURNING] = BIT(UPMU_CPU_TAKEN),
	};

	lockdep_assert_irqs_disabled();
	if (IS_ENABLED(CONFIG_PROVE_LOCKING))
		WARN_ONCE(!(from[state] & BIT(cpu->state)),
			  "upmu: from state %d to %d", cpu->state, state);
	cpu->state = state;
	this_cpu_write(upmu_held_here, state == UPMU_CPU_TAKEN ? cpu->mask : 0);
}

static void upmu_cpu_announce(void *unused)
{
	struct upmu_cpu *cpu = this_cpu_ptr(&upmu_cpu);
	u32 perf = upmu_wrap_perf_mask();

	if (cpu->state != UPMU_CPU_FREE || !upmu_core_of(smp_processor_id()))
		return;
	upmu_cpu_go(cpu, UPMU_CPU_TAKING);
	cpu->perf_ran = perf;
	if (perf & READ_ONCE(upmu_wanted))
		cpumask_set_cpu(smp_processor_id(), &upmu_cpus_of_perf);
}

/* Interrupts off. */
static void upmu_cpu_take(void *unused)
{
	struct upmu_cpu *cpu = this_cpu_ptr(&upmu_cpu);
	u32 mask = READ_ONCE(upmu_wanted);

	if (cpu->state != UPMU_CPU_TAKING)
		return;
	if (upmu_wrap_perf_mask() & mask) {
		cpumask_set_cpu(smp_processor_id(), &upmu_cpus_refused);
		upmu_cpu_go(cpu, UPMU_CPU_FREE);
		return;
	}
	upmu_access_check(); /* by a holder that runs here, and goes on */
	upmu_registers_save(&cpu->before, mask);
	upmu_guard_taken(&cpu->before);
	/* It was on for perf's events only, and perf will see to them. */
	if (cpu->perf_ran)
		cpu->before.control &= ~UPMU_CONTROL_E;
	if (mask == UPMU_MASK_CYCLES)
		upmu_wrap_mark(smp_processor_id(), true);
	upmu_registers_begin(mask);
	cpu->session = upmu_session;
	cpu->mask = mask;
	upmu_cpu_go(cpu, UPMU_CPU_TAKEN);
	upmu_guard_arm(); /* another's counting may be going on here */
}

/* What perf's events are on is perf's to program. Interrupts off. */
static void upmu_cpu_return(void *unused)
{
	struct upmu_cpu *cpu = this_cpu_ptr(&upmu_cpu);
	u32 perf = upmu_wrap_perf_mask();

	if (cpu->state == UPMU_CPU_TAKING)
		upmu_cpu_go(cpu, UPMU_CPU_FREE);
	if (cpu->state != UPMU_CPU_TAKEN)
		return;
	upmu_cpu_go(cpu, UPMU_CPU_RETURNING);
	upmu_guard_given_back(&cpu->before, cpu->mask & ~perf);
	if (perf)
		cpu->before.control |= UPMU_CONTROL_E;
	upmu_registers_restore(&cpu->before, cpu->mask & ~perf);
	/* This CPU may have been off when they were given back to perf. */
	if (cpu->mask == UPMU_MASK_CYCLES && !(perf & UPMU_MASK_CYCLES))
		upmu_wrap_mark(smp_processor_id(), false);
	cpu->away = false;
	upmu_cpu_go(cpu, UPMU_CPU_FREE);
}

void upmu_counters_cpu_down(void)
{
	struct upmu_cpu *cpu = this_cpu_ptr(&upmu_cpu);

	if (cpu->state != UPMU_CPU_TAKEN || cpu->away)
		return;
	upmu_registers_save(&cpu->holders, cpu->mask);
	cpu->away = true;
}

/* It is asked for anew when it comes again, but online before that. */
void upmu_counters_cpu_offline(void)
{
	upmu_counters_cpu_down();
	cpumask_clear_cpu(smp_processor_id(), &upmu_cpus_refused);
}

void upmu_counters_cpu_up(void)
{
	struct upmu_cpu *cpu = this_cpu_ptr(&upmu_cpu);

	if (!cpu->away)
		return;
	upmu_registers_restore(&cpu->holders, cpu->mask);
	cpu->away = false;
}

void upmu_counters_cpu_online(void)
{
	struct upmu_cpu *cpu = this_cpu_ptr(&upmu_cpu);
	u32 wanted = READ_ONCE(upmu_wanted);
	unsigned long flags;

	local_irq_save(flags);
	if (cpu->state == UPMU_CPU_TAKEN &&
	    (!wanted || cpu->session != upmu_session))
		upmu_cpu_return(NULL);
	if (wanted)
		upmu_cpu_announce(NULL);
	local_irq_restore(flags);
	/* Of kernel threads that ran here, if its PMU was not known before. */
	upmu_wrap_kick(&upmu_cpus_of_perf);
	local_irq_save(flags);
	if (wanted)
		upmu_cpu_take(NULL);
	upmu_counters_cpu_up();
	local_irq_restore(flags);
}

/* A pinned event stays whose PMU was not known when that was asked. */
const char *upmu_counters_broken(void)
{
	if (!upmu_wrap_intact())
		return "somebody replaced what keeps perf off";
	if (!cpumask_empty(&upmu_cpus_refused))
		return "perf stays on a CPU that came online";
	return NULL;
}

u32 upmu_counters_wanted(void)
{
	return READ_ONCE(upmu_wanted);
}

/* Those that are off get their registers back when they come online. */
static void upmu_counters_unmark_offline(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			upmu_wrap_mark(cpu, false);
}

void upmu_counters_end(void)
{
	lockdep_assert_held(&upmu_mutex);
	on_each_cpu(upmu_cpu_return, NULL, 1);
	upmu_counters_unmark_offline();
	cpumask_clear(&upmu_cpus_refused);
	WRITE_ONCE(upmu_wanted, 0);
	smp_mb(); /* who waits looks in the other order */
	/*
	 * What waited for a counter gets one. Where this fails (no memory) it
	 * gets one when perf next rotates its events.
	 */
	upmu_wrap_kick(&upmu_cpus_waiting);
	upmu_wrap_pin();
}

int upmu_counters_begin(u32 mask)
{
	int err = upmu_pinned_admit(mask);

	lockdep_assert_held(&upmu_mutex);
	if (err)
		return err;
	upmu_session++;
	cpumask_clear(&upmu_cpus_of_perf);
	cpumask_clear(&upmu_cpus_waiting);
	WRITE_ONCE(upmu_wanted, mask);
	on_each_cpu(upmu_cpu_announce, NULL, 1);
	/* One that got a counter meanwhile: no other does now, and none left. */
	err = upmu_pinned_admit(mask);
	if (!err)
		err = upmu_wrap_kick(&upmu_cpus_of_perf);
	if (!err)
		on_each_cpu(upmu_cpu_take, NULL, 1);
	if (!err && !cpumask_empty(&upmu_cpus_refused))
		err = -EBUSY;
	if (err)
		upmu_counters_end();
	return err;
}
