/* SPDX-License-Identifier: MIT */
/**
 * digits.h - numbers as printf(3) writes them, at a tenth of its cost
 *
 * printf() divides each number as one of a thousand bits: 2,500 instructions
 * on a Cortex-A7, of which a report of upmu stat has a hundred.
 */
#ifndef UPMU_TOOLS_DIGITS_H
#define UPMU_TOOLS_DIGITS_H

#define DIGITS_SIZE 400 /* the longest double */

/** As "%.*f" does, whatever the locale. @out: DIGITS_SIZE bytes; returned. */
char *digits_fixed(char *out, double value, unsigned int decimals);

/** The same without decimals, thousands parted by commas; 40 are enough. */
char *digits_grouped(char *out, double value);

#endif
