// SPDX-License-Identifier: MIT
/* Instructions that a program may not execute, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
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

/* The whole table again, by the manuals: CRn, CRm, op2. */
static const struct named {
	uint8_t crn, crm, op2;
	const char *name;
} all[] = {
	{ 9, 12, 0, "PMCR" },	    { 9, 12, 1, "PMCNTENSET" },
	{ 9, 12, 2, "PMCNTENCLR" }, { 9, 12, 3, "PMOVSR" },
	{ 9, 12, 4, "PMSWINC" },    { 9, 12, 5, "PMSELR" },
	{ 9, 12, 6, "PMCEID0" },    { 9, 12, 7, "PMCEID1" },
	{ 9, 13, 0, "PMCCNTR" },    { 9, 13, 1, "PMXEVTYPER" },
	{ 9, 13, 2, "PMXEVCNTR" },  { 9, 14, 0, "PMUSERENR" },
	{ 9, 14, 1, "PMINTENSET" }, { 9, 14, 2, "PMINTENCLR" },
	{ 9, 14, 3, "PMOVSSET" },   { 15, 12, 0, "PMNC" },
	{ 15, 12, 1, "CCNT" },	    { 15, 12, 2, "PMN0" },
	{ 15, 12, 3, "PMN1" },
};

/* "" for what has no name. */
static void name_of(char *name, uint32_t crn, uint32_t crm, uint32_t op2)
{
	uint32_t number = (crm % 4) * 8 + op2;

	name[0] = '\0';
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].crn == crn && all[i].crm == crm && all[i].op2 == op2)
			strcpy(name, all[i].name);
	if (crn == 14 && crm >= 8)
		snprintf(name, 24, crm < 12 ? "PMEVCNTR%u" : "PMEVTYPER%u",
			 number);
	if (crn == 14 && crm == 15 && op2 == 7)
		strcpy(name, "PMCCFILTR");
}

static bool is_the_kernels(const char *name)
{
	return !strncmp(name, "PMINTEN", 7);
}

static void assert_described(enum instruction_set set, uint32_t code,
			     const char *name, const char *text)
{
	struct undefined what;

	undefined_describe(&what, set, code);
	if (strcmp(what.name, name) || strcmp(what.text, text))
		fail_msg("0x%08x: '%s', '%s' are not '%s', '%s'", code,
			 what.name, what.text, name, text);
	assert_int_equal(what.kernel_only, is_the_kernels(name));
}

static void each_place_of_cp15_has_its_name_or_none(void **state)
{
	char name[24], text[64];

	(void)state;
	for (uint32_t at = 0; at < 2 << 11; at++) {
		uint32_t crn = at >> 7 & 15, crm = at >> 3 & 15, op2 = at & 7;
		uint32_t read = at >> 11, rt = at % 13;
		uint32_t code = 0xee000f10 | read << 20 | crn << 16 | rt << 12 |
				op2 << 5 | crm;

		name_of(name, crn, crm, op2);
		snprintf(text, sizeof(text), "%s p15, 0, r%u, c%u, c%u, %u",
			 read ? "mrc" : "mcr", rt, crn, crm, op2);
		if (!name[0])
			snprintf(text, sizeof(text), "0x%08x", code);
		assert_described(SET_ARM, code, name, text);
		assert_described(SET_THUMB, code, name, text);
	}
}

/* op1 0 of the kernel's registers, 3 of all else. */
static void each_place_of_a64_has_its_name_or_none(void **state)
{
	char name[24], full[32], text[64];

	(void)state;
	for (uint32_t at = 0; at < 2 << 14; at++) {
		uint32_t crn = at >> 7 & 15, crm = at >> 3 & 15, op2 = at & 7;
		uint32_t op1 = at >> 11 & 7, read = at >> 14, rt = at % 31;
		uint32_t code = 0xd5180000 | read << 21 | op1 << 16 |
				crn << 12 | crm << 8 | op2 << 5 | rt;

		name_of(name, crn, crm, op2);
		if (crn == 15 || op1 != (is_the_kernels(name) ? 0 : 3))
			name[0] = '\0';
		if (!strcmp(name, "PMOVSR"))
			strcpy(name, "PMOVSCLR");
		snprintf(full, sizeof(full), "%s%s", name,
			 !name[0] ? ""
			 : op1	  ? "_EL0"
				  : "_EL1");
		if (!name[0])
			snprintf(text, sizeof(text), "0x%08x", code);
		else if (read)
			snprintf(text, sizeof(text), "mrs x%u, %s", rt, full);
		else
			snprintf(text, sizeof(text), "msr %s, x%u", full, rt);
		assert_described(SET_A64, code, full, text);
	}
}

/* Each bit that says what instruction it is; the rest are registers. */
static void another_bit_is_another_instruction(void **state)
{
	static const struct {
		enum instruction_set set;
		uint32_t code, fixed;
	} bases[] = {
		{ SET_ARM, 0xee190f1d, 0x0fe00f10 },
		{ SET_THUMB, 0xee190f1d, 0xffe00f10 },
		{ SET_ARM, 0xec510f09, 0x0fe00fff },
		{ SET_THUMB, 0xec510f09, 0xffe00fff },
		{ SET_A64, 0xd53b9d00, 0xffdfffe0 },
	};
	char text[16];

	(void)state;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		for (int bit = 0; bit < 32; bit++) {
			uint32_t code = bases[i].code ^ UINT32_C(1) << bit;

			if (!(bases[i].fixed >> bit & 1))
				continue;
			/* which is a register beside it */
			if (bases[i].set == SET_A64 && bit >= 5 && bit <= 11)
				continue;
			snprintf(text, sizeof(text), "0x%08x", code);
			assert_described(bases[i].set, code, "", text);
		}
}

static void the_64_bit_cycle_counter_is_named_either_way(void **state)
{
	(void)state;
	assert_described(SET_ARM, 0xec5a3f09, "PMCCNTR",
			 "mrrc p15, 0, r3, r10, c9");
	assert_described(SET_THUMB, 0xec43cf09, "PMCCNTR",
			 "mcrr p15, 0, r12, r3, c9");
}

static void only_short_thumb_has_four_digits(void **state)
{
	(void)state;
	assert_described(SET_THUMB, 0x1, "", "0x0001");
	assert_described(SET_THUMB, 0xffff, "", "0xffff");
	assert_described(SET_THUMB, 0x10000, "", "0x00010000");
	assert_described(SET_ARM, 0xffff, "", "0x0000ffff");
	assert_described(SET_A64, 0xffff, "", "0x0000ffff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_register_of_the_pmu_is_named),
		cmocka_unit_test(
			what_is_none_of_the_pmu_has_its_code_and_no_name),
		cmocka_unit_test(each_place_of_cp15_has_its_name_or_none),
		cmocka_unit_test(each_place_of_a64_has_its_name_or_none),
		cmocka_unit_test(another_bit_is_another_instruction),
		cmocka_unit_test(the_64_bit_cycle_counter_is_named_either_way),
		cmocka_unit_test(only_short_thumb_has_four_digits),
	};

	return cmocka_run_group_tests_name("undefined", tests, NULL, NULL);
}
