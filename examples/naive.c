// SPDX-License-Identifier: MIT
/*
 * The textbook matrix multiplication: the inner loop walks down a column, so
 * on a real core almost every step of it touches another cache line. Compare
 * interchange.c.
 *
 *	naive [-m] [SIZE]	SIZE x SIZE matrices of float, default 200
 *
 * -m: it measures the multiplication itself, as a region.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <upmu.h>

static int parse_size(const char *text)
{
	char *end;
	long size = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || size < 1 || size > 10000) {
		fprintf(stderr, "naive: SIZE is 1 to 10000, not '%s'\n", text);
		exit(2);
	}
	return size;
}

static void fill(float *matrix, int n)
{
	for (int i = 0; i < n * n; i++)
		matrix[i] = (float)(i % 7) - 3;
}

static void multiply(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			float sum = 0;

			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

/* What UPMU_EVENTS= names is counted, and reported at exit. */
static void multiply_measured(const float *a, const float *b, float *c, int n)
{
	struct upmu_region *region;

	if (upmu_region_open(&region, "multiply") ||
	    upmu_region_begin(region)) {
		fprintf(stderr, "naive: %s\n", upmu_explain());
		exit(1);
	}
	multiply(a, b, c, n);
	upmu_region_end(region);
}

int main(int argc, char **argv)
{
	int measured = argc > 1 && !strcmp(argv[1], "-m");
	int n = argc > 1 + measured ? parse_size(argv[1 + measured]) : 200;
	size_t elements = (size_t)n * (size_t)n;
	float *matrices = calloc(3 * elements, sizeof(float));
	float *a = matrices, *b = a + elements, *c = b + elements;

	if (!matrices) {
		perror("naive: no memory for the matrices");
		return 1;
	}
	fill(a, n);
	fill(b, n);
	(measured ? multiply_measured : multiply)(a, b, c, n);
	printf("%d x %d, c[%d][%d] = %g\n", n, n, n - 1, n - 1,
	       c[elements - 1]);
	free(matrices);
	return 0;
}
