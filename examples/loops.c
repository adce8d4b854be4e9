// SPDX-License-Identifier: MIT
/*
 * One counting loop in three forms, and a sum with its average, each with
 * what the counters say. After the performance-counter tutorial of the F28HS
 * course, which counts 0 to 10. How many instructions and branches the
 * assembler forms execute can be worked out by hand; it stands beside.
 *
 *	cc -O0 loops.c $(pkg-config --cflags --libs libupmu)
 *	upmu exec --raw -- ./a.out [N]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <upmu/raw.h>

#define DATA_MAX 1000

/* Architectural numbers, ARM ARM (DDI 0406) C12.8. */
enum { INSTRUCTIONS, BRANCHES, ACCESSES, LOADS, COUNTERS };
static const unsigned int codes[COUNTERS] = { 0x08, 0x0D, 0x04, 0x06 };
static const char *const names[COUNTERS] = { "instructions", "branches",
					     "data accesses", "loads" };

#define ALL ((1u << COUNTERS) - 1)

struct counts {
	uint32_t count[COUNTERS], cycles;
};

typedef long form(long n, const int *data);

/*
 * Functions without a frame: each executes what is written here, and the
 * return that nothing() executes too.
 */
long nothing(long n, const int *data);
long test_at_end(long n, const int *data);
long test_at_begin(long n, const int *data);
long sum(long n, const int *data);
long average(long n, const int *data);

__asm__(".pushsection .text\n"
	".arm\n"
	".balign 4\n"
	".type nothing, %function\n"
	".type test_at_end, %function\n"
	".type test_at_begin, %function\n"
	".type sum, %function\n"
	".type average, %function\n"
	"nothing:\n"
	"	bx	lr\n"
	"test_at_end:\n"
	"	mov	r3, #0\n"
	"	b	2f\n"
	"1:	add	r3, r3, #1\n"
	"2:	cmp	r3, r0\n"
	"	blt	1b\n"
	"	mov	r0, r3\n"
	"	bx	lr\n"
	"test_at_begin:\n"
	"	mov	r3, #0\n"
	"1:	cmp	r3, r0\n"
	"	bge	2f\n"
	"	add	r3, r3, #1\n"
	"	b	1b\n"
	"2:	mov	r0, r3\n"
	"	bx	lr\n"
	"sum:\n"
	"	mov	r2, #0\n"
	"	mov	r3, #0\n"
	"	b	2f\n"
	"1:	ldr	r12, [r1, r3, lsl #2]\n"
	"	add	r2, r2, r12\n"
	"	add	r3, r3, #1\n"
	"2:	cmp	r3, r0\n"
	"	blt	1b\n"
	"	mov	r0, r2\n"
	"	bx	lr\n"
	/* Division by subtraction: not every ARMv7 has udiv. r0: n, r1: sum */
	"average:\n"
	"	mov	r3, #0\n"
	"	b	2f\n"
	"1:	sub	r1, r1, r0\n"
	"	add	r3, r3, #1\n"
	"2:	cmp	r1, r0\n"
	"	bge	1b\n"
	"	mov	r0, r3\n"
	"	bx	lr\n"
	".popsection\n");

static long in_c(long n, const int *data)
{
	long i;

	(void)data;
	for (i = 0; i < n; i++)
		;
	return i;
}

static void configure(void)
{
	for (unsigned int i = 0; i < COUNTERS; i++)
		upmu_raw_set_event(i, codes[i] | UPMU_TYPE_P);
	upmu_raw_enable();
}

static struct counts count(form *f, long n, const int *data)
{
	struct counts counts;

	upmu_raw_stop(ALL | UPMU_RAW_CYCLES_MASK);
	upmu_raw_reset_counters();
	upmu_raw_reset_cycles();
	upmu_raw_start(ALL | UPMU_RAW_CYCLES_MASK);
	f(n, data);
	upmu_raw_stop(ALL | UPMU_RAW_CYCLES_MASK);
	counts.cycles = upmu_raw_cycles();
	for (unsigned int i = 0; i < COUNTERS; i++)
		counts.count[i] = (uint32_t)upmu_raw_counter(i);
	return counts;
}

/* Every form above loads, branches and computes: 0 means not counted. */
static void print_count(uint32_t with, uint32_t without)
{
	if (with)
		printf(" %13" PRIu32, with - without);
	else
		printf(" %13s", "<not counted>");
}

static void show(const char *what, form *f, long n, const int *data,
		 long instructions, long branches)
{
	struct counts empty = count(nothing, n, data);
	struct counts full = count(f, n, data);

	printf("%-16s", what);
	if (instructions >= 0)
		printf("%9ld %9ld", instructions, branches);
	else
		printf("%9s %9s", "", "");
	printf(" %9" PRIu32, full.cycles - empty.cycles);
	for (unsigned int i = 0; i < COUNTERS; i++)
		print_count(full.count[i], empty.count[i]);
	putchar('\n');
}

static void show_sum(long n)
{
	static int data[DATA_MAX];
	long total = 0, quotient;

	for (long i = 0; i < n; i++)
		total += data[i] = (int)(3 + i % 5);
	quotient = total / n;
	show("sum", sum, n, data, 5 * n + 6, n + 2);
	/* The dividend is passed where the others have their data. */
	show("average", average, n, (const int *)(intptr_t)total,
	     4 * quotient + 5, quotient + 2);
	printf("sum %ld, average %ld; the assembler has %ld and %ld\n", total,
	       quotient, sum(n, data),
	       average(n, (const int *)(intptr_t)total));
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10;

	if (n < 1 || n > DATA_MAX) {
		fprintf(stderr, "loops: N is 1 to %d\n", DATA_MAX);
		return 2;
	}
	configure();
	printf("%-16s%19s %9s\n%-16s%9s %9s %9s", "", "by hand", "read", "",
	       "instr.", "branches", "cycles");
	for (unsigned int i = 0; i < COUNTERS; i++)
		printf(" %13s", names[i]);
	putchar('\n');
	show("C, -O0", in_c, n, NULL, -1, -1);
	show("test at the end", test_at_end, n, NULL, 3 * n + 5, n + 2);
	show("test at begin", test_at_begin, n, NULL, 4 * n + 4, 2 * n + 1);
	show_sum(n);
	return 0;
}
