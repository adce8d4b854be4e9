/* SPDX-License-Identifier: MIT */
/**
 * print.h - lines, numbers and words as reports have them
 *
 * Lines and numbers at a tenth of what printf(3) takes, which writes a
 * character at a time and divides each number as one of a thousand bits: on a
 * Cortex-A7 4,000 instructions for a line, 2,500 for a number, of which a
 * report of upmu stat has a hundred.
 */
#ifndef UPMU_TOOLS_PRINT_H
#define UPMU_TOOLS_PRINT_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- a line of a table ----------------------------------------------- */

struct line {
	FILE *out;
	size_t n;
	char text[256]; /* what is longer goes out in pieces */
};

void line_begin(struct line *line, FILE *out);
void line_put_n(struct line *line, const char *text, size_t length);
/** As "%*s" and "%-*s" do. */
void line_right(struct line *line, size_t width, const char *text);
void line_left(struct line *line, size_t width, const char *text);
void line_end(struct line *line);

/* Inline: how long most texts are the compiler knows. */
static inline void line_put(struct line *line, const char *text)
{
	line_put_n(line, text, strlen(text));
}

/* ---- numbers --------------------------------------------------------- */

#define DIGITS_SIZE 400 /* the longest double */

/** As "%.*f" does, whatever the locale. @out: DIGITS_SIZE bytes; returned. */
char *digits_fixed(char *out, double value, unsigned int decimals);

/** The same without decimals, thousands parted by commas; 40 are enough. */
char *digits_grouped(char *out, double value);

/* ---- text out of somebody's file, for a terminal --------------------- */

/*
 * A file may hold what a terminal obeys: control characters are printed as '?'.
 */

/** The first letter of @text, or a byte of it. Returns how many bytes it took.
 */
size_t plain_letter(FILE *out, const char *text);
void plain_write(FILE *out, const char *text);
/** Letters that it writes of UTF-8: what a table's column has to hold. */
size_t plain_columns(const char *text);
/** In place. Return @text. */
char *plain(char *text);

/* ---- CSV ------------------------------------------------------------- */

/** Write @word, by RFC 4180 in quotes where it has to be. */
void csv_text(FILE *out, const char *word, const char *separator);

/** Why one is refused: "'...' is not" stands before it. */
#define SEPARATORS \
	"a separator: letters, digits, . + - and quotes are in fields"

/** What -x names, "\\t" as perf has it; NULL: it would stand in fields. */
const char *csv_separator(const char *text);

#endif
