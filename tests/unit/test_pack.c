// SPDX-License-Identifier: MIT
/*
 * Which events share a set, on boards that are only described: a kernel that
 * refuses groups of more events than the core has counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sys.h"
#include "lib/engine/descriptors.h"
#include "lib/engine/engine.h"
#include "lib/engine/sets.h"
#include "small_kernel.h"

static struct engine_events events; /* large */
static struct engine_sets sets;

static void pack_both(const char *board, unsigned int n, const char *list,
		      const char *more)
{
	static struct engine_target child = { .pid = 1, .cpu = -1 };
	const struct engine_targets targets = { .target = &child, .n = 1 };
	const struct engine_sets_options how = { .on_exec = true,
						 .inherit = true,
						 .own_child = true };
	struct upmu_events_error why;
	char root[512];

	snprintf(root, sizeof(root), "%s/%s", FIXTURES, board);
	upmu_sys_set_root(root);
	counters = n;
	opened = 0;
	assert_int_equal(engine_events_resolve(&events, list, &why), 0);
	if (more)
		assert_int_equal(engine_events_add(&events, more, &why), 0);
	assert_int_equal(engine_sets_open(&sets, &events, &targets, &how), 0);
}

static void pack(const char *board, unsigned int n, const char *list)
{
	pack_both(board, n, list, NULL);
}

static void done(void)
{
	engine_sets_close(&sets);
	engine_events_free(&events);
	upmu_sys_set_root(NULL);
}

/* "cpu_cycles|instr_exec ibuf_stall|...": by turn, what is always on first */
static void assert_sets(int lane, const char *wanted)
{
	char text[1024] = "";

	for (int turn = ENGINE_ALWAYS; turn < (int)sets.turns; turn++) {
		for (size_t i = 0; i < sets.n; i++) {
			const struct engine_set *set = &sets.set[i];

			for (size_t k = 0; k < set->n; k++) {
				if (set->turn != turn || set->lane != lane)
					continue;
				if (text[0] && text[strlen(text) - 1] != '|')
					strcat(text, k ? " " : " + ");
				strcat(text, events.event[set->event[k]].name);
			}
		}
		if (turn + 1 < (int)sets.turns)
			strcat(text, "|");
	}
	assert_string_equal(text, wanted);
}

static void rpistats_nine_are_four_sets_on_an_arm1176(void **state)
{
	(void)state;
	pack("pi1", 2, NULL);
	assert_sets(0, "cpu_cycles|instr_exec ibuf_stall"
		       "|dcache_access_cacheable dcache_miss"
		       "|dtlb_miss main_tlb_miss|br_exec br_mispredict");
	done();
}

static void four_counters_spare_one_for_instructions(void **state)
{
	(void)state;
	pack("pi2", 4, NULL);
	assert_int_equal(sets.turns, 3);
	assert_sets(0, "cpu_cycles inst_retired"
		       "|l1i_cache_refill l1d_cache l1d_cache_refill"
		       "|l1d_tlb_refill l1i_tlb_refill pc_write_retired"
		       "|br_mis_pred");
	/* The core has four counters and cycles: no sixth is tried. */
	assert_int_equal(opened, 5 + 9);
	done();
}

static void what_fits_is_one_set(void **state)
{
	(void)state;
	pack("pi2", 4, "cycles,instructions,l1d_cache,task-clock");
	assert_int_equal(sets.turns, 0);
	assert_sets(0, "cycles instructions l1d_cache");
	assert_sets(ENGINE_NO_LANE, "task-clock");
	/* Once to see whether it runs now. */
	assert_int_equal(opened, 3 + 4);
	done();
}

static void cycles_are_added_where_sets_take_turns(void **state)
{
	(void)state;
	pack("pi2", 4, "r01,r03,r04,r05,r10");
	assert_sets(0, "cycles instructions|r01 r03 r04|r05 r10");
	for (size_t i = 0; i < events.n; i++)
		assert_int_equal(events.event[i].hidden, i >= 5);
	done();
	/* Two counters have none for instructions: only cycles are added. */
	pack("pi2", 2, "r01,r03,r04");
	assert_sets(0, "cycles|r01 r03|r04");
	done();
}

static void braces_stay_together_too_large_are_refused(void **state)
{
	(void)state;
	pack("pi2", 4, "r01,r03,{r04,r05,r10},r16");
	assert_sets(0, "cycles instructions|r01 r03|r04 r05 r10|r16");
	done();
	/* The core may have four, but others hold two of them. */
	pack("pi2", 2, "r01,{r04,r05,r10},r16");
	assert_sets(0, "r01 r16 + cycles");
	assert_int_equal(events.event[1].state, ENGINE_NOT_SUPPORTED);
	assert_int_equal(events.event[3].state, ENGINE_NOT_SUPPORTED);
	assert_non_null(strstr(events.reason, "group"));
	done();
}

static void assert_told(unsigned int has, unsigned int others)
{
	struct engine_reading since[8] = { 0 };
	struct engine e = { .events = &events, .sets = sets, .since = since };
	struct engine_others told;

	engine_tell_others(&e, &told);
	assert_int_equal(told.counters, others ? has : 0);
	assert_int_equal(told.taken, others);
}

/* What another user of perf has is not packed for. */
static void what_others_hold_makes_sets_smaller(void **state)
{
	static const char list[] = "cycles,r03,r04,r05,r10";
	static const char *const wanted[] = {
		"cycles r03 r04 r05 r10",
		"cycles|r03 r04 r05|r10",
		"cycles|r03 r04|r05 r10",
		"cycles|r03|r04|r05|r10",
		"cycles",
	};

	(void)state;
	for (held = 0; held <= 4; held++) {
		pack("pi2", 4, list);
		assert_int_equal(events.room[0].counters, 4);
		assert_int_equal(events.room[0].free, 4 - held);
		assert_sets(0, wanted[held]);
		assert_told(4, held);
		done();
	}
	/* Two are asked for, and one of the core's four is left. */
	held = 3;
	pack("pi2", 4, "cycles,r03,r04");
	assert_told(4, held);
	done();
	held = 2;
	pack("pi2", 4, NULL);
	assert_sets(0, "cpu_cycles|inst_retired l1i_cache_refill"
		       "|l1d_cache l1d_cache_refill|l1d_tlb_refill "
		       "l1i_tlb_refill|pc_write_retired br_mis_pred");
	done();
	/* Two are enough for these: nothing is felt. */
	pack("pi2", 4, "cycles,r03,r04");
	assert_sets(0, "cycles r03 r04");
	assert_int_equal(events.room[0].free, events.room[0].counters);
	done();
	held = 0;
}

/* perf tries no event behind one that waits for the cycle counter. */
static void
cycles_whose_counter_others_hold_keep_no_event_from_running(void **state)
{
	static const struct {
		const char *board, *list, *wanted;
		unsigned int counters, held, free;
	} rows[] = {
		{ "pi2", "cycles,r03,r04", "cycles r03 r04", 4, 0, 2 },
		{ "pi2", "r03,cycles,r04", "cycles|r03|r04", 4, 2, 1 },
		{ "pi2", "r01,r03,r04,r05,r10", "cycles|r01 r03 r04|r05 r10", 4,
		  0, 3 },
	};

	(void)state;
	cycles_held = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		held = rows[i].held;
		pack(rows[i].board, rows[i].counters, rows[i].list);
		assert_sets(0, rows[i].wanted);
		assert_int_equal(events.room[0].free, rows[i].free);
		done();
	}
	cycles_held = false;
	held = 0;
}

/* It waits for the counters; it is not called impossible. */
static void a_group_larger_than_what_is_free_stays_whole(void **state)
{
	(void)state;
	held = 2;
	pack("pi2", 4, "r03,{r04,r05,r10},r16");
	assert_sets(0, "cycles|r03 r16|r04 r05 r10");
	held = 0;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(events.event[i].state, ENGINE_COUNTED);
	done();
}

static void each_kind_of_core_has_sets_of_its_own(void **state)
{
	(void)state;
	pack("rk3399", 6, "cycles,instructions,r01,r03,r04,r05,r10,r16");
	assert_int_equal(events.lanes, 2);
	assert_int_equal(sets.turns, 2);
	for (size_t i = 0; i < sets.n; i++)
		for (size_t k = 0; k < sets.set[i].n; k++)
			assert_int_equal(
				events.event[sets.set[i].event[k]].parsed->kind,
				sets.set[i].lane);
	done();
}

/* CPU 0 is an A53, CPU 5 an A72. */
static void what_is_tried_on_another_kind_is_not_taken_by_others(void **state)
{
	static const struct {
		int cpu, then;
		unsigned int free;
	} tried[] = { { 0, 0, 0 }, { 5, 5, 1 }, { 0, 5, 1 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		on_cpu[0] = tried[i].cpu;
		on_cpu[1] = tried[i].then;
		asked = 0;
		held = 6;
		pack("rk3399", 6, "armv8_cortex_a53/l1d_cache/");
		on_cpu[0] = -1;
		held = 0;
		assert_int_equal(events.room[0].counters, 1);
		assert_int_equal(events.room[0].free, tried[i].free);
		done();
	}
}

static void no_counter_at_all_ends_with_cycles_alone(void **state)
{
	(void)state;
	pack("pi2", 0, "cycles,r01,r03");
	assert_sets(0, "cycles");
	assert_int_equal(sets.turns, 0);
	assert_int_equal(events.event[1].state, ENGINE_NOT_SUPPORTED);
	done();
}

static void a_second_kind_of_cycles_takes_a_counter(void **state)
{
	(void)state;
	pack("pi2", 4, "cycles,cycles:u");
	assert_int_equal(events.event[0].perf.config, 0xff);
	assert_int_equal(events.event[1].perf.config, 0x11);
	assert_sets(0, "cycles cycles:u");
	done();
}

static void assert_own_names(const struct engine_events *of)
{
	for (size_t i = 0; i < of->n; i++)
		assert_ptr_equal(of->event[i].perf.name, of->event[i].name);
}

/* Rows move where some are added; the old ones are freed. */
static void the_name_in_a_message_is_that_of_the_events_own_row(void **state)
{
	static struct engine_events copy; /* large */

	(void)state;
	pack_both("pi2", 4, "r01,r03", "task-clock,r04");
	assert_true(events.n >= 4);
	assert_own_names(&events);
	assert_int_equal(engine_events_copy(&copy, &events), 0);
	assert_own_names(&copy);
	engine_events_free(&copy);
	done();
}

/* N different codes, from @first on. */
static char *codes(unsigned int first, unsigned int n)
{
	char *text = calloc(n, 8);

	assert_non_null(text);
	for (unsigned int i = 0; i < n; i++)
		sprintf(text + strlen(text), "%sr%x", i ? "," : "", first + i);
	return text;
}

/* A list of one's own and -M's: none of them is left out. */
static void six_hundred_events_have_each_a_set(void **state)
{
	char *list = codes(0x1000, 300), *more = codes(0x2000, 300);
	size_t placed = 0;

	(void)state;
	pack_both("pi3-64", 6, list, more);
	assert_int_equal(sets.turns, 120);
	for (size_t i = 0; i < sets.n; i++)
		placed += sets.set[i].n;
	assert_int_equal(placed, 602); /* cycles and instructions too */
	done();
	free(list);
	free(more);
}

static void assert_reason(const char *wanted)
{
	assert_string_equal(events.reason, wanted);
}

static void open_on(const char *list, const struct engine_targets *targets)
{
	const struct engine_sets_options how = { 0 };
	struct upmu_events_error why;

	assert_int_equal(engine_events_resolve(&events, list, &why), 0);
	assert_int_equal(engine_sets_open(&sets, &events, targets, &how), 0);
}

/* Threads 1 to 3 are counted, of the third nothing can be opened. */
static void open_on_three_threads(const char *list, int error)
{
	static struct engine_target thread[] = { { 1, -1 },
						 { 2, -1 },
						 { 3, -1 } };
	const struct engine_targets targets = { .target = thread, .n = 3 };

	upmu_sys_set_root(FIXTURES "/pi2");
	counters = 4;
	refusal = error;
	open_on(list, &targets);
	refusal = 0;
}

static void an_uncounted_thread_makes_no_number_too_small(void **s)
{
	static const int errors[] = { -EMFILE, -EACCES, -ENOMEM };

	(void)s;
	refused = 3;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		open_on_three_threads("cycles,page-faults", errors[i]);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(events.event[k].state,
					 ENGINE_NOT_SUPPORTED);
		assert_true(events.reason[0]);
		for (size_t k = 0; k < sets.n; k++)
			for (size_t t = 0; t < 3; t++)
				assert_int_equal(sets.set[k].group[t].n, 0);
		done();
	}
}

static void events_of_a_core_that_is_not_counted_tell_so(void **state)
{
	static struct engine_target cpu[] = { { -1, 0 }, { -1, 1 } };

	(void)state;
	for (size_t n = 1; n <= 2; n++) {
		const struct engine_targets targets = { cpu, n };

		upmu_sys_set_root(FIXTURES "/rk3399");
		counters = 6;
		open_on("r03", &targets);
		for (size_t i = 0; i < events.n && !events.event[i].hidden; i++)
			assert_int_equal(events.event[i].state ==
						 ENGINE_COUNTED,
					 !events.event[i].lane);
		assert_reason(n == 1 ? "CPU 0 is no cortex-a72"
				     : "none of these CPUs is a cortex-a72");
		done();
	}
}

static rlim_t limit_now(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

/* A program that is started has the limit that upmu was given. */
static void open_short_of_descriptors(void)
{
	struct rlimit few;

	getrlimit(RLIMIT_NOFILE, &few);
	few.rlim_cur = FEW;
	setrlimit(RLIMIT_NOFILE, &few);
	is_short = true;
	refused = 99;
	open_on_three_threads("cycles,page-faults", -EMFILE);
	assert_int_equal(events.event[0].state, ENGINE_COUNTED);
	assert_int_equal(events.event[1].state, ENGINE_COUNTED);
	assert_int_equal(limit_now(), few.rlim_max);
	engine_descriptors_as_given();
	assert_int_equal(limit_now(), FEW);
	done();
}

/* In a process of its own each, before this one has raised its limit. */
static void more_descriptors_are_had_where_they_may_be(void **s)
{
	(void)s;
	for (int i = 0; i < 2; i++) {
		int status;
		pid_t pid = fork();

		only_user = i;
		if (!pid) {
			open_short_of_descriptors();
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	only_user = false;
}

static void the_kernels_events_are_counted_in_user_mode(void **s)
{
	(void)s;
	only_user = true;
	pack("pi3-32", 4, "page-faults,context-switches,task-clock");
	only_user = false;
	assert_true(events.user_only);
	assert_int_equal(events.event[0].state, ENGINE_COUNTED);
	assert_int_equal(events.event[2].state, ENGINE_COUNTED);
	/* Of which there are none in user mode: no 0. */
	assert_int_equal(events.event[1].state, ENGINE_NOT_SUPPORTED);
	assert_non_null(strstr(events.reason, "happen in the kernel"));
	assert_non_null(strstr(events.reason, "kernel.perf_event_paranoid=1"));
	done();
}

static void who_may_count_no_such_target_is_told_so(void **state)
{
	static struct engine_target target[] = { { -1, 0 }, { 1, -1 } };

	(void)state;
	only_user = true;
	refused = 1; /* another user's */
	refusal = -EACCES;
	for (size_t i = 0; i < 2; i++) {
		const struct engine_targets targets = { &target[i], 1 };

		upmu_sys_set_root(FIXTURES "/pi3-32");
		open_on("context-switches", &targets);
		assert_reason("this user may not count 'context-switches'");
		done();
	}
	refusal = 0;
	only_user = false;
}

/* Without a PMU the kernel's own events may be forbidden, and not missing. */
static void each_reason_is_told_and_what_helps_both_once(void **state)
{
	static struct engine_target cpu = { -1, 0 };
	const struct engine_targets targets = { &cpu, 1 };

	(void)state;
	only_user = true;
	upmu_sys_set_root(FIXTURES "/pi3-32-bare");
	open_on("page-faults,cycles,r03,cpu-clock", &targets);
	assert_reason("no CPU PMU is registered with perf on this machine\n"
		      "hint: upmu check\n"
		      "this user may not count 'page-faults'");
	only_user = false;
	done();
	refused = 3;
	open_on_three_threads("cycles,page-faults", -EMFILE);
	assert_non_null(strstr(events.reason, "\nhint: ulimit -n"));
	assert_ptr_equal(strchr(events.reason, '\n'),
			 strrchr(events.reason, '\n'));
	done();
}

static void all_are_counted_but(pid_t ended)
{
	refused = ended;
	open_on_three_threads("cycles,page-faults", -ESRCH);
	for (size_t k = 0; k < sets.n; k++)
		for (pid_t t = 1; t <= 3; t++)
			assert_int_equal(sets.set[k].group[t - 1].n,
					 t != ended);
	assert_int_equal(events.event[0].state, ENGINE_COUNTED);
	assert_false(events.reason[0]);
	done();
}

/* A program's first thread may end before its others. */
static void others_are_counted_where_a_thread_has_ended(void **s)
{
	(void)s;
	all_are_counted_but(1);
	all_are_counted_but(3);
}

/* Of it two events are open, one was struck from the set: none twice now. */
static void a_thread_ending_within_a_set_leaves_it_whole(void **s)
{
	(void)s;
	refused = 1;
	granted = 2;
	lacking = 0x03;
	open_on_three_threads("cycles,r03,r04,r08,r10", -ESRCH);
	lacking = 0;
	assert_sets(0, "cycles r04 r08 r10");
	done();
}

/* Less than what may be had, whatever the shell has that runs us. */
static int start_as_a_login_does(void **state)
{
	struct rlimit limit;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max > 1024 ? 1024 : limit.rlim_max - 1;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: these are done once in a process. */
		cmocka_unit_test(more_descriptors_are_had_where_they_may_be),
		cmocka_unit_test(the_kernels_events_are_counted_in_user_mode),
		cmocka_unit_test(who_may_count_no_such_target_is_told_so),
		cmocka_unit_test(each_reason_is_told_and_what_helps_both_once),
		cmocka_unit_test(rpistats_nine_are_four_sets_on_an_arm1176),
		cmocka_unit_test(four_counters_spare_one_for_instructions),
		cmocka_unit_test(what_fits_is_one_set),
		cmocka_unit_test(an_uncounted_thread_makes_no_number_too_small),
		cmocka_unit_test(others_are_counted_where_a_thread_has_ended),
		cmocka_unit_test(a_thread_ending_within_a_set_leaves_it_whole),
		cmocka_unit_test(cycles_are_added_where_sets_take_turns),
		cmocka_unit_test(braces_stay_together_too_large_are_refused),
		cmocka_unit_test(what_others_hold_makes_sets_smaller),
		cmocka_unit_test(
			cycles_whose_counter_others_hold_keep_no_event_from_running),
		cmocka_unit_test(a_group_larger_than_what_is_free_stays_whole),
		cmocka_unit_test(each_kind_of_core_has_sets_of_its_own),
		cmocka_unit_test(
			what_is_tried_on_another_kind_is_not_taken_by_others),
		cmocka_unit_test(events_of_a_core_that_is_not_counted_tell_so),
		cmocka_unit_test(no_counter_at_all_ends_with_cycles_alone),
		cmocka_unit_test(six_hundred_events_have_each_a_set),
		cmocka_unit_test(a_second_kind_of_cycles_takes_a_counter),
		cmocka_unit_test(
			the_name_in_a_message_is_that_of_the_events_own_row),
	};

	return cmocka_run_group_tests(tests, start_as_a_login_does, NULL);
}
