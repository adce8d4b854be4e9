// SPDX-License-Identifier: MIT
#include "lib/engine/clock.h"

double engine_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double engine_now_ns(void)
{
	return engine_clock_ns(CLOCK_MONOTONIC);
}
