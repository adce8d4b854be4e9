// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard.c - holders that may write are looked after
 *
 * Before PMUv3 permission includes writing, and programs do write: they reset,
 * stop and set up counters that are perf's or another holder's. Nothing of that
 * can be prevented. It is noticed when such a process leaves its CPU, or when
 * perf reads a counter while it runs: by comparing the registers with what perf
 * and this module have set, not with what they were, for perf goes on working
 * meanwhile. A counter below the count that perf last saw, without an overflow,
 * was written, and so was one that is further than any core could have counted.
 * A smaller step forward looks like counting, and nothing else here counts that
 * it could be held against.
 */
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/perf/arm_pmu.h>
#include <linux/timekeeping.h>

#include "counters.h"
#include "guard.h"

/* PMXEVTYPER: P, U, NSK, NSU (DDI 0406C B4.1.126), and the event. */
#define UPMU_GUARD_FILTER 0xf0000000u
#define UPMU_GUARD_EVENT  0xffu

#define UPMU_MIDR_QUALCOMM 0x51

/* PMCR's settings, that perf's driver leaves alone, and its switch. */
#define UPMU_GUARD_SETTINGS (UPMU_CONTROL_SAVED & ~UPMU_CONTROL_E)

/* No core has more cycles in a nanosecond, nor more than 8 of a thing in one. */
#define UPMU_GUARD_CYCLES_PER_NS 4
#define UPMU_GUARD_EVENTS_PER_NS 32

/* hw_perf_event.interrupts: MAX_INTERRUPTS of kernel/events/core.c */
#define UPMU_GUARD_THROTTLED U64_MAX

/* A step that is not looked into: the clock may be as coarse as a tick. */
#define UPMU_GUARD_STEP BIT(26)

/**
 * struct upmu_guard - what is looked after on one CPU
 * @pmu: perf's, NULL: none
 * @hw: its events here
 * @cycles_bit: of its used counters, the cycle counter
 * @busy: being put right, or perf's handler runs
 * @begun: the next are to be put back
 * @control: settings in PMCR, and whether it was on without perf
 * @filter: of the cycle counter
 * @extra: counters that were on without perf, until it takes them
 * @selected: PMSELR
 * @type: of the event counters
 * @cycles: the cycle counter when somebody who may write came
 * @since: and the time, in nanoseconds; no event here was last read before
 * @tick: jiffies since when @since is right enough for the cycle counter
 *
 * All on this CPU with interrupts off.
 */
struct upmu_guard {
	struct upmu_pmu *pmu;
	const struct pmu_hw_events *hw;
	unsigned long cycles_bit;
	bool busy;
	bool begun;
	u32 control;
	u32 filter;
	u32 extra;
	u32 selected;
	u32 type[UPMU_REGS_MAX_COUNTERS];
	u32 cycles;
	u64 since;
	u32 tick;
};

static DEFINE_PER_CPU(struct upmu_guard, upmu_guard);

static unsigned long upmu_guard_used(const struct upmu_guard *guard)
{
	return guard->hw ? guard->hw->used_mask[0] : 0;
}

/* One that interrupts too often is switched off until the next tick. */
static bool upmu_event_runs(const struct perf_event *event)
{
	return event && !(event->hw.state & PERF_HES_STOPPED) &&
	       event->hw.interrupts != UPMU_GUARD_THROTTLED;
}

/* The next of @left, which begins as all that are used; NULL: none. */
static struct perf_event *upmu_guard_next(const struct upmu_guard *guard,
					  unsigned long *left)
{
	struct perf_event *event;

	while (*left) {
		event = guard->hw->events[__ffs(*left)];
		*left &= *left - 1;
		if (upmu_event_runs(event))
			return event;
	}
	return NULL;
}

/* Counters that perf's events run on. */
static u32 upmu_guard_running(const struct upmu_guard *guard)
{
	unsigned long left = upmu_guard_used(guard);
	const struct perf_event *event;
	u32 running = 0;

	while ((event = upmu_guard_next(guard, &left)))
		running |= upmu_publish_mask(guard->pmu, event->hw.idx);
	return running;
}

void upmu_guard_begin(void)
{
	struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);
	unsigned int n, counters = upmu_regs_counters();

	if (!(upmu_access_bits(UPMU_MODE_COUNT) & UPMU_USER_EN) ||
	    upmu_counters_held() == UPMU_ALL_COUNTERS)
		return;
	guard->pmu = upmu_publish_of_cpu(smp_processor_id());
	guard->hw =
		guard->pmu ? this_cpu_ptr(guard->pmu->pmu->hw_events) : NULL;
	guard->cycles_bit = guard->pmu ? BIT(guard->pmu->cycles_idx) : 0;
	if (guard->begun) { /* this CPU was away, and its PMU reset */
		guard->control &= upmu_regs_control();
		guard->extra &= upmu_regs_enabled();
		return;
	}
	guard->control = upmu_regs_control() & UPMU_GUARD_SETTINGS;
	if (!upmu_guard_running(guard) && !upmu_counters_held())
		guard->control |= upmu_regs_control() & UPMU_CONTROL_E;
	guard->selected = upmu_regs_selected();
	if (upmu_regs_has_filter())
		guard->filter = upmu_regs_type(31);
	guard->extra = upmu_regs_enabled() & ~upmu_counters_held() &
		       ~upmu_guard_running(guard);
	for (n = 0; n < counters; n++)
		guard->type[n] = upmu_regs_type(n);
	upmu_regs_select(guard->selected);
	guard->begun = true;
}

/* Where leases were before this one, what is to be there is known from then. */
void upmu_guard_taken(struct upmu_registers *before)
{
	const struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);

	if (!guard->begun)
		return;
	before->control &=
		guard->control | ~(UPMU_GUARD_SETTINGS | UPMU_CONTROL_E);
	before->enabled &= guard->extra;
	before->filter = guard->filter;
}

void upmu_guard_given_back(const struct upmu_registers *before, u32 mask)
{
	struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);

	if (!guard->begun || !mask)
		return;
	guard->control &= ~UPMU_CONTROL_D;
	guard->control |= before->control & (UPMU_CONTROL_D | UPMU_CONTROL_E);
	guard->extra |= before->enabled & mask;
	guard->filter = before->filter;
}

void upmu_guard_perf_takes(u32 mask)
{
	struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);

	guard->extra &= ~mask;
}

void upmu_guard_end(void)
{
	struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);
	u32 perf = upmu_wrap_perf_mask() | upmu_counters_held();
	unsigned int n, counters = upmu_regs_counters();

	if (!guard->begun)
		return;
	guard->begun = false;
	upmu_regs_disable(~perf & ~guard->extra);
	for (n = 0; n < counters; n++)
		if (!(perf & BIT(n)) && upmu_regs_type(n) != guard->type[n])
			upmu_regs_set_type(n, guard->type[n]);
	if (!(perf & UPMU_MASK_CYCLES) && upmu_regs_has_filter())
		upmu_regs_set_type(31, guard->filter);
	upmu_regs_select(guard->selected);
	if (!perf)
		upmu_regs_change_control(UPMU_GUARD_SETTINGS | UPMU_CONTROL_E,
					 guard->control);
	upmu_regs_isb();
}

/* What perf's events counted until now is safe. */
static noinline void upmu_guard_note_events(struct upmu_guard *guard)
{
	unsigned long left = upmu_guard_used(guard);
	struct perf_event *event;

	guard->since = ktime_get_mono_fast_ns();
	guard->cycles = upmu_regs_cycles32();
	guard->busy = true;
	while ((event = upmu_guard_next(guard, &left)))
		event->pmu->read(event);
	guard->busy = false;
}

/*
 * Where the cycle counter is the holders', nothing of perf's is here: that it
 * looks used is our doing.
 */
static bool upmu_guard_has_cycles_alone(const struct upmu_guard *guard)
{
	return !(upmu_guard_used(guard) & ~guard->cycles_bit);
}

/*
 * Asking for the time is most of what a switch would cost: a tick too early is
 * less than the step that is not looked into.
 */
static noinline notrace void upmu_guard_note(struct upmu_guard *guard)
{
	u32 tick = jiffies;

	if (!upmu_counters_held() || !upmu_guard_has_cycles_alone(guard)) {
		upmu_guard_note_events(guard);
		return;
	}
	if (guard->tick != tick)
		guard->since = ktime_get_mono_fast_ns();
	guard->tick = tick;
	guard->cycles = upmu_regs_cycles32();
}

void notrace upmu_guard_arm(void)
{
	struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);

	if (upmu_guard_used(guard) || upmu_counters_held() == UPMU_MASK_CYCLES)
		upmu_guard_note(guard);
}

void upmu_guard_pause(bool pause)
{
	this_cpu_write(upmu_guard.busy, pause);
}

/* Its count goes on from what the register has; all else is set anew. */
static void upmu_event_restart(struct perf_event *event, u32 count)
{
	local64_set(&event->hw.prev_count, count);
	event->pmu->stop(event, PERF_EF_UPDATE);
	event->pmu->start(event, PERF_EF_RELOAD);
}

static u32 upmu_event_count(u32 mask)
{
	return mask == UPMU_MASK_CYCLES ? upmu_regs_cycles32()
					: upmu_regs_counter(__ffs(mask));
}

/* Nothing counts @step in the time since somebody who may write came. */
static bool upmu_guard_is_too_much(const struct upmu_guard *guard, u32 step,
				   u32 per_ns)
{
	u64 ns;

	if (likely(step < UPMU_GUARD_STEP))
		return false;
	ns = ktime_get_mono_fast_ns() - guard->since;
	return step > ns * per_ns + UPMU_GUARD_STEP;
}

/* @count was read before: it may overflow in between. */
static bool upmu_event_was_set(const struct upmu_guard *guard,
			       const struct perf_event *event, u32 count)
{
	u32 mask = upmu_publish_mask(guard->pmu, event->hw.idx);
	u32 last = local64_read(&event->hw.prev_count);

	if (count < last && !(upmu_regs_overflow() & mask))
		return true;
	return upmu_guard_is_too_much(guard, count - last,
				      UPMU_GUARD_EVENTS_PER_NS);
}

/* perf's driver sets it, unlike Krait's and Scorpion's, to config_base. */
static bool upmu_event_type_differs(const struct upmu_guard *guard,
				    const struct perf_event *event, u32 mask)
{
	u32 compared = UPMU_GUARD_FILTER;
	unsigned int n = 31;

	if (mask != UPMU_MASK_CYCLES) {
		n = __ffs(mask);
		compared |= UPMU_GUARD_EVENT;
	} else if (!guard->pmu->pmu->set_event_filter) {
		return false; /* then the driver leaves the register alone */
	}
	return (upmu_regs_type(n) ^ event->hw.config_base) & compared &&
	       upmu_regs_midr() >> 24 != UPMU_MIDR_QUALCOMM;
}

static u32 upmu_event_check(const struct upmu_guard *guard,
			    struct perf_event *event, u32 enabled)
{
	u32 mask = upmu_publish_mask(guard->pmu, event->hw.idx);
	u32 count = upmu_event_count(mask), written = 0;

	if (upmu_event_was_set(guard, event, count))
		written |= UPMU_WRITTEN_COUNTS;
	if (upmu_event_type_differs(guard, event, mask))
		written |= UPMU_WRITTEN_TYPES;
	if (upmu_regs_has_enables() && !(enabled & mask))
		written |= UPMU_WRITTEN_ENABLES;
	if (written)
		upmu_event_restart(event, count);
	return written;
}

/* perf looks at prev_count again when it has the count, and takes ours. */
bool upmu_guard_check_event(struct perf_event *event)
{
	const struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);
	u32 mask, count, selected;

	if (guard->busy || !guard->begun || !guard->hw ||
	    guard->hw->events[event->hw.idx] != event ||
	    !upmu_event_runs(event))
		return false;
	mask = upmu_publish_mask(guard->pmu, event->hw.idx);
	/*
	 * Where perf is stopping it, that was looked at before. Not asked of
	 * the enables, which user mode writes.
	 */
	if (!(upmu_regs_interrupts() & mask))
		return false;
	selected = upmu_regs_selected();
	count = upmu_event_count(mask);
	upmu_regs_select(selected);
	if (!upmu_event_was_set(guard, event, count))
		return false;
	local64_set(&event->hw.prev_count, count);
	return true;
}

static u32 upmu_guard_check_events(const struct upmu_guard *guard, u32 enabled)
{
	unsigned long left = upmu_guard_used(guard);
	struct perf_event *event;
	u32 written = 0, selected;

	if (!left)
		return 0;
	selected = upmu_regs_selected();
	while ((event = upmu_guard_next(guard, &left)))
		written |= upmu_event_check(guard, event, enabled);
	upmu_regs_select(selected);
	return written;
}

/* The cycle counter is to count everywhere. */
static __always_inline bool upmu_guard_filter_was_set(void)
{
	u32 selected, type;

	if (!upmu_regs_has_filter())
		return false;
	selected = upmu_regs_selected();
	type = upmu_regs_type(31);
	upmu_regs_select(selected);
	return (type ^ upmu_regs_filter_none()) & UPMU_GUARD_FILTER;
}

static void upmu_guard_set_filter(void)
{
	u32 selected = upmu_regs_selected();

	upmu_regs_set_type(31, upmu_regs_filter_none());
	upmu_regs_select(selected);
}

/* The cycle counter, where it is the holders'. */
static u32 upmu_guard_check_cycles(struct upmu_guard *guard)
{
	u32 cycles = upmu_regs_cycles32(), written = 0;

	if (upmu_guard_filter_was_set()) {
		upmu_guard_set_filter();
		written |= UPMU_WRITTEN_TYPES;
	}
	/* One set back went forward by nearly 2^32. */
	if (upmu_guard_is_too_much(guard, cycles - guard->cycles,
				   UPMU_GUARD_CYCLES_PER_NS)) {
		guard->cycles = cycles;
		guard->since = ktime_get_mono_fast_ns();
		written |= UPMU_WRITTEN_COUNTS;
	}
	return written;
}

/* A cycle counter that was taken counts each cycle. */
static u32 upmu_guard_settings(const struct upmu_guard *guard, u32 held)
{
	return guard->control & UPMU_GUARD_SETTINGS &
	       ~(held ? UPMU_CONTROL_D : 0);
}

static void upmu_guard_repair(const struct upmu_guard *guard, u32 held)
{
	u32 running = upmu_guard_running(guard) | held;

	if (upmu_regs_has_enables()) {
		upmu_regs_disable(~running & ~guard->extra);
		upmu_regs_enable(running | guard->extra);
	}
	upmu_regs_change_control(UPMU_GUARD_SETTINGS,
				 upmu_guard_settings(guard, held) |
					 (running ? UPMU_CONTROL_E : 0));
	upmu_regs_isb();
}

/* Whether it is on matters while something is to be counted. */
static u32 upmu_guard_check_control(const struct upmu_guard *guard, u32 held,
				    u32 running)
{
	u32 control = upmu_regs_control();

	if (running && !(control & UPMU_CONTROL_E))
		return UPMU_WRITTEN_CONTROL;
	if ((control & UPMU_GUARD_SETTINGS) != upmu_guard_settings(guard, held))
		return UPMU_WRITTEN_CONTROL;
	return 0;
}

static noinline u32 upmu_guard_look(struct upmu_guard *guard, u32 held)
{
	u32 running = upmu_guard_running(guard) | held;
	u32 enabled = upmu_regs_enabled(), written;

	guard->busy = true;
	written = upmu_guard_check_control(guard, held, running);
	if (upmu_regs_has_enables() && enabled != (running | guard->extra))
		written |= UPMU_WRITTEN_ENABLES;
	written |= upmu_guard_check_events(guard, enabled);
	if (held)
		written |= upmu_guard_check_cycles(guard);
	if (unlikely(written))
		upmu_guard_repair(guard, held);
	guard->busy = false;
	return written;
}

/* The cycle counter is all that counts, and nobody wrote anything. */
static bool upmu_guard_cycles_are_right(const struct upmu_guard *guard)
{
	u32 control = upmu_regs_control();

	return upmu_guard_has_cycles_alone(guard) &&
	       upmu_regs_enabled() == (UPMU_MASK_CYCLES | guard->extra) &&
	       control & UPMU_CONTROL_E &&
	       (control & UPMU_GUARD_SETTINGS) ==
		       upmu_guard_settings(guard, UPMU_MASK_CYCLES) &&
	       upmu_regs_cycles32() - guard->cycles < UPMU_GUARD_STEP &&
	       !upmu_guard_filter_was_set();
}

static noinline notrace u32 upmu_guard_check_taken(struct upmu_guard *guard)
{
	if (likely(upmu_guard_cycles_are_right(guard)))
		return 0;
	return upmu_guard_look(guard, UPMU_MASK_CYCLES);
}

/* Each switch from somebody who may write: where nothing counts it is short. */
u32 notrace upmu_guard_check(void)
{
	struct upmu_guard *guard = this_cpu_ptr(&upmu_guard);
	u32 held;

	if (guard->busy || !guard->begun)
		return 0;
	held = upmu_counters_held();
	if (held == UPMU_ALL_COUNTERS)
		return 0;
	if (held)
		return upmu_guard_check_taken(guard);
	if (!upmu_guard_used(guard) && upmu_regs_enabled() == guard->extra &&
	    !((upmu_regs_control() ^ guard->control) & UPMU_GUARD_SETTINGS))
		return 0;
	return upmu_guard_look(guard, 0);
}
