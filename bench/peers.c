// SPDX-License-Identifier: MIT
/*
 * What one reading of one counter costs by this library and by others, in
 * instructions, on a board where they are counted: bench/run --peers builds it
 * with Debian's packages of the others and starts it. Prints "NAME NUMBER" for
 * each.
 */
#include <cpucycles.h>
#include <linux/perf_event.h>
#include <papi.h>
#ifdef WITH_LIBPERF
#include <perf/core.h>
#include <perf/event.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "upmu.h"

#define TRIES 1000

static struct upmu *meter;

static void die(const char *what)
{
	fprintf(stderr, "peers: %s\n", what);
	exit(1);
}

/* Least of many: what is over it is an interrupt in the middle. */
static uint64_t least_of(void (*act)(void *argument), void *argument)
{
	const struct upmu_counter *instructions = upmu_counter_at(meter, 0);
	uint64_t least = UINT64_MAX, before, took;

	for (int i = 0; i < TRIES; i++) {
		before = upmu_count(instructions);
		act(argument);
		took = upmu_count(instructions) - before;
		if (took < least)
			least = took;
	}
	return least;
}

static void nothing(void *argument)
{
	(void)argument;
}

/* What nothing takes the compiler leaves out. */
static volatile uint64_t taken;

static void by_upmu(void *argument)
{
	taken = upmu_count(argument);
}

static void by_read(void *argument)
{
	uint64_t count;

	if (read(*(int *)argument, &count, sizeof(count)) != sizeof(count))
		die("read(2)");
}

static void by_papi(void *argument)
{
	long long count;

	if (PAPI_read(*(int *)argument, &count) != PAPI_OK)
		die("PAPI_read()");
}

static void by_cpucycles(void *argument)
{
	(void)argument;
	taken = (uint64_t)cpucycles();
}

static void print(const char *name, void (*act)(void *argument), void *argument)
{
	printf("%s %llu\n", name,
	       (unsigned long long)(least_of(act, argument) -
				    least_of(nothing, NULL)));
	fflush(stdout);
}

static int open_perf(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		die("perf_event_open()");
	return fd;
}

static int open_papi(void)
{
	int set = PAPI_NULL, error;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		die("PAPI_library_init()");
	error = PAPI_create_eventset(&set);
	if (error == PAPI_OK)
		error = PAPI_add_named_event(set, "PAPI_TOT_INS");
	if (error == PAPI_OK)
		error = PAPI_start(set);
	if (error == PAPI_ECMP_DISABLED)
		die(PAPI_get_component_info(0)->disabled_reason);
	if (error != PAPI_OK)
		die(PAPI_strerror(error));
	return set;
}

/* The kernel's own library reads arm64's registers where they are open. */
#ifdef WITH_LIBPERF
static int say(enum libperf_print_level level, const char *format,
	       va_list arguments)
{
	(void)level;
	return vfprintf(stderr, format, arguments);
}

static void by_libperf(void *argument)
{
	struct perf_counts_values values;

	if (perf_evsel__read(argument, 0, 0, &values))
		die("perf_evsel__read()");
	taken = values.val;
}

static void print_libperf(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.config1 = 2, /* user access */
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	struct perf_thread_map *self;
	struct perf_evsel *event;

	libperf_init(say);
	self = perf_thread_map__new_dummy();
	perf_thread_map__set_pid(self, 0, 0);
	event = perf_evsel__new(&attr);
	if (perf_evsel__open(event, NULL, self) || perf_evsel__mmap(event, 0))
		die("libperf");
	print("libperf_read", by_libperf, event);
	perf_evsel__munmap(event);
	perf_evsel__close(event);
	perf_evsel__delete(event);
	perf_thread_map__put(self);
}
#else
static void print_libperf(void)
{
}
#endif

/* It chooses when it is first called; its releases choose differently. */
static void print_cpucycles(void)
{
	char name[64];

	cpucycles();
	snprintf(name, sizeof(name), "cpucycles_%s_%s", cpucycles_version(),
		 cpucycles_implementation());
	print(name, by_cpucycles, NULL);
}

int main(void)
{
	struct upmu_options options = { .size = sizeof(options),
					.source = "page" };
	int fd, set;

	if (upmu_open(&meter, "instructions", &options))
		die(upmu_explain());
	print("upmu_count", by_upmu, (void *)upmu_counter_at(meter, 0));
	fd = open_perf();
	print("perf_read", by_read, &fd);
	close(fd);
	print_libperf();
	set = open_papi();
	print("papi_read", by_papi, &set);
	PAPI_shutdown();
	print_cpucycles();
	upmu_close(meter);
	return 0;
}
