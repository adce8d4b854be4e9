/* SPDX-License-Identifier: MIT */
/* kmod_page_goes.h - an instruction whose page is taken away, again and again
 */
#ifndef UPMU_TESTS_KMOD_PAGE_GOES_H
#define UPMU_TESTS_KMOD_PAGE_GOES_H

#include <pthread.h>

#include "tests/boards/kmod.h"

#define MOST_PAGE  65536
#define PAGE_READS 30000

/* Alone in its pages. */
__attribute__((noinline, aligned(MOST_PAGE))) static uint32_t
page_read(bool cycles)
{
	return cycles ? upmu_regs_cycles32() : upmu_regs_control();
}

__attribute__((noinline, aligned(MOST_PAGE))) static void *
page_taker(void *taken)
{
	uintptr_t page = (uintptr_t)page_read & ~(uintptr_t)(MOST_PAGE - 1);

	pin(1);
	/* Never in step with who reads: that would take it away each time. */
	for (uint32_t n = 1;; n = n * 1664525u + 1013904223u) {
		spin_loop(n >> 18);
		if (!madvise((void *)page, (size_t)getpagesize(),
			     MADV_DONTNEED))
			*(volatile bool *)taken = true;
	}
	return NULL;
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
