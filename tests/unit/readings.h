/* SPDX-License-Identifier: MIT */
/* A run of test_collect.c whose readings are made up. */
#ifndef UPMU_TESTS_READINGS_H
#define UPMU_TESTS_READINGS_H

#include "made_up.h"

enum { LITTLE, BIG };

static struct engine_reading mark[4], since[4];
static struct engine_count count[4];

/* One set of one event for each lane of @lanes. */
static void begin_run(size_t lanes)
{
	make_up(1000); /* of a system call */
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
}

static void tell(size_t index, uint64_t enabled_ns, uint64_t running_ns)
{
	told[index] = (struct engine_reading){ .enabled_ns = enabled_ns,
					       .running_ns = running_ns,
					       .count = { running_ns } };
}

#endif
