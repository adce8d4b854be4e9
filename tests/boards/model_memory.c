// SPDX-License-Identifier: MIT
/*
 * model_memory LOADS KIB : what accesses count where pages come and go, in
 * user mode. LOADS is the core's event of loads (0x06, 0x70), KIB three
 * quarters of its first-level data cache. Prints "NAME VALUE" lines:
 *
 * whole, faulting  loads of ROUNDS instructions that read from two pages; of
 *                  these the second one is there, or faults each time
 * refills, lines   of a walk by lines, another process having walked over
 *                  memory of its own at the same addresses
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw_event.h"

#define L1D_REFILL 0x03
#define ROUNDS	   200
#define TURNS	   20
#define LINE	   64

static char *map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

/* One instruction: eight bytes before @end and more after it. */
static void load_over(const char *end)
{
#ifdef __aarch64__
	__asm__ volatile("ldp x2, x3, [%0]"
			 :
			 : "r"(end - 8)
			 : "x2", "x3", "memory");
#else
	__asm__ volatile("ldm %0, {r2-r5}"
			 :
			 : "r"(end - 8)
			 : "r2", "r3", "r4", "r5", "memory");
#endif
}

/* @gone: the page that is taken away before each: the second, or another. */
static long long loads(unsigned int code, char *pages, size_t page, int gone)
{
	int fd = raw_event_open(code);
	long long value;

	memset(pages, 1, 4 * page);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < ROUNDS; i++) {
		madvise(pages + gone * page, page, MADV_DONTNEED);
		load_over(pages + page);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	value = raw_event_read(fd);
	close(fd);
	return value;
}

static void walk(const volatile char *memory, size_t size)
{
	for (size_t i = 0; i < size; i += LINE)
		(void)memory[i];
}

static void pass(int to, int from)
{
	char byte = 0;

	if ((to >= 0 && write(to, &byte, 1) != 1) ||
	    (from >= 0 && read(from, &byte, 1) != 1))
		exit(1);
}

static void other(char *memory, size_t size, int to, int from)
{
	memset(memory, 2, size); /* pages of its own */
	pass(to, -1);
	for (int turn = 0; turn < TURNS; turn++) {
		pass(-1, from);
		walk(memory, size);
		pass(to, -1);
	}
	_exit(0);
}

static long long refills(char *memory, size_t size)
{
	int there[2], back[2], fd = raw_event_open(L1D_REFILL);

	memset(memory, 1, size);
	if (pipe(there) || pipe(back))
		fail("pipe");
	if (!fork())
		other(memory, size, back[1], there[0]);
	pass(-1, back[0]);
	memset(memory, 3, size);
	for (int turn = 0; turn < TURNS; turn++) {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		walk(memory, size);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		pass(there[1], back[0]);
	}
	wait(NULL);
	return raw_event_read(fd) / TURNS;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	unsigned int code;
	cpu_set_t first;
	char *pages;

	if (argc != 3)
		return 2;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	code = (unsigned int)strtoul(argv[1], NULL, 0);
	size = strtoul(argv[2], NULL, 0) * 1024;
	pages = map(4 * page);
	loads(code, pages, page, 3);
	printf("whole %lld\n", loads(code, pages, page, 3));
	printf("faulting %lld\n", loads(code, pages, page, 1));
	printf("refills %lld\n", refills(map(size), size));
	printf("lines %zu\n", size / LINE);
	return 0;
}
