// SPDX-License-Identifier: MIT
/* How events are shared out into sets: lib/events/fit.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "on_fixture.h"

static void assert_sets(const char *text, unsigned int counters, int sets,
			const char *expected)
{
	uint16_t set_of[UPMU_LIST_MAX];
	char got[UPMU_LIST_MAX + 1] = "";

	parse(text);
	assert_int_equal(upmu_events_fit(list.events, list.n, counters, set_of),
			 sets);
	for (size_t i = 0; i < list.n; i++)
		got[i] = set_of[i] == UPMU_SET_EVERY ? '*'
						     : (char)('0' + set_of[i]);
	assert_string_equal(got, expected);
}

static void what_fits_is_one_set(void **s)
{
	(void)s;
	boot("pi2");
	assert_sets("cycles,r1,r3,r4,instructions", 4, 1, "*0000");
	assert_sets("cycles,task-clock", 4, 1, "**");
}

static void sets_fill_the_counters_and_keep_groups_together(void **s)
{
	(void)s;
	boot("pi1");
	assert_sets("cycles,r1,{r3,r4},r5,task-clock", 2, 3, "*0112*");
	assert_sets("r1,r3,r4,r5", 2, 2, "0011");
	assert_sets("r1,{r3,cycles},r4", 1, 3, "01*2");
}

static void instructions_have_a_counter_to_themselves_where_four_are(void **s)
{
	(void)s;
	boot("pi2");
	assert_sets("cycles,r1,r3,instructions,r4,r5", 4, 2, "*00*01");
	assert_sets("cycles,r1,r3,instructions,r4,r5", 3, 2, "*00011");
}

static void a_group_comes_before_sparing_a_counter(void **s)
{
	(void)s;
	boot("pi2");
	assert_sets("instructions,{r1,r3,r4,r5}", 4, 2, "01111");
	assert_sets("instructions,{r1,r3,r4},r5", 4, 2, "*0001");
}

static void a_group_larger_than_the_counters_has_no_set(void **s)
{
	uint16_t set_of[UPMU_LIST_MAX];

	(void)s;
	parse_on("pi2", "{r1,r3,r4}");
	assert_int_equal(upmu_events_fit(list.events, list.n, 2, set_of),
			 -EMFILE);
	assert_int_equal(upmu_events_fit(list.events, 0, 2, set_of), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_one_set),
		cmocka_unit_test(
			sets_fill_the_counters_and_keep_groups_together),
		cmocka_unit_test(
			instructions_have_a_counter_to_themselves_where_four_are),
		cmocka_unit_test(a_group_comes_before_sparing_a_counter),
		cmocka_unit_test(a_group_larger_than_the_counters_has_no_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
