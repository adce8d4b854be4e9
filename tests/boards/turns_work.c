// SPDX-License-Identifier: MIT
/*
 * A program with phases: turns_work SEED [MS] does one kind of work after
 * another, each for 10 to 60 ms of a core that executes 1000 instructions in
 * a microsecond. Kinds and lengths are drawn from SEED, so that the same SEED
 * is the same work.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY (1 << 20)
#define PAGE   4096
#define LINE   64
#define HALF   (16 << 10)

static volatile unsigned char *memory;
static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

/* Each takes about 10,000 instructions. */
static void arithmetic(void)
{
	for (int i = 0; i < 5000; i++)
		__asm__ volatile("");
}

static void walk(size_t bytes, size_t stride)
{
	for (int i = 0; i < 1600; i++)
		memory[i * stride % bytes]++;
}

static void hits(void)
{
	walk(HALF, LINE);
}

static void lines(void)
{
	walk(MEMORY, LINE);
}

static void pages(void)
{
	walk(MEMORY, PAGE + LINE);
}

static void branches(void)
{
	static uint32_t bits = 1;

	for (int i = 0; i < 1200; i++) {
		bits = bits * 1664525u + 1013904223u;
		if (bits >> 31)
			__asm__ volatile("nop\n\tnop");
		else
			__asm__ volatile("nop");
	}
}

static void copy(void)
{
	memcpy((void *)(uintptr_t)memory,
	       (void *)(uintptr_t)(memory + MEMORY / 2), 2 * HALF);
}

static void calls(void)
{
	for (int i = 0; i < 40; i++)
		syscall(__NR_getppid);
}

int main(int argc, char **argv)
{
	static void (*const kinds[])(void) = { arithmetic, hits, lines, pages,
					       branches,   copy, calls };
	long left;

	if (argc < 2)
		return 2;
	state = strtoull(argv[1], NULL, 0);
	left = argc > 2 ? atol(argv[2]) : 500;
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	draw(1);
	while (left > 0) {
		void (*work)(void) = kinds[draw(7)];
		long length = 10 + draw(51);

		if (length > left)
			length = left;
		left -= length;
		for (long i = 0; i < 100 * length; i++)
			work();
	}
	return 0;
}
