/* SPDX-License-Identifier: MIT */
/*
 * perf_explain.h - why perf_event_open() said no, and what to do about it
 */
#ifndef UPMU_LIB_PERF_EXPLAIN_H
#define UPMU_LIB_PERF_EXPLAIN_H

#include <linux/perf_event.h>

#include "lib/perf/perf.h"

/**
 * Explain @error of opening @event at @target with @attr. Returns the errno
 * that names the cause: perf's -EPERM becomes -EACCES, an -EINVAL that means
 * "more events than counters" becomes -ENOSPC, an -ENOENT without any PMU
 * -ENODEV.
 */
int upmu_perf_explain(int error, const struct upmu_perf_event *event,
		      const struct upmu_perf_target *target,
		      const struct perf_event_attr *attr);

/** Explain an @error of -EMFILE or -ENFILE, with the limit; returns it. */
int upmu_explain_descriptors(int error, const char *what);

#endif
