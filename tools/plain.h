/* SPDX-License-Identifier: MIT */
/**
 * plain.h - text out of a file of somebody's, for a terminal
 *
 * A file may hold what a terminal obeys: control characters are printed as '?'.
 */
#ifndef UPMU_TOOLS_PLAIN_H
#define UPMU_TOOLS_PLAIN_H

#include <stdio.h>

/** The first letter of @text, or a byte of it. Returns how many bytes it took.
 */
size_t plain_letter(FILE *out, const char *text);
void plain_write(FILE *out, const char *text);
/** In place. Return @text. */
char *plain(char *text);

#endif
