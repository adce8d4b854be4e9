/* SPDX-License-Identifier: MIT */
#ifndef UPMU_EVENTS_CPUINFO_H
#define UPMU_EVENTS_CPUINFO_H

#include "lib/events/events.h"

/*
 * @arch: 6, 7, 8 as the kernel says; 0: not told. (Kernels call an ARM1176
 *        architecture 7, so only a core that no table knows goes by it.)
 * @n: none of the CPUs from this number on tells anything
 * @midrs: of the first @n CPUs; 0: not told (offline, or no ARM)
 */
struct upmu_cpuinfo {
	int arch;
	unsigned int n;
	uint32_t midrs[UPMU_CPUS_MAX];
};

/* From sysfs (64-bit kernels), for the rest from /proc/cpuinfo. */
void upmu_cpuinfo_read(struct upmu_cpuinfo *info);

#endif
