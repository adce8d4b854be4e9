/* SPDX-License-Identifier: MIT */
/*
 * region.h - what the files of regions share
 */
#ifndef UPMU_LIB_REGION_H
#define UPMU_LIB_REGION_H

#include <stdio.h>
#include <string.h>

#include "upmu.h"

#define UPMU_REGIONS_MAX       64
#define UPMU_REGION_EVENTS_MAX 8
#define UPMU_REGION_DEPTH_MAX  32
#define UPMU_REGION_NAME_SIZE  64

/** One event of one region, of one thread or of all. */
struct upmu_tally {
	uint64_t total;
	uint64_t min;
	uint64_t max;
};

struct upmu_cell {
	uint64_t calls;
	struct upmu_tally events[UPMU_REGION_EVENTS_MAX];
};

/** All that a report needs, copied at one moment; large: on the heap. */
struct upmu_region_summary {
	size_t regions;
	size_t events;
	const char *source;
	double running;
	unsigned int missed; /* calls that could not be counted */
	const char *why;     /* the first of them */
	const char *names[UPMU_REGIONS_MAX];
	char event_names[UPMU_REGION_EVENTS_MAX][128];
	const char *units[UPMU_REGION_EVENTS_MAX];
	uint64_t overhead[UPMU_REGION_EVENTS_MAX];
	struct upmu_cell cells[UPMU_REGIONS_MAX];
};

/** Fill @summary; regions that were never called are in it with 0 calls. */
void upmu_regions_summarize(struct upmu_region_summary *summary);

/** One row of a summary as the API tells it, overhead taken off. */
void upmu_region_stats_of(const struct upmu_region_summary *summary,
			  size_t region, size_t event,
			  struct upmu_region_stats *stats);

/** The report as JSON. Errors stay with @out: fclose() tells them. */
void upmu_regions_print_json(FILE *out,
			     const struct upmu_region_summary *summary);

/** "ns", "ticks"; "" where an event's name says enough: a tick is no cycle. */
static inline const char *upmu_region_unit(const char *unit)
{
	return strcmp(unit, "events") && strcmp(unit, "cycles") ? unit : "";
}

/** What stands in a table for people: the name, with that unit. */
static inline void upmu_region_label(char *out, size_t size, const char *name,
				     const char *unit)
{
	unit = upmu_region_unit(unit);
	snprintf(out, size, "%s%s%s%s", name, unit[0] ? " (" : "", unit,
		 unit[0] ? ")" : "");
}

/** Once at exit: where UPMU_REPORT= says, unless a report was made. */
void upmu_regions_at_exit(void);

#endif
