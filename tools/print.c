// SPDX-License-Identifier: MIT
#include "print.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------- */

/* Up to here a double holds each integer, and what is behind the point. */
#define EXACT 1e9

/* So near to the middle of two numbers @value times a power may fall wrong. */
#define DOUBTFUL 1e-5

/* The digits of @number before @end, @least of them; where they begin. */
static char *write_before(char *end, uint64_t number, unsigned int least)
{
	char *begin = end - least;
	uint32_t low;

	/* A 32-bit core divides 32 bits with ease. */
	for (; number > UINT32_MAX; number /= 1000000000) {
		low = (uint32_t)(number % 1000000000);
		for (int i = 0; i < 9; i++, low /= 10)
			*--end = (char)('0' + low % 10);
	}
	for (low = (uint32_t)number; low || end > begin; low /= 10)
		*--end = (char)('0' + low % 10);
	return end;
}

/* The nearest integer; of two the even one, as printf(). */
static uint64_t nearest(double value, double *rest)
{
	uint64_t whole;

	/* A 32-bit core converts 32 bits by one instruction. */
	if (value < UINT32_MAX) {
		whole = (uint32_t)value;
		*rest = value - (uint32_t)value;
	} else {
		whole = (uint64_t)value;
		*rest = value - (double)whole;
	}
	return whole + (*rest > 0.5 || (*rest == 0.5 && whole & 1));
}

char *digits_fixed(char *out, double value, unsigned int decimals)
{
	static const double power[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };
	char text[24], *end = text + sizeof(text), *begin;
	size_t length, whole;
	double scaled, rest;
	uint64_t number;

	if (decimals >= sizeof(power) / sizeof(power[0]) || signbit(value) ||
	    !(value * power[decimals] < EXACT))
		goto by_printf;
	scaled = value * power[decimals];
	number = nearest(scaled, &rest);
	if (decimals && fabs(rest - 0.5) < DOUBTFUL)
		goto by_printf;
	begin = write_before(end, number, decimals + 1);
	length = (size_t)(end - begin);
	whole = length - decimals;
	memcpy(out, begin, whole);
	if (decimals) {
		out[whole] = '.';
		memcpy(out + whole + 1, begin + whole, decimals);
	}
	out[length + !!decimals] = '\0';
	return out;

by_printf:
	snprintf(out, DIGITS_SIZE, "%.*f", (int)decimals, value);
	return out;
}

/* Whole numbers are exact much further. */
static int write_whole(char *out, size_t size, double value)
{
	char text[24], *end = text + sizeof(text), *begin;
	double rest;

	if (signbit(value) || !(value < 1e18))
		return snprintf(out, size, "%.0f", value);
	begin = write_before(end, nearest(value, &rest), 1);
	memcpy(out, begin, (size_t)(end - begin));
	out[end - begin] = '\0';
	return (int)(end - begin);
}

char *digits_grouped(char *out, double value)
{
	char digits[32];
	int n = write_whole(digits, sizeof(digits), value);
	char *p = out;

	if (n > 30) { /* nobody counted that: a file of somebody's */
		sprintf(out, "%g", value);
		return out;
	}
	for (int i = 0; i < n; i++) {
		if (i > (digits[0] == '-') && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
	return out;
}

/* ---- lines ----------------------------------------------------------- */

static void flush(struct line *line)
{
	fwrite(line->text, 1, line->n, line->out);
	line->n = 0;
}

void line_put_n(struct line *line, const char *text, size_t length)
{
	if (length > sizeof(line->text) - line->n)
		flush(line);
	if (length > sizeof(line->text)) {
		fwrite(text, 1, length, line->out);
		return;
	}
	memcpy(line->text + line->n, text, length);
	line->n += length;
}

static void put_blanks(struct line *line, size_t n)
{
	if (n > sizeof(line->text) - line->n)
		flush(line);
	memset(line->text + line->n, ' ', n);
	line->n += n;
}

void line_begin(struct line *line, FILE *out)
{
	line->out = out;
	line->n = 0;
}

void line_right(struct line *line, size_t width, const char *text)
{
	size_t length = strlen(text);

	if (length < width)
		put_blanks(line, width - length);
	line_put_n(line, text, length);
}

void line_left(struct line *line, size_t width, const char *text)
{
	size_t length = strlen(text);

	line_put_n(line, text, length);
	if (length < width)
		put_blanks(line, width - length);
}

void line_end(struct line *line)
{
	line_put_n(line, "\n", 1);
	flush(line);
}

/* ---- what a terminal may be told ------------------------------------- */

/* Bytes of a control character; 0: it is none. */
static size_t control_length(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	unsigned char next = (unsigned char)text[1];

	/* U+0080 to U+009F in UTF-8: U+009B begins what ESC [ does. */
	if (first == 0xc2 && next >= 0x80 && next < 0xa0)
		return 2;
	return iscntrl(first) ? 1 : 0;
}

size_t plain_letter(FILE *out, const char *text)
{
	size_t length = control_length(text);

	fputc(length ? '?' : *text, out);
	return length ? length : 1;
}

void plain_write(FILE *out, const char *text)
{
	while (*text)
		text += plain_letter(out, text);
}

size_t plain_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text += control_length(text) ? control_length(text) : 1)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

char *plain(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		size_t length = control_length(from);

		*to = (char)(length ? '?' : *from);
		from += length ? length : 1;
	}
	*to = '\0';
	return text;
}

/* ---- CSV ------------------------------------------------------------- */

const char *csv_separator(const char *text)
{
	size_t n = strcspn(text, "\"\r\n.+-");

	if (!strcmp(text, "\\t"))
		return "\t";
	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)text[i]))
			return NULL;
	return n && !text[n] ? text : NULL;
}

void csv_text(FILE *out, const char *word, const char *separator)
{
	/* A part of one at a word's end would become one with what follows. */
	if (!strpbrk(word, "\"\r\n") && !strpbrk(word, separator)) {
		fputs(word, out);
		return;
	}
	fputc('"', out);
	for (; *word; word++) {
		if (*word == '"')
			fputc('"', out);
		fputc(*word, out);
	}
	fputc('"', out);
}
