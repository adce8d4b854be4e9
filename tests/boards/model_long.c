// SPDX-License-Identifier: MIT
/*
 * An event counted with 64 bits (config1:0 "long"): by a counter of PMUv3p5,
 * or by two that are chained. Each sample is a wrap past 2^32 and past 2^64.
 *
 *	model_long CODE PERIOD LOADS
 *
 * Prints how many samples came and what was counted.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES 9 /* a head and eight of records */

static size_t samples(const struct perf_event_mmap_page *page)
{
	const char *data = (const char *)page + page->data_offset;
	size_t n = 0;

	for (uint64_t at = page->data_tail; at < page->data_head;) {
		struct perf_event_header head;

		for (size_t i = 0; i < sizeof(head); i++)
			((char *)&head)[i] = data[(at + i) % page->data_size];
		n += head.type == PERF_RECORD_SAMPLE;
		at += head.size;
	}
	return n;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.sample_type = PERF_SAMPLE_IP,
		.config1 = 1,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	volatile unsigned int word = 0;
	unsigned long loads;
	uint64_t count;
	void *page;
	int fd;

	if (argc != 4)
		return 2;
	attr.config = strtoul(argv[1], NULL, 0);
	attr.sample_period = strtoul(argv[2], NULL, 0);
	loads = strtoul(argv[3], NULL, 0);
	fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0) {
		perror("perf_event_open");
		return 1;
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 1;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned long i = 0; i < loads; i++)
		(void)word;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return 1;
	printf("samples %zu\ncount %llu\n", samples(page),
	       (unsigned long long)count);
	return 0;
}
