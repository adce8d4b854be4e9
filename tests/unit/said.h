/* SPDX-License-Identifier: MIT */
/* said.h - does upmu_explain() say so? */
#ifndef UPMU_TESTS_SAID_H
#define UPMU_TESTS_SAID_H

#include <string.h>

#include "upmu.h"

#define assert_said(words)                                      \
	do {                                                    \
		if (!strstr(upmu_explain(), (words)))           \
			fail_msg("'%s' is not in: %s", (words), \
				 upmu_explain());               \
	} while (0)

/* A command that does not help is not told. */
#define assert_no_hint() assert_null(strstr(upmu_explain(), "hint:"))

#endif
