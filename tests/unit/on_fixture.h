/* SPDX-License-Identifier: MIT */
/* Tests of event lists: the machine of a fixture, and a list's events there. */
#ifndef ON_FIXTURE_H
#define ON_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/events/events.h"
#include "lib/sys.h"

static struct upmu_machine machine;
static struct upmu_event_list list;
static struct upmu_events_error error;

static inline void boot(const char *fixture)
{
	static char root[UPMU_PATH_SIZE];

	snprintf(root, sizeof(root), "%s/%s", FIXTURES, fixture);
	upmu_sys_set_root(root);
	memset(&machine, 0xee, sizeof(machine));
	assert_int_equal(upmu_machine_read(&machine), 0);
}

static inline void parse(const char *text)
{
	memset(&list, 0xee, sizeof(list));
	if (upmu_events_parse(&list, text, &machine, &error))
		fail_msg("'%s' was refused: %s", text, error.text);
}

static inline void parse_on(const char *fixture, const char *text)
{
	boot(fixture);
	parse(text);
}

static inline void assert_event(size_t n, const char *name, uint32_t type,
				uint64_t config)
{
	assert_true(n < list.n);
	assert_string_equal(list.events[n].name, name);
	assert_int_equal(list.events[n].type, type);
	assert_int_equal(list.events[n].config, config);
}

#endif
