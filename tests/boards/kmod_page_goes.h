/* SPDX-License-Identifier: MIT */
/* kmod_page_goes.h - an instruction whose page is taken away, again and again
 */
#ifndef UPMU_TESTS_KMOD_PAGE_GOES_H
#define UPMU_TESTS_KMOD_PAGE_GOES_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/boards/kmod.h"

#define MOST_PAGE  65536
#define PAGE_READS 10000

static atomic_uint page_reads;

/* Alone in its pages. */
__attribute__((noinline, aligned(MOST_PAGE))) static uint32_t
page_look(bool cycles)
{
	return cycles ? upmu_regs_cycles32() : upmu_regs_control();
}

__attribute__((noinline, aligned(MOST_PAGE))) static void *
page_taker(void *taken)
{
	uintptr_t page = (uintptr_t)page_look & ~(uintptr_t)(MOST_PAGE - 1);
	unsigned int reads = 0;

	pin(1);
	/* At any moment of a read, but never of one and the same again: a slow
	 * kernel (KCSAN's) would find it gone each time. */
	for (uint32_t n = 1;; n = n * 1664525u + 1013904223u) {
		while (*(volatile bool *)taken && page_reads == reads)
			sched_yield();
		reads = page_reads;
		spin_loop(n >> 18);
		if (!madvise((void *)page, (size_t)getpagesize(),
			     MADV_DONTNEED))
			*(volatile bool *)taken = true;
	}
	return NULL;
}

__attribute__((noinline, aligned(MOST_PAGE))) static uint32_t
page_read(bool cycles)
{
	uint32_t value = page_look(cycles);

	page_reads++;
	return value;
}

/* As when memory is short: until this process ends. False: it stays. */
static bool page_goes(void)
{
	static volatile bool taken;
	double end = seconds() + 20;
	pthread_t thread;

	pin(0);
	if (pthread_create(&thread, NULL, page_taker, (void *)&taken))
		return false;
	while (!taken && seconds() < end)
		usleep(1000);
	return taken;
}

#endif
