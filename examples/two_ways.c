// SPDX-License-Identifier: MIT
/*
 * The same small loop, counted in two ways: by reading the counter's register,
 * and by asking perf with read(2). After the article "User-mode performance
 * counters for ARM/Linux", which reads 300 and 4000 cycles for its loop.
 *
 *	cc two_ways.c $(pkg-config --cflags --libs libupmu)
 */
#include <inttypes.h>
#include <stdio.h>

#include <upmu.h>

#define ELEMENTS 64
#define RUNS	 25

struct result {
	uint64_t nothing, loop; /* the least of all runs */
};

static unsigned int equal_elements(const int *a, const int *b)
{
	unsigned int equal = 0;

	for (int i = 0; i < ELEMENTS; i++)
		equal += a[i] == b[i];
	return equal;
}

static void least(uint64_t *of, uint64_t count)
{
	if (count < *of)
		*of = count;
}

static struct result count_loop(const struct upmu_counter *counter)
{
	static int a[ELEMENTS], b[ELEMENTS];
	struct result result = { UINT64_MAX, UINT64_MAX };
	volatile unsigned int equal;

	for (int run = 0; run < RUNS; run++) {
		uint64_t begin = upmu_count(counter);
		uint64_t same = upmu_count(counter);
		uint64_t end;

		least(&result.nothing, same - begin);
		begin = upmu_count(counter);
		equal = equal_elements(a, b);
		end = upmu_count(counter);
		least(&result.loop, end - begin);
	}
	(void)equal;
	return result;
}

static int count_by(const char *source, const char *how)
{
	struct upmu_options options = { .size = sizeof(options),
					.source = source };
	struct result result;
	struct upmu *set;

	if (upmu_open(&set, "cycles", &options) < 0 ||
	    upmu_count(upmu_counter_at(set, 0)) == UPMU_NO_COUNT) {
		fprintf(stderr, "two_ways: %s: %s\n", source, upmu_explain());
		return 1;
	}
	result = count_loop(upmu_counter_at(set, 0));
	printf("%-18s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", how,
	       result.nothing, result.loop, result.loop - result.nothing);
	upmu_close(set);
	return 0;
}

int main(void)
{
	int failed;

	printf("%-18s %12s %12s %12s\n", "cycles", "two reads", "with loop",
	       "difference");
	failed = count_by("page", "the register");
	failed |= count_by("read", "read(2)");
	printf("%-18s %12s %12s\n", "the article read", "", "300 / 4000");
	return failed;
}
