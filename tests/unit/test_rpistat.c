// SPDX-License-Identifier: MIT
/*
 * The rpistat report against the numbers that its author published: his raw
 * counts and periods must give his scaled counts, CPI, percentages and rates.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/stat/stat.h"

#define PERIODS 169

/* The article's run; each set had every fourth period of equal length. */
static const struct published {
	enum upmu_default role;
	uint64_t raw;
	size_t set; /* of four; 4: all the time */
} published[] = {
	{ UPMU_DEFAULT_CYCLES, 11759598287, 4 },
	{ UPMU_DEFAULT_INSTRUCTIONS, 315810640, 0 },
	{ UPMU_DEFAULT_STALL, 65981902, 0 },
	{ UPMU_DEFAULT_L1D, 4558795, 1 },
	{ UPMU_DEFAULT_L1D_MISS, 933837, 1 },
	{ UPMU_DEFAULT_DTLB, 224886, 2 },
	{ UPMU_DEFAULT_TLB, 172973, 2 },
	{ UPMU_DEFAULT_BRANCHES, 33438664, 3 },
	{ UPMU_DEFAULT_BRANCH_MISSES, 366383, 3 },
};

#define EVENTS (sizeof(published) / sizeof(published[0]))

static struct engine_events events; /* large */
static struct engine_event event[EVENTS];
static struct engine_count count[EVENTS];

static struct estimate estimate(const struct published *p)
{
	struct estimate_slice slice[PERIODS];
	size_t periods = (PERIODS - p->set + 3) / 4;
	struct estimate out;

	for (size_t i = 0; i < PERIODS; i++)
		slice[i] = (struct estimate_slice){
			.time = 1,
			.cycles = 11759598287.0 / PERIODS,
			.instructions = NAN,
			.count = i % 4 == p->set ? (double)p->raw / periods
						 : NAN,
		};
	assert_int_equal(estimate_total(slice, PERIODS, &out), 0);
	return out;
}

static void fill(void)
{
	events = (struct engine_events){ .event = event,
					 .n = EVENTS,
					 .lanes = 1 };
	events.machine.n_kinds = 1;
	events.machine.kinds[0].core = upmu_core_by_name("arm1176", 7);
	for (size_t i = 0; i < EVENTS; i++) {
		const struct published *p = &published[i];

		event[i] = (struct engine_event){ .role = p->role, .unit = "" };
		count[i] = (struct engine_count){ .raw = p->raw };
		if (p->set == 4)
			continue;
		count[i].estimated = true;
		count[i].estimate = estimate(p);
	}
}

static char *write_by(int (*write)(FILE *, const struct stat_report *))
{
	char *command[] = { "./naive", NULL };
	const struct stat_options options = { .command = command };
	const struct stat_report report = {
		.options = &options,
		.events = &events,
		.count = count,
		.pace = { .slices = PERIODS },
		.cpus = 1,
		.when = 1372327088, /* Thu Jun 27 09:58:08 2013 UTC */
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(write(out, &report), 0);
	fclose(out);
	return text;
}

static char *write_report(void)
{
	return write_by(stat_write_rpistat);
}

static char *read_golden(void)
{
	FILE *file = fopen(GOLDEN, "re");
	char *text = calloc(1, 4096);

	assert_non_null(file);
	assert_true(fread(text, 1, 4095, file) > 0);
	fclose(file);
	return text;
}

static void the_articles_counts_give_the_articles_report(void **state)
{
	char *golden = read_golden(), *text;

	(void)state;
	fill();
	text = write_report();
	assert_string_equal(text, golden);
	free(text);
	free(golden);
}

static void what_was_not_counted_never_prints_0(void **state)
{
	char *text;

	(void)state;
	fill();
	count[3].state = ENGINE_NOT_EMULATED;
	count[7].state = ENGINE_NOT_COUNTED;
	text = write_report();
	assert_non_null(strstr(text, "DC cached accesses: <not emulated>\n"));
	assert_non_null(strstr(text, "DC miss ratio:      <not emulated>\n"));
	assert_non_null(strstr(text, "Branches:           <not counted>\n"));
	assert_non_null(strstr(text, "Mispredict ratio:   <not counted>\n"));
	assert_null(strstr(text, " 0\n"));
	assert_null(strstr(text, "nan"));
	free(text);
}

static void other_cores_say_what_each_line_counts(void **state)
{
	char *text;

	(void)state;
	fill();
	events.machine.kinds[0].core = upmu_core_by_name("cortex-a7", 9);
	snprintf(event[2].name, sizeof(event[2].name), "l1i_cache_refill");
	text = write_report();
	assert_non_null(strstr(text, "IBUF stall cycles:  l1i_cache_refill\n"));
	free(text);
}

/* Two days of cycles. */
static void json_keeps_each_digit_of_a_large_count(void **state)
{
	char *text;

	(void)state;
	fill();
	count[0].raw = 123456789012345;
	text = write_by(stat_write_json);
	assert_non_null(strstr(text, "\"value\": 123456789012345.0"));
	assert_non_null(strstr(text, "\"counted\": 123456789012345,"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_articles_counts_give_the_articles_report),
		cmocka_unit_test(what_was_not_counted_never_prints_0),
		cmocka_unit_test(other_cores_say_what_each_line_counts),
		cmocka_unit_test(json_keeps_each_digit_of_a_large_count),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
