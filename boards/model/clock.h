/* SPDX-License-Identifier: MIT */
/* The emulator's clock: a nanosecond of the board's time is a cycle. */
#ifndef MODEL_CLOCK_H
#define MODEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * clock_find - look up what is used of the emulator's clock; call it first
 * @reason: QEMU_REASON bytes, filled when it returns false
 */
bool clock_find(char *reason);

/* Both: in the function of a register only, where the time is known. */
uint64_t clock_cycles(void);
/* Executed since the board started; only where clock_counts_instructions(). */
uint64_t clock_instructions(void);
bool clock_counts_instructions(void); /* -icount */

#endif
