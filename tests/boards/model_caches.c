// SPDX-License-Identifier: MIT
/*
 * model_caches STORES : what becomes of lines and pages that are not just
 * loaded and stored, in user mode. STORES is the core's event of stores (0x07,
 * 0x71). Prints "NAME VALUE" lines, each part with what it is compared to:
 *
 * zeroed_...       ROUNDS lines by DC ZVA (64-bit only): stores, and refills
 *                  with loads from them afterwards
 * cleaned, dropped refills of ROUNDS loads, each behind a DC CVAC, a DC CIVAC
 *                  of the line (64-bit only)
 * code, same_code  refills of code: ROUNDS calls, each behind an invalidation
 *                  of the function, of another one
 * shared, apart    refills of a thread that writes SHARED lines by TURNS with
 *                  one on another CPU: to the same lines, each to its own
 * huge, small      refills of the TLB of WALKS walks over a huge page by PAGE,
 *                  over as much in small ones
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw_event.h"

enum { L1I_REFILL = 1, L1D_REFILL = 3, L1D_TLB_REFILL = 5 };

#define ROUNDS 64
#define TURNS  4
#define SHARED 32
#define TRIES  16
#define LINE   64
#define PAGE   4096
#define WALKS  10

static unsigned int stores = 0x07;

static char *map(size_t size, int prot)
{
	char *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

typedef void (*work)(char *memory);

static long long count(unsigned int code, work work, char *memory)
{
	int fd = raw_event_open(code);
	long long value;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work(memory);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	value = raw_event_read(fd);
	close(fd);
	return value;
}

/* ---- DC ZVA, DC CVAC, DC CIVAC --------------------------------------------
 */

#ifdef __aarch64__
static void zero_lines(char *memory)
{
	char *end = memory + ROUNDS * LINE;

	__asm__ volatile("1: dc zva, %0\n"
			 "add %0, %0, %2\n"
			 "cmp %0, %1\n"
			 "b.ne 1b"
			 : "+r"(memory)
			 : "r"(end), "r"((long)LINE)
			 : "cc", "memory");
}

static void zero_and_load(char *memory)
{
	zero_lines(memory);
	for (int i = 0; i < ROUNDS; i++)
		(void)*(volatile char *)(memory + i * LINE);
}

static void load_cleaned(char *memory)
{
	for (int i = 0; i < ROUNDS; i++)
		__asm__ volatile("dc cvac, %0\n dsb sy\n ldr x2, [%0]"
				 :
				 : "r"(memory)
				 : "x2", "memory");
}

static void load_dropped(char *memory)
{
	for (int i = 0; i < ROUNDS; i++)
		__asm__ volatile("dc civac, %0\n dsb sy\n ldr x2, [%0]"
				 :
				 : "r"(memory)
				 : "x2", "memory");
}

static void lines(void)
{
	char *memory = map(2 * ROUNDS * LINE, PROT_READ | PROT_WRITE);

	memset(memory, 1, 2 * ROUNDS * LINE);
	printf("zeroed_stores %lld\n", count(stores, zero_lines, memory));
	for (int i = 0; i < ROUNDS * LINE; i++)
		if (memory[i])
			exit(1);
	/* of a page that no cache has seen */
	memory = map(ROUNDS * LINE, PROT_READ | PROT_WRITE);
	for (int i = 0; i < ROUNDS * LINE; i += PAGE)
		memory[i] = 1;
	printf("zeroed_refills %lld\n",
	       count(L1D_REFILL, zero_and_load, memory));
	printf("cleaned %lld\n", count(L1D_REFILL, load_cleaned, memory));
	printf("dropped %lld\n", count(L1D_REFILL, load_dropped, memory));
}
#else
static void lines(void)
{
}
#endif

/* ---- code ------------------------------------------------------------------
 */

#ifdef __aarch64__
#define RETURN 0xd65f03c0u
#else
#define RETURN 0xe12fff1eu
#endif

static char *code;

static void call_behind(char *dropped)
{
	for (int i = 0; i < ROUNDS; i++) {
		__builtin___clear_cache(dropped, dropped + 4);
		((void (*)(void))(uintptr_t)code)();
	}
}

static void calls(void)
{
	uint32_t back = RETURN;

	code = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(code, &back, sizeof(back));
	memcpy(code + PAGE / 2, &back, sizeof(back));
	__builtin___clear_cache(code, code + PAGE);
	call_behind(code);
	printf("code %lld\n", count(L1I_REFILL, call_behind, code));
	printf("same_code %lld\n",
	       count(L1I_REFILL, call_behind, code + PAGE / 2));
}

/* ---- two CPUs ---------------------------------------------------------------
 */

static char *taken; /* what the other one writes to */
static atomic_int turn;

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void write_by_turns(char *memory, int mine, int turns)
{
	for (int i = 0; i < turns; i++) {
		while (atomic_load(&turn) != mine)
			;
		for (int line = 0; line < SHARED; line++)
			((volatile char *)memory)[line * LINE] = (char)i;
		atomic_store(&turn, !mine);
	}
}

static void *write_there(void *unused)
{
	on_cpu(1);
	write_by_turns(taken, 1, 1 + TURNS);
	return unused;
}

static void write_here(char *memory)
{
	write_by_turns(memory, 0, TURNS);
}

/*
 * The least of some: a CPU that waits for the other is interrupted meanwhile,
 * the more often the longer that takes, and what the kernel does then drops
 * lines of the program.
 */
static void share(const char *name, char *memory, char *other)
{
	long long least = LLONG_MAX;
	pthread_t thread;

	taken = other;
	for (int i = 0; i < TRIES; i++) {
		long long refills;

		atomic_store(&turn, 0);
		if (pthread_create(&thread, NULL, write_there, NULL))
			exit(1);
		write_by_turns(memory, 0, 1); /* the thread runs then */
		refills = count(L1D_REFILL, write_here, memory);
		pthread_join(thread, NULL);
		least = refills < least ? refills : least;
	}
	printf("%s %lld\n", name, least);
}

static void threads(void)
{
	char *memory = map(PAGE, PROT_READ | PROT_WRITE);

	memset(memory, 1, PAGE);
	on_cpu(0);
	share("apart", memory, memory + PAGE / 2);
	share("shared", memory, memory + LINE / 2);
}

/* ---- huge pages -------------------------------------------------------------
 */

/* 2 MiB where pages are of 4 KiB, 32 where they are of 16; 0: none here. */
static size_t huge_size;

static void find_huge_size(void)
{
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
			   "r");

	if (!file)
		return;
	if (fscanf(file, "%zu", &huge_size) != 1)
		huge_size = 0;
	fclose(file);
}

static void walk(char *memory)
{
	for (int n = 0; n < WALKS; n++)
		for (size_t i = 0; i < huge_size; i += PAGE)
			(void)*(volatile char *)(memory + i);
}

static void pages(void)
{
	char *memory;

	find_huge_size();
	if (!huge_size)
		return;
	memory = map(2 * huge_size, PROT_READ | PROT_WRITE);
	memory += -(uintptr_t)memory % huge_size;
	if (madvise(memory, huge_size, MADV_HUGEPAGE))
		return; /* a kernel without them */
	memset(memory, 1, huge_size);
	printf("huge %lld\n", count(L1D_TLB_REFILL, walk, memory));
	memory = map(huge_size, PROT_READ | PROT_WRITE);
	madvise(memory, huge_size, MADV_NOHUGEPAGE);
	memset(memory, 1, huge_size);
	printf("small %lld\n", count(L1D_TLB_REFILL, walk, memory));
}

int main(int argc, char **argv)
{
	if (argc > 1)
		stores = (unsigned int)strtoul(argv[1], NULL, 0);
	lines();
	calls();
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		threads();
	pages();
	return 0;
}
