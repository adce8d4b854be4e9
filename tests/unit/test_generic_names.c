// SPDX-License-Identifier: MIT
/* perf's generic names in event lists: what is asked of the kernel. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/events/events.h"
#include "lib/events/perf_row.h"
#include "lib/sys.h"

static struct upmu_machine machine;
static struct upmu_event_list list;

static void parse_on(const char *fixture, const char *text)
{
	static char root[UPMU_PATH_SIZE];
	struct upmu_events_error error;

	snprintf(root, sizeof(root), "%s/%s", FIXTURES, fixture);
	upmu_sys_set_root(root);
	assert_int_equal(upmu_machine_read(&machine), 0);
	if (upmu_events_parse(&list, text, &machine, &error))
		fail_msg("'%s' was refused: %s", text, error.text);
}

static void assert_event(size_t n, const char *name, uint32_t type,
			 uint64_t config)
{
	assert_true(n < list.n);
	assert_string_equal(list.events[n].name, name);
	assert_int_equal(list.events[n].type, type);
	assert_int_equal(list.events[n].config, config);
}

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
