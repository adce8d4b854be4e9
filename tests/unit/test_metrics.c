// SPDX-License-Identifier: MIT
/* The ratios of -M: each formula can be read, and gives what it says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tools/metrics/metrics.h"

static const struct upmu_core *core_called(const char *name)
{
	return upmu_core_by_name(name, strlen(name));
}

/* An r0p0, of whatever make. */
static const struct upmu_core_kind oldest = { .midr = 0x41000000 };

static void each_row_holds_on_a_core_and_has_groups_that_are_known(void **state)
{
	const struct upmu_core *core;
	const struct metric_row *row;

	(void)state;
	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		bool holds = false, grouped = false;
		const char *group;

		for (size_t c = 0; (core = upmu_core_at(c)); c++)
			holds = holds ||
				metric_for(row->key, core,
					   row->before ? &oldest : NULL) == row;
		for (size_t g = 0; (group = metric_group_at(g)); g++)
			grouped =
				grouped || metric_is(row, group, strlen(group));
		if (!holds || !grouped)
			fail_msg("%s = %s: no core has it, or no group",
				 row->key, row->formula);
		assert_true((row->better == METRIC_NEITHER) == !row->hint[0]);
	}
}

/* A core that a row names has what the row wants. */
static void each_core_that_a_row_names_has_its_events(void **state)
{
	const struct metric_row *row;

	(void)state;
	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		const char *at = row->cores;

		while (*at) {
			size_t n = strcspn(at, "=");
			const struct upmu_core *core = upmu_core_by_name(at, n);

			assert_non_null(core);
			assert_in_range(metric_slots(row, core), 1, 16);
			if (!metric_holds(row, core,
					  row->before ? &oldest : NULL))
				fail_msg("%s does not hold on %.*s", row->key,
					 (int)n, at);
			at += strcspn(at, " ");
			at += strspn(at, " ");
		}
	}
}

/* Five slots; the numbers are made up, the results by hand. */
static double numbers(void *context, const char *name, size_t length)
{
	static const struct {
		const char *name;
		double value;
	} known[] = {
		{ "cpu_cycles", 1000 },
		{ "slots", 5 },
		{ "stall_slot", 2500 },
		{ "stall_slot_frontend", 1000 },
		{ "stall_slot_backend", 1500 },
		{ "br_mis_pred", 10 },
		{ "op_retired", 900 },
		{ "op_spec", 1200 },
		{ "l1d_cache_refill", 50 },
		{ "l1d_cache", 1000 },
		{ "inst_retired", 2000 },
		{ "l2d_cache", 0 },
		{ "l2d_cache_refill", 0 },
		{ "imp_wfx_clock_cycles", 200 },
		{ "stall_frontend", 300 },
		{ "stall_backend", 400 },
		{ "stall_frontend_flush", 240 },
	};

	(void)context;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length &&
		    !strncmp(known[i].name, name, length))
			return known[i].value;
	return NAN;
}

static double value_on(const char *core, const char *key)
{
	const struct metric_row *row = metric_for(key, core_called(core), NULL);

	if (!row)
		fail_msg("%s has no %s", core, key);
	return metric_value(row, numbers, NULL);
}

static double value_of(const char *key)
{
	return value_on("neoverse-n2", key);
}

static void assert_near(double value, double wanted)
{
	assert_true(fabs(value - wanted) < 1e-9 * fabs(wanted) + 1e-12);
}

static void formulas_give_what_a_hand_reckons(void **state)
{
	(void)state;
	assert_near(value_of("l1d_refill_percent"), 5);
	assert_near(value_of("l1d_refill_pti"), 25);
	/* 100 (1000/5000 - 10/1000) */
	assert_near(value_of("frontend_bound"), 19);
	/* 100 (1500/5000 - 3 * 10/1000) */
	assert_near(value_of("backend_bound"), 27);
	/* 100 (1/4 * 1/2 + 4 * 10/1000) */
	assert_near(value_of("bad_speculation"), 16.5);
	/* 100 * 3/4 * 1/2 */
	assert_near(value_of("retiring"), 37.5);
	/* The four are all there is, but for what mispredictions shift. */
}

/* Both events of slots count each cycle once too often before r0p3. */
static void neoverse_n2_before_r0p3_takes_off_the_cycles(void **state)
{
	static const char *const keys[] = { "frontend_bound", "backend_bound",
					    "bad_speculation", "retiring" };
	/* 100 (0/5000 - 1/100), as ever, 100 (1/4 * 7/10 + 4/100),
	 * 100 * 3/4 * 7/10 */
	static const double old[] = { -1, 27, 21.5, 52.5 };
	static const double new[] = { 19, 27, 16.5, 37.5 };
	static const struct {
		uint64_t midr;
		const double *value;
	} kinds[] = { { 0x410fd490, old }, { 0x410fd492, old },
		      { 0x6d0fd490, old }, { 0x410fd493, new },
		      { 0x411fd490, new }, { 0, new } };
	const struct upmu_core *core = core_called("neoverse-n2");

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct upmu_core_kind kind = { .core = core,
					       .midr = kinds[i].midr };

		for (size_t k = 0; k < 4; k++)
			assert_near(
				metric_value(metric_for(keys[k], core, &kind),
					     numbers, NULL),
				kinds[i].value[k]);
	}
}

/* Made-up slots that add up, as those of a core do. */
static double slots_that_add_up(void *context, const char *name, size_t length)
{
	static const struct {
		const char *name;
		double value;
	} known[] = { { "cpu_cycles", 1000 },
		      { "imp_wfx_clock_cycles", 100 },
		      { "stall_frontend_flush", 130 },
		      { "stall_slot", 2700 },
		      { "stall_slot_frontend", 1200 },
		      { "stall_slot_backend", 1500 },
		      { "br_mis_pred", 17 },
		      { "op_retired", 900 },
		      { "op_spec", 1300 } };

	if (length == 5 && !strncmp(name, "slots", 5))
		return *(const unsigned int *)context;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length &&
		    !strncmp(known[i].name, name, length))
			return known[i].value;
	return NAN;
}

static void the_four_of_top_down_are_all_slots_on_each_core(void **state)
{
	static const char *const keys[] = { "frontend_bound", "backend_bound",
					    "bad_speculation", "retiring" };
	const struct upmu_core *core;
	size_t cores = 0;

	(void)state;
	for (size_t c = 0; (core = upmu_core_at(c)); c++) {
		double sum = 0;

		if (!metric_for("retiring", core, NULL))
			continue;
		cores++;
		for (size_t k = 0; k < 4; k++) {
			const struct metric_row *row =
				metric_for(keys[k], core, NULL);
			unsigned int slots;

			assert_non_null(row);
			slots = metric_slots(row, core);
			sum += metric_value(row, slots_that_add_up, &slots);
		}
		assert_near(sum, 100);
	}
	assert_int_equal(cores, 9);
}

/* Of 1000 cycles 200 only waited; which end they count for differs. */
static void c1_cores_take_off_what_wfi_and_wfe_wait(void **state)
{
	(void)state;
	/* 100/800, 300/800; 400/800, 200/800 */
	assert_near(value_on("c1-ultra", "frontend_stalled_percent"), 12.5);
	assert_near(value_on("c1-pro", "frontend_stalled_percent"), 37.5);
	assert_near(value_on("c1-premium", "backend_stalled_percent"), 50);
	assert_near(value_on("c1-pro", "backend_stalled_percent"), 25);
	/* (1000 - 1000) / 4000 - 40/800; 1000/4000 - 240/800 */
	assert_near(value_on("c1-premium", "frontend_bound"), -5);
	assert_near(value_on("c1-pro", "frontend_bound"), -5);
	/* 1500/4000; 500/4000 */
	assert_near(value_on("c1-ultra", "backend_bound"), 37.5);
	assert_near(value_on("c1-pro", "backend_bound"), 12.5);
	/* (1 - 1500/4000) * 1/4 + 40/800; + 240/800 */
	assert_near(value_on("c1-ultra", "bad_speculation"), 20.625);
	assert_near(value_on("c1-pro", "bad_speculation"), 45.625);
	/* (1 - 1500/4000) * 3/4 */
	assert_near(value_on("c1-ultra", "retiring"), 46.875);
	assert_near(value_on("c1-pro", "retiring"), 46.875);
	/* C1-Nano takes nothing off. */
	assert_near(value_on("c1-nano", "backend_bound"), 30);
}

static void what_has_no_number_or_divides_by_0_has_no_value(void **state)
{
	static const char *const bad[] = {
		"unknown_event", "1 +", "(1", "1)", "", "1 / (2 - 2)"
	};

	(void)state;
	assert_true(isnan(value_of("l2_refill_percent")));
	assert_true(isnan(value_of("branch_miss_pti")));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct metric_row row = { .formula = bad[i] };

		assert_true(isnan(metric_value(&row, numbers, NULL)));
	}
}

static void products_go_before_sums_and_from_the_left(void **state)
{
	static const struct {
		const char *formula;
		double value;
	} rows[] = {
		{ "1 + 2 * 3", 7 },	  { "8 / 4 / 2", 1 },
		{ "10 - 4 - 3", 3 },	  { "(1 + 2) * 3", 9 },
		{ "2 * (3 - 1) / 4", 1 }, { "slots*slots", 25 },
		{ "0.5 * slots", 2.5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct metric_row row = { .formula = rows[i].formula };

		assert_near(metric_value(&row, numbers, NULL), rows[i].value);
	}
}

/* What the core has: executed branches before predicted ones. */
static void the_first_row_that_holds_is_taken(void **state)
{
	const struct metric_row *new =
		metric_for("branch_miss_pti", core_called("neoverse-n2"), NULL);
	const struct metric_row *old =
		metric_for("branch_miss_pti", core_called("cortex-a7"), NULL);

	(void)state;
	assert_non_null(new);
	assert_non_null(old);
	assert_non_null(strstr(new->formula, "br_mis_pred_retired"));
	assert_null(strstr(old->formula, "br_mis_pred_retired"));
	assert_null(
		metric_for("frontend_bound", core_called("cortex-a7"), NULL));
	assert_int_equal(
		metric_slots(metric_for("frontend_bound",
					core_called("neoverse-v2"), NULL),
			     core_called("neoverse-v2")),
		8);
	assert_int_equal(metric_slots(metric_for("retiring",
						 core_called("c1-ultra"), NULL),
				      core_called("c1-ultra")),
			 10);
}

static bool is(const struct metric_row *row, const char *word)
{
	return metric_is(row, word, strlen(word));
}

static void a_row_is_of_its_groups_and_called_by_its_key(void **state)
{
	static const struct metric_row row = { .key = "some_percent",
					       .groups = "cache memory" };
	static const char *const not [] = { "",
					    "al",
					    "alls",
					    "cach",
					    "caches",
					    " ",
					    "emory",
					    "cache memory",
					    "some",
					    "some_percents",
					    "other_percen",
					    "ALL",
					    "abc",
					    "other" };

	(void)state;
	assert_true(is(&row, "all"));
	assert_true(is(&row, "cache"));
	assert_true(is(&row, "memory"));
	assert_true(is(&row, "some_percent"));
	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (is(&row, not [i]))
			fail_msg("'%s'", not [i]);
	/* of a longer list: as many letters as are told */
	assert_true(metric_is(&row, "cache,tlb", 5));
	assert_true(metric_is(&row, "all,tlb", 3));
	assert_false(metric_is(&row, "cache,tlb", 4));
}

static void slots_are_those_of_the_core_that_is_named(void **state)
{
	static const struct metric_row any = { .cores = "" };
	static const struct metric_row some = {
		.cores = "neoverse-n2=5 cortex-a76=4  cortex-a7=12"
	};

	(void)state;
	assert_int_equal(metric_slots(&any, core_called("cortex-a7")), 1);
	assert_int_equal(metric_slots(&some, core_called("neoverse-n2")), 5);
	assert_int_equal(metric_slots(&some, core_called("cortex-a76")), 4);
	assert_int_equal(metric_slots(&some, core_called("cortex-a7")), 12);
	assert_int_equal(metric_slots(&some, core_called("cortex-a77")), 0);
	assert_int_equal(metric_slots(&some, core_called("cortex-a8")), 0);
}

static bool holds(const char *formula, unsigned int before, uint64_t midr)
{
	const struct metric_row row = { .key = "x",
					.groups = "",
					.cores = "",
					.formula = formula,
					.before = before };
	const struct upmu_core_kind kind = { .midr = midr };

	return metric_holds(&row, core_called("cortex-a76"),
			    midr ? &kind : NULL);
}

/* MIDR: variant in [23:20], revision in [3:0]. */
static void what_is_of_older_revisions_is_of_no_other(void **state)
{
	(void)state;
	assert_true(holds("cpu_cycles", 0, 0));
	assert_true(holds("cpu_cycles", 0, 0x410fd493));
	assert_false(holds("cpu_cycles", 3, 0));
	assert_true(holds("cpu_cycles", 3, 0x410fd490));
	assert_true(holds("cpu_cycles", 3, 0x410fd492));
	assert_false(holds("cpu_cycles", 3, 0x410fd493));
	assert_false(holds("cpu_cycles", 3, 0x411fd490));
	assert_true(holds("cpu_cycles", 0x13, 0x411fd492));
	assert_false(holds("cpu_cycles", 0x13, 0x411fd493));
	assert_true(holds("cpu_cycles", 0x13, 0x410fd49f));
}

static void a_row_holds_where_each_of_its_events_is(void **state)
{
	(void)state;
	assert_true(holds("slots", 0, 0));
	assert_true(holds("cpu_cycles / slots", 0, 0));
	assert_false(holds("slotz", 0, 0));
	assert_false(holds("slot", 0, 0));
	assert_false(holds("cpu_cycles / nonsense", 0, 0));
	/* events that differ by one in their code are no divisor of 0 */
	assert_true(holds("1 / (inst_retired - cpu_cycles)", 0, 0));
	assert_true(holds("1 / (sw_incr - l1i_cache_refill)", 0, 0));
	assert_true(holds("1 / sw_incr", 0, 0));
}

static void groups_and_rows_end(void **state)
{
	size_t rows = metric_ratios_n + metric_topdown_n;

	(void)state;
	assert_string_equal(metric_group_at(0), "cache");
	assert_string_equal(metric_group_at(5), "topdown");
	assert_null(metric_group_at(6));
	assert_ptr_equal(metric_row_at(metric_ratios_n - 1),
			 &metric_ratios[metric_ratios_n - 1]);
	assert_ptr_equal(metric_row_at(metric_ratios_n), metric_topdown);
	assert_ptr_equal(metric_row_at(rows - 1),
			 &metric_topdown[metric_topdown_n - 1]);
	assert_null(metric_row_at(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_row_holds_on_a_core_and_has_groups_that_are_known),
		cmocka_unit_test(each_core_that_a_row_names_has_its_events),
		cmocka_unit_test(formulas_give_what_a_hand_reckons),
		cmocka_unit_test(neoverse_n2_before_r0p3_takes_off_the_cycles),
		cmocka_unit_test(
			the_four_of_top_down_are_all_slots_on_each_core),
		cmocka_unit_test(c1_cores_take_off_what_wfi_and_wfe_wait),
		cmocka_unit_test(
			what_has_no_number_or_divides_by_0_has_no_value),
		cmocka_unit_test(products_go_before_sums_and_from_the_left),
		cmocka_unit_test(the_first_row_that_holds_is_taken),
		cmocka_unit_test(a_row_is_of_its_groups_and_called_by_its_key),
		cmocka_unit_test(slots_are_those_of_the_core_that_is_named),
		cmocka_unit_test(what_is_of_older_revisions_is_of_no_other),
		cmocka_unit_test(a_row_holds_where_each_of_its_events_is),
		cmocka_unit_test(groups_and_rows_end),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
