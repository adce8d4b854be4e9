/* SPDX-License-Identifier: MIT */
/*
 * pmu_alive.h - a PMU that perf knows may still not count
 *
 * Secure firmware can hold it, and QEMU's ARM1176 has none although perf binds:
 * perf then reports what its own bookkeeping makes of zeros (4294967294).
 */
#ifndef UPMU_LIB_PMU_ALIVE_H
#define UPMU_LIB_PMU_ALIVE_H

#include "lib/perf/perf.h"

/**
 * Does the cycle counter move as cycles do? Counts a loop the first time,
 * remembers a clear answer for the process. Returns 0 (also where the counter
 * could not be had just now, so that nothing is known) or -ENODEV, explained.
 */
int upmu_pmu_alive(void);

/**
 * Does this board's emulator count instructions? @event is they. Remembered
 * likewise. 0 or, explained, -EOPNOTSUPP.
 */
int upmu_emulator_alive(const struct upmu_perf_event *event);

/** Ask again (tests). */
void upmu_pmu_alive_forget(void);

#endif
