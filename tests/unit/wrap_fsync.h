/* SPDX-License-Identifier: MIT */
/* fsync() as a test wants it (-Wl,--wrap=fsync). */
#ifndef UPMU_TESTS_WRAP_FSYNC_H
#define UPMU_TESTS_WRAP_FSYNC_H

#include <errno.h>

static int fsync_error, fsyncs;

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	fsyncs++;
	errno = fsync_error;
	return fsync_error ? -1 : 0;
}

#endif
