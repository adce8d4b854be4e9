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
	} else if ((w & 0xfe000000) == 0xf2000000) {
		d->class = CLASS_SIMD;
	} else if ((w & 0xff100000) == 0xf4000000) {
		d->align = decode_element(w, bits(w, 23, 23));
	} else if ((w & 0xfff000f0) == 0xf5700060) {
		d->class = CLASS_ISB;
	} else if ((w & 0xfff000f0) == 0xf5700040) {
		d->class = CLASS_DSB;
	} else if ((w & 0xfff000f0) == 0xf5700050) {
		d->class = CLASS_DMB;
	}
}

uint8_t decode_element(uint32_t w, bool single)
{
	unsigned size = single ? bits(w, 11, 10) : bits(w, 7, 6);

	if (size == 3) /* one to all lanes; or 64 bits */
		size = single ? bits(w, 7, 6) : 3;
	return (uint8_t)(1 << size);
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

/* LDREX, STREX, LDA, STL, SWP and their kin */
static void synchronise(struct decoded *d, uint32_t w)
{
	bool load = bits(w, 20, 20), exclusive = bits(w, 9, 9);

	if (!bits(w, 23, 23)) {
		d->use = BOTH;
		return;
	}
	if (exclusive && load)
		d->class = CLASS_EXCLUSIVE_LOAD;
	if (exclusive && !load)
		d->use = STORES_ONLY;
	if (!bits(w, 8, 8))
		d->also = load ? CLASS_ACQUIRE : CLASS_RELEASE;
}

/* Of data processing and what shares its codes: MRS, BX, BKPT are not. */
static enum insn_class class_of_data(uint32_t w)
{
	if (bits(w, 24, 23) != 2 || bits(w, 20, 20))
		return CLASS_DATA;
	if (bits(w, 25, 25)) /* MOVW, MOVT; MSR and hints */
		return bits(w, 21, 21) ? CLASS_OTHER : CLASS_DATA;
	if (bits(w, 7, 7) || bits(w, 6, 4) == 5) /* SMLABB, QADD */
		return CLASS_DATA;
	return bits(w, 6, 4) == 1 && bits(w, 22, 21) == 3 ? CLASS_DATA /* CLZ */
							  : CLASS_OTHER;
}

static void classify(struct decoded *d, uint32_t w)
{
	switch (bits(w, 27, 25)) {
	case 0:
		if (!bits(w, 7, 7) || !bits(w, 4, 4))
			d->class = class_of_data(w);
		else if (bits(w, 6, 5)) /* LDRH, LDRD */
			d->align = !bits(w, 20, 20) && bits(w, 6, 6) ? 4 : 0;
		else if (bits(w, 24, 24))
			synchronise(d, w);
		else
			d->class = CLASS_DATA; /* MUL */
		break;
	case 1:
		d->class = class_of_data(w);
		break;
	case 3:
		if (bits(w, 4, 4))
			d->class = CLASS_DATA; /* SXTB, REV, UDIV, BFI */
		break;
	case 6:
		d->align = 4; /* VLDR, VLDM */
		break;
	case 7:
		if (!bits(w, 24, 24) && bits(w, 11, 9) == 5 && !bits(w, 4, 4))
			d->class = CLASS_FLOAT;
		break;
	}
}

struct decoded decode_a32(uint64_t at, uint32_t w)
{
	struct decoded d = { .kind = NO_BRANCH };

	if (bits(w, 31, 28) == 15) {
		unconditional(&d, at, w);
		return d;
	}
	d.simple = is_simple(w);
	d.of_pmu = decode_pmu32(w);
	classify(&d, w);
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
	if (d.kind != NO_BRANCH)
		d.class = CLASS_OTHER;
	return d;
}
