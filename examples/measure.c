// SPDX-License-Identifier: MIT
/*
 * What does one call of a function cost? upmu_measure() warms up, runs it many
 * times, and takes off what an empty function costs.
 *
 *	cc measure.c $(pkg-config --cflags --libs libupmu)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <upmu.h>

static void nothing(void *arg)
{
	(void)arg;
}

static void hundred_rounds(void *arg)
{
	(void)arg;
	for (volatile int n = 100; n > 0;)
		n--;
}

static void copy_a_page(void *arg)
{
	static char to[4096];

	memcpy(to, arg, sizeof(to));
	/* Somebody might look at it: the compiler must not leave it out. */
	__asm__ volatile("" : : "r"(to) : "memory");
}

static int measure(const char *what, void (*fn)(void *))
{
	static char page[4096];
	struct upmu_measurement m = { .size = sizeof(m) };
	int error = upmu_measure(fn, page, NULL, &m, 1);

	if (error) {
		fprintf(stderr, "measure: %s: %s\n", what, upmu_explain());
		return 1;
	}
	printf("%-16s min %8" PRIu64 "  median %8" PRIu64 "  IQR %6" PRIu64
	       "  taken off %4" PRIu64 "\n",
	       what, m.min, m.median, m.q3 - m.q1, m.overhead);
	return 0;
}

int main(void)
{
	puts("cycles of one call");
	return measure("an empty one", nothing) ||
	       measure("100 rounds", hundred_rounds) ||
	       measure("a page copied", copy_a_page);
}
