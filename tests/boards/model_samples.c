// SPDX-License-Identifier: MIT
/*
 * Samples at a period, of events that a model counts:
 *
 * model_samples [-1] EVENT... samples known work on every CPU, at the same time
 * or, with -1, on one after the other.
 * An EVENT is CODE:u, CODE:k or CODE:uk and a period (0x03:u/100); all are
 * sampled at once, in one group. For each it prints a line
 * "sample EVENT CPU COUNT PERIOD SAMPLES LOST" and for each CPU a line
 * "interrupts CPU N", of the PMU's while it sampled.
 */
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST   4
#define PAGES  64
#define MEMORY (1 << 20)
#define LINE   64
#define ROUNDS 4

struct sampled {
	const char *text;
	unsigned int code;
	unsigned long period;
	int user, kernel, fd;
	char *ring;
};

static int fail(const char *what)
{
	perror(what);
	exit(1);
}

static void parse(struct sampled *event, const char *text)
{
	char levels[3] = "", *end;

	event->text = text;
	event->code = (unsigned int)strtoul(text, &end, 16);
	if (sscanf(end, ":%2[uk]/%lu", levels, &event->period) != 2)
		exit(2);
	event->user = strchr(levels, 'u') != NULL;
	event->kernel = strchr(levels, 'k') != NULL;
}

static void open_event(struct sampled *event, int leader)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = event->code,
		.sample_period = event->period,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = leader < 0,
		.exclude_user = !event->user,
		.exclude_kernel = !event->kernel,
	};

	event->fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, leader, 0);
	if (event->fd < 0)
		fail("perf_event_open");
	event->ring = mmap(NULL, (size_t)(PAGES + 1) * sysconf(_SC_PAGESIZE),
			   PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
	if (event->ring == MAP_FAILED)
		fail("mmap of a ring");
}

/* A record's head is 8 bytes, and never lies across the ring's end. */
static void count_records(const struct sampled *event, long *samples,
			  long *lost)
{
	const struct perf_event_mmap_page *page = (const void *)event->ring;
	unsigned long size = (unsigned long)PAGES * sysconf(_SC_PAGESIZE);
	const char *data = event->ring + sysconf(_SC_PAGESIZE);

	*samples = *lost = 0;
	for (unsigned long at = 0; at < page->data_head;) {
		const struct perf_event_header *head =
			(const void *)(data + at % size);

		*samples += head->type == PERF_RECORD_SAMPLE;
		*lost += head->type == PERF_RECORD_LOST ||
			 head->type == PERF_RECORD_THROTTLE;
		at += head->size;
	}
}

/* The PMU's interrupts on a CPU until now: its column of the lines. */
static long interrupts(int cpu)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[512], *at;
	long sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, "pmu") || !(at = strchr(line, ':')))
			continue;
		for (int i = 0; i < cpu; i++)
			strtol(at + 1, &at, 10), at--;
		sum += strtol(at + 1, NULL, 10);
	}
	if (file)
		fclose(file);
	return sum;
}

/* Loads, stores, refills, branches both ways, and system calls. */
static void work(volatile unsigned char *memory)
{
	unsigned int state = 1;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < MEMORY; i += LINE) {
			state = state * 1664525u + 1013904223u;
			if (state >> 31)
				memory[i] = 1;
			else
				(void)memory[i];
			if (i % 1024 == 0)
				syscall(__NR_getppid);
		}
}

static void on_cpu(int cpu, char **texts, int n)
{
	struct sampled events[MOST] = { 0 };
	volatile unsigned char *memory;
	unsigned long long count;
	cpu_set_t set;
	long before;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	for (int i = 0; i < n; i++) {
		parse(&events[i], texts[i]);
		open_event(&events[i], i ? events[0].fd : -1);
	}
	before = interrupts(cpu);
	ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	work(memory);
	ioctl(events[0].fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	before = interrupts(cpu) - before;
	for (int i = 0; i < n; i++) {
		long samples, lost;

		if (read(events[i].fd, &count, sizeof(count)) < 0)
			fail("read");
		count_records(&events[i], &samples, &lost);
		printf("sample %s %d %llu %lu %ld %ld\n", events[i].text, cpu,
		       count, events[i].period, samples, lost);
	}
	printf("interrupts %d %ld\n", cpu, before);
	fflush(stdout);
}

static int wait_for_all(void)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad |= status;
	return bad;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int one = argc > 1 && !strcmp(argv[1], "-1"), bad = 0;

	argc -= one + 1;
	argv += one + 1;
	if (argc < 1 || argc > MOST)
		return 2;
	for (int cpu = 0; cpu < cpus; cpu++) {
		if (!fork()) {
			on_cpu(cpu, argv, argc);
			return 0;
		}
		if (one)
			bad |= wait_for_all();
	}
	return (bad | wait_for_all()) != 0;
}
