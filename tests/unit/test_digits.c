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
	assert_grouped(549755813888e18,
		       "549,755,813,888,000,000,000,000,000,000");
	assert_grouped(1e30, "1e+30");
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

static void assert_plain(const char *text, const char *wanted)
{
	char copy[64], *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	assert_non_null(out);
	plain_write(out, text);
	fclose(out);
	assert_string_equal(written, wanted);
	free(written);
	strcpy(copy, text);
	assert_ptr_equal(plain(copy), copy);
	assert_string_equal(copy, wanted);
}

/* ESC and DEL, U+0080 and U+009F, and what lies beside them in UTF-8. */
static void what_steers_a_terminal_is_a_question_mark(void **state)
{
	(void)state;
	assert_plain("", "");
	assert_plain("plain, with blanks", "plain, with blanks");
	assert_plain("a\033[2Jb", "a?[2Jb");
	assert_plain("\t\n\177\001", "????");
	assert_plain("a\xc2\x80z", "a?z");
	assert_plain("\xc2\x9b"
		     "2J",
		     "?2J");
	assert_plain("a\xc2\x9f\xc2\x9f", "a??");
	assert_plain("\xc2\xa0", "\xc2\xa0");
	assert_plain("\xc2\xbf\xc3\x80", "\xc2\xbf\xc3\x80");
	assert_plain("\xc2", "\xc2");
	assert_plain("\xc2\x7f", "\xc2?");
	assert_plain("\xc3\x9f\xe2\x82\x80", "\xc3\x9f\xe2\x82\x80");
}

static void a_letter_is_as_long_as_it_was(void **state)
{
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	(void)state;
	assert_non_null(out);
	assert_int_equal(plain_letter(out, "ab"), 1);
	assert_int_equal(plain_letter(out, "\033b"), 1);
	assert_int_equal(plain_letter(out, "\xc2\x9b"
					   "b"),
			 2);
	fclose(out);
	assert_string_equal(written, "a??");
	free(written);
}

static void a_separator_is_of_signs_that_no_number_has(void **state)
{
	static const char *const good[] = { ",", ";",  "\t", " ",
					    "|", "::", ", ", "\xe2\x82\xac" };
	static const char *const bad[] = { "",	  "a",	 "Z",  "0",  "9",
					   ".",	  "+",	 "-",  "\"", "\n",
					   "\r",  ",a",	 ",0", ",.", "; -",
					   ",\n", "\\t," };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_ptr_equal(csv_separator(good[i]), good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (csv_separator(bad[i]))
			fail_msg("'%s'", bad[i]);
	assert_string_equal(csv_separator("\\t"), "\t");
}

static void assert_csv(const char *word, const char *separator,
		       const char *wanted)
{
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	assert_non_null(out);
	csv_text(out, word, separator);
	fclose(out);
	assert_string_equal(written, wanted);
	free(written);
}

static void a_word_of_csv_is_quoted_where_it_has_to_be(void **state)
{
	(void)state;
	assert_csv("", ",", "");
	assert_csv("plain word", ",", "plain word");
	assert_csv("a;b", ",", "a;b");
	assert_csv("a,b", ",", "\"a,b\"");
	assert_csv("a,b", ";", "a,b");
	assert_csv("say \"a\"", ",", "\"say \"\"a\"\"\"");
	assert_csv("two\nlines", ",", "\"two\nlines\"");
	assert_csv("two\rlines", ",", "\"two\rlines\"");
	/* one sign of a longer separator */
	assert_csv("a:", "::", "\"a:\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_all_sizes_are_written_as_by_printf),
		cmocka_unit_test(ties_are_written_as_by_printf),
		cmocka_unit_test(what_is_no_common_number_is_left_to_printf),
		cmocka_unit_test(thousands_are_parted_at_each_length),
		cmocka_unit_test(a_line_is_written_as_by_printf),
		cmocka_unit_test(what_steers_a_terminal_is_a_question_mark),
		cmocka_unit_test(a_letter_is_as_long_as_it_was),
		cmocka_unit_test(a_separator_is_of_signs_that_no_number_has),
		cmocka_unit_test(a_word_of_csv_is_quoted_where_it_has_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
