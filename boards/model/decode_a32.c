// SPDX-License-Identifier: MIT
#include "decode.h"

#define PC 15
#define LR 14
#define SP 13

static unsigned bits(uint32_t word, unsigned high, unsigned low)
{
	return word >> low & ((2u << (high - low)) - 1);
}

/* Without a condition: BLX to an address, return from exception, barriers. */
static void unconditional(struct decoded *d, uint64_t at, uint32_t w)
{
	if ((w & 0xfe000000) == 0xfa000000) {
		d->kind = CALL;
		d->target = at + 8 + (uint64_t)(decode_signed(w, 0, 24) * 4) +
			    bits(w, 24, 24) * 2;
	} else if ((w & 0xfe50ffff) == 0xf8100a00) {
		d->kind = EXCEPTION_RETURN;
	} else if ((w & 0xfff000f0) == 0xf5700060) {
		d->class = CLASS_ISB;
	} else if ((w & 0xfff000f0) == 0xf5700040) {
		d->class = CLASS_DSB;
	} else if ((w & 0xfff000f0) == 0xf5700050) {
		d->class = CLASS_DMB;
	}
}

static enum branch_kind to_register(uint32_t w)
{
	switch (w & 0x0ffffff0) {
	case 0x012fff10:
	case 0x012fff20:
		return bits(w, 3, 0) == LR ? RETURN : INDIRECT;
	case 0x012fff30:
		return INDIRECT_CALL;
	}
	return NO_BRANCH;
}

/* Data processing that writes PC; with S it restores CPSR as well. */
static enum branch_kind computed(uint32_t w)
{
	unsigned opcode = bits(w, 24, 21);
	bool sets_flags = bits(w, 20, 20);

	if (bits(w, 27, 26) || bits(w, 15, 12) != PC ||
	    (!bits(w, 25, 25) && bits(w, 7, 7) && bits(w, 4, 4)) ||
	    (opcode >= 8 && opcode <= 11))
		return NO_BRANCH;
	if (sets_flags)
		return EXCEPTION_RETURN;
	return (w & 0x0fffffff) == 0x01a0f00e ? RETURN : INDIRECT;
}

static enum branch_kind loaded(uint32_t w)
{
	bool load = bits(w, 20, 20);

	if (bits(w, 27, 25) == 4 && load && bits(w, 15, 15)) {
		if (bits(w, 22, 22))
			return EXCEPTION_RETURN;
		return bits(w, 19, 16) == SP && bits(w, 21, 21) ? RETURN
								: INDIRECT;
	}
	if (bits(w, 27, 26) == 1 && load && !bits(w, 22, 22) &&
	    bits(w, 15, 12) == PC && !(bits(w, 25, 25) && bits(w, 4, 4)))
		return (w & 0x0ffff000) == 0x049df000 ? RETURN : INDIRECT;
	return NO_BRANCH;
}

/* LDR, STR, LDRH, ...: not LDM, LDRD, SWP, LDREXD or a coprocessor's. */
static bool is_simple(uint32_t w)
{
	if (bits(w, 27, 26) == 1)
		return true;
	return !bits(w, 27, 25) && (w & 0x90) == 0x90 && bits(w, 6, 5) &&
	       (bits(w, 20, 20) || bits(w, 6, 5) == 1);
}

static enum insn_class class_of(uint32_t w)
{
	if ((w & 0x0f900ff0) == 0x01900f90)
		return CLASS_EXCLUSIVE_LOAD;
	if (bits(w, 27, 24) == 14 && bits(w, 11, 9) == 5 && !bits(w, 4, 4))
		return CLASS_FLOAT;
	return bits(w, 27, 26) ? CLASS_OTHER : CLASS_DATA;
}

struct decoded decode_a32(uint64_t at, uint32_t w)
{
	struct decoded d = { .kind = NO_BRANCH };

	if (bits(w, 31, 28) == 15) {
		unconditional(&d, at, w);
		return d;
	}
	d.simple = is_simple(w);
	d.class = class_of(w);
	if (bits(w, 27, 25) == 5) {
		d.kind = bits(w, 24, 24) ? CALL : DIRECT;
		d.conditional = bits(w, 31, 28) != 14;
		d.target = (uint32_t)(at + 8 +
				      (uint64_t)(decode_signed(w, 0, 24) * 4));
		return d;
	}
	d.kind = to_register(w);
	if (d.kind == NO_BRANCH)
		d.kind = computed(w);
	if (d.kind == NO_BRANCH)
		d.kind = loaded(w);
	return d;
}
