/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - one file descriptor for each event and target
 */
#ifndef UPMU_ENGINE_DESCRIPTORS_H
#define UPMU_ENGINE_DESCRIPTORS_H

#include "lib/perf/group.h"

/**
 * upmu_group_add(), with as many descriptors as this user may have where upmu's
 * limit is too low: 1,024 are 85 threads with the default twelve events.
 */
int engine_group_add(struct upmu_group *group,
		     const struct upmu_perf_event *event, uint32_t more);
/** Give a program that upmu starts the limit that upmu was given. */
void engine_descriptors_as_given(void);

#endif
