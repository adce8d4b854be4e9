/* SPDX-License-Identifier: MIT */
/* A run of test_collect.c whose readings are made up. */
#ifndef UPMU_TESTS_READINGS_H
#define UPMU_TESTS_READINGS_H

#include <errno.h>
#include <string.h>

#include "lib/engine/clock.h"
#include "lib/engine/engine.h"
#include "lib/engine/sets.h"

#define MS 1000000u

enum { LITTLE, BIG };

static struct engine_reading told[4];
static bool fails[4];
static struct engine_event event[4];
static struct engine_events events;
static struct engine_set set[4];
static struct engine_reading mark[4], since[4];
static struct engine_count count[4];
static struct engine engine;
static double now_ns;

/* What the engine asks of its neighbours. */

int __wrap_engine_set_read(const struct engine_sets *sets, size_t index,
			   struct engine_reading *reading);
int __wrap_engine_set_read(const struct engine_sets *sets, size_t index,
			   struct engine_reading *reading)
{
	(void)sets;
	now_ns += 1000; /* a system call */
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

/* One set of one event for each lane of @lanes. */
static void begin_run(size_t lanes)
{
	memset(told, 0, sizeof(told));
	memset(fails, 0, sizeof(fails));
	memset(event, 0, sizeof(event));
	memset(mark, 0, sizeof(mark));
	memset(since, 0, sizeof(since));
	memset(count, 0, sizeof(count));
	events = (struct engine_events){ .event = event,
					 .n = lanes,
					 .lanes = lanes };
	engine = (struct engine){ .events = &events,
				  .counts_tasks = true,
				  .sets = { .set = set, .n = lanes },
				  .options = { .pass = -1 },
				  .mark = mark,
				  .since = since };
	for (size_t i = 0; i < lanes; i++) {
		event[i].lane = (int)i;
		set[i] = (struct engine_set){ .turn = ENGINE_ALWAYS,
					      .lane = (int)i,
					      .n = 1,
					      .event = { i } };
	}
	now_ns = 1e9;
}

static void tell(size_t index, uint64_t enabled_ns, uint64_t running_ns)
{
	told[index] = (struct engine_reading){ .enabled_ns = enabled_ns,
					       .running_ns = running_ns,
					       .count = { running_ns } };
}

#endif
