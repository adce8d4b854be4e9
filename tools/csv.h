/* SPDX-License-Identifier: MIT */
#ifndef UPMU_CSV_H
#define UPMU_CSV_H

#include <stdio.h>

/** Write @word, by RFC 4180 in quotes where it has to be. */
void csv_text(FILE *out, const char *word, const char *separator);

#endif
