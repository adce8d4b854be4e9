// SPDX-License-Identifier: MIT
/* Instructions that a program may not execute, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tools/exec/undefined.h"

/* Codes as GNU as writes them. */
static const struct row {
	enum instruction_set set;
	uint32_t code;
	const char *text, *name;
	bool writes, kernel_only;
} rows[] = {
	{ SET_ARM, 0xee190f1d, "mrc p15, 0, r0, c9, c13, 0", "PMCCNTR", false,
	  false },
	{ SET_ARM, 0xee093f1c, "mcr p15, 0, r3, c9, c12, 0", "PMCR", true,
	  false },
	{ SET_ARM, 0xee092f9e, "mcr p15, 0, r2, c9, c14, 4", "", true, false },
	{ SET_ARM, 0xee092f3e, "mcr p15, 0, r2, c9, c14, 1", "PMINTENSET", true,
	  true },
	{ SET_ARM, 0x1e1f1f3c, "mrc p15, 0, r1, c15, c12, 1", "CCNT", false,
	  false },
	{ SET_ARM, 0xee1e2f59, "mrc p15, 0, r2, c14, c9, 2", "PMEVCNTR10",
	  false, false },
	{ SET_ARM, 0xee0e2fff, "mcr p15, 0, r2, c14, c15, 7", "PMCCFILTR", true,
	  false },
	{ SET_ARM, 0xec510f09, "mrrc p15, 0, r0, r1, c9", "PMCCNTR", false,
	  false },
	{ SET_THUMB, 0xee190f1d, "mrc p15, 0, r0, c9, c13, 0", "PMCCNTR", false,
	  false },
	{ SET_A64, 0xd53b9d00, "mrs x0, PMCCNTR_EL0", "PMCCNTR_EL0", false,
	  false },
	{ SET_A64, 0xd51b9c03, "msr PMCR_EL0, x3", "PMCR_EL0", true, false },
	{ SET_A64, 0xd51b9c63, "msr PMOVSCLR_EL0, x3", "PMOVSCLR_EL0", true,
	  false },
	{ SET_A64, 0xd5189e25, "msr PMINTENSET_EL1, x5", "PMINTENSET_EL1", true,
	  true },
	{ SET_A64, 0xd53be820, "mrs x0, PMEVCNTR1_EL0", "PMEVCNTR1_EL0", false,
	  false },
};

static void each_register_of_the_pmu_is_named(void **state)
{
	struct undefined what;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		undefined_describe(&what, row->set, row->code);
		assert_string_equal(what.name, row->name);
		if (!row->name[0])
			continue;
		assert_string_equal(what.text, row->text);
		assert_int_equal(what.writes, row->writes);
		assert_int_equal(what.kernel_only, row->kernel_only);
	}
}

static void what_is_none_of_the_pmu_has_its_code_and_no_name(void **state)
{
	static const struct {
		enum instruction_set set;
		uint32_t code;
		const char *text;
	} others[] = {
		{ SET_ARM, 0xe7f000f0, "0xe7f000f0" },	 /* udf */
		{ SET_ARM, 0xfe190f1d, "0xfe190f1d" },	 /* mrc2 */
		{ SET_ARM, 0xee390f1d, "0xee390f1d" },	 /* opc1 1 */
		{ SET_ARM, 0xee190e1d, "0xee190e1d" },	 /* p14 */
		{ SET_ARM, 0xec510f02, "0xec510f02" },	 /* mrrc of c2 */
		{ SET_THUMB, 0xde00, "0xde00" },	 /* udf */
		{ SET_THUMB, 0xfe190f1d, "0xfe190f1d" }, /* mrc2 */
		{ SET_A64, 0x00000000, "0x00000000" },
		{ SET_A64, 0xd53be040, "0xd53be040" }, /* cntvct_el0 */
		{ SET_A64, 0xd53bfc20, "0xd53bfc20" }, /* v6's numbers */
		{ SET_A64, 0xd5389d00, "0xd5389d00" }, /* op1 0 */
		{ SET_UNKNOWN, 0xee190f1d, "0xee190f1d" },
	};
	struct undefined what;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		undefined_describe(&what, others[i].set, others[i].code);
		assert_string_equal(what.text, others[i].text);
		assert_string_equal(what.name, "");
		assert_false(what.kernel_only);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_register_of_the_pmu_is_named),
		cmocka_unit_test(
			what_is_none_of_the_pmu_has_its_code_and_no_name),
	};

	return cmocka_run_group_tests_name("undefined", tests, NULL, NULL);
}
