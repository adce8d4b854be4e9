// SPDX-License-Identifier: MIT
/* CPUs that went off, as a list; what others had of the counters, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/stat/stat.h"

static struct stat_options options;
static struct stat_report report; /* large */

static int plain(void **state)
{
	(void)state;
	memset(&options, 0, sizeof(options));
	memset(&report, 0, sizeof(report));
	report.options = &options;
	return 0;
}

static void lose(unsigned int first, unsigned int last)
{
	for (unsigned int cpu = first; cpu <= last; cpu++)
		report.lost[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static void assert_lost(size_t n, const char *wanted)
{
	char list[OUT_CPUS_SIZE];

	assert_int_equal(out_lost_cpus(list, &report), n);
	assert_string_equal(list, wanted);
}

static void lost_cpus_are_told_as_the_kernel_lists_them(void **state)
{
	(void)state;
	assert_lost(0, "");
	lose(0, 0);
	assert_lost(1, "0");
	lose(1, 1);
	assert_lost(2, "0-1");
	lose(63, 64);
	assert_lost(4, "0-1,63-64");
	lose(66, 68);
	assert_lost(7, "0-1,63-64,66-68");
	lose(1023, 1023);
	assert_lost(8, "0-1,63-64,66-68,1023");
	lose(1021, 1022);
	assert_lost(10, "0-1,63-64,66-68,1021-1023");
	lose(0, 1023);
	assert_lost(1024, "0-1023");
}

static void the_last_cpu_of_all_is_told(void **state)
{
	(void)state;
	lose(1023, 1023);
	assert_lost(1, "1023");
}

/* Each second one: there is room for some. */
static void a_list_that_has_no_room_ends_with_a_whole_number(void **state)
{
	char list[OUT_CPUS_SIZE + 8], wanted[4096] = "";

	(void)state;
	for (unsigned int cpu = 0; cpu < 1024; cpu += 2) {
		lose(cpu, cpu);
		sprintf(wanted + strlen(wanted), "%s%u", cpu ? "," : "", cpu);
	}
	memset(list, 'x', sizeof(list));
	assert_int_equal(out_lost_cpus(list, &report), 512);
	assert_in_range(strlen(list), OUT_CPUS_SIZE - 16, OUT_CPUS_SIZE - 1);
	assert_int_equal(list[OUT_CPUS_SIZE], 'x');
	assert_memory_equal(list, wanted, strlen(list));
	assert_int_equal(wanted[strlen(list)], ',');
}

static void assert_written(void (*write)(FILE *, const struct stat_report *),
			   const char *wanted)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	write(out, &report);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

#define HINT                                                               \
	"hint: end the other user of perf ('pgrep -a perf' may show it), " \
	"or count fewer events\n"

static void what_others_took_is_told_with_what_helps(void **state)
{
	(void)state;
	assert_written(out_write_others, "");
	report.others = (struct engine_others){ .counters = 4 };
	assert_written(out_write_others, "");
	report.others.taken = 1;
	assert_written(out_write_others,
		       "\n1 of 4 counters were taken by others\n" HINT);
	report.others.taken = 4;
	assert_written(out_write_others,
		       "\nall 4 counters were taken by others\n" HINT);
	assert_written(out_write_others_again, "");
}

static void a_lost_time_is_told_from_its_least_share_on(void **state)
{
	(void)state;
	report.others.lost = ENGINE_LOST_LEAST * 0.999;
	assert_written(out_write_others, "");
	assert_written(out_write_others_again, "");
	report.others.lost = ENGINE_LOST_LEAST;
	assert_written(out_write_others,
		       "\nothers had the counters in 0.5 % of the time\n" HINT);
	report.others = (struct engine_others){ .lost = 0.25,
						.taken = 1,
						.counters = 2 };
	assert_written(out_write_others,
		       "\n1 of 2 counters were taken by others\n"
		       "others had the counters in 25.0 % of the time\n" HINT);
	assert_written(out_write_others_again,
		       "\nothers had the counters in 25.0 % of the time\n");
}

static void of_runs_and_intervals_the_most_is_told(void **state)
{
	(void)state;
	report.others.lost = 0.25;
	report.runs = 1;
	report.intervals = 1;
	assert_written(out_write_others_again,
		       "\nothers had the counters in 25.0 % of the time\n");
	report.runs = 2;
	assert_written(out_write_others_again,
		       "\nothers had the counters in up to 25.0 % of a run's "
		       "time\n");
	report.runs = 1;
	report.intervals = 2;
	assert_written(out_write_others_again,
		       "\nothers had the counters in up to 25.0 % of an "
		       "interval's time\n");
	report.interval_s = 0.5;
	assert_written(out_write_others_again,
		       "\nothers had the counters in 25.0 % of the time\n");
	options.cgroups = "a";
	assert_written(out_write_others,
		       "\na cgroup was without the counters in 25.0 % of its "
		       "time: its tasks were being\nswitched, or others had "
		       "them\n");
}

int main(void)
{
#define PLAIN_TEST(name) cmocka_unit_test_setup(name, plain)
	const struct CMUnitTest tests[] = {
		PLAIN_TEST(lost_cpus_are_told_as_the_kernel_lists_them),
		PLAIN_TEST(the_last_cpu_of_all_is_told),
		PLAIN_TEST(a_list_that_has_no_room_ends_with_a_whole_number),
		PLAIN_TEST(what_others_took_is_told_with_what_helps),
		PLAIN_TEST(a_lost_time_is_told_from_its_least_share_on),
		PLAIN_TEST(of_runs_and_intervals_the_most_is_told),
	};

	return cmocka_run_group_tests_name("lost_cpus", tests, NULL, NULL);
}
