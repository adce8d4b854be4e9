/* SPDX-License-Identifier: MIT */
/*
 * perf_set.h - a set on perf events: what the sources page and read share
 */
#ifndef UPMU_LIB_PERF_SET_H
#define UPMU_LIB_PERF_SET_H

#include "lib/set/set.h"

/**
 * Open one group of all events on each CPU PMU of the machine (one, but for
 * big.LITTLE), counting the calling thread. @perf_flags: UPMU_PERF_*.
 */
int upmu_perf_set_open(struct upmu *set, const struct upmu_wanted *wanted,
		       uint32_t perf_flags);
void upmu_perf_set_close(struct upmu *set);
int upmu_perf_set_start(struct upmu *set);
int upmu_perf_set_stop(struct upmu *set);
int upmu_perf_set_read(struct upmu *set, struct upmu_value *values);
int upmu_perf_set_count(struct upmu *set, size_t position, uint64_t *count);

#endif
