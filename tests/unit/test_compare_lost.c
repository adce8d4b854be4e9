// SPDX-License-Identifier: MIT
/* What each writer of upmu compare says where a part of its report is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/lossy.h"
#include "tools/compare/compare.h"

static int write_with(int (*writer)(FILE *, const struct compare *))
{
	static const struct compare_options options = { .separator = "," };
	struct compare c = { .options = &options, .commands = 1 };
	FILE *out = open_lossy();
	int ret;

	assert_non_null(out);
	c.command[0].name = strdup("a");
	assert_non_null(compare_add_event(&c, "page-faults", ""));
	ret = writer(out, &c);
	assert_true(is_lost);
	fclose(out);
	compare_free(&c);
	return ret;
}

static void a_part_that_is_lost_is_told_in_each_format(void **state)
{
	(void)state;
	assert_int_equal(write_with(compare_write_text), -1);
	assert_int_equal(write_with(compare_write_markdown), -1);
	assert_int_equal(write_with(compare_write_csv), -1);
	assert_int_equal(write_with(compare_write_json), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_that_is_lost_is_told_in_each_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
