/* SPDX-License-Identifier: MIT */
/*
 * trap.h - the program's own PMU instructions, done by the model
 *
 * Where the registers are closed (under an emulator of user programs, and on
 * any ARM machine that nobody opened) each such instruction ends in SIGILL.
 * The handler decodes it, asks the model, and goes on behind it. So the very
 * machine code that users get is run, its encodings included, and an
 * interrupt can be made to come between any two of its instructions.
 */
#ifndef TESTS_MODEL_TRAP_H
#define TESTS_MODEL_TRAP_H

#include <setjmp.h>
#include <stdbool.h>

/* Until the program ends. Anything but a PMU instruction kills it. */
void trap_start(void);

/* An access that the model calls undefined comes back here by siglongjmp. */
extern sigjmp_buf trap_undefined;

/* PMSELR reads as what was written last: code without a second look. */
extern bool trap_believes_pmselr;

#endif
