/* SPDX-License-Identifier: MIT */
/*
 * wanted.h - the event list that a set was asked for, ready for perf
 */
#ifndef UPMU_LIB_WANTED_H
#define UPMU_LIB_WANTED_H

#include <stddef.h>

#include "lib/perf.h"

#define UPMU_EVENTS_MAX 32
#define UPMU_NAME_SIZE	64

struct upmu_wanted {
	size_t size;
	struct upmu_perf_event events[UPMU_EVENTS_MAX];
	char names[UPMU_EVENTS_MAX][UPMU_NAME_SIZE];
};

/** 0, -EINVAL (empty, too long, malformed) or -ENOENT (unknown event). */
int upmu_wanted_parse(struct upmu_wanted *wanted, const char *list);

#endif
