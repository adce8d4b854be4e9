/* SPDX-License-Identifier: MIT */
/* lib_tap.h - TAP for the programs that try libupmu on a board */
#ifndef UPMU_TESTS_LIB_TAP_H
#define UPMU_TESTS_LIB_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_number, tap_failed;

static inline bool ok(bool passed, const char *claim)
{
	printf("%sok %d - %s\n", passed ? "" : "not ", ++tap_number, claim);
	tap_failed += !passed;
	fflush(stdout);
	return passed;
}

static inline void skip(const char *claim, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_number, claim, why);
	fflush(stdout);
}

__attribute__((format(printf, 1, 2))) static inline void
note(const char *format, ...)
{
	va_list arguments;

	printf("# ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_number);
	return tap_failed ? 1 : 0;
}

#endif
