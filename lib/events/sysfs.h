/* SPDX-License-Identifier: MIT */
/*
 * sysfs.h - PMUs, events and terms that the kernel publishes
 *
 * All below /sys/bus/event_source/devices of UPMU_ROOT.
 */
#ifndef UPMU_EVENTS_SYSFS_H
#define UPMU_EVENTS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What terms such as `event=0x3,umask=1` come to in perf_event_attr. */
struct upmu_terms {
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
};

/* Is it PMUv3's driver's? That one calls PMUs armv8_... and armv9_.... */
bool upmu_pmu_is_pmuv3(const char *pmu);

/* Each may fail by what upmu_pmus_is_want() tells of, too. */

/* 0, or -errno: no such PMU. */
int upmu_sysfs_type(const char *pmu, uint32_t *type);

/* events/NAME of a PMU: 0, -ENOENT, or -EINVAL where it cannot be read. */
int upmu_sysfs_event(const char *pmu, const char *name, size_t length,
		     struct upmu_terms *out);

/* TERM[=VALUE],... by the PMU's format/ files; -EINVAL: unknown, malformed. */
int upmu_sysfs_terms(const char *pmu, const char *text, size_t length,
		     struct upmu_terms *out);

#endif
