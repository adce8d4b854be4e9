/* SPDX-License-Identifier: MIT */
/* What the model has to know of an instruction, from its bits (ARM DDI 0487).
 */
#ifndef MODEL_DECODE_H
#define MODEL_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum branch_kind {
	NO_BRANCH,
	DIRECT, /* to an address in the instruction */
	CALL,	/* the same, with a link */
	RETURN, /* BX LR, MOV PC, LR, POP {..., PC}, LDR PC, [SP], #n */
	INDIRECT,
	INDIRECT_CALL,
	EXCEPTION_RETURN,
};

enum insn_class {
	CLASS_OTHER,
	CLASS_DATA,
	CLASS_SIMD,
	CLASS_FLOAT,
	CLASS_CRYPTO,
	CLASS_ISB,
	CLASS_DSB,
	CLASS_DMB,
	CLASS_EXCLUSIVE_LOAD,
	CLASS_ACQUIRE,
	CLASS_RELEASE,
	CLASSES,
};

struct decoded {
	enum branch_kind kind;
	bool conditional; /* a direct branch that may fall through */
	uint64_t target;  /* of a direct one */
	/* One access to memory at most, or none: the usual load or store. */
	bool simple;
	enum insn_class class;
};

/* @word: the bytes in memory's order; @size: 2 or 4. */
struct decoded decode_a32(uint64_t at, uint32_t word);
struct decoded decode_t32(uint64_t at, uint32_t word, unsigned size);
struct decoded decode_a64(uint64_t at, uint32_t word);

static inline int64_t decode_signed(uint32_t word, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

#endif
