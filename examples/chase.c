// SPDX-License-Identifier: MIT
/*
 * Pointer chasing: a list that visits every cache line of a block of memory in
 * a random order, and a walk along it. Each step needs the address that the
 * step before it loads, so nothing can be fetched ahead; with a block larger
 * than the cache every step is a miss.
 *
 *	chase [-m] [KIBIBYTES [STEPS]]	default 4096 and 1000000
 *
 * -m: it measures the walk itself, as a region.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <upmu.h>

#define LINE 64 /* bytes; the cache line of most ARM cores */

struct node {
	struct node *next;
	char fill[LINE - sizeof(struct node *)];
};

static long parse(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < least || value > most) {
		fprintf(stderr, "chase: '%s' is not a number from %ld to %ld\n",
			text, least, most);
		exit(2);
	}
	return value;
}

/* A generator of our own, so that every run takes the same way. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Sattolo's shuffle: a permutation that is one single cycle. */
static void link_nodes(struct node *nodes, size_t count)
{
	uint32_t state = 1;

	for (size_t i = 0; i < count; i++)
		nodes[i].next = &nodes[i];
	for (size_t i = count - 1; i > 0; i--) {
		size_t j = next_random(&state) % i;
		struct node *swap = nodes[i].next;

		nodes[i].next = nodes[j].next;
		nodes[j].next = swap;
	}
}

static const struct node *chase(const struct node *node, long steps)
{
	for (long i = 0; i < steps; i++)
		node = node->next;
	return node;
}

/* What UPMU_EVENTS= names is counted, and reported at exit. */
static const struct node *chase_measured(const struct node *node, long steps)
{
	struct upmu_region *region;

	if (upmu_region_open(&region, "chase") || upmu_region_begin(region)) {
		fprintf(stderr, "chase: %s\n", upmu_explain());
		exit(1);
	}
	node = chase(node, steps);
	upmu_region_end(region);
	return node;
}

int main(int argc, char **argv)
{
	int measured = argc > 1 && !strcmp(argv[1], "-m");
	char **arg = argv + 1 + measured;
	long kib = *arg ? parse(*arg++, 1, 1024L * 1024) : 4096;
	long steps = *arg ? parse(*arg, 1, 2000000000) : 1000000;
	size_t count = (size_t)kib * 1024 / LINE;
	struct node *nodes = aligned_alloc(LINE, count * LINE);

	if (!nodes) {
		perror("chase: no memory for the list");
		return 1;
	}
	link_nodes(nodes, count);
	printf("%ld steps over %ld KiB, ended at node %td\n", steps, kib,
	       (measured ? chase_measured : chase)(nodes, steps) - nodes);
	free(nodes);
	return 0;
}
