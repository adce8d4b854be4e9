// SPDX-License-Identifier: MIT
/* Lookup in the tables: every event of every core is found, at no cost. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/events/generic.h"
#include "lib/events/tables.h"
#include "lib/sys.h"

static int allocations;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

static void upper(char *out, size_t size, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		out[i] = text[i] >= 'a' && text[i] <= 'z'
				 ? (char)(text[i] - 'a' + 'A')
				 : text[i];
	out[i] = '\0';
}

static void every_event_is_found_by_name_and_by_code(void **s)
{
	const struct upmu_event_row *row;
	const struct upmu_core *core;
	size_t found = 0;
	char shout[64];

	(void)s;
	for (size_t c = 0; (core = upmu_core_at(c)); c++) {
		for (size_t i = 0; (row = upmu_core_row(core, i)); i++) {
			const char *name = upmu_row_name(row);

			upper(shout, sizeof(shout), name);
			assert_ptr_equal(
				upmu_core_find(core, name, strlen(name)), row);
			assert_ptr_equal(
				upmu_core_find(core, shout, strlen(shout)),
				row);
			assert_ptr_equal(
				upmu_core_find_code(core, upmu_row_code(row)),
				row);
			found++;
		}
	}
	assert_true(found > 2000);
}

static void a_part_of_a_name_is_not_found(void **s)
{
	const struct upmu_core *core = upmu_core_by_midr(0x410fd034);

	(void)s;
	assert_non_null(upmu_core_find(core, "l1d_cache", 9));
	assert_null(upmu_core_find(core, "l1d_cach", 8));
	assert_null(upmu_core_find(core, "l1d_cache_", 10));
	assert_null(upmu_core_find(core, "", 0));
	/* Another core's event, which is in the pool of names. */
	assert_null(upmu_core_find(core, "ibuf_stall", 10));
}

static void neighbours_are_of_this_core_and_nearest_first(void **s)
{
	const struct upmu_core *core = upmu_core_by_midr(0x410fd034);
	const char *near[3];

	(void)s;
	assert_int_equal(upmu_events_nearest(core, "l1d_cahce", 9, near, 3), 3);
	assert_string_equal(near[0], "l1d_cache");
	upmu_events_nearest(core, "l2d_cache_refil", 15, near, 3);
	assert_string_equal(near[0], "l2d_cache_refill");
	assert_int_equal(upmu_events_nearest(core, "pagefaults", 10, near, 1),
			 1);
	assert_string_equal(near[0], "page-faults");
	assert_int_equal(upmu_events_nearest(core, "zzzzzzzzzz", 10, near, 3),
			 0);
	assert_int_equal(upmu_events_nearest(NULL, "l1d_cahce", 9, near, 3), 0);
	/* A third of the letters, rounded up, may be wrong, and no more. */
	assert_int_equal(upmu_events_nearest(core, "sw_iabc", 7, near, 1), 1);
	assert_string_equal(near[0], "sw_incr");
	assert_int_equal(upmu_events_nearest(core, "sw_xabc", 7, near, 1), 0);
}

static void every_core_is_found_by_its_name(void **s)
{
	const struct upmu_core *core;

	(void)s;
	for (size_t i = 0; (core = upmu_core_at(i)); i++) {
		const char *name = upmu_core_name(core);

		assert_ptr_equal(upmu_core_by_name(name, strlen(name)), core);
		assert_true(upmu_core_counters(core) > 0);
		assert_true(upmu_core_counters(core) <=
			    upmu_core_counters_most(core));
		assert_true(strlen(upmu_core_manuals(core)) > 0);
	}
	assert_null(upmu_core_by_name("cortex-a5x", 10));
	assert_null(upmu_core_by_name("cortex-a", 8));
}

static void every_core_has_the_nine_defaults(void **s)
{
	const struct upmu_core *core;

	(void)s;
	for (size_t i = 0; (core = upmu_core_at(i)); i++) {
		const struct upmu_event_row *row;

		for (int d = 0; d < UPMU_DEFAULTS; d++) {
			row = upmu_core_default(core, (enum upmu_default)d);
			assert_ptr_equal(
				upmu_core_find_code(core, upmu_row_code(row)),
				row);
		}
		assert_true(upmu_row_is_cycles(
			upmu_core_default(core, UPMU_DEFAULT_CYCLES)));
	}
	assert_string_equal(upmu_default_key(UPMU_DEFAULT_L1D_MISS),
			    "l1d_miss");
	assert_null(upmu_default_key(UPMU_DEFAULTS));
}

static void variant_and_revision_do_not_make_another_core(void **s)
{
	(void)s;
	assert_string_equal(upmu_core_name(upmu_core_by_midr(0x410fd034)),
			    "cortex-a53");
	assert_ptr_equal(upmu_core_by_midr(0x413fd0c1),
			 upmu_core_by_midr(0x410fd0c0));
	assert_null(upmu_core_by_midr(0x420fd034));
	assert_null(upmu_core_by_midr(0));
}

static void a_variant_is_found_by_name_and_midr(void **s)
{
	static const struct {
		const char *name;
		uint64_t midr;
		const char *core;
	} known[] = {
		{ "cortex-a76ae", 0x411fd0e0, "cortex-a76" },
		{ "Cortex-A78C", 0x410fd4b0, "cortex-a78" },
		{ "cortex-x1c", 0x410fd4c0, "cortex-x1" },
		{ "cortex-a65ae", 0x410fd430, "cortex-a65" },
		{ "neoverse-v3ae", 0x410fd830, "neoverse-v3" },
		{ "kryo-2xx-gold", 0x51af8002, "cortex-a73" },
		{ "kryo-2xx-silver", 0x51af8014, "cortex-a53" },
		{ "kryo-3xx-gold", 0x516f802d, "cortex-a75" },
		{ "kryo-3xx-silver", 0x517f803c, "cortex-a55" },
		{ "kryo-4xx-gold", 0x51df804e, "cortex-a76" },
		{ "kryo-4xx-silver", 0x51df805e, "cortex-a55" },
		{ "ampereone", 0xc00fac30, "ampere-1" },
		{ "kunpeng-920", 0x481fd010, "tsv110" },
		{ "m1-firestorm", 0x611f0231, "apple-firestorm" },
		{ "qualcomm-oryon", 0x511f0011, "common-armv8" },
		{ "phytium-ftc663", 0x701f6633, "common-armv8" },
		{ "nvidia-carmel", 0x4e0f0040, "common-armv8" },
	};

	(void)s;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct upmu_core *core =
			upmu_core_by_name(known[i].name, strlen(known[i].name));

		assert_non_null(core);
		assert_string_equal(upmu_core_name(core), known[i].core);
		assert_ptr_equal(upmu_core_by_midr(known[i].midr), core);
	}
	assert_null(upmu_core_by_name("cortex-a76a", 11));
	assert_null(upmu_core_by_midr(0x510f8060));
}

static void each_core_that_has_an_event_is_told_and_no_more_are_kept(void **s)
{
	const struct upmu_core *some[2] = { 0 }, *all[256];
	size_t n = upmu_cores_with("l1d_cache", 9, all, 256);

	(void)s;
	assert_true(n > 10 && n < 256);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(upmu_core_find_named(all[i], "l1d_cache", 9));
		assert_false(upmu_core_is_common(all[i]));
		assert_true(!i || all[i] != all[i - 1]);
	}
	assert_int_equal(upmu_cores_with("l1d_cache", 9, some, 1), n);
	assert_ptr_equal(some[0], all[0]);
	assert_null(some[1]);
	assert_int_equal(upmu_cores_with("l1d_cach", 8, all, 256), 0);
}

static void armv6_has_no_common_table(void **s)
{
	(void)s;
	assert_null(upmu_core_common(UPMU_ARCH_V6));
	assert_true(upmu_core_is_common(upmu_core_common(UPMU_ARCH_V7)));
	assert_true(upmu_core_is_common(upmu_core_common(UPMU_ARCH_V8)));
}

static void all_tables_take_less_than_300_kilobytes(void **s)
{
	size_t size = upmu_core_count * sizeof(struct upmu_core);

	(void)s;
	for (size_t i = 0; i < upmu_core_count; i++)
		size += upmu_cores[i].n_rows * (sizeof(struct upmu_event_row) +
						sizeof(uint16_t)) +
			upmu_cores[i].n_perf_rows *
				sizeof(struct upmu_perf_row) +
			strlen(upmu_cores[i].manuals) +
			strlen(upmu_cores[i].notes);
	size += upmu_names_at[upmu_names_count] +
		upmu_texts_at[upmu_texts_count] +
		upmu_sources_at[upmu_sources_count] +
		sizeof(uint32_t) * (upmu_names_count + upmu_texts_count +
				    upmu_sources_count);
	assert_in_range(size, 50 * 1024, 300 * 1024);
}

static void a_list_is_parsed_without_allocation(void **s)
{
	static struct upmu_event_list list;
	static struct upmu_machine machine;
	struct upmu_events_error error;
	int before;

	(void)s;
	upmu_sys_set_root(FIXTURES "/rk3399");
	assert_int_equal(upmu_machine_read(&machine), 0);
	before = allocations;
	assert_int_equal(
		upmu_events_parse(&list,
				  "cycles,{l1d_cache,l1d_cache_refill}:u,r1d,"
				  "cortex-a72/br_pred/,task-clock,branches",
				  &machine, &error),
		0);
	assert_int_equal(upmu_events_default(&list, &machine), 0);
	assert_int_not_equal(
		upmu_events_parse(&list, "l1d_cach", &machine, &error), 0);
	assert_int_equal(allocations, before);
	free(malloc(1)); /* the counting works */
	assert_int_equal(allocations, before + 1);
}

/* ---- what a mistyped name is nearest to, by recursion from the ends -------
 */

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* By which edits, @left more at most, one comes from the other. */
static int edits(const char *a, const char *b, int left)
{
	int best;

	while (*a && same(*a, *b))
		a++, b++;
	if (!*a || !*b)
		return (int)(strlen(a) + strlen(b));
	if (!left)
		return 99;
	best = edits(a + 1, b + 1, left - 1);
	for (int i = 0; i < 2; i++) {
		int other = edits(a + i, b + !i, left - 1);

		best = other < best ? other : best;
	}
	if (a[1] && same(a[0], b[1]) && same(a[1], b[0])) {
		int swapped = edits(a + 2, b + 2, left - 1);

		best = swapped < best ? swapped : best;
	}
	return best + 1;
}

#define WRONG_MOST 4
#define NAMES	   3

/* The first of the nearest, as many as there is room for. */
static size_t nearest_of(const struct upmu_core *core, const char *name,
			 const char **out)
{
	int most = (int)(strlen(name) + 2) / 3;
	const struct upmu_event_row *row;
	const char *other;
	size_t n = 0;

	for (int wrong = 0; wrong <= most; wrong++) {
		for (size_t i = 0; (row = upmu_core_row(core, i)); i++)
			if (n < NAMES && edits(name, upmu_row_name(row),
					       WRONG_MOST) == wrong)
				out[n++] = upmu_row_name(row);
		for (size_t i = 0; (other = upmu_generic_name(i)); i++)
			if (n < NAMES &&
			    edits(name, other, WRONG_MOST) == wrong)
				out[n++] = other;
	}
	return n;
}

static void the_nearest_are_those_of_the_fewest_edits(void **s)
{
	static const char *const typed[] = {
		"l1d_cache", "L1D_CAHCE",  "1ld_cache",	   "l1d_cach",
		"11d_cache", "ll1d_cache", "l1dcache",	   "_l1d_cache",
		"sw_icnr",   "ws_incr",	   "sw_incrr",	   "wsincr",
		"bus_acess", "busaccess",  "b_raccess",	   "cylces",
		"ycles",     "cycels",	   "cyc",	   "br",
		"b",	     "mem_acces",  "memaccses",	   "pagefalts",
		"cpu_cycel", "inst_spce",  "l2d_cahce_wb", "exc_retunr",
	};
	const struct upmu_core *core = upmu_core_by_midr(0x410fd034);
	const char *found[NAMES + 1], *wanted[NAMES];

	(void)s;
	for (size_t i = 0; i < sizeof(typed) / sizeof(*typed); i++) {
		size_t n = nearest_of(core, typed[i], wanted);

		found[NAMES] = NULL;
		assert_int_equal(upmu_events_nearest(core, typed[i],
						     strlen(typed[i]), found,
						     NAMES),
				 n);
		assert_null(found[NAMES]);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(found[k], wanted[k]);
	}
}

static void no_name_of_an_event_has_more_than_48_letters(void **s)
{
	char name[50];
	const char *near[8];

	(void)s;
	memset(name, 'x', sizeof(name));
	strcpy(name + 49 - strlen("l1d_cache"), "l1d_cache");
	assert_int_equal(upmu_events_nearest(NULL, name, 49, near, 8), 0);
	assert_int_equal(upmu_events_nearest(NULL, name, 0, near, 8), 0);
	assert_int_equal(upmu_events_nearest(NULL, "cycles", 6, near, 0), 0);
}

static void join(char *out, const char *before, const char *const *names,
		 size_t n, const char *last)
{
	strcpy(out, before);
	for (size_t i = 0; i < n; i++) {
		if (i)
			strcat(out, i + 1 == n ? last : ", ");
		strcat(out, names[i]);
	}
}

/* Up to three cores are named, of more how many. */
static void an_event_of_other_cores_has_them_in_its_hint(void **s)
{
	const struct upmu_core *core, *cores[256];
	const struct upmu_event_row *row;
	bool seen[5] = { false };
	char hint[256], wanted[256];

	(void)s;
	for (size_t c = 0; (core = upmu_core_at(c)); c++) {
		for (size_t i = 0; (row = upmu_core_row(core, i)); i++) {
			const char *name = upmu_row_name(row), *names[3];
			size_t length = strlen(name);
			size_t n = upmu_cores_with(name, length, cores, 256);
			size_t kind = n < 4 ? n : 4;

			if (!n || seen[kind])
				continue;
			seen[kind] = true;
			for (size_t k = 0; k < 3 && k < n; k++)
				names[k] = upmu_core_name(cores[k]);
			join(wanted, "it is an event of ", names, n < 3 ? n : 3,
			     ", ");
			if (n > 3)
				sprintf(wanted + strlen(wanted),
					" and %zu more", n - 3);
			upmu_hint_event(hint, sizeof(hint), NULL, name, length);
			assert_string_equal(hint, wanted);
		}
	}
	for (size_t i = 1; i < 5; i++)
		assert_true(seen[i]);
}

static void a_mistyped_event_has_the_nearest_in_its_hint(void **s)
{
	static const char *const typed[] = { "sw_icnr", "l2d_cache_refil",
					     "l1d_cahce", "zzzzzzzz" };
	const struct upmu_core *core = upmu_core_by_midr(0x410fd034);
	char hint[256], wanted[256];
	bool seen[4] = { false };

	(void)s;
	for (size_t i = 0; i < sizeof(typed) / sizeof(*typed); i++) {
		const char *near[NAMES];
		size_t n = nearest_of(core, typed[i], near);

		seen[n] = true;
		join(wanted, "did you mean ", near, n, " or ");
		strcat(wanted, "?");
		if (!n)
			strcpy(wanted, "`upmu list` tells the events of this "
				       "machine");
		upmu_hint_event(hint, sizeof(hint), core, typed[i],
				strlen(typed[i]));
		assert_string_equal(hint, wanted);
	}
	assert_true(seen[0] && seen[1] && seen[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_found_by_name_and_by_code),
		cmocka_unit_test(a_part_of_a_name_is_not_found),
		cmocka_unit_test(neighbours_are_of_this_core_and_nearest_first),
		cmocka_unit_test(every_core_is_found_by_its_name),
		cmocka_unit_test(every_core_has_the_nine_defaults),
		cmocka_unit_test(variant_and_revision_do_not_make_another_core),
		cmocka_unit_test(a_variant_is_found_by_name_and_midr),
		cmocka_unit_test(
			each_core_that_has_an_event_is_told_and_no_more_are_kept),
		cmocka_unit_test(armv6_has_no_common_table),
		cmocka_unit_test(all_tables_take_less_than_300_kilobytes),
		cmocka_unit_test(a_list_is_parsed_without_allocation),
		cmocka_unit_test(the_nearest_are_those_of_the_fewest_edits),
		cmocka_unit_test(no_name_of_an_event_has_more_than_48_letters),
		cmocka_unit_test(an_event_of_other_cores_has_them_in_its_hint),
		cmocka_unit_test(a_mistyped_event_has_the_nearest_in_its_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
