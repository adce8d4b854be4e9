// SPDX-License-Identifier: MIT
/*
 * The multiplications of naive and interchange, for a comparison of what they
 * miss with another model of the same cache: model_matrix KIND SIZE [colour].
 *
 * Caches are indexed by physical addresses, and a kernel gives out pages as it
 * has them. With "colour" (root only) the matrices get pages whose address is
 * that of the virtual one, as far as a cache of 64 KiB a way looks at it; then
 * what misses does not depend on luck. KIND is naive, interchange, or nothing:
 * all but the multiplication.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WAY   (64 << 10)
#define SPARE 24 /* times as many pages as are wanted: 16 colours */

static long page;

static char *map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("model_matrix: mmap");
		exit(1);
	}
	return at;
}

/* The colour of a page that is there, or -1. */
static long colour_of(int pagemap, const char *at)
{
	uint64_t entry;

	if (pread(pagemap, &entry, sizeof(entry),
		  (off_t)((uintptr_t)at / page * sizeof(entry))) !=
		    sizeof(entry) ||
	    !(entry >> 63))
		return -1;
	return (long)(entry % (WAY / page));
}

/* Move pages of the right colour to where the matrices will be. */
static int colour(char *memory, size_t size)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t spare = size * SPARE;
	char *from[WAY / 1024], *pool = map(spare);

	memset(pool, 1, spare);
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++)
		from[i] = pool;
	for (char *to = memory; to < memory + size; to += page) {
		long wanted = (long)((uintptr_t)to / page % (WAY / page));
		char **at = &from[wanted];

		while (*at < pool + spare && colour_of(pagemap, *at) != wanted)
			*at += page;
		if (*at == pool + spare ||
		    mremap(*at, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
			   to) == MAP_FAILED)
			return -1;
	}
	return close(pagemap);
}

static void naive(const float *a, const float *b, float *c, long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			float sum = 0;

			for (long k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

static void interchange(const float *a, const float *b, float *c, long n)
{
	for (long i = 0; i < n; i++)
		for (long k = 0; k < n; k++)
			for (long j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	size_t elements = (size_t)n * (size_t)n;
	size_t size = (3 * elements * sizeof(float) + WAY - 1) / WAY * WAY;
	char *memory;
	float *a;

	page = sysconf(_SC_PAGESIZE);
	if (n < 1 || n > 1000)
		return 2;
	memory = map(size + WAY);
	memory += WAY - (uintptr_t)memory % WAY;
	if (argc > 3 && colour(memory, size)) {
		fputs("model_matrix: no pages of the right colours\n", stderr);
		return 1;
	}
	a = (float *)(void *)memory;
	for (size_t i = 0; i < 3 * elements; i++)
		a[i] = i < 2 * elements ? (float)(i % 7) - 3 : 0;
	if (!strcmp(argv[1], "naive"))
		naive(a, a + elements, a + 2 * elements, n);
	if (!strcmp(argv[1], "interchange"))
		interchange(a, a + elements, a + 2 * elements, n);
	printf("%g\n", (double)a[3 * elements - 1]);
	return 0;
}
