/* SPDX-License-Identifier: MIT */
/*
 * pmus.h - the CPU PMUs that perf has registered, from sysfs
 *
 * One on most machines; one per kind of core on big.LITTLE; none where the
 * device tree forgot it.
 */
#ifndef UPMU_LIB_PMUS_H
#define UPMU_LIB_PMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPMU_PMUS_MAX 8
#define UPMU_PMU_CPUS 512

struct upmu_pmu {
	char name[48]; /* as in sysfs: "armv7_cortex_a7" */
	uint32_t type; /* what perf_event_attr wants */
	/* As the kernel writes them: "0-3"; "" for all. Every other one of 256
	 * takes 459 characters. */
	char cpus[UPMU_PMU_CPUS];
};

/**
 * Fill up to UPMU_PMUS_MAX entries, in the order of their numbers.
 * Returns how many there are (0: none registered); -EMFILE, -ENFILE or -ENOMEM
 * where that could not be asked for; -EFBIG where one has a longer list of
 * CPUs; another -errno where there is no sysfs.
 * Reads sysfs on each call.
 */
int upmu_pmus_list(struct upmu_pmu *pmus);

/**
 * The same one by one, as the folder has them, until @take says what is not 0:
 * without room for all of them. Returns as above, or what @take said.
 */
int upmu_pmus_each(int (*take)(void *data, const struct upmu_pmu *pmu),
		   void *data);

/** Is @error one of those first three: what this process may have later? */
bool upmu_pmus_is_want(int error);

#endif
