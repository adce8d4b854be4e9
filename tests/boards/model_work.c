// SPDX-License-Identifier: MIT
/*
 * Work whose events are known beforehand, for what counts events on an
 * emulated board: model_work KIND [NUMBER...] prints "EVENT COUNT" lines,
 * user mode alone unless it says otherwise, the measuring itself taken off.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 4
#define LINE   64
#define PAGE   4096

enum {
	L1D_REFILL = 3,
	L1D_TLB_REFILL = 5,
	LOADS,
	STORES,
	TAKEN_EXC = 9,
	RETURNED_EXC,
	BRANCHES = 0x0d,
	MISPREDICTED = 0x10
};

static size_t arguments[3];
static volatile unsigned char *memory;
static unsigned char *bits;

static int open_event(unsigned int code, bool user, bool kernel, int leader)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = code,
		.disabled = leader < 0,
		.exclude_user = !user,
		.exclude_kernel = !kernel,
	};
	int fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, leader, 0);

	if (fd < 0) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

struct wanted {
	unsigned int code;
	bool user, kernel;
};

static void count(const struct wanted *wanted, int n, void (*work)(void),
		  unsigned long long *value)
{
	int fds[EVENTS];

	for (int i = 0; i < n; i++)
		fds[i] = open_event(wanted[i].code, wanted[i].user,
				    wanted[i].kernel, i ? fds[0] : -1);
	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	work();
	ioctl(fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	for (int i = 0; i < n; i++) {
		if (read(fds[i], &value[i], sizeof(value[i])) < 0)
			exit(1);
		close(fds[i]);
	}
}

static void nothing(void)
{
}

/*
 * The caches, TLBs and predictor have seen both before it counts. The work
 * leaves them cold for what follows it: nothing is done twice.
 */
static void measure(const struct wanted *wanted, int n, void (*work)(void))
{
	unsigned long long own[EVENTS], value[EVENTS];

	for (int round = 0; round < 2; round++) {
		count(wanted, n, nothing, own);
		count(wanted, n, nothing, own);
		count(wanted, n, work, value);
	}
	for (int i = 0; i < n; i++)
		printf("r%02x%s%s %lld\n", wanted[i].code,
		       wanted[i].kernel ? "k" : "", wanted[i].user ? "u" : "",
		       (long long)(value[i] - own[i]));
}

static void load(void)
{
	for (size_t i = 0; i < arguments[0]; i++)
		(void)*memory;
}

static void store(void)
{
	for (size_t i = 0; i < arguments[0]; i++)
		*memory = 1;
}

/* @arguments: bytes, stride, rounds */
static void walk(void)
{
	for (size_t round = 0; round < arguments[2]; round++)
		for (size_t i = 0; i < arguments[0]; i += arguments[1])
			(void)memory[i];
}

static void loop(void)
{
	for (size_t i = 0; i < arguments[0]; i++)
		__asm__ volatile("");
}

/* A branch for each of @bits, beside that of the loop. */
static void decide(void)
{
	for (size_t i = 0; i < arguments[0]; i++) {
		if (bits[i])
			goto one;
		__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop");
		continue;
	one:
		__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop");
	}
}

static void call(void)
{
	for (size_t i = 0; i < arguments[0]; i++)
		syscall(__NR_getppid);
}

/* Something of each kind, in the kernel too: for what is told apart. */
static void mix(void)
{
	for (size_t i = 0; i < arguments[1]; i++) {
		volatile unsigned int *word =
			(volatile unsigned int *)(uintptr_t)(memory +
							     i * PAGE %
								     (1 << 20) +
							     1);

		*word = *word + 1;
		memory[i * LINE]++;
		syscall(__NR_getppid);
	}
}

static void fill_bits(const char *kind)
{
	unsigned int state = 1;

	bits = malloc(arguments[0]);
	if (!bits)
		exit(1);
	for (size_t i = 0; i < arguments[0]; i++) {
		state = state * 1664525u + 1013904223u;
		bits[i] = !strcmp(kind, "constant")    ? 1
			  : !strcmp(kind, "alternate") ? i & 1
						       : state >> 31;
	}
}

static void run(const char *kind)
{
	static const struct wanted accesses[] = { { LOADS, 1, 0 },
						  { STORES, 1, 0 } };
	static const struct wanted refills[] = { { L1D_REFILL, 1, 0 },
						 { L1D_TLB_REFILL, 1, 0 } };
	static const struct wanted branches[] = { { BRANCHES, 1, 0 },
						  { MISPREDICTED, 1, 0 } };
	static const struct wanted calls[] = { { TAKEN_EXC, 1, 1 },
					       { RETURNED_EXC, 1, 1 } };
	unsigned int code = (unsigned int)arguments[0];
	const struct wanted levels[] = { { code, 1, 0 },
					 { code, 0, 1 },
					 { code, 1, 1 } };

	if (!strcmp(kind, "load"))
		measure(accesses, 2, load);
	else if (!strcmp(kind, "store"))
		measure(accesses, 2, store);
	else if (!strcmp(kind, "walk"))
		measure(refills, 2, walk);
	else if (!strcmp(kind, "loop"))
		measure(branches, 2, loop);
	else if (!strcmp(kind, "calls"))
		measure(calls, 2, call);
	else if (!strcmp(kind, "levels"))
		measure(levels, 3, mix);
	else
		measure(branches, 2, decide);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++)
		arguments[i] = argc > i + 2 ? strtoul(argv[i + 2], NULL, 0) : 1;
	memory = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (argc < 2 || memory == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < 4 << 20; i += PAGE)
		memory[i] = 1;
	if (!strcmp(argv[1], "constant") || !strcmp(argv[1], "alternate") ||
	    !strcmp(argv[1], "random"))
		fill_bits(argv[1]);
	printf("@ %s%s\n", argv[1], argc > 2 ? argv[2] : "");
	run(argv[1]);
	return 0;
}
