// SPDX-License-Identifier: MIT
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bars.h"

#define EIGHTHS 8

bool bars_are_blocks(void)
{
	static int answer = -1;
	locale_t locale;

	if (answer >= 0)
		return answer;
	/* Only asked: numbers keep their point. */
	locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	answer = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	if (locale)
		freelocale(locale);
	return answer;
}

void bars_draw(FILE *out, double share, int width)
{
	static const char *const parts[EIGHTHS] = { "",	 "▏", "▎", "▍",
						    "▌", "▋", "▊", "▉" };
	bool blocks = bars_are_blocks();
	int eighths = (int)lround(fmin(fmax(share, 0), 1) * width * EIGHTHS);
	int whole = eighths / EIGHTHS, part = eighths % EIGHTHS;

	if (isnan(share))
		whole = part = 0;
	for (int i = 0; i < whole; i++)
		fputs(blocks ? "█" : "#", out);
	if (part && !blocks)
		part = part < EIGHTHS / 2 ? 0 : part;
	if (part)
		fputs(blocks ? parts[part] : "#", out);
	fprintf(out, "%*s", width - whole - (part > 0), "");
}

static double mean_of(const double *value, size_t n)
{
	double sum = 0, known = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(value[i]))
			continue;
		sum += value[i];
		known++;
	}
	return known > 0 ? sum / known : NAN;
}

static void put_height(FILE *out, double share)
{
	static const char *const blocks[EIGHTHS] = { "▁", "▂", "▃", "▄",
						     "▅", "▆", "▇", "█" };
	static const char ascii[] = "_.,-=+*#";
	int step = (int)(share * (EIGHTHS - 1) + 0.5);

	if (isnan(share))
		fputc(' ', out);
	else if (bars_are_blocks())
		fputs(blocks[step], out);
	else
		fputc(ascii[step], out);
}

/* Of the values that stand in one column of a line of @width. */
static double column_mean(const double *value, size_t n, size_t column,
			  size_t width)
{
	size_t from = column * n / width, to = (column + 1) * n / width;

	return mean_of(value + from, to - from);
}

void bars_spark(FILE *out, const double *value, size_t n, int width)
{
	size_t columns = (size_t)width < n ? (size_t)width : n;
	double most = 0;

	for (size_t i = 0; i < columns; i++)
		most = fmax(most, column_mean(value, n, i, columns));
	for (size_t i = 0; i < columns; i++) {
		double mean = column_mean(value, n, i, columns);

		put_height(out, most > 0 ? mean / most : mean * 0);
	}
}

const char *bars_colour(FILE *out, enum bars_colour colour)
{
	static const char *const codes[] = { "\033[0m", "\033[32m", "\033[31m",
					     "\033[1m" };
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if ((no && *no) || !isatty(fileno(out)) ||
	    (term && !strcmp(term, "dumb")))
		return "";
	return codes[colour];
}
