/* SPDX-License-Identifier: MIT */
/* Sets of an engine whose readings, and whose clock, are made up. */
#ifndef UPMU_TESTS_MADE_UP_H
#define UPMU_TESTS_MADE_UP_H

#include <errno.h>
#include <string.h>

#include "lib/engine/clock.h"
#include "lib/engine/engine.h"
#include "lib/engine/sets.h"

#define MS 1000000u

static struct engine engine;
static struct engine_event event[4];
static struct engine_events events;
static struct engine_set set[4];
static struct engine_reading told[4];
static bool fails[4];
static double now_ns, read_ns; /* how long a reading takes */

/* What the engine asks of its neighbours. */

int __wrap_engine_set_read(const struct engine_sets *sets, size_t index,
			   struct engine_reading *reading);
int __wrap_engine_set_read(const struct engine_sets *sets, size_t index,
			   struct engine_reading *reading)
{
	(void)sets;
	now_ns += read_ns;
	if (fails[index])
		return -EIO;
	*reading = told[index];
	return 0;
}

double __wrap_engine_now_ns(void);
double __wrap_engine_now_ns(void)
{
	return now_ns;
}

static void make_up(double reading_ns)
{
	memset(told, 0, sizeof(told));
	memset(fails, 0, sizeof(fails));
	memset(event, 0, sizeof(event));
	now_ns = 1e9;
	read_ns = reading_ns;
}

#endif
