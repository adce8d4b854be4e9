/* SPDX-License-Identifier: MIT */
#ifndef UPMU_EVENTS_GENERIC_H
#define UPMU_EVENTS_GENERIC_H

#include <stddef.h>
#include <stdint.h>

/* An event that the kernel knows by a number of its own. */
struct upmu_generic {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* linux/perf_event.h has it since 5.13; older headers do not. */
#define UPMU_SW_CGROUP_SWITCHES 11

/* The kernel's software events; NULL: none of that name. */
const struct upmu_generic *upmu_software_find(const char *name, size_t length);

/* What one count of a software event is; NULL: not known. */
const char *upmu_software_text(uint64_t config);

/* perf's names for hardware: `cycles`, `L1-dcache-load-misses`. */
const struct upmu_generic *upmu_hardware_find(const char *name, size_t length);

/* perf_names.py counts in the same way. */
#define UPMU_GENERIC_FIRST_CACHE 16

/* One number for all synonyms of a hardware name. */
unsigned int upmu_generic_number(const struct upmu_generic *generic);

/* The names for hardware in turn, synonyms too; NULL from the end on. */
const struct upmu_generic *upmu_hardware_at(size_t n);

/* All names in turn, for suggestions; NULL from the end on. */
const char *upmu_generic_name(size_t n);

#endif
