/* SPDX-License-Identifier: MIT */
/*
 * source_model.h - the software PMU's script
 */
#ifndef UPMU_TESTS_SOURCE_MODEL_H
#define UPMU_TESTS_SOURCE_MODEL_H

#include <stdatomic.h>

#include "lib/set/wanted.h"

#define UPMU_MODEL_STILL UINT64_MAX

/**
 * struct upmu_model - what the next readings give
 * @step: how far each event has gone on at each reading; 0: the position in
 *	the list, from 1, times 1000; UPMU_MODEL_STILL: it stays 0
 * @running: percent of the time that sets are on the hardware
 * @error: what the next readings fail with, or 0
 * @open: how many sets are open
 */
struct upmu_model {
	uint64_t step[UPMU_EVENTS_MAX];
	unsigned int running;
	int error;
	atomic_int open;
};

extern struct upmu_model upmu_model;

#endif
