// SPDX-License-Identifier: MIT
/*
 * arm64 since 5.17: after PERF_EVENT_IOC_RESET a count that is read by the mmap
 * page is 2^32 too low. Prints both ways of reading; status 1 where they
 * differ. Needs kernel.perf_user_access=1.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As perf_event.h says, for the one event that is open: the cycle counter. */
static int64_t read_page(volatile const struct perf_event_mmap_page *page)
{
	uint64_t counter;
	uint32_t lock;
	int64_t count;

	do {
		lock = page->lock;
		__asm__ volatile("" ::: "memory");
		if (page->index != 32) {
			fputs("the page has no index of the cycle counter\n",
			      stderr);
			return 0;
		}
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(counter));
		counter <<= 64 - page->pmc_width;
		count = page->offset +
			((int64_t)counter >> (64 - page->pmc_width));
		__asm__ volatile("" ::: "memory");
	} while (page->lock != lock);
	return count;
}

int main(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.config1 = 2, /* user access; bit 0: 64 bits */
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
			  MAP_SHARED, fd, 0);
	int64_t by_page, by_call;
	uint64_t count;

	if (fd < 0 || page == MAP_FAILED) {
		perror("perf_event_open");
		return 2;
	}
	if (read(fd, &count, sizeof(count)) != sizeof(count) ||
	    ioctl(fd, PERF_EVENT_IOC_RESET, 0)) {
		perror("reset");
		return 2;
	}
	by_page = read_page(page);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return 2;
	by_call = (int64_t)count;
	printf("page %" PRId64 ", read(2) %" PRId64 "\n", by_page, by_call);
	return by_page < 0 || by_page > by_call;
}
