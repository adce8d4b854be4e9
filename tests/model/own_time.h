/* SPDX-License-Identifier: MIT */
/* own_time.h - the clock and the CPU that the library is told (ld --wrap) */
#ifndef TESTS_MODEL_OWN_TIME_H
#define TESTS_MODEL_OWN_TIME_H

#include <stdint.h>

extern uint64_t now_ns;
extern int this_cpu;
/* What happens, once, when the CPU has just been told. */
extern void (*after_getcpu)(void);

#endif
