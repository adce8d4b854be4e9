// SPDX-License-Identifier: MIT
/* Event lists: lib/events/parse.c and resolve.c on tests/fixtures. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "on_fixture.h"

/* A refusal says which event, and leaves the list as it was. */
static void assert_refused(const char *text, int ret, size_t position,
			   const char *words)
{
	static struct upmu_event_list before;

	memset(&list, 0xee, sizeof(list));
	before = list;
	memset(&error, 0, sizeof(error));
	assert_int_equal(upmu_events_parse(&list, text, &machine, &error), ret);
	assert_memory_equal(&list, &before,
			    offsetof(struct upmu_event_list, events));
	assert_int_equal(error.position, position);
	if (!strstr(error.text, words))
		fail_msg("'%s' does not say '%s'", error.text, words);
}

static void cycles_take_the_cycle_counter_of_every_driver(void **s)
{
	(void)s;
	parse_on("pi1", "cycles,cpu_cycles");
	assert_event(0, "cycles", 8, 0xff);
	assert_event(1, "cpu_cycles", 8, 0xff);
	assert_true(list.events[0].is_cycles);
	parse_on("pi2", "cycles");
	assert_event(0, "cycles", 8, 0xff);
	assert_int_equal(list.events[0].code, 0x11);
	parse_on("pi3-64", "cycles");
	assert_event(0, "cycles", 8, 0x11);
	assert_true(list.events[0].is_cycles);
}

static void r11_under_the_v7_driver_is_an_ordinary_counter(void **s)
{
	(void)s;
	parse_on("pi2", "r11,rff");
	assert_event(0, "r11", 8, 0x11);
	assert_false(list.events[0].is_cycles);
	assert_event(1, "rff", 8, 0xff);
	assert_true(list.events[1].is_cycles);
}

static void a_mnemonic_has_its_cores_code_and_row(void **s)
{
	(void)s;
	parse_on("pi3-64", "l1d_cache_refill");
	assert_event(0, "l1d_cache_refill", 8, 0x03);
	assert_int_equal(list.events[0].class, UPMU_EVENT_CORE);
	assert_int_equal(list.events[0].kind, 0);
	assert_string_equal(upmu_row_name(list.events[0].row),
			    "l1d_cache_refill");
}

static void case_does_not_matter(void **s)
{
	(void)s;
	parse_on("pi3-64", "L1D_Cache,CYCLES,Task-Clock,R1D,"
			   "Cortex-A53/BUS_ACCESS/,l1-DCACHE-LOADS");
	assert_event(0, "l1d_cache", 8, 0x04);
	assert_event(1, "cycles", 8, 0x11);
	assert_event(2, "task-clock", PERF_TYPE_SOFTWARE,
		     PERF_COUNT_SW_TASK_CLOCK);
	assert_int_equal(list.events[3].config, 0x1d);
	assert_event(4, "bus_access", 8, 0x19);
	assert_event(5, "L1-dcache-loads", PERF_TYPE_HW_CACHE,
		     PERF_COUNT_HW_CACHE_L1D);
	assert_int_equal(list.events[5].code, 0x04);
}

static void a_generic_name_without_a_row_is_left_to_the_kernel(void **s)
{
	(void)s;
	parse_on("pi1", "node-loads");
	assert_event(0, "node-loads", PERF_TYPE_HW_CACHE,
		     PERF_COUNT_HW_CACHE_NODE);
	assert_int_equal(list.events[0].class, UPMU_EVENT_GENERIC);
	assert_null(list.events[0].row);
}

static void software_events_need_no_pmu(void **s)
{
	static const struct {
		const char *name;
		uint64_t config;
	} known[] = {
		{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
		{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
		{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
		{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
		{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
		{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
		{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
		{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS },
	};

	(void)s;
	boot("no-such-board");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		parse(known[i].name);
		assert_event(0, known[i].name, PERF_TYPE_SOFTWARE,
			     known[i].config);
		assert_int_equal(list.events[0].kind, -1);
	}
	parse("cs,faults,migrations");
	assert_event(0, "cs", PERF_TYPE_SOFTWARE,
		     PERF_COUNT_SW_CONTEXT_SWITCHES);
}

static void modifiers_are_kept_and_printed(void **s)
{
	(void)s;
	parse_on("pi2", "cycles:u,l1d_cache:k,cycles:uk,cycles:h,cycles");
	assert_string_equal(list.events[0].name, "cycles:u");
	assert_int_equal(list.events[0].modifiers, UPMU_EVENT_USER);
	assert_int_equal(list.events[1].modifiers, UPMU_EVENT_KERNEL);
	assert_int_equal(list.events[2].modifiers,
			 UPMU_EVENT_USER | UPMU_EVENT_KERNEL);
	assert_int_equal(list.events[3].modifiers, UPMU_EVENT_HYP);
	assert_int_equal(list.events[4].modifiers, 0);
}

static void a_groups_modifier_reaches_all_its_events(void **s)
{
	(void)s;
	parse_on("pi2", "{cycles,l1d_cache:k}:u,instructions");
	assert_int_equal(list.events[0].modifiers, UPMU_EVENT_USER);
	assert_int_equal(list.events[1].modifiers,
			 UPMU_EVENT_USER | UPMU_EVENT_KERNEL);
	assert_int_equal(list.events[2].modifiers, 0);
}

static void groups_are_numbered_from_1(void **s)
{
	(void)s;
	parse_on("pi2", "cycles, { l1d_cache , l1d_cache_refill } , {r1,r2}");
	assert_int_equal(list.n, 5);
	assert_int_equal(list.n_groups, 2);
	assert_int_equal(list.events[0].group, 0);
	assert_int_equal(list.events[1].group, 1);
	assert_int_equal(list.events[2].group, 1);
	assert_int_equal(list.events[4].group, 2);
}

static void big_little_gives_an_entry_for_each_kind(void **s)
{
	(void)s;
	parse_on("rk3399", "task-clock,l1d_cache:u");
	assert_int_equal(list.n, 3);
	assert_int_equal(list.n_written, 2);
	assert_event(1, "cortex-a53/l1d_cache/u", 8, 0x04);
	assert_event(2, "cortex-a72/l1d_cache/u", 9, 0x04);
	assert_int_equal(list.events[1].position, 1);
	assert_int_equal(list.events[2].position, 1);
	assert_int_equal(list.events[1].kind, 0);
	assert_int_equal(list.events[2].kind, 1);
	assert_true(list.events[1].is_alike);
}

static void what_has_one_entry_is_alike_even_without_a_row(void **s)
{
	(void)s;
	parse_on("pi2", "r77,page-faults,cycles");
	for (size_t i = 0; i < list.n; i++)
		assert_true(list.events[i].is_alike);
}

static void a_name_that_means_unlike_events_is_marked(void **s)
{
	(void)s;
	parse_on("odroid-xu4", "branches");
	assert_int_equal(list.n, 2);
	assert_int_not_equal(list.events[0].code, list.events[1].code);
	assert_false(list.events[0].is_alike);
	assert_false(list.events[1].is_alike);
}

static void one_unlike_kind_among_three_is_enough(void **s)
{
	(void)s;
	boot("odroid-xu4");
	machine.n_kinds = 3;
	machine.kinds[2] = machine.kinds[0];
	parse("branches,l1d_cache");
	assert_int_equal(list.n, 6);
	for (size_t i = 0; i < 3; i++) {
		assert_false(list.events[i].is_alike);
		assert_true(list.events[3 + i].is_alike);
	}
}

static void a_kind_that_lacks_an_event_says_so(void **s)
{
	(void)s;
	parse_on("odroid-xu4", "ld_retired");
	assert_int_equal(list.n, 2);
	assert_true(list.events[0].is_supported);
	assert_false(list.events[1].is_supported);
	assert_null(list.events[1].row);
	assert_string_equal(list.events[1].name, "cortex-a15/ld_retired/");
}

static void what_this_very_core_leaves_out_is_not_supported(void **s)
{
	(void)s;
	parse_on("pi3-64", "bus_cycles,bus_access,r1d,cpu_cycles");
	assert_false(list.events[0].is_supported);
	assert_string_equal(list.events[0].name, "bus_cycles");
	assert_true(list.events[1].is_supported);
	assert_true(list.events[2].is_supported); /* a code is not judged */
	assert_true(list.events[3].is_supported);
	/* PMUs of newer cores are called armv9_..., by the same driver. */
	parse_on("orion-o6", "l2d_cache");
	assert_string_equal(list.events[0].name, "cortex-a520/l2d_cache/");
	assert_false(list.events[0].is_supported);
	assert_true(list.events[1].is_supported);
	parse_on("qemu-virt-64", "l1d_cache");
	assert_true(list.events[0].is_supported);
	parse_on("half-covered", "l1d_cache"); /* publishes nothing */
	assert_true(list.events[0].is_supported);
}

static void a_core_or_pmu_can_be_named(void **s)
{
	(void)s;
	parse_on("rk3399", "cortex-a72/l1d_cache/,armv8_cortex_a53/cycles/k");
	assert_int_equal(list.n, 2);
	assert_event(0, "cortex-a72/l1d_cache/", 9, 0x04);
	assert_event(1, "cortex-a53/cycles/k", 8, 0x11);
	assert_int_equal(list.events[1].modifiers, UPMU_EVENT_KERNEL);
}

static void printed_names_can_be_typed_again(void **s)
{
	static struct upmu_event_list first;
	char again[UPMU_EVENT_NAME_MAX];

	(void)s;
	parse_on("rk3399", "cycles:u,instructions:k,cortex-a72/r3/,cs");
	first = list;
	for (size_t i = 0; i < first.n; i++) {
		snprintf(again, sizeof(again), "%s", first.events[i].name);
		parse(again);
		assert_int_equal(list.n, 1);
		assert_string_equal(list.events[0].name, again);
		assert_int_equal(list.events[0].config, first.events[i].config);
		assert_int_equal(list.events[0].type, first.events[i].type);
		assert_int_equal(list.events[0].modifiers,
				 first.events[i].modifiers);
	}
}

static void what_the_kernel_publishes_is_usable_by_name(void **s)
{
	(void)s;
	parse_on("unknown-v8", "new_event,NEW_EVENT:u");
	assert_event(0, "new_event", 8, 0x8123);
	assert_int_equal(list.events[1].config, 0x8123);
}

static void what_v7_kernels_publish_of_every_core_is_not_believed(void **s)
{
	(void)s;
	boot("pi2");
	assert_refused("ld_spec", -ENOENT, 1, "no event of cortex-a7");
	assert_refused("armv7_cortex_a7/ld_spec/", -ENOENT, 1,
		       "no event of cortex-a7");
	parse_on("unknown-v7", "vendor_event");
	assert_event(0, "vendor_event", 8, 0x4d);
}

static void terms_of_a_pmu_go_where_its_format_says(void **s)
{
	(void)s;
	parse_on("pc", "cpu/event=0xcd,umask=0x1,ldlat=3/u,cpu/mem-loads/,"
		       "msr/tsc/,cpu/config=0x1234,edge/");
	assert_event(0, "cpu/event=0xcd,umask=0x1,ldlat=3/u", 4, 0x1cd);
	assert_int_equal(list.events[0].config1, 3);
	assert_int_equal(list.events[0].modifiers, UPMU_EVENT_USER);
	assert_event(1, "cpu/mem-loads/", 4, 0x1cd);
	assert_event(2, "msr/tsc/", 9, 0);
	assert_int_equal(list.events[3].config, 0x41234);
	assert_int_equal(list.events[0].class, UPMU_EVENT_PMU);
}

static void terms_of_a_cores_pmu_find_their_row(void **s)
{
	(void)s;
	parse_on("pi3-64", "armv8_cortex_a53/event=0x11,long/");
	assert_int_equal(list.events[0].config, 0x11);
	assert_int_equal(list.events[0].config1, 1);
	assert_true(list.events[0].is_cycles);
	assert_string_equal(upmu_row_name(list.events[0].row), "cpu_cycles");
}

/* What is printed can be typed again. */
static void a_term_keeps_the_name_of_its_pmu_where_no_pmu_is(void **s)
{
	(void)s;
	parse_on("pi3-32-bare",
		 "armv8_cortex_a53/event=0x8/u,cortex-a53/event=0x8/");
	assert_string_equal(list.events[0].name,
			    "armv8_cortex_a53/event=0x8/u");
	assert_string_equal(list.events[1].name, "cortex-a53/event=0x8/");
	assert_string_equal(upmu_row_name(list.events[1].row), "inst_retired");
}

static void a_pc_counts_by_the_kernels_names_and_numbers(void **s)
{
	(void)s;
	parse_on("pc", "cycles,instructions:u,r1c2,topdown-total-slots");
	assert_event(0, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	assert_event(1, "instructions:u", PERF_TYPE_HARDWARE,
		     PERF_COUNT_HW_INSTRUCTIONS);
	assert_event(2, "r1c2", PERF_TYPE_RAW, 0x1c2);
	assert_event(3, "topdown-total-slots", 4, 0x3c);
}

static void generic_events_name_their_pmu_where_there_are_several(void **s)
{
	(void)s;
	parse_on("apple-m1", "node-loads,cycles");
	assert_int_equal(list.n, 4);
	assert_event(0, "apple-icestorm/node-loads/", PERF_TYPE_HW_CACHE,
		     UINT64_C(10) << 32 | PERF_COUNT_HW_CACHE_NODE);
	assert_event(1, "apple-firestorm/node-loads/", PERF_TYPE_HW_CACHE,
		     UINT64_C(11) << 32 | PERF_COUNT_HW_CACHE_NODE);
	assert_event(3, "apple-firestorm/cycles/", 11, 0x02);
	assert_true(list.events[3].is_cycles);
}

static void instructions_are_known_by_any_name(void **s)
{
	(void)s;
	parse_on("apple-m1", "instructions,branches");
	assert_true(list.events[0].is_instructions);
	assert_false(list.events[2].is_instructions);
	parse_on("pi1", "instr_exec,r7,instructions,r5");
	assert_true(list.events[0].is_instructions);
	assert_true(list.events[1].is_instructions);
	assert_true(list.events[2].is_instructions);
	assert_false(list.events[3].is_instructions);
}

static void without_a_perf_pmu_a_code_remains(void **s)
{
	(void)s;
	parse_on("pi3-32-bare", "l1d_cache");
	assert_event(0, "l1d_cache", PERF_TYPE_RAW, 0x04);
	assert_int_equal(list.events[0].code, 0x04);
}

static void an_unknown_event_is_named_with_its_place_and_neighbours(void **s)
{
	(void)s;
	boot("pi3-64");
	assert_refused("cycles,l1d_cach_refill,r1", -ENOENT, 2,
		       "'l1d_cach_refill'");
	assert_non_null(strstr(error.hint, "l1d_cache_refill"));
	assert_int_equal(error.offset, 7);
	assert_non_null(strstr(error.text, "cortex-a53"));
	assert_refused("intructions", -ENOENT, 1, "'intructions'");
	assert_non_null(strstr(error.hint, "did you mean instructions"));
	assert_refused("xqzzy", -ENOENT, 1, "'xqzzy'");
	assert_non_null(strstr(error.hint, "upmu list"));
}

static void another_cores_event_is_called_that(void **s)
{
	(void)s;
	boot("pi3-64");
	assert_refused("ibuf_stall", -ENOENT, 1, "no event of cortex-a53");
	assert_string_equal(error.hint, "it is an event of arm1136, arm1176");
}

static void malformed_lists_are_refused_with_a_reason(void **s)
{
	(void)s;
	boot("pi3-64");
	assert_refused("", -EINVAL, 1, "no name");
	assert_refused("cycles,", -EINVAL, 2, "no name");
	assert_refused(",cycles", -EINVAL, 1, "no name");
	assert_refused("cycles,,r1", -EINVAL, 2, "no name");
	assert_refused("{cycles", -EINVAL, 1, "'{' without '}'");
	assert_refused("cycles}", -EINVAL, 1, "'cycles}': '}' without '{'");
	assert_refused("{cycles,{r1}}", -EINVAL, 2, "'{' within");
	assert_refused("{}", -EINVAL, 1, "no name");
	assert_refused("cycles r1", -EINVAL, 1, "'cycles r1': no ','");
	assert_refused("cycles:", -EINVAL, 1, "'cycles:': no modifier");
	assert_refused("cycles:ux", -EINVAL, 1, "modifier 'x'");
	assert_refused("cycles:U", -EINVAL, 1, "modifier 'U'");
	assert_refused("{cycles}:z", -EINVAL, 1, "modifier 'z'");
	assert_refused("{nonsense}:z", -EINVAL, 1, "modifier 'z'");
	assert_refused("armv8_cortex_a53/cycles", -EINVAL, 1, "second '/'");
	assert_refused("/cycles/", -EINVAL, 1, "no name of a PMU");
	assert_refused("armv8_cortex_a53//", -EINVAL, 1, "nothing between");
	assert_refused("armv8_cortex_a53/event=1,nope=2/", -EINVAL, 1,
		       "no such term");
	assert_refused("armv8_cortex_a53/event=0x10000/", -EINVAL, 1,
		       "no such term");
}

static void raw_codes_beyond_the_core_are_refused(void **s)
{
	(void)s;
	boot("pi2");
	assert_refused("r100", -EINVAL, 1, "end at ff");
	boot("pi3-64");
	assert_refused("r10000", -EINVAL, 1, "end at ffff");
	parse("rffff");
	assert_refused("r", -ENOENT, 1, "'r'");
	assert_refused("r1g", -ENOENT, 1, "'r1g'");
}

static void an_unknown_pmu_is_refused(void **s)
{
	(void)s;
	boot("pi3-64");
	assert_refused("cortex-a72/cycles/", -ENOENT, 1, "'cortex-a72'");
	assert_refused("../x/cycles/", -EINVAL, 1, "");
	boot("pc");
	assert_refused("msr/../../../type/", -EINVAL, 1, "");
	assert_refused("msr/.hidden/", -ENOENT, 1, "no such event");
	assert_refused("cpu/topdown-total-slots.scale/", -ENOENT, 1,
		       "no such event");
}

static void a_group_larger_than_the_core_is_refused(void **s)
{
	(void)s;
	boot("pi1");
	parse("{cycles,r1,r2}");
	assert_refused("{cycles,r1,r2,r3}", -ENOSPC, 4,
		       "arm1176 has 2 event counters");
	parse("{cycles,r1,task-clock,r2,cs},{r3,r4}");
}

static char *repeated(const char *word, size_t n)
{
	char *text = calloc(n, strlen(word) + 2);

	assert_non_null(text);
	for (size_t i = 0; i < n; i++) {
		strcat(text, word);
		if (i + 1 < n)
			strcat(text, ",");
	}
	return text;
}

static void more_events_than_a_list_holds_are_refused(void **s)
{
	char *text;

	(void)s;
	boot("pi2");
	text = repeated("r1", UPMU_LIST_MAX);
	parse(text);
	assert_int_equal(list.n, UPMU_LIST_MAX);
	free(text);
	text = repeated("r1", UPMU_LIST_MAX + 1);
	assert_refused(text, -E2BIG, UPMU_LIST_MAX + 1, "too long");
	free(text);
	boot("rk3399");
	text = repeated("r1", UPMU_LIST_MAX / 2 + 1);
	assert_refused(text, -E2BIG, UPMU_LIST_MAX / 2 + 1, "too long");
	free(text);
}

static void a_very_long_name_is_refused_and_quoted_in_part(void **s)
{
	char text[5000];

	(void)s;
	boot("pi2");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, -EINVAL, 1, "longer than any event");
}

static void the_nine_defaults_are_the_tables(void **s)
{
	(void)s;
	boot("pi1");
	assert_int_equal(upmu_events_default(&list, &machine), 0);
	assert_int_equal(list.n, UPMU_DEFAULTS);
	assert_event(UPMU_DEFAULT_CYCLES, "cpu_cycles", 8, 0xff);
	assert_event(UPMU_DEFAULT_INSTRUCTIONS, "instr_exec", 8, 0x07);
	assert_event(UPMU_DEFAULT_STALL, "ibuf_stall", 8, 0x01);
	assert_event(UPMU_DEFAULT_L1D_MISS, "dcache_miss", 8, 0x0b);
	assert_event(UPMU_DEFAULT_TLB, "main_tlb_miss", 8, 0x0f);
	assert_event(UPMU_DEFAULT_BRANCH_MISSES, "br_mispredict", 8, 0x06);
	boot("pc");
	assert_int_equal(upmu_events_default(&list, &machine), -ENOENT);
}

static void defaults_of_big_little_are_each_kinds_own(void **s)
{
	(void)s;
	boot("odroid-xu4");
	assert_int_equal(upmu_events_default(&list, &machine), 0);
	assert_int_equal(list.n, 2 * UPMU_DEFAULTS);
	assert_int_equal(list.n_written, UPMU_DEFAULTS);
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(list.events[i].position, i / 2);
		assert_int_equal(list.events[i].kind, i % 2);
		assert_true(list.events[i].is_supported);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_take_the_cycle_counter_of_every_driver),
		cmocka_unit_test(
			r11_under_the_v7_driver_is_an_ordinary_counter),
		cmocka_unit_test(a_mnemonic_has_its_cores_code_and_row),
		cmocka_unit_test(case_does_not_matter),
		cmocka_unit_test(
			a_generic_name_without_a_row_is_left_to_the_kernel),
		cmocka_unit_test(software_events_need_no_pmu),
		cmocka_unit_test(modifiers_are_kept_and_printed),
		cmocka_unit_test(a_groups_modifier_reaches_all_its_events),
		cmocka_unit_test(groups_are_numbered_from_1),
		cmocka_unit_test(big_little_gives_an_entry_for_each_kind),
		cmocka_unit_test(
			what_has_one_entry_is_alike_even_without_a_row),
		cmocka_unit_test(a_name_that_means_unlike_events_is_marked),
		cmocka_unit_test(one_unlike_kind_among_three_is_enough),
		cmocka_unit_test(a_kind_that_lacks_an_event_says_so),
		cmocka_unit_test(
			what_this_very_core_leaves_out_is_not_supported),
		cmocka_unit_test(a_core_or_pmu_can_be_named),
		cmocka_unit_test(printed_names_can_be_typed_again),
		cmocka_unit_test(what_the_kernel_publishes_is_usable_by_name),
		cmocka_unit_test(
			what_v7_kernels_publish_of_every_core_is_not_believed),
		cmocka_unit_test(terms_of_a_pmu_go_where_its_format_says),
		cmocka_unit_test(terms_of_a_cores_pmu_find_their_row),
		cmocka_unit_test(
			a_term_keeps_the_name_of_its_pmu_where_no_pmu_is),
		cmocka_unit_test(a_pc_counts_by_the_kernels_names_and_numbers),
		cmocka_unit_test(
			generic_events_name_their_pmu_where_there_are_several),
		cmocka_unit_test(instructions_are_known_by_any_name),
		cmocka_unit_test(without_a_perf_pmu_a_code_remains),
		cmocka_unit_test(
			an_unknown_event_is_named_with_its_place_and_neighbours),
		cmocka_unit_test(another_cores_event_is_called_that),
		cmocka_unit_test(malformed_lists_are_refused_with_a_reason),
		cmocka_unit_test(raw_codes_beyond_the_core_are_refused),
		cmocka_unit_test(an_unknown_pmu_is_refused),
		cmocka_unit_test(a_group_larger_than_the_core_is_refused),
		cmocka_unit_test(more_events_than_a_list_holds_are_refused),
		cmocka_unit_test(
			a_very_long_name_is_refused_and_quoted_in_part),
		cmocka_unit_test(the_nine_defaults_are_the_tables),
		cmocka_unit_test(defaults_of_big_little_are_each_kinds_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
