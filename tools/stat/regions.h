/* SPDX-License-Identifier: MIT */
/* regions.h - "upmu stat --regions": what a program counts of its own parts */
#ifndef UPMU_TOOLS_STAT_REGIONS_H
#define UPMU_TOOLS_STAT_REGIONS_H

#include <jansson.h>

#include "stat.h"

/* What libupmu counts in regions at a time. */
#define STAT_REGION_EVENTS 8

/** One event of one region, over all processes of a pass. */
struct stat_region_row {
	char region[64];
	char event[UPMU_EVENT_NAME_MAX + 2];
	char unit[16];
	size_t pass;
	uint64_t calls, total, min, max, overhead;
};

struct stat_regions {
	/* The events of each pass, as UPMU_EVENTS= takes them. */
	char (*list)[STAT_REGION_EVENTS * (UPMU_EVENT_NAME_MAX + 3)];
	size_t passes;
	struct stat_region_row *row;
	size_t n;
	double running;	  /* the least share of time of a process, 0 to 1 */
	size_t unread;	  /* reports of processes that cannot be understood */
	uint64_t missed;  /* calls that processes could not count */
	char why[400];	  /* the first of them; 160 bytes of Latin-1 */
	char folder[512]; /* that the processes of a run write to */
	const struct engine_event **missing; /* that no pass counts; or NULL */
	size_t n_missing;
	struct engine_events none; /* what upmu itself counts */
};

/**
 * Share the events out into passes. 0 or a negative errno;
 * stat_regions_close() is due in any case.
 */
int stat_regions_open(struct stat_regions *regions,
		      struct engine_events *events);
void stat_regions_close(struct stat_regions *regions);

/**
 * Run the program for the pass that is next; as stat_run_once(). -ECANCELED:
 * there is no folder for its reports, and that was told.
 */
int stat_regions_run(struct stat_report *report, struct engine_targets *targets,
		     int *exit_status);

/** Parts of the reports. */
void out_regions_text(FILE *out, const struct stat_report *report);
/** "<not supported>" or what else of one that no pass counts. */
const char *out_regions_missing(const struct engine_event *event);
/** How many reports were not whole, behind @before. */
void out_regions_unread(FILE *out, const char *before,
			const struct stat_regions *regions);
/** The same of calls that could not be counted. */
void out_regions_missed(FILE *out, const char *before,
			const struct stat_regions *regions);
json_t *out_regions_json(const struct stat_report *report);

/** The next region after @region, NULL: the first; NULL at the end. */
const char *stat_regions_next(const struct stat_regions *regions,
			      const char *region);

#endif
