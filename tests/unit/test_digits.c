// SPDX-License-Identifier: MIT
/* What reports write without printf(3) is what printf() writes. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/print.h"

/* Numbers that are the same in each run, of all sizes. */
static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 11;
}

static void assert_same(double value, unsigned int decimals)
{
	char ours[DIGITS_SIZE], libcs[DIGITS_SIZE];

	snprintf(libcs, sizeof(libcs), "%.*f", (int)decimals, value);
	assert_ptr_equal(digits_fixed(ours, value, decimals), ours);
	assert_string_equal(ours, libcs);
}

static void numbers_of_all_sizes_are_written_as_by_printf(void **state)
{
	uint64_t seed = 12;

	(void)state;
	for (int i = 0; i < 40000; i++) {
		uint64_t number = next(&seed) >> (i % 53);

		for (unsigned int decimals = 0; decimals < 8; decimals++)
			assert_same((double)number / (1 + i % 1009), decimals);
	}
}

/* What lies in the middle goes to the even one, as far as binary says so. */
static void ties_are_written_as_by_printf(void **state)
{
	(void)state;
	for (int i = 0; i < 5000; i++)
		for (unsigned int decimals = 0; decimals < 4; decimals++) {
			assert_same(i / 2.0, decimals);
			assert_same(i / 8.0, decimals);
			assert_same(i * 0.05, decimals);
			assert_same(i * 0.005, decimals);
			assert_same(nextafter(i * 0.005, 0), decimals);
		}
}

static void what_is_no_common_number_is_left_to_printf(void **state)
{
	static const double values[] = { 0,    -0.0,	 -1,
					 -0.4, INFINITY, -INFINITY,
					 NAN,  DBL_MAX,	 DBL_MIN,
					 1e9,  1e18,	 999999999.9,
					 1e15, 99.995,	 0.9999999 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (unsigned int decimals = 0; decimals < 9; decimals++)
			assert_same(values[i], decimals);
}

static void assert_grouped(double value, const char *wanted)
{
	char text[DIGITS_SIZE];

	assert_string_equal(digits_grouped(text, value), wanted);
}

static void thousands_are_parted_at_each_length(void **state)
{
	uint64_t seed = 7;

	(void)state;
	assert_grouped(0, "0");
	assert_grouped(999, "999");
	assert_grouped(1000, "1,000");
	assert_grouped(-1000, "-1,000");
	assert_grouped(-999999, "-999,999");
	assert_grouped(4294967295.0, "4,294,967,295");
	assert_grouped(4294967296.0, "4,294,967,296");
	assert_grouped(999999999999999872.0, "999,999,999,999,999,872");
	assert_grouped(18446744073709551616.0, "18,446,744,073,709,551,616");
	assert_grouped(1e300, "1e+300");
	for (int i = 0; i < 40000; i++) {
		double value = (double)(next(&seed) >> (i % 53)) / 2;
		char ours[DIGITS_SIZE], libcs[64], *to = ours;

		snprintf(libcs, sizeof(libcs), "%.0f", value);
		digits_grouped(ours, value);
		for (const char *from = ours; *from; from++)
			if (*from != ',')
				*to++ = *from;
		*to = '\0';
		assert_string_equal(ours, libcs);
	}
}

/* Words of all lengths, so that a line is written in pieces, too. */
static void a_line_is_written_as_by_printf(void **state)
{
	static char word[600];
	char *ours, *libcs;
	size_t size, libcs_size;
	FILE *out = open_memstream(&ours, &size);
	FILE *by_printf = open_memstream(&libcs, &libcs_size);
	struct line line;

	(void)state;
	assert_non_null(out);
	assert_non_null(by_printf);
	line_begin(&line, out);
	for (size_t length = 0; length < sizeof(word) - 1; length++) {
		memset(word, 'a' + (int)(length % 26), length);
		line_put(&line, word);
		line_right(&line, 20, word);
		line_left(&line, 26, word);
		fprintf(by_printf, "%s%20s%-26s", word, word, word);
		if (length % 7)
			continue;
		line_end(&line);
		fputc('\n', by_printf);
	}
	line_end(&line);
	fputc('\n', by_printf);
	fclose(out);
	fclose(by_printf);
	assert_int_equal(size, libcs_size);
	assert_memory_equal(ours, libcs, size);
	free(ours);
	free(libcs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_all_sizes_are_written_as_by_printf),
		cmocka_unit_test(ties_are_written_as_by_printf),
		cmocka_unit_test(what_is_no_common_number_is_left_to_printf),
		cmocka_unit_test(thousands_are_parted_at_each_length),
		cmocka_unit_test(a_line_is_written_as_by_printf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
