/* SPDX-License-Identifier: MIT */
/*
 * tables.h - what gen_tables.py makes of tables/
 *
 * Strings live in three pools and rows name them by number, so that a row
 * takes 8 bytes and needs no relocation in a position-independent program.
 */
#ifndef UPMU_EVENTS_TABLES_H
#define UPMU_EVENTS_TABLES_H

#include "lib/events/events.h"

/** A row: its code, and its place in each pool. */
struct upmu_event_row {
	uint16_t code;
	uint16_t name;
	uint16_t text; /* description, NUL, caveat */
	uint16_t source;
};

/** One row of this core that a driver of perf's tries for a generic name
 *  (generic.h); those of one name stand in the order of trying. */
struct upmu_perf_row {
	uint16_t generic;
	uint16_t row;
	uint16_t since; /* of UPMU_LINUX(): older ones do not try it */
	bool is_own;	/* by this core's driver alone, not any PMUv3's */
};

/** struct upmu_core - one core; what is common to unknown ones is one too */
struct upmu_core {
	const char *name;
	const char *title;
	const char *also;		   /* variants, a blank between two */
	const char *perf;		   /* PMU names, a blank between two */
	const char *manuals;		   /* a line each */
	const char *notes;		   /* a line each */
	const struct upmu_event_row *rows; /* by code */
	const uint16_t *by_name;	   /* places in rows, by rising name */
	const struct upmu_perf_row *perf_rows;
	uint16_t n_rows;
	uint16_t n_perf_rows;
	uint16_t defaults[UPMU_DEFAULTS]; /* places in rows */
	uint8_t arch;
	uint8_t counters;
	uint8_t counters_most;
	uint8_t filters;
	bool is_common;
};

/** Sorted by implementer and part. */
struct upmu_core_midr {
	uint8_t implementer;
	uint8_t core;
	uint16_t part;
};

extern const struct upmu_core upmu_cores[];
extern const size_t upmu_core_count;
extern const struct upmu_core_midr upmu_core_midrs[];
extern const size_t upmu_core_midr_count;

/* Sorted without regard to case; names of events and generic names. */
extern const char upmu_names_pool[];
extern const uint32_t upmu_names_at[];
extern const size_t upmu_names_count;

extern const char upmu_texts_pool[];
extern const uint32_t upmu_texts_at[];
extern const size_t upmu_texts_count;
extern const char upmu_sources_pool[];
extern const uint32_t upmu_sources_at[];
extern const size_t upmu_sources_count;

#endif
