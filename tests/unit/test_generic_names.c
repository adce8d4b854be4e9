// SPDX-License-Identifier: MIT
/* perf's generic names in event lists: what is asked of the kernel. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/events/generic.h"
#include "on_fixture.h"

/* What the kernel's number stands for is the kernel's to say. */
static void a_generic_name_asks_the_kernel_as_perf_does(void **s)
{
	static const struct {
		const char *name;
		uint64_t config;
		uint32_t code;
	} known[] = {
		{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0x05 },
		{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 0x06 },
		{ "stalled-cycles-frontend",
		  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0x01 },
	};

	(void)s;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		parse_on("pi1", known[i].name);
		assert_event(0, known[i].name, PERF_TYPE_HARDWARE,
			     known[i].config);
		assert_int_equal(list.events[0].code, known[i].code);
		assert_int_equal(list.events[0].class, UPMU_EVENT_CORE);
	}
	parse_on("pi1", "instructions,cycles,L1-dcache-load-misses");
	assert_event(0, "instructions", 8, 0x07);
	assert_event(1, "cycles", 8, 0xff);
	assert_event(2, "L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
		     PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS
						       << 16);
	assert_int_equal(list.events[2].code, 0x0b);
}

static void synonyms_are_the_same_event(void **s)
{
	(void)s;
	parse_on("odroid-xu4", "cortex-a15/branches/,"
			       "cortex-a15/branch-instructions/");
	assert_int_equal(list.events[0].code, 0x76);
	assert_ptr_equal(list.events[0].row, list.events[1].row);
	parse_on("pi5", "stalled-cycles-backend,idle-cycles-backend");
	assert_int_equal(list.events[0].code, 0x24);
	assert_ptr_equal(list.events[0].row, list.events[1].row);
	assert_int_equal(list.events[0].config, list.events[1].config);
}

/* There a number of the kernel's would not tell which core is meant. */
static void on_unlike_cores_a_generic_name_is_each_cores_own_code(void **s)
{
	(void)s;
	parse_on("odroid-xu4", "dTLB-load-misses");
	assert_int_equal(list.n, 2);
	assert_int_equal(list.events[0].config, 0x05); /* cortex-a7 */
	assert_int_equal(list.events[1].config, 0x4c); /* cortex-a15 */
	assert_int_not_equal(list.events[0].type, list.events[1].type);
	assert_int_not_equal(list.events[0].type, PERF_TYPE_HW_CACHE);
	assert_false(list.events[0].is_alike);
}

/* An A53 under a 32-bit kernel that counts it as an A7. */
static void the_driver_says_what_a_generic_name_counts(void **s)
{
	(void)s;
	parse_on("pi3-32", "LLC-loads,L1-dcache-loads");
	assert_string_equal(machine.kinds[0].pmu_name, "armv7_cortex_a7");
	assert_int_equal(list.events[0].code, 0x16);
	assert_string_equal(upmu_row_name(list.events[0].row), "l2d_cache");
	parse_on("pi3-64", "LLC-loads");
	assert_null(list.events[0].row); /* the driver for ARMv8 has none */
}

/* What perf counts for a name on @core with a PMU of that name; 0: nothing. */
static unsigned int counted(const char *core, const char *pmu,
			    unsigned int linux, const char *name)
{
	struct upmu_core_kind kind = {
		.core = upmu_core_by_name(core, strlen(core)), .linux = linux
	};
	const struct upmu_event_row *row;

	snprintf(kind.pmu_name, sizeof(kind.pmu_name), "%s", pmu);
	row = upmu_kind_perf_row(&kind, upmu_hardware_find(name, strlen(name)));
	return row ? upmu_row_code(row) : 0;
}

/* The driver for any PMUv3 knows nothing of the core below it. */
static void a_nameless_pmu_counts_by_the_architectures_map_alone(void **s)
{
	static const struct {
		const char *core, *own, *name;
		unsigned int by_own, by_any;
	} cases[] = {
		{ "cortex-a53", "armv8_cortex_a53", "node-loads", 0x60, 0 },
		{ "cortex-a72", "armv8_cortex_a72", "L1-dcache-stores", 0x41,
		  0 },
		{ "cortex-a72", "armv8_cortex_a72", "L1-dcache-loads", 0x04,
		  0x04 },
		{ "cortex-a73", "armv8_cortex_a73", "L1-dcache-stores", 0x41,
		  0 },
	};

	(void)s;
	upmu_sys_set_root("/nowhere");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			counted(cases[i].core, cases[i].own, 0, cases[i].name),
			cases[i].by_own);
		assert_int_equal(counted(cases[i].core, "armv8_pmuv3_0", 0,
					 cases[i].name),
				 cases[i].by_any);
		assert_int_equal(
			counted(cases[i].core, "armv8_pmuv3", 0, cases[i].name),
			cases[i].by_any);
	}
}

static void the_kernels_version_says_what_branches_are(void **s)
{
	static const struct {
		const char *core;
		unsigned int v5_10, v6_3, v6_4, v6_11, v6_12, newest;
	} cases[] = {
		{ "cortex-a53", 0x0c, 0x0c, 0x0c, 0x0c, 0x0c, 0x0c },
		{ "cortex-a55", 0x0c, 0x0c, 0x0c, 0x0c, 0x21, 0x21 },
		{ "cortex-a76", 0, 0, 0x21, 0x21, 0x21, 0x21 },
		{ "cortex-a72", 0, 0, 0, 0, 0, 0 },
	};

	(void)s;
	upmu_sys_set_root("/nowhere");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *core = cases[i].core, *name = "branches";
		const char *pmu = "armv8_pmuv3";

		assert_int_equal(counted(core, pmu, UPMU_LINUX(5, 10), name),
				 cases[i].v5_10);
		assert_int_equal(counted(core, pmu, UPMU_LINUX(6, 3), name),
				 cases[i].v6_3);
		assert_int_equal(counted(core, pmu, UPMU_LINUX(6, 4), name),
				 cases[i].v6_4);
		assert_int_equal(counted(core, pmu, UPMU_LINUX(6, 11), name),
				 cases[i].v6_11);
		assert_int_equal(counted(core, pmu, UPMU_LINUX(6, 12), name),
				 cases[i].v6_12);
		assert_int_equal(counted(core, pmu, 0, name), cases[i].newest);
	}
	assert_int_equal(counted("apple-firestorm", "apple_firestorm_pmu",
				 UPMU_LINUX(6, 12), "branches"),
			 0);
	assert_int_equal(counted("apple-firestorm", "apple_firestorm_pmu",
				 UPMU_LINUX(7, 2), "branches"),
			 0x8d);
}

/* QEMU's PMU under an A57's driver: PMCEID has neither 0x05 nor 0x10. */
static void what_the_pmu_leaves_out_gives_way_to_the_cores_own_map(void **s)
{
	(void)s;
	upmu_sys_set_root(FIXTURES "/qemu-virt-64");
	assert_int_equal(counted("cortex-a57", "armv8_cortex_a53", 0,
				 "dTLB-load-misses"),
			 0x4c);
	assert_int_equal(
		counted("cortex-a57", "armv8_cortex_a53", 0, "branch-misses"),
		0x10); /* nothing better */
	upmu_sys_set_root("/nowhere");
	assert_int_equal(counted("cortex-a57", "armv8_cortex_a53", 0,
				 "dTLB-load-misses"),
			 0x05);
}

/* Of caches the first two have the numbers of cycles and instructions. */
static void cycles_and_instructions_are_known_by_type_and_number(void **s)
{
	static const struct {
		const char *name;
		bool is_cycles, is_instructions;
	} known[] = {
		{ "cycles", true, false },
		{ "cpu-cycles", true, false },
		{ "instructions", false, true },
		{ "bus-cycles", false, false },
		{ "branches", false, false },
		{ "L1-dcache-loads", false, false },
		{ "L1-icache-loads", false, false },
	};

	(void)s;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		parse_on("pc", known[i].name);
		assert_int_equal(list.n, 1);
		assert_int_equal(list.events[0].is_cycles, known[i].is_cycles);
		assert_int_equal(list.events[0].is_instructions,
				 known[i].is_instructions);
	}
}

/* Of unlike cores one may have none. */
static void a_generic_name_is_supported_where_there_is_a_pmu(void **s)
{
	struct upmu_events_error error;

	(void)s;
	parse_on("rk3399", "LLC-prefetches");
	assert_int_equal(list.n, 2);
	assert_true(list.events[0].is_supported);
	assert_true(list.events[1].is_supported);
	machine.kinds[1].pmu_type = UPMU_PMU_TYPE_NONE;
	assert_int_equal(
		upmu_events_parse(&list, "LLC-prefetches", &machine, &error),
		0);
	assert_true(list.events[0].is_supported);
	assert_false(list.events[1].is_supported);
}

/* Which is why these are asked first: the order decides nothing. */
static void no_core_has_an_event_called_as_one_of_the_kernels_own(void **s)
{
	const struct upmu_core *core;
	const struct upmu_event_row *row;

	(void)s;
	for (size_t i = 0; (core = upmu_core_at(i)); i++)
		for (size_t k = 0; (row = upmu_core_row(core, k)); k++) {
			const char *name = upmu_row_name(row);

			assert_null(upmu_software_find(name, strlen(name)));
		}
	for (size_t i = 0; upmu_hardware_at(i); i++) {
		const char *name = upmu_hardware_at(i)->name;

		assert_null(upmu_software_find(name, strlen(name)));
	}
}

static void assert_refused_on(const char *fixture, const char *text,
			      const char *words)
{
	struct upmu_events_error error;

	parse_on(fixture, "cycles");
	assert_int_equal(upmu_events_parse(&list, text, &machine, &error),
			 -ENOENT);
	if (!strstr(error.text, words))
		fail_msg("'%s' is not in: %s", words, error.text);
	if (!strstr(words, "others"))
		assert_null(strstr(error.text, "others"));
}

/* "or the others" where there are others, and none was named. */
static void who_lacks_an_unknown_event_is_named(void **s)
{
	(void)s;
	assert_refused_on("pi2", "nonsense", "no event of cortex-a7");
	assert_refused_on("rk3399", "nonsense",
			  "no event of cortex-a53 or the others");
	assert_refused_on("rk3399", "cortex-a72/nonsense/",
			  "no event of cortex-a72");
	/* What another kind has does not help. */
	assert_refused_on("rk3399", "cortex-a53/l1d_cache_rd/",
			  "no event of cortex-a53");
}

/* 16 digits are 64 bits; what has more is no code, be it 0s in front. */
static void a_codes_digits_have_an_end(void **s)
{
	(void)s;
	parse_on("pi2", "r0000000000000011");
	assert_event(0, "r0000000000000011", 8, 0x11);
	assert_refused_on("pi2", "r00000000000000011", "no event of");
}

static void terms_of_a_cores_pmu_are_a_cores_event(void **s)
{
	(void)s;
	parse_on("pi2", "armv7_cortex_a7/config=0x3/");
	assert_int_equal(list.events[0].class, UPMU_EVENT_CORE);
	assert_int_equal(list.events[0].kind, 0);
	assert_int_equal(list.events[0].config, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_generic_name_asks_the_kernel_as_perf_does),
		cmocka_unit_test(synonyms_are_the_same_event),
		cmocka_unit_test(
			on_unlike_cores_a_generic_name_is_each_cores_own_code),
		cmocka_unit_test(the_driver_says_what_a_generic_name_counts),
		cmocka_unit_test(
			a_nameless_pmu_counts_by_the_architectures_map_alone),
		cmocka_unit_test(the_kernels_version_says_what_branches_are),
		cmocka_unit_test(
			what_the_pmu_leaves_out_gives_way_to_the_cores_own_map),
		cmocka_unit_test(
			cycles_and_instructions_are_known_by_type_and_number),
		cmocka_unit_test(
			a_generic_name_is_supported_where_there_is_a_pmu),
		cmocka_unit_test(
			no_core_has_an_event_called_as_one_of_the_kernels_own),
		cmocka_unit_test(who_lacks_an_unknown_event_is_named),
		cmocka_unit_test(a_codes_digits_have_an_end),
		cmocka_unit_test(terms_of_a_cores_pmu_are_a_cores_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
