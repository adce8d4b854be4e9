/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * page_v8_64.h - a count from a perf page in the fewest AArch64 instructions
 *
 * What include/upmu/count.h says in C. In assembly because a register's name
 * is part of the instruction that reads it, and the row of them that is jumped
 * into can tell 32-bit from 64-bit counters without a test.
 */
#ifndef UPMU_REGS_PAGE_V8_64_H
#define UPMU_REGS_PAGE_V8_64_H

#define UPMU_REGS_HAS_PAGE_COUNT 1

/* clang-format moves assembly among macros further right at each run. */
/* clang-format off */

#define UPMU_V8_64_NARROW(n) UPMU_V8_64_ROW("pmevcntr" #n "_el0", "%3", "6f")
#define UPMU_V8_64_WIDE(n)   UPMU_V8_64_ROW("pmevcntr" #n "_el0", "%3", "5f")

/*
 * @counter: page at 0, key at 8; page: lock at 8, index at 12, offset at 16.
 * 1 and the count, or 0 where another thread asks or the event is on no
 * counter.
 *
 * %4 page, %5 key, %w1 lock, %w2 index, %3 for passing use, %0 the offset and
 * then the sum. index + thread pointer - key is, for a counter of 64 bits, 0
 * on the cycle counter, -31 to -1 on event counters and -32 on none; for one
 * of 32 bits, 33 less (see upmu_thread_key()); for another thread, far from
 * these. No kernel has an index above 33.
 */
static inline __attribute__((always_inline)) int
upmu_regs_page_count(const void *counter, uint64_t *count)
{
	uint64_t sum, lock, index, value, page, key;

	__asm__ goto(
		"ldp %4, %5, [%6]\n"
		"1:	mrs %3, tpidr_el0\n\t"
		"ldp %w1, %w2, [%4, #8]\n\t"
		"ldr %0, [%4, #16]\n\t"
		"add %2, %2, %3\n\t"
		"subs %2, %2, %5\n\t"
		"b.ne 3f\n\t"
		"mrs %3, pmccntr_el0\n\t"
		"add %0, %0, %3\n"
		"2:	ldr %w3, [%4, #8]\n\t"
		"cmp %w3, %w1\n\t"
		"b.eq 7f\n\t"
		"b 1b\n"
		"3:	cmn %2, #65\n\t"
		"b.lo %l[none]\n\t"
		"adr %3, 4f + (65 << " UPMU_V8_64_SHIFT ")\n\t"
		"add %3, %3, %2, lsl #" UPMU_V8_64_SHIFT "\n\t"
		"br %3\n"
		"4:	" UPMU_V8_64_NO_ROW("%l[none]") /* -65 */
		UPMU_V8_64_COUNTERS(UPMU_V8_64_NARROW)
		UPMU_V8_64_ROW("pmccntr_el0", "%3", "6f") /* -33 */
		UPMU_V8_64_NO_ROW("%l[none]") /* -32 */
		UPMU_V8_64_COUNTERS(UPMU_V8_64_WIDE)
		"5:	add %0, %0, %3\n\t"
		"b 2b\n"
		"6:	add %0, %0, %w3, sxtw\n\t"
		"ldr %w3, [%4, #8]\n\t"
		"cmp %w3, %w1\n\t"
		"b.eq 7f\n\t"
		"b 1b\n"
		"7:"
		: "=&r"(sum), "=&r"(lock), "=&r"(index), "=&r"(value),
		  "=&r"(page), "=&r"(key)
		: "r"(counter)
		: "cc", "memory"
		: none);
	*count = sum;
	return 1;
none:
	return 0;
}

#define UPMU_V8_64_READ(n) UPMU_V8_64_ROW("pmevcntr" #n "_el0", "%3", "3f")

/* The same from @page alone, whose pmc_width is at 48, for its own thread;
 * @seen: its lock. The row has a place for each index, 0 and 33 too. */
static inline __attribute__((always_inline)) int
upmu_regs_page_read(const void *page, uint32_t *seen, uint64_t *count)
{
	uint64_t sum, lock, index, value;

	__asm__ goto(
		"1:	ldp %w1, %w2, [%4, #8]\n\t"
		"ldr %0, [%4, #16]\n\t"
		"adr %3, 2f\n\t"
		"add %3, %3, %2, lsl #" UPMU_V8_64_SHIFT "\n\t"
		"br %3\n"
		"2:	" UPMU_V8_64_NO_ROW("%l[none]") /* 0 */
		UPMU_V8_64_COUNTERS(UPMU_V8_64_READ)
		UPMU_V8_64_ROW("pmccntr_el0", "%3", "3f")
		UPMU_V8_64_NO_ROW("%l[none]") /* 33 */
		"3:	ldrh %w2, [%4, #48]\n\t"
		"tbnz %w2, #6, 4f\n\t" /* 64, not 32 */
		"sxtw %3, %w3\n"
		"4:	add %0, %0, %3\n\t"
		"ldr %w3, [%4, #8]\n\t"
		"cmp %w3, %w1\n\t"
		"b.ne 1b"
		: "=&r"(sum), "=&r"(lock), "=&r"(index), "=&r"(value)
		: "r"(page)
		: "cc", "memory"
		: none);
	*seen = (uint32_t)lock;
	*count = sum;
	return 1;
none:
	return 0;
}

/* clang-format on */

#endif
