// SPDX-License-Identifier: MIT
/*
 * A program with phases: turns_work SEED [MS] does one kind of work after
 * another, each for 10 to 45 ms of a core that executes 1000 instructions in
 * a microsecond. All kinds come by before one comes again; their order and
 * their lengths are drawn from SEED, so that the same SEED is the same work.
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
#define CODE   64 /* pages of code, in two parts */

#ifdef __aarch64__
#define RETURN 0xd65f03c0u
#define NOP    0xd503201fu
#else
#define RETURN 0xe12fff1eu
#define NOP    0xe320f000u
#endif

static volatile unsigned char *memory;
static char *code;
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

static void call(const char *at)
{
	((void (*)(void))(uintptr_t)at)();
}

/* A function in each page of the first part, each in another line. */
static void far_calls(void)
{
	for (int i = 0; i < 1600; i++)
		call(code + i % CODE * (PAGE + LINE));
}

/* More than the instruction cache holds, without a branch. */
static void long_code(void)
{
	call(code + (CODE + 1) * PAGE);
}

static int write_code(void)
{
	uint32_t *word;

	code = mmap(NULL, 2 * CODE * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (code == MAP_FAILED)
		return -1;
	for (int i = 0; i < CODE; i++)
		*(uint32_t *)(code + i * (PAGE + LINE)) = RETURN;
	word = (uint32_t *)(code + (CODE + 1) * PAGE);
	for (int i = 0; i < 10000; i++)
		*word++ = NOP;
	*word = RETURN;
	__builtin___clear_cache(code, code + 2 * CODE * PAGE);
	return 0;
}

typedef void work(void);

static work *kinds[] = {
	arithmetic, hits,  lines,     pages,	 branches,
	copy,	    calls, far_calls, long_code,
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* One of those that have not come by: they are the last in the list. */
static work *draw_kind(void)
{
	static uint32_t came;
	uint32_t at = came + draw(KINDS - came);
	work *kind = kinds[at];

	kinds[at] = kinds[came];
	kinds[came] = kind;
	came = (came + 1) % KINDS;
	return kind;
}

int main(int argc, char **argv)
{
	long left;

	if (argc < 2)
		return 2;
	state = strtoull(argv[1], NULL, 0);
	left = argc > 2 ? atol(argv[2]) : 500;
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED || write_code())
		return 1;
	draw(1);
	while (left > 0) {
		work *kind = draw_kind();
		long length = 10 + draw(36);

		if (length > left)
			length = left;
		left -= length;
		for (long i = 0; i < 100 * length; i++)
			kind();
	}
	return 0;
}
