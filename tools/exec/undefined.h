/* SPDX-License-Identifier: MIT */
/* undefined.h - an instruction that a program may not execute, in words */
#ifndef UPMU_TOOLS_UNDEFINED_H
#define UPMU_TOOLS_UNDEFINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_set { SET_UNKNOWN, SET_ARM, SET_THUMB, SET_A64 };

/**
 * struct undefined - what an instruction would have done
 * @text: as an assembler writes it; of one that is none of the PMU's the code
 * @name: the register in the manual's words; "" for one that is not the PMU's
 * @writes: it is written, else read
 * @kernel_only: no setting opens it to programs
 */
struct undefined {
	char text[64];
	char name[24];
	bool writes, kernel_only;
};

/** @code: as in memory, on Thumb the first halfword in the upper half. */
void undefined_describe(struct undefined *out, enum instruction_set set,
			uint32_t code);

#endif
