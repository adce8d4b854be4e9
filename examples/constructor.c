// SPDX-License-Identifier: MIT
/*
 * A cycle counter that is simply there: opened by a constructor before main(),
 * closed by a destructor after it, as the first article does it with perf.
 * What the article leaves out: a counter that could not be opened, or that
 * others have, says so.
 *
 *	cc constructor.c $(pkg-config --cflags --libs libupmu)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <upmu.h>

#define ROUNDS 1000

static struct upmu *set;
static const struct upmu_counter *counter;

__attribute__((constructor)) static void open_counter(void)
{
	if (upmu_open(&set, "cycles", NULL) < 0) {
		fprintf(stderr, "constructor: %s\n", upmu_explain());
		exit(1);
	}
	counter = upmu_counter_at(set, 0);
	if (upmu_count(counter) == UPMU_NO_COUNT) {
		fprintf(stderr, "constructor: %s\n", upmu_explain());
		exit(1);
	}
}

__attribute__((destructor)) static void close_counter(void)
{
	upmu_close(set);
}

static inline uint64_t cpucycles(void)
{
	return upmu_count(counter);
}

int main(void)
{
	volatile int rounds = ROUNDS;
	uint64_t begin = cpucycles();

	while (rounds)
		rounds--;
	printf("%d rounds of an empty loop: %" PRIu64 " cycles, read by %s\n",
	       ROUNDS, cpucycles() - begin, upmu_source(set));
	return 0;
}
