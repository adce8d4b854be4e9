/* SPDX-License-Identifier: MIT */
/*
 * raw_event.h - one event of this thread by its code, in user mode, by perf
 * itself: what a board counts is looked at without the library
 */
#ifndef UPMU_TESTS_RAW_EVENT_H
#define UPMU_TESTS_RAW_EVENT_H

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* A descriptor; off until PERF_EVENT_IOC_ENABLE. Ends the program if it fails.
 */
static inline int raw_event_open(unsigned int code)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = code,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	return fd;
}

static inline long long raw_event_read(int fd)
{
	long long value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		fail("read");
	return value;
}

#endif
