// SPDX-License-Identifier: MIT
/* -M: the events that a group wants of each core, and what becomes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/stat/stat.h"

#define MOST 8

static struct engine_events events;
static struct engine_event event[MOST];
static struct upmu_event parsed[MOST];
static struct engine_count count[MOST];

static const struct upmu_core *core_called(const char *name)
{
	const struct upmu_core *core = upmu_core_by_name(name, strlen(name));

	assert_non_null(core);
	return core;
}

/* A machine of these cores, and nothing counted. */
static void machine_of(const char *first, const char *second)
{
	memset(&events, 0, sizeof(events));
	events.event = event;
	events.machine.kinds[0].core = core_called(first);
	events.machine.n_kinds = 1;
	if (second)
		events.machine.kinds[events.machine.n_kinds++].core =
			core_called(second);
}

static void counted(int lane, const char *name, uint64_t raw)
{
	size_t i = events.n++;

	assert_in_range(i, 0, MOST - 1);
	parsed[i] = (struct upmu_event){
		.row = upmu_core_find(events.machine.kinds[lane].core, name,
				      strlen(name)),
	};
	assert_non_null(parsed[i].row);
	event[i] = (struct engine_event){ .parsed = &parsed[i], .lane = lane };
	count[i] = (struct engine_count){ .state = ENGINE_COUNTED, .raw = raw };
}

static void choose(const char *words, struct stat_groups *groups)
{
	struct stat_options options = { .metrics = strdup(words) };

	assert_int_equal(stat_groups_choose(groups, &options), 0);
	free(options.metrics);
}

static void assert_wanted(const char *words, const char *list)
{
	struct stat_groups groups;
	char *got;

	choose(words, &groups);
	got = stat_groups_events(&groups, &events.machine);
	assert_non_null(got);
	assert_string_equal(got, list);
	free(got);
}

static void slots_are_no_event(void **state)
{
	(void)state;
	machine_of("neoverse-v2", NULL);
	assert_wanted("frontend_bound",
		      "stall_slot_frontend,cpu_cycles,br_mis_pred,cpu_cycles");
	assert_wanted("backend_bound", "stall_slot_backend,cpu_cycles,"
				       "br_mis_pred,cpu_cycles");
}

static void of_unlike_cores_each_says_whose_it_is(void **state)
{
	(void)state;
	machine_of("neoverse-n2", "cortex-a53");
	assert_wanted("frontend_bound,branch_miss_percent",
		      "neoverse-n2/stall_slot_frontend/,neoverse-n2/cpu_cycles/"
		      ",neoverse-n2/br_mis_pred/,neoverse-n2/cpu_cycles/,"
		      "neoverse-n2/br_mis_pred_retired/,neoverse-n2/br_retired/"
		      ",cortex-a53/br_mis_pred/,cortex-a53/br_pred/");
}

static size_t ratios(const char *words, int lane, struct stat_metric *out)
{
	static const struct stat_options options;
	struct stat_groups groups;
	const struct stat_report report = {
		.options = &options,
		.events = &events,
		.count = count,
		.groups = &groups,
	};

	choose(words, &groups);
	return stat_groups_add(&report, lane, out, MOST);
}

static void slots_are_the_cores_own(void **state)
{
	struct stat_metric out[MOST];

	(void)state;
	for (int lane = 0; lane < 2; lane++) {
		/* of 8 slots and of 5 */
		machine_of("neoverse-v2", "neoverse-n2");
		counted(lane, "cpu_cycles", 1000);
		counted(lane, "stall_slot_frontend", 2000);
		counted(lane, "br_mis_pred", 100);
		assert_int_equal(ratios("frontend_bound", lane, out), 1);
		assert_string_equal(out[0].key, "frontend_bound");
		assert_int_equal(lround(1000 * out[0].value),
				 lane ? 30000 : 15000);
		assert_int_equal(ratios("frontend_bound", !lane, out), 0);
	}
}

static void without_one_of_its_events_there_is_no_ratio(void **state)
{
	struct stat_metric out[MOST];

	(void)state;
	machine_of("neoverse-v2", NULL);
	counted(0, "cpu_cycles", 1000);
	counted(0, "stall_slot_frontend", 2000);
	assert_int_equal(ratios("frontend_bound", 0, out), 0);
	counted(0, "br_mis_pred", 100);
	assert_int_equal(ratios("frontend_bound", 0, out), 1);
	count[1].state = ENGINE_NOT_COUNTED;
	assert_int_equal(ratios("frontend_bound", 0, out), 0);
	assert_int_equal(ratios("frontend_bound", 1, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_no_event),
		cmocka_unit_test(of_unlike_cores_each_says_whose_it_is),
		cmocka_unit_test(slots_are_the_cores_own),
		cmocka_unit_test(without_one_of_its_events_there_is_no_ratio),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
