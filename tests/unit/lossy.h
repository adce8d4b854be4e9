/* SPDX-License-Identifier: MIT */
/* lossy.h - a stream whose first write is lost, and those behind it are not
 *
 * As of a full disk that has room again, or a pipe that is read again.
 */
#ifndef UPMU_TESTS_LOSSY_H
#define UPMU_TESTS_LOSSY_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_lost;

static ssize_t lose_the_first(void *cookie, const char *text, size_t size)
{
	(void)cookie, (void)text;
	if (is_lost)
		return (ssize_t)size;
	is_lost = true;
	errno = ENOSPC;
	return 0;
}

/** Its buffer has 16 bytes, so that a report has writes behind the first. */
static inline FILE *open_lossy(void)
{
	static const cookie_io_functions_t functions = {
		.write = lose_the_first
	};
	static char buffer[16];
	FILE *out = fopencookie(NULL, "w", functions);

	is_lost = false;
	if (out)
		setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	return out;
}

#endif
