// SPDX-License-Identifier: GPL-2.0-only
/*
 * publish.c - perf's mmap page carries the counter's index
 *
 * As arm64 has done since 5.17: index is 1 + the event counter's number, 32
 * for the cycle counter, 0 where the register must not be read.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/perf/arm_pmu.h>
#include <linux/slab.h>

#include "counters.h"

/* perf_event_attr.config1 of an event that user mode will read, as on arm64. */
#define UPMU_CONFIG1_USER BIT(1)

/* What perf's page says for the cycle counter. */
#define UPMU_INDEX_CYCLES 32

/* They only grow, while loading or as a CPU comes online. */
struct upmu_pmu upmu_pmus[UPMU_MAX_PMUS];
unsigned int upmu_pmu_count;
bool upmu_pmus_open;
static int (*upmu_default_index)(struct perf_event *event); /* loading */

struct perf_event *upmu_perf_ask(u32 type, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = 0, /* cycles, the CPU's clock */
		.disabled = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

bool upmu_perf_has_none(const struct perf_event *event)
{
	return IS_ERR(event) &&
	       (PTR_ERR(event) == -ENOENT || PTR_ERR(event) == -EOPNOTSUPP ||
		PTR_ERR(event) == -ENODEV);
}

struct upmu_pmu *upmu_publish_find(const struct pmu *pmu)
{
	struct upmu_pmu *upmu;

	upmu_for_each_pmu(upmu)
		if (&upmu->pmu->pmu == pmu)
			return upmu;
	return NULL;
}

struct upmu_pmu *upmu_publish_of_cpu(unsigned int cpu)
{
	struct upmu_pmu *upmu;

	upmu_for_each_pmu(upmu)
		if (cpumask_test_cpu(cpu, &upmu->pmu->supported_cpus))
			return upmu;
	return NULL;
}

/*
 * Reading an event leaves its raw value in prev_count, zero-extended, where a
 * start leaves a negative one. A page written after that (PERF_EVENT_IOC_RESET
 * does) is wrong by 2^32 for a reader who extends the sign. The driver looks
 * at the low 32 bits only, so the sign can be put right here: perf subtracts
 * prev_count from the page's offset after it has asked for the index.
 */
static void upmu_publish_repair(struct hw_perf_event *hw)
{
	s64 prev = local64_read(&hw->prev_count);

	local64_cmpxchg(&hw->prev_count, prev, (s64)(s32)prev);
}

/* Cycles come first, as up to 6.11; otherwise idx is the number itself. */
static int upmu_publish_number(const struct upmu_pmu *upmu, int idx)
{
	return upmu->cycles_idx == 0 ? idx - 1 : idx;
}

u32 upmu_publish_mask(const struct upmu_pmu *upmu, int idx)
{
	if (idx == upmu->cycles_idx)
		return UPMU_MASK_CYCLES;
	return BIT(upmu_publish_number(upmu, idx));
}

/* Interrupts or preemption off, the event is on the hardware. */
static int upmu_publish_index(struct perf_event *event)
{
	const struct upmu_pmu *upmu = upmu_publish_find(event->pmu);
	struct hw_perf_event *hw = &event->hw;

	if (!upmu || hw->idx < 0)
		return 0;
	if (!(event->attr.config1 & UPMU_CONFIG1_USER) ||
	    !(event->attach_state & PERF_ATTACH_TASK))
		return 0;
	/*
	 * perf swaps the contexts of parent and child instead of reloading
	 * them: the page of one would name the other's counter.
	 */
	if (event->attr.inherit)
		return 0;
	/* arm64 before 5.17: chained counters, and no width in the page. */
	if (hw->flags & ARMPMU_EVT_64BIT)
		return 0;
	upmu_publish_repair(hw);
	if (hw->idx == upmu->cycles_idx)
		return UPMU_INDEX_CYCLES;
	return upmu_publish_number(upmu, hw->idx) + 1;
}

bool upmu_publish_active(void)
{
	return upmu_pmu_count && !upmu_publish_user_access();
}

/*
 * Drivers that publish the index themselves (PMUv3's since 5.17, on 32 bits
 * too) have a function of their own for it; those for ARMv6 and ARMv7 have
 * perf's default, which any software event has.
 */
int upmu_publish_init(void)
{
	struct perf_event *event = upmu_perf_ask(PERF_TYPE_SOFTWARE, 0);

	if (IS_ERR(event))
		return PTR_ERR(event);
	upmu_default_index = event->pmu->event_idx;
	perf_event_release_kernel(event);
	return 0;
}

/*
 * How this kernel numbers the cycle counter, asked of the driver with a set of
 * counters that is nobody's, as perf does to see whether a group fits.
 */
static int upmu_publish_numbering(struct perf_event *event)
{
	struct arm_pmu *pmu = to_arm_pmu(event->pmu);
	struct pmu_hw_events *nobodys;
	int idx;

	nobodys = kzalloc(sizeof(*nobodys), GFP_KERNEL);
	if (!nobodys)
		return -ENOMEM;
	upmu_compat_hw_events_init(nobodys);
	nobodys->percpu_pmu = pmu;
	idx = pmu->get_event_idx(nobodys, event);
	kfree(nobodys);
	return idx;
}

static int upmu_publish_add(struct perf_event *event)
{
	struct upmu_pmu *upmu = &upmu_pmus[upmu_pmu_count];
	int idx;

	if (upmu_publish_find(event->pmu))
		return 0;
	if (upmu_pmu_count == UPMU_MAX_PMUS)
		return -ENOSPC;
	idx = upmu_publish_numbering(event);
	if (idx < 0)
		return idx;
	upmu->pmu = to_arm_pmu(event->pmu);
	upmu->cycles_idx = idx;
	upmu->event_idx = event->pmu->event_idx;
	upmu->add = event->pmu->add;
	upmu_wrap_look(upmu->pmu, &upmu->driver);
	WRITE_ONCE(upmu_pmus_open, upmu->event_idx != upmu_default_index);
	/* Whoever sees the count sees the entry. */
	smp_store_release(&upmu_pmu_count, upmu_pmu_count + 1);
	upmu_wrap_new(upmu);
	if (!upmu_publish_user_access())
		WRITE_ONCE(event->pmu->event_idx, upmu_publish_index);
	upmu_fold_pmu(upmu);
	pr_info("perf's %s: %s\n", upmu->pmu->name,
		upmu_publish_user_access()
			? "counting by kernel.perf_user_access"
			: "its mmap pages carry the counter's index now");
	return 0;
}

bool upmu_publish_cpu(unsigned int cpu)
{
	struct perf_event *event;
	int err;

	if (upmu_publish_of_cpu(cpu))
		return true;
	event = upmu_perf_ask(PERF_TYPE_HARDWARE, cpu);
	if (upmu_perf_has_none(event))
		return true;
	err = IS_ERR(event) ? PTR_ERR(event) : upmu_publish_add(event);
	if (err)
		pr_warn("the PMU of CPU %u cannot be looked after (error %d%s): no lease is granted\n",
			cpu, err, err == -ENOSPC ? ", one too many" : "");
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
	return !err;
}

/* upmu_wrap_wait() waits until nobody is in what was published. */
void upmu_publish_exit(void)
{
	unsigned int i;

	for (i = 0; i < upmu_pmu_count; i++)
		WRITE_ONCE(upmu_pmus[i].pmu->pmu.event_idx,
			   upmu_pmus[i].event_idx);
}
