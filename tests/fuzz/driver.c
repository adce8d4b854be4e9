// SPDX-License-Identifier: MIT
/*
 * The same inputs on every machine: pieces of a dictionary, put together,
 * torn and overwritten by a generator with a fixed seed. A fuzzer that
 * follows coverage links the target alone:
 *   clang -fsanitize=fuzzer,address,undefined fuzz_NAME.c ...
 *
 * UPMU_FUZZ_RUNS and UPMU_FUZZ_SEED ask for more, or for others. First come
 * the files given as arguments: inputs that once broke something, or reached
 * what no dictionary does (tests/fuzz/corpus).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define LONGEST 600

static uint64_t state;

/* xorshift64* (Marsaglia, Vigna). */
static uint32_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * UINT64_C(2685821657736338717)) >> 32);
}

static uint32_t below(uint32_t n)
{
	return next() % n;
}

static size_t append(char *out, size_t length, const char *word)
{
	if (length + strlen(word) >= LONGEST)
		return length;
	memcpy(out + length, word, strlen(word));
	return length + strlen(word);
}

/* Half of the inputs have a joint between pieces, and so are often right. */
static size_t put_together(char *out)
{
	size_t length = 0, pieces = 1 + below(8);
	const char *joint = below(2) ? fuzz_joint : "";

	while (pieces--) {
		const char *word =
			fuzz_words[below((uint32_t)fuzz_words_count)];

		length = append(out, length, word);
		if (pieces)
			length = append(out, length, joint);
	}
	return length;
}

static size_t damage(char *out, size_t length)
{
	size_t times = below(2) ? below(4) : 0, at;

	while (times-- && length) {
		at = below((uint32_t)length);
		switch (below(4)) {
		case 0: /* another byte */
			out[at] = (char)next();
			break;
		case 1: /* one less */
			memmove(out + at, out + at + 1, length - at - 1);
			length--;
			break;
		case 2: /* cut off */
			length = at;
			break;
		default: /* the other case, or another sign */
			out[at] ^= 0x20;
		}
	}
	return length;
}

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void replay(const char *path)
{
	static uint8_t data[1 << 16];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		printf("not ok 1 - %s\n# no %s\n", fuzz_claim, path);
		exit(1);
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	fuzz_input(data, size);
}

int main(int argc, char **argv)
{
	unsigned long runs = number("UPMU_FUZZ_RUNS", fuzz_default_runs);
	unsigned long seed = number("UPMU_FUZZ_SEED", 1);
	char input[LONGEST];

	puts("1..1");
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	for (unsigned long i = 0; i < runs; i++) {
		/* Each run from its own number: a failing one can be redone. */
		state = ((uint64_t)seed << 32) + i + 1;
		next();
		fuzz_input((const uint8_t *)input,
			   damage(input, put_together(input)));
	}
	printf("ok 1 - %s_in_%lu_inputs_of_seed_%lu\n", fuzz_claim, runs, seed);
	return 0;
}
