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

/* What QEMU shows of its accesses is not always what the core does. */
enum memory_use {
	AS_SEEN,
	STORES_ONLY, /* STREX: QEMU may load to compare */
	BOTH,	     /* SWP, LDADD, CAS: QEMU may show the store alone */
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
	enum memory_use use;
	/*
	 * Bytes that its address has to be a multiple of, else it counts as
	 * unaligned; 0: as many as an access of it has. Not for the simple.
	 */
	uint8_t align;
	enum insn_class class, also; /* also: an exclusive may be an acquire */
	bool of_pmu;		     /* reads or writes a register of the PMU */
	bool zeroes;		     /* DC ZVA */
	uint8_t address;	     /* of that: the register that holds it */
};

/* @word: the bytes in memory's order; @size: 2 or 4. */
struct decoded decode_a32(uint64_t at, uint32_t word);
struct decoded decode_t32(uint64_t at, uint32_t word, unsigned size);
struct decoded decode_a64(uint64_t at, uint32_t word);

/* Of VLD1 to VST4 in A32, T32: bytes of an element; @single: of one lane. */
uint8_t decode_element(uint32_t word, bool single);

/* A register of the PMU, but for those that are the kernel's only? */
static inline bool decode_pmu(unsigned crn, unsigned crm)
{
	return (crn == 9 && crm >= 12 && crm <= 14) || (crn == 14 && crm >= 8);
}

/* MRC and MCR; T32's, its first half on top, are as A32's. */
static inline bool decode_pmu32(uint32_t w)
{
	return (w & 0x0fe00f10) == 0x0e000f10 &&
	       decode_pmu(w >> 16 & 15, w & 15);
}

static inline int64_t decode_signed(uint32_t word, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

#endif
