// SPDX-License-Identifier: MIT
/*
 * The matrix multiplication of naive.c with its two inner loops interchanged:
 * every step goes along a row, so on a real core most of them find their cache
 * line already there. The result is the same.
 *
 *	interchange [SIZE]		SIZE x SIZE matrices of float, default
 *200
 */
#include <stdio.h>
#include <stdlib.h>

static int parse_size(const char *text)
{
	char *end;
	long size = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || size < 1 || size > 10000) {
		fprintf(stderr, "interchange: SIZE is 1 to 10000, not '%s'\n",
			text);
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
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? parse_size(argv[1]) : 200;
	float *matrices = calloc(3 * (size_t)n * n, sizeof(float));
	float *a = matrices, *b = a + n * n, *c = b + n * n;

	if (!matrices) {
		perror("interchange: no memory for the matrices");
		return 1;
	}
	fill(a, n);
	fill(b, n);
	multiply(a, b, c, n);
	printf("%d x %d, c[%d][%d] = %g\n", n, n, n - 1, n - 1,
	       c[(size_t)n * n - 1]);
	free(matrices);
	return 0;
}
