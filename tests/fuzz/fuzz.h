/* SPDX-License-Identifier: MIT */
#ifndef UPMU_TESTS_FUZZ_H
#define UPMU_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What a target gives to driver.c. */
extern const char *const fuzz_words[];
extern const size_t fuzz_words_count;
extern const char fuzz_joint[];
extern const char fuzz_claim[];
extern const unsigned long fuzz_default_runs;
void fuzz_input(const uint8_t *data, size_t size);

/* A template for mkstemp(), in memory where there is such a folder. */
static inline void fuzz_temporary(char *path, size_t size)
{
	snprintf(path, size, "%s/upmu-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
}

/* Ends the program with the input on stdout, so that it can be kept. */
#define FUZZ_ASSERT(condition, data, size)                              \
	do {                                                            \
		if (condition)                                          \
			break;                                          \
		printf("not ok 1 - %s\n# %s:%d: %s\n# input: '%.*s'\n", \
		       fuzz_claim, __FILE__, __LINE__, #condition,      \
		       (int)(size), (const char *)(data));              \
		fflush(stdout);                                         \
		abort();                                                \
	} while (0)

#endif
