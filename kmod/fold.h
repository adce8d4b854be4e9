/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fold.h - counts beyond 32 bits on a PMU that has no interrupt
 */
#ifndef UPMU_FOLD_H
#define UPMU_FOLD_H

#include <linux/types.h>

struct arm_pmu;

int upmu_fold_init(void);
/* Returns when no timer runs any more and perf is as before. */
void upmu_fold_exit(void);

/**
 * upmu_fold_pmu() - keep @pmu's counts right, if it has no interrupt
 *
 * perf adds what a counter has counted to 64 bits when the counter's event is
 * read, when it leaves the CPU, and at the overflow interrupt. Without that
 * interrupt a thread that has its CPU to itself for 2^32 counts loses them, and
 * what is read through perf's page is wrong from 2^31 on. So while @pmu counts
 * anything on a CPU, a timer there does ten times a second what the interrupt
 * would do. Where nothing is counted no timer runs.
 *
 * Call it once for each PMU, before upmu_fold_cpu_online() on its CPUs; one
 * caller at a time.
 */
void upmu_fold_pmu(struct arm_pmu *pmu);

/* This CPU came online, or counts already as the module is loaded. */
void upmu_fold_cpu_online(void);

/* Is there a PMU that is folded? */
bool upmu_fold_active(void);

#endif
