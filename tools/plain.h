/* SPDX-License-Identifier: MIT */
/**
 * plain.h - text out of a file of somebody's, for a terminal
 *
 * A file may hold what a terminal obeys: control characters are printed as '?'.
 */
#ifndef UPMU_TOOLS_PLAIN_H
#define UPMU_TOOLS_PLAIN_H

#include <stdio.h>

void plain_letter(FILE *out, char c);
void plain_write(FILE *out, const char *text);
/** In place. Return @text. */
char *plain(char *text);

#endif
