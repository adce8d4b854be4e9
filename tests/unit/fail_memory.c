// SPDX-License-Identifier: MIT
/*
 * fail_memory.so - preloaded, it fails the allocation of number FAIL_AT, and
 * with FAIL_ON each later one. A program that upmu starts has none of it. Where
 * so many were not made, the file FAIL_OVER is made at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static long at, seen;
static bool goes_on;
static const char *over;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_AT"), *on = getenv("FAIL_ON");

	at = number ? atol(number) : 0;
	goes_on = on && on[0];
	over = getenv("FAIL_OVER");
	unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void)
{
	if (at && seen < at && over)
		close(open(over, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static bool fails(void)
{
	if (!at || ++seen < at || (seen > at && !goes_on))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}
