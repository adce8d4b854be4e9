/* SPDX-License-Identifier: MIT */
#ifndef UPMU_ENGINE_CLOCK_H
#define UPMU_ENGINE_CLOCK_H

#include <time.h>

double engine_clock_ns(clockid_t clock);

/** CLOCK_MONOTONIC, in which all times here are. */
double engine_now_ns(void);

#endif
