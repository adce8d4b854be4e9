// SPDX-License-Identifier: MIT
/* Bars and sparklines, to the eighth of a column. */
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/bars.h"

struct drawn {
	double share;
	int width;
	const char *text;
};

static char *written;
static size_t size;

static FILE *begin(void)
{
	FILE *out = open_memstream(&written, &size);

	assert_non_null(out);
	return out;
}

static void assert_written(FILE *out, const char *wanted)
{
	fclose(out);
	assert_string_equal(written, wanted);
	free(written);
}

static void assert_drawn(const struct drawn *drawn, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		FILE *out = begin();

		bars_draw(out, drawn[i].share, drawn[i].width);
		assert_written(out, drawn[i].text);
	}
}

static void draw_signs(void)
{
	static const struct drawn drawn[] = {
		{ 0, 4, "    " },	  { 1, 4, "####" },
		{ 0.25, 4, "#   " },	  { 2, 4, "####" },
		{ -1, 4, "    " },	  { NAN, 4, "    " },
		{ 0.5, 1, "#" },	  { 3 / 8.0, 1, " " },
		{ 1 + 3 / 8.0, 1, "#" },  { 11 / 16.0, 2, "# " },
		{ 12 / 16.0, 2, "##" },	  { 15 / 16.0, 2, "##" },
		{ 7 / 16.0 / 8, 1, " " },
	};

	assert_false(bars_are_blocks());
	assert_drawn(drawn, sizeof(drawn) / sizeof(drawn[0]));
}

static void draw_blocks(void)
{
	static const char *const parts[] = { " ", "▏", "▎", "▍", "▌",
					     "▋", "▊", "▉", "█" };

	assert_true(bars_are_blocks());
	for (int i = 0; i <= 8; i++)
		assert_drawn(&(struct drawn){ i / 8.0, 1, parts[i] }, 1);
	assert_drawn(&(struct drawn){ 0.5, 3, "█▌ " }, 1);
	assert_drawn(&(struct drawn){ NAN, 2, "  " }, 1);
}

static void assert_spark(const double *value, size_t n, int width,
			 const char *wanted)
{
	FILE *out = begin();

	bars_spark(out, value, n, width);
	assert_written(out, wanted);
}

static const double rising[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const double some[] = { 7, NAN, 3.4, 3.6, 0 };
static const double none[] = { NAN, NAN };
static const double flat[] = { 0, 0 };
static const double odd[] = { 1, 3, 7, NAN, NAN, 7, 0 };

static void spark_signs(void)
{
	assert_spark(rising, 8, 8, "_.,-=+*#");
	assert_spark(rising, 8, 80, "_.,-=+*#");
	assert_spark(rising, 8, 4, ".-+#");
	assert_spark(rising, 8, 1, "#");
	assert_spark(rising, 0, 8, "");
	assert_spark(some, 5, 5, "# -=_");
	assert_spark(none, 2, 2, "  ");
	assert_spark(flat, 2, 2, "__");
	/* means of 1 and 3, of 7, of 7 and 0 */
	assert_spark(odd, 7, 3, ",#=");
}

static void spark_blocks(void)
{
	assert_spark(rising, 8, 8, "▁▂▃▄▅▆▇█");
	assert_spark(none, 2, 2, "  ");
}

/* The locale is asked once in a process. */
static void in_locale(const char *locale, void (*claims)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		setenv("LC_ALL", locale, 1);
		claims();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void without_blocks_a_half_is_a_whole_sign(void **state)
{
	(void)state;
	in_locale("C", draw_signs);
}

static bool has_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);

	if (locale)
		freelocale(locale);
	return locale;
}

static void blocks_are_drawn_to_the_eighth(void **state)
{
	(void)state;
	if (!has_utf8()) {
		puts("# no locale C.UTF-8 here");
		skip();
	}
	in_locale("C.UTF-8", draw_blocks);
}

static void a_sparkline_reaches_from_0_to_the_most(void **state)
{
	(void)state;
	in_locale("C", spark_signs);
	if (has_utf8())
		in_locale("C.UTF-8", spark_blocks);
}

static void a_pipe_gets_no_colour(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	assert_string_equal(bars_colour(file, BARS_RED), "");
	fclose(file);
}

/* A terminal whose other end is ours. */
static FILE *terminal(int *other)
{
	*other = posix_openpt(O_RDWR | O_NOCTTY);
	if (*other < 0 || grantpt(*other) || unlockpt(*other))
		return NULL;
	return fopen(ptsname(*other), "we");
}

static void a_terminal_has_colour_unless_told_otherwise(void **state)
{
	int other;
	FILE *out = terminal(&other);

	(void)state;
	if (!out) {
		puts("# no terminal can be had here");
		skip();
	}
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	assert_string_equal(bars_colour(out, BARS_PLAIN), "\033[0m");
	assert_string_equal(bars_colour(out, BARS_GREEN), "\033[32m");
	assert_string_equal(bars_colour(out, BARS_RED), "\033[31m");
	assert_string_equal(bars_colour(out, BARS_BOLD), "\033[1m");
	setenv("NO_COLOR", "", 1);
	assert_string_equal(bars_colour(out, BARS_RED), "\033[31m");
	unsetenv("TERM");
	assert_string_equal(bars_colour(out, BARS_RED), "\033[31m");
	setenv("NO_COLOR", "1", 1);
	assert_string_equal(bars_colour(out, BARS_RED), "");
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_string_equal(bars_colour(out, BARS_RED), "");
	fclose(out);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_blocks_a_half_is_a_whole_sign),
		cmocka_unit_test(blocks_are_drawn_to_the_eighth),
		cmocka_unit_test(a_sparkline_reaches_from_0_to_the_most),
		cmocka_unit_test(a_pipe_gets_no_colour),
		cmocka_unit_test(a_terminal_has_colour_unless_told_otherwise),
	};

	return cmocka_run_group_tests_name("bars", tests, NULL, NULL);
}
