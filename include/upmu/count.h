/* SPDX-License-Identifier: MIT */
/*
 * count.h - the inline read of a counter; upmu.h includes it
 */
#ifndef UPMU_COUNT_H
#define UPMU_COUNT_H

#include <errno.h>

#include <upmu.h>

#ifdef __cplusplus /* what is inline here is C, too */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#include "regs/regs.h"

/*
 * The head of struct perf_event_mmap_page (linux/perf_event.h), which is ABI;
 * restated so that a program needs none of perf's headers.
 */
struct upmu_page {
	uint32_t version;
	uint32_t compat_version;
	uint32_t lock;	/* changes whenever index or offset does */
	uint32_t index; /* 0: not on the hardware now; 32: the cycle counter;
			   1 to 31: event counter index - 1 */
	int64_t offset; /* count = offset + register, sign-extended */
	uint64_t time_enabled;
	uint64_t time_running;
	uint64_t capabilities;
	uint16_t pmc_width; /* 64 or 32 bits; 0 where not told: 32 */
};

#define UPMU_INDEX_CYCLES 32u

/*
 * What struct upmu_counter has as its thread: the thread pointer and how wide
 * the counter is, so that one subtraction asks both (regs/page_v8_64.h). Two
 * threads' pointers are further apart than these constants.
 */
#define UPMU_KEY_WIDE	32u
#define UPMU_KEY_NARROW ((sizeof(void *) == 8) ? 65u : 32u)

/**
 * upmu_thread_key - for struct upmu_counter, of the calling thread
 * @wide: not 0 where the event was opened as one of 64 bits, which only a
 *        64-bit program may: mrc reads 32 of an event counter
 */
static inline const void *upmu_thread_key(int wide)
{
	return (const void *)(upmu_regs_thread_pointer() +
			      (wide ? UPMU_KEY_WIDE : UPMU_KEY_NARROW));
}

static inline uint32_t upmu_page_lock(const void *page)
{
	return ((const volatile struct upmu_page *)page)->lock;
}

/**
 * upmu_page_try - one look at a perf page, for the thread of the event only
 * @lock: what the page's lock was; @count stands for as long as it still is
 *
 * 0, or -EAGAIN: the page changed meanwhile, look again; -ENODATA: the event is
 * on no counter that this program reads.
 */
static inline int upmu_page_try(const void *memory, uint32_t *lock,
				uint64_t *count)
{
#if UPMU_REGS_MAX_COUNTERS > 0
	const volatile struct upmu_page *page =
		(const volatile struct upmu_page *)memory;
	uint32_t seen = page->lock;
	uint32_t index = page->index;
	uint64_t sum = (uint64_t)page->offset;
	uint64_t value;

	if (index == 0 || index > UPMU_INDEX_CYCLES)
		return -ENODATA;
	value = index == UPMU_INDEX_CYCLES ? upmu_regs_cycles64()
					   : upmu_regs_counter(index - 1);
	if (upmu_regs_cycle_bits() < 64 || page->pmc_width != 64)
		value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
	if (page->lock != seen)
		return -EAGAIN;
	*lock = seen;
	*count = sum + value;
	return 0;
#else
	(void)memory;
	(void)lock;
	(void)count;
	return -ENODATA;
#endif
}

#if !UPMU_REGS_HAS_PAGE_COUNT
/* In C what regs/page_v7.h has in assembly: 1 and the count, or 0. */
static inline int upmu_regs_page_read(const void *page, uint32_t *lock,
				      uint64_t *count)
{
	int ret;

	do
		ret = upmu_page_try(page, lock, count);
	while (ret == -EAGAIN);
	return ret == 0;
}

static inline int upmu_regs_page_count(const void *memory, uint64_t *count)
{
	const struct upmu_counter *counter =
		(const struct upmu_counter *)memory;
	uintptr_t key = (uintptr_t)counter->thread - upmu_regs_thread_pointer();
	uint32_t lock;

	if (key != UPMU_KEY_WIDE && key != UPMU_KEY_NARROW)
		return 0;
	return upmu_regs_page_read(counter->page, &lock, count);
}
#endif

/**
 * upmu_count - the count of one event so far, of the thread that opened it
 * @counter: from upmu_counter_at(); never NULL
 *
 * In the unit of upmu_unit(), 64 bits, never running backwards. While the event
 * is on the hardware and its own thread asks, no system call: some 12 to 20
 * instructions. Otherwise upmu_inline_fallback(), which reads it by the kernel.
 *
 * UPMU_NO_COUNT: upmu_explain() tells the reason.
 *
 * No memory barrier is needed, and the page need not be locked: only the
 * kernel writes it, on this CPU, in an interrupt or while this thread is
 * switched out, so that it never changes but between two instructions of this
 * thread. A thread that is moved to another CPU between reading the index and
 * the register was switched out, so lock has changed, and a context switch
 * orders what was written before it.
 */
static inline __attribute__((always_inline)) uint64_t
upmu_count(const struct upmu_counter *counter)
{
	const struct upmu_counter *volatile asked;
	volatile uint64_t slow;
	uint64_t count;

	if (__builtin_expect(upmu_regs_page_count(counter, &count), 1))
		return count;
	/* Through memory: else gcc has three moves for this call on the way
	 * that does not make it. */
	asked = counter;
	slow = upmu_inline_fallback(asked);
	return slow;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif
