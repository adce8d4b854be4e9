// SPDX-License-Identifier: MIT
#include "lib/events/counting.h"

#define V7_CYCLES_ANYWHERE 0x11

void upmu_event_to_perf(struct upmu_perf_event *perf,
			const struct upmu_event *event, const char *name)
{
	unsigned int levels = event->modifiers;
	/* A core that cannot part the modes counts both; perf has it refuse to
	 * leave out a hypervisor that it cannot have. */
	bool is_both = levels == (UPMU_EVENT_USER | UPMU_EVENT_KERNEL);

	*perf = (struct upmu_perf_event){
		.name = name,
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.exclude_user = levels && !(levels & UPMU_EVENT_USER),
		.exclude_kernel = levels && !(levels & UPMU_EVENT_KERNEL),
		.exclude_hv = levels && !is_both && !(levels & UPMU_EVENT_HYP),
		.wants_hv = levels & UPMU_EVENT_HYP,
		.is_cpu = event->class == UPMU_EVENT_CORE ||
			  event->class == UPMU_EVENT_GENERIC,
	};
}

uint64_t upmu_event_config_anywhere(const struct upmu_event *event)
{
	return event->is_cycles && event->code == V7_CYCLES_ANYWHERE
		       ? event->code
		       : event->config;
}

const char *upmu_event_unit(const struct upmu_event *event)
{
	if (event->is_cycles)
		return "cycles";
	if (event->class == UPMU_EVENT_SOFTWARE &&
	    (event->config == PERF_COUNT_SW_CPU_CLOCK ||
	     event->config == PERF_COUNT_SW_TASK_CLOCK))
		return "ns";
	return "events";
}

/*
 * QEMU makes up no PMU but the core's. A generic name without a row is not
 * known to be one: perf has nothing for it, as far as the tables know.
 */
bool upmu_event_stays_0(const struct upmu_machine *machine,
			const struct upmu_event *event)
{
	if (!machine->is_emulated || event->class == UPMU_EVENT_SOFTWARE ||
	    event->class == UPMU_EVENT_GENERIC)
		return false;
	return event->class != UPMU_EVENT_CORE || event->kind < 0 ||
	       !event->row ||
	       !upmu_emulator_counts(&machine->kinds[event->kind], event->row);
}
