// SPDX-License-Identifier: MIT
#include "decode.h"

static void direct(struct decoded *d, uint64_t at, int64_t words,
		   bool conditional)
{
	d->kind = DIRECT;
	d->conditional = conditional;
	d->target = at + (uint64_t)(words * 4);
}

/* BR, BLR, RET, ERET and their kin with authentication. */
static enum branch_kind to_register(uint32_t w)
{
	switch (w >> 21 & 15) {
	case 0:
	case 8:
		return INDIRECT;
	case 1:
	case 9:
		return INDIRECT_CALL;
	case 2:
		return RETURN;
	case 4:
		return EXCEPTION_RETURN;
	}
	return NO_BRANCH;
}

static void system(struct decoded *d, uint32_t w)
{
	d->of_pmu = (w & 0xffd80000) == 0xd5180000 && (w >> 16 & 7) == 3 &&
		    decode_pmu(w >> 12 & 15, w >> 8 & 15);
	d->zeroes = (w & 0xffffffe0) == 0xd50b7420;
	d->address = w & 31;
}

static void branches(struct decoded *d, uint64_t at, uint32_t w)
{
	if ((w & 0x7c000000) == 0x14000000) {
		direct(d, at, decode_signed(w, 0, 26), false);
		if (w >> 31)
			d->kind = CALL;
	} else if ((w & 0xff000000) == 0x54000000) {
		direct(d, at, decode_signed(w, 5, 19), true);
	} else if ((w & 0x7e000000) == 0x34000000) {
		direct(d, at, decode_signed(w, 5, 19), true);
	} else if ((w & 0x7e000000) == 0x36000000) {
		direct(d, at, decode_signed(w, 5, 14), true);
	} else if ((w & 0xfe000000) == 0xd6000000) {
		d->kind = to_register(w);
	} else if ((w & 0xfffff0ff) == 0xd50330df) {
		d->class = CLASS_ISB;
	} else if ((w & 0xfffff0ff) == 0xd503309f) {
		d->class = CLASS_DSB;
	} else if ((w & 0xfffff0ff) == 0xd50330bf) {
		d->class = CLASS_DMB;
	} else if ((w & 0xffc00000) == 0xd5000000) {
		system(d, w);
	}
}

/* LDXR, STXR, LDAR, STLR, CAS and the pairs */
static void synchronise(struct decoded *d, uint32_t w)
{
	bool ordered = w & 1 << 23, load = w & 1 << 22, pair = w & 1 << 21;
	bool o0 = w & 1 << 15;

	if (pair && (ordered || !(w >> 31))) { /* CAS, CASP */
		d->use = BOTH;
		d->class = load ? CLASS_ACQUIRE : CLASS_OTHER;
		d->also = o0 ? CLASS_RELEASE : CLASS_OTHER;
		return;
	}
	if (!ordered)
		d->class = load ? CLASS_EXCLUSIVE_LOAD : CLASS_OTHER;
	if (!ordered && !load)
		d->use = STORES_ONLY;
	if (o0)
		d->also = load ? CLASS_ACQUIRE : CLASS_RELEASE;
}

/* SWP, LDADD and their kin, and LDAPR, which only loads. */
static void atomic(struct decoded *d, uint32_t w)
{
	if ((w & 0x3ffffc00) == 0x38bfc000) {
		d->class = CLASS_ACQUIRE;
		return;
	}
	d->simple = false;
	d->use = BOTH;
	d->class = w & 1 << 23 ? CLASS_ACQUIRE : CLASS_OTHER;
	d->also = w & 1 << 22 ? CLASS_RELEASE : CLASS_OTHER;
}

/* Of LD1 to ST4: bytes of an element. */
static uint8_t element(uint32_t w)
{
	if (!(w & 1 << 24)) /* whole registers */
		return (uint8_t)(1 << (w >> 10 & 3));
	switch (w >> 14 & 3) {
	case 2:
		return w & 1 << 10 ? 8 : 4;
	case 3: /* to all lanes */
		return (uint8_t)(1 << (w >> 10 & 3));
	default:
		return (uint8_t)(1 << (w >> 14 & 3));
	}
}

static void loads(struct decoded *d, uint32_t w)
{
	bool vector = w & 1 << 26;

	if ((w & 0x3f000000) == 0x08000000) {
		synchronise(d, w);
	} else if ((w & 0x3a000000) == 0x28000000) { /* LDP */
		d->align = (uint8_t)(vector ? 4 << (w >> 30) : 4 << (w >> 31));
	} else if ((w & 0xbe000000) == 0x0c000000) {
		d->align = element(w);
	} else if ((w & 0x3b200c00) == 0x38200000 && !vector) {
		d->simple = true;
		atomic(d, w);
	} else if ((w & 0x3a000000) == 0x38000000) {
		/* one register, general or up to 64 bits of the vector ones */
		d->simple = !(vector && w & 1 << 23);
		d->align = d->simple ? 0 : 16;
	}
}

static enum insn_class vector_class(uint32_t w)
{
	if ((w & 0xff3e0c00) == 0x4e280800 || (w & 0xff208c00) == 0x5e000000 ||
	    (w & 0xff3e0c00) == 0x5e280800)
		return CLASS_CRYPTO; /* AES, SHA of three, of two */
	if ((w & 0xbfe0fc00) == 0x0ee0e000)
		return CLASS_CRYPTO; /* PMULL of 64 bits */
	return (w & 0x5f000000) == 0x1e000000 || (w & 0x5f000000) == 0x1f000000
		       ? CLASS_FLOAT
		       : CLASS_SIMD;
}

struct decoded decode_a64(uint64_t at, uint32_t w)
{
	struct decoded d = { .kind = NO_BRANCH, .class = CLASS_OTHER };

	switch (w >> 25 & 15) {
	case 8:
	case 9:
	case 5:
	case 13:
		d.class = CLASS_DATA;
		break;
	case 7:
	case 15:
		d.class = vector_class(w);
		break;
	case 10:
	case 11:
		branches(&d, at, w);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		loads(&d, w);
		break;
	}
	return d;
}
