/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * page_v7.h - a count from a perf page in the fewest ARMv7 instructions
 *
 * What include/upmu/count.h says in C, in assembly because compilers spend a
 * third more on pairs of registers. ARM and Thumb-2.
 */
#ifndef UPMU_REGS_PAGE_V7_H
#define UPMU_REGS_PAGE_V7_H

#define UPMU_REGS_HAS_PAGE_COUNT 1

/*
 * gcc takes an asm goto for one instruction, and puts constants where the loads
 * of a function with some thirty of upmu_count() do not reach: "bad immediate
 * value for offset". As many empty lines are no code, and are reckoned with.
 */
#define UPMU_REGS_ROOM()      \
	__asm__ __volatile__( \
		"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n")

/*
 * @counter: page at 0, key at 4; page: lock at 8, index at 12, offset at 16.
 * 1 and the count, or 0 where another thread asks or the event is on no
 * counter.
 *
 * %4 is page and %H4 key; %1 is lock and %H1 index; ldrd loads both of a pair
 * at once, so that no interrupt comes between. %0 is the offset, then the sum.
 * index + thread pointer - key is 0 for the cycle counter, -31 to -1 for event
 * counters 0 to 30, -32 for none, and for another thread far from these.
 * The last eor and lsl #27 look at lock and at PMSELR's five bits in one test:
 * an interrupt handler may have selected another counter before the mrc.
 */
static inline __attribute__((always_inline)) int
upmu_regs_page_count(const void *counter, uint64_t *count)
{
	uint64_t sum, lock_index, page_key;
	uint32_t value, other;

	UPMU_REGS_ROOM();
	__asm__ goto("ldrd %4, %H4, [%5]\n"
		     "1:	mrc p15, 0, %3, c13, c0, 3\n\t" /* TPIDRURO */
		     "ldrd %1, %H1, [%4, #8]\n\t"
		     "ldrd %0, %H0, [%4, #16]\n\t"
		     "add %H1, %H1, %3\n\t"
		     "subs %H1, %H1, %H4\n\t"
		     "bne 2f\n\t"
		     "mrc p15, 0, %2, c9, c13, 0\n\t" /* PMCCNTR */
		     "adds %Q0, %Q0, %2\n\t"
		     "adc %R0, %R0, %2, asr #31\n\t"
		     "ldr %2, [%4, #8]\n\t"
		     "cmp %2, %1\n\t"
		     "beq 3f\n\t"
		     "b 1b\n"
		     "2:	adds %H1, %H1, #31\n\t"
		     "bcc %l[none]\n\t"
		     "mcr p15, 0, %H1, c9, c12, 5\n\t" /* PMSELR */
		     "isb\n\t"
		     "mrc p15, 0, %2, c9, c13, 2\n\t" /* PMXEVCNTR */
		     "mrc p15, 0, %3, c9, c12, 5\n\t"
		     "adds %Q0, %Q0, %2\n\t"
		     "adc %R0, %R0, %2, asr #31\n\t"
		     "ldr %2, [%4, #8]\n\t"
		     "eor %3, %3, %H1\n\t"
		     "eor %2, %2, %1\n\t"
		     "orrs %2, %2, %3, lsl #27\n\t"
		     "bne 1b\n"
		     "3:"
		     : "=&r"(sum), "=&r"(lock_index), "=&r"(value),
		       "=&r"(other), "=&r"(page_key)
		     : "r"(counter)
		     : "cc", "memory"
		     : none);
	*count = sum;
	return 1;
none:
	return 0;
}

/* The same from @page alone, for its own thread; @seen: its lock. */
static inline __attribute__((always_inline)) int
upmu_regs_page_read(const void *page, uint32_t *seen, uint64_t *count)
{
	uint64_t sum, lock_index;
	uint32_t value, selected;

	__asm__ goto("1:	ldrd %1, %H1, [%4, #8]\n\t"
		     "ldrd %0, %H0, [%4, #16]\n\t"
		     "sub %H1, %H1, #1\n\t"
		     "cmp %H1, #31\n\t"
		     "bne 2f\n\t"
		     "mrc p15, 0, %2, c9, c13, 0\n\t" /* PMCCNTR */
		     "adds %Q0, %Q0, %2\n\t"
		     "adc %R0, %R0, %2, asr #31\n\t"
		     "ldr %2, [%4, #8]\n\t"
		     "cmp %2, %1\n\t"
		     "beq 3f\n\t"
		     "b 1b\n"
		     "2:	bhi %l[none]\n\t"
		     "mcr p15, 0, %H1, c9, c12, 5\n\t" /* PMSELR */
		     "isb\n\t"
		     "mrc p15, 0, %2, c9, c13, 2\n\t" /* PMXEVCNTR */
		     "mrc p15, 0, %3, c9, c12, 5\n\t"
		     "adds %Q0, %Q0, %2\n\t"
		     "adc %R0, %R0, %2, asr #31\n\t"
		     "ldr %2, [%4, #8]\n\t"
		     "eor %3, %3, %H1\n\t"
		     "eor %2, %2, %1\n\t"
		     "orrs %2, %2, %3, lsl #27\n\t"
		     "bne 1b\n"
		     "3:"
		     : "=&r"(sum), "=&r"(lock_index), "=&r"(value),
		       "=&r"(selected)
		     : "r"(page)
		     : "cc", "memory"
		     : none);
	*seen = (uint32_t)lock_index;
	*count = sum;
	return 1;
none:
	return 0;
}

#endif
