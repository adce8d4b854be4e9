/* SPDX-License-Identifier: MIT */
/**
 * bars.h - bars, sparklines and colour in the terminal
 *
 * Block characters where the locale's character set is UTF-8, else ASCII;
 * colour where the output is a terminal and NO_COLOR is not set.
 */
#ifndef UPMU_TOOLS_BARS_H
#define UPMU_TOOLS_BARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Has the locale block characters? Asked once. */
bool bars_are_blocks(void);

/** Draw @share (0 to 1) of @width columns and fill up with spaces. */
void bars_draw(FILE *out, double share, int width);

/**
 * A sparkline of @width columns: each stands for the mean of its part of the
 * @n values, its height from 0 to the largest; a space: no value (NAN).
 */
void bars_spark(FILE *out, const double *value, size_t n, int width);

enum bars_colour { BARS_PLAIN, BARS_GREEN, BARS_RED, BARS_BOLD };

/** "" where this output gets no colour. */
const char *bars_colour(FILE *out, enum bars_colour colour);

#endif
