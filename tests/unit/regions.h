/* SPDX-License-Identifier: MIT */
/* regions.h - what the tests of regions and of their reports share */
#ifndef UPMU_TESTS_REGIONS_H
#define UPMU_TESTS_REGIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "said.h"
#include "upmu.h"

/*
 * Regions are the process's, so each test runs in a child of its own, which
 * exits with 0 or the line that failed.
 */
#define CHECK(condition)                                     \
	do {                                                 \
		if (!(condition))                            \
			fail_in_child(__LINE__, #condition); \
	} while (0)

static inline void fail_in_child(int line, const char *condition)
{
	fprintf(stderr, "# line %d: %s; %s\n", line, condition, upmu_explain());
	_exit(1);
}

static char report_path[] = "/tmp/upmu-report-XXXXXX.json";

/* For the whole group of tests. */
static inline int make_report_file(void **state)
{
	int fd = mkstemps(report_path, 5);

	(void)state;
	close(fd);
	return fd < 0;
}

static inline int remove_report_file(void **state)
{
	(void)state;
	return unlink(report_path);
}

/* A forked process puts its number into the name of its report. */
static inline void name_of(char *path, pid_t process)
{
	size_t stem = strlen(report_path) - strlen(".json");

	sprintf(path, "%.*s.%d.json", (int)stem, report_path, (int)process);
}

static inline int run_in_child(void (*body)(void))
{
	char path[sizeof(report_path) + 16];
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		setenv("UPMU_SOURCE", "model", 1);
		setenv("UPMU_REPORT", "none", 1);
		body();
		exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	name_of(path, child);
	rename(path, report_path);
	return status;
}

static inline struct upmu_region *region_of(const char *name)
{
	struct upmu_region *region = NULL;

	CHECK(!upmu_region_open(&region, name));
	return region;
}

static inline struct upmu_region_stats stats_of(const char *name, size_t event)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };

	CHECK(!upmu_region_read(region_of(name), event, &stats));
	return stats;
}

static inline void call(struct upmu_region *region)
{
	CHECK(!upmu_region_begin(region));
	CHECK(!upmu_region_end(region));
}

#define CHILD_TEST(name, body)                           \
	static void name(void **state)                   \
	{                                                \
		(void)state;                             \
		assert_int_equal(run_in_child(body), 0); \
	}

#endif
