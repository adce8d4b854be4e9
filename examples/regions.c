// SPDX-License-Identifier: MIT
/*
 * A program that measures its own parts. Regions have names, nest, and are
 * counted for each thread; the report comes at exit.
 *
 *	cc regions.c $(pkg-config --cflags --libs libupmu)
 *	./a.out
 *	UPMU_EVENTS=cycles,l1d_cache_refill UPMU_REPORT=report.json ./a.out
 */
#include <stdio.h>
#include <stdlib.h>

#include <upmu.h>

#define ROUNDS 10
#define WORDS  500

static struct upmu_region *open_region(const char *name)
{
	struct upmu_region *region;

	if (upmu_region_open(&region, name)) {
		fprintf(stderr, "regions: %s: %s\n", name, upmu_explain());
		exit(1);
	}
	return region;
}

static void fill(int *words)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = WORDS - i;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	struct upmu_region *round = open_region("round");
	struct upmu_region *filling = open_region("fill");
	struct upmu_region *sorting = open_region("sort");
	static int words[WORDS];

	for (int i = 0; i < ROUNDS; i++) {
		if (upmu_region_begin(round)) {
			fprintf(stderr, "regions: %s\n", upmu_explain());
			return 1;
		}
		upmu_region_begin(filling);
		fill(words);
		upmu_region_end(filling);

		upmu_region_begin(sorting);
		qsort(words, WORDS, sizeof(words[0]), compare);
		upmu_region_end(sorting);
		upmu_region_end(round);
	}
	printf("sorted, the first is %d\n", words[0]);
	return 0;
}
