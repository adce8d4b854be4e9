/* SPDX-License-Identifier: MIT */
/**
 * line.h - a line of a table, at a tenth of what printf(3) takes for it
 *
 * printf() writes a character at a time: 4,000 instructions on a Cortex-A7 for
 * each line of upmu stat, which is a twentieth of what counting `true` costs.
 */
#ifndef UPMU_TOOLS_LINE_H
#define UPMU_TOOLS_LINE_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

#endif
