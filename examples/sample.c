// SPDX-License-Identifier: MIT
/*
 * A profiler in one page: each so many events a sample, and where the program
 * was then. Two functions share the work one to three.
 *
 *	sample [EVENT [EVERY]]		cycles, 10000
 *
 *	cc sample.c $(pkg-config --cflags --libs libupmu)
 */
#include <poll.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

#include <upmu.h>

/* Not inlined: each is to have addresses of its own. */
static __attribute__((noinline)) void spin_once(void)
{
	for (volatile int n = 1000; n > 0;)
		n--;
}

static __attribute__((noinline)) void spin_three_times(void)
{
	for (volatile int n = 3000; n > 0;)
		n--;
}

static unsigned int once, three_times, others;

/* How far behind the start of a function; of those before it, huge. */
static uintptr_t behind(uint64_t address, void (*function)(void))
{
	return ((uintptr_t)address & ~(uintptr_t)1) -
	       ((uintptr_t)function & ~(uintptr_t)1);
}

static void take_samples(struct upmu_watch *watch)
{
	struct upmu_sample sample = { .size = sizeof(sample) };

	while (!upmu_watch_next(watch, &sample)) {
		uintptr_t first = behind(sample.address, spin_once);
		uintptr_t second = behind(sample.address, spin_three_times);

		if (first < 128 && first < second)
			once++;
		else if (second < 128)
			three_times++;
		else
			others++;
	}
}

int main(int argc, char **argv)
{
	const char *event = argc > 1 ? argv[1] : "cycles";
	unsigned long every = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
	const struct upmu_options user = { .size = sizeof(user),
					   .flags = UPMU_OPEN_USER_ONLY };
	struct upmu_watch *watch;
	struct pollfd told;

	if (upmu_watch_open(&watch, event, every, &user)) {
		fprintf(stderr, "sample: %s\n", upmu_explain());
		return 1;
	}
	told = (struct pollfd){ .fd = upmu_watch_fd(watch), .events = POLLIN };
	for (int i = 0; i < 500; i++) {
		spin_once();
		spin_three_times();
		if (poll(&told, 1, 0) > 0)
			take_samples(watch);
	}
	upmu_watch_close(watch);
	printf("spin_once %u, spin_three_times %u, others %u\n", once,
	       three_times, others);
	return 0;
}
