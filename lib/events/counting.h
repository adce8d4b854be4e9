/* SPDX-License-Identifier: MIT */
/*
 * counting.h - how an event of a list is counted: by perf, in what unit, and
 * whether an emulated board counts it at all
 */
#ifndef UPMU_EVENTS_COUNTING_H
#define UPMU_EVENTS_COUNTING_H

#include "lib/events/events.h"
#include "lib/perf/perf.h"

/** What perf is to be told. @name, for messages, is kept: it must stay. */
void upmu_event_to_perf(struct upmu_perf_event *perf,
			const struct upmu_event *event, const char *name);

/**
 * perf's config where the cycle counter is another's: there is one. ARMv7's
 * driver serves its event 0xff by that alone; the core's own 0x11 is the same
 * on each counter. Other drivers find one by themselves.
 */
uint64_t upmu_event_config_anywhere(const struct upmu_event *event);

/** What one count is: "cycles", "ns" or "events"; a constant. */
const char *upmu_event_unit(const struct upmu_event *event);

/**
 * Would the event stay 0 because this board is emulated? Instructions, which
 * QEMU counts with -icount only, are found out by counting.
 */
bool upmu_event_stays_0(const struct upmu_machine *machine,
			const struct upmu_event *event);

#endif
