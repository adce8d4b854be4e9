/* SPDX-License-Identifier: MIT */
#ifndef UPMU_TOOLS_REGS_FIELDS_H
#define UPMU_TOOLS_REGS_FIELDS_H

#include <stdint.h>

/** struct regs_field - bits @high to @low of a register */
struct regs_field {
	uint8_t high, low;
	const char *name;
	const char *meaning;
};

/**
 * struct regs_register
 * @name: as the manual has it
 * @access: the instruction's operands
 * @purpose: one line
 * @field: ends with a row without a name; NULL: one bit for each counter
 */
struct regs_register {
	const char *name;
	const char *access;
	const char *purpose;
	const struct regs_field *field;
};

/** The registers of "v6", "v7", "v8-32" or "v8-64"; ends without a name. */
const struct regs_register *regs_of(const char *architecture);

#endif
