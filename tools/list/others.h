/* SPDX-License-Identifier: MIT */
/**
 * others.h - what other tools call events, as data
 */
#ifndef UPMU_TOOLS_LIST_OTHERS_H
#define UPMU_TOOLS_LIST_OTHERS_H

#include <stdbool.h>
#include <stddef.h>

/** "l1_dcm" and "l1d_cache_refill_rd+l1d_cache_refill_wr", neither ended. */
struct others_name {
	const char *name, *events;
	size_t name_length, events_length;
};

/** PAPI's presets of a core, without PAPI_; LIKWID's names, "" for none. */
const char *others_of_papi(const char *core);
const char *others_of_likwid(const char *core);

/** The next of @names, which is moved on; false at the end. */
bool others_next(const char **names, struct others_name *out);
bool others_find(const char *names, const char *name, size_t length,
		 struct others_name *out);

#endif
