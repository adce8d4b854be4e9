/* SPDX-License-Identifier: MIT */
/**
 * check.h - what the files of "upmu check" share
 *
 * One finding is one line of the report. A check may have several; the order
 * of the tables is that in which a cure should be tried, so that the hint of
 * the first finding that is bad is the next command to type.
 */
#ifndef UPMU_TOOLS_CHECK_H
#define UPMU_TOOLS_CHECK_H

#include <stddef.h>

enum check_verdict {
	CHECK_OK,
	CHECK_NOTE, /* good to know; nothing has to be done */
	CHECK_BAD,
};

struct check_finding {
	const char *subject;
	enum check_verdict verdict;
	char text[1200];
	char hint[256]; /* the command that mends it, or "" */
};

#define CHECK_FINDINGS 32

struct check_report {
	struct check_finding finding[CHECK_FINDINGS];
	size_t n;
};

/** Add a finding; past the last place it is dropped. */
void check_add(struct check_report *report, const char *subject,
	       enum check_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** The command that mends what was found last. */
void check_hint(struct check_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Kernel, 32 on 64 bits, module, headers. */
void check_system(struct check_report *report);

/** Cores, PMU, paranoid, device and who holds it, sources. */
void check_pmu(struct check_report *report);

#endif
