// SPDX-License-Identifier: MIT
#include "decode.h"

#define PC 15
#define LR 14
#define SP 13

static void direct(struct decoded *d, uint64_t at, int64_t offset,
		   bool conditional)
{
	d->kind = DIRECT;
	d->conditional = conditional;
	d->target = (uint32_t)(at + 4 + (uint64_t)offset);
}

static enum insn_class class_of_narrow(uint32_t h)
{
	if (h >> 10 <= 0x10 || (h >> 10 == 0x11 && (h >> 8 & 3) != 3))
		return CLASS_DATA; /* ADD, LSL, MOV, CMP */
	switch (h >> 8) {
	case 0xb0: /* ADD SP */
	case 0xb2: /* SXTB */
	case 0xba: /* REV */
		return CLASS_DATA;
	}
	return h >> 12 == 0xa ? CLASS_DATA : CLASS_OTHER; /* ADR */
}

static void narrow(struct decoded *d, uint64_t at, uint32_t h)
{
	d->class = class_of_narrow(h);
	d->simple = (h & 0xf600) != 0xb400 && (h & 0xf000) != 0xc000;
	if ((h & 0xf000) == 0xd000 && (h >> 8 & 15) < 14) {
		direct(d, at, decode_signed(h, 0, 8) * 2, true);
	} else if ((h & 0xf800) == 0xe000) {
		direct(d, at, decode_signed(h, 0, 11) * 2, false);
	} else if ((h & 0xf500) == 0xb100) {
		direct(d, at, (h >> 3 & 0x40) | (h >> 2 & 0x3e), true);
	} else if ((h & 0xff87) == 0x4700) {
		d->kind = (h >> 3 & 15) == LR ? RETURN : INDIRECT;
	} else if ((h & 0xff87) == 0x4780) {
		d->kind = INDIRECT_CALL;
	} else if ((h & 0xff00) == 0xbd00) {
		d->kind = RETURN;
	} else if ((h & 0xff87) == 0x4687) {
		d->kind = (h >> 3 & 15) == LR ? RETURN : INDIRECT;
	} else if ((h & 0xff87) == 0x4487) {
		d->kind = INDIRECT;
	}
}

/* The offset of B.W, BL and BLX. */
static int64_t far_offset(uint32_t first, uint32_t second)
{
	uint32_t s = first >> 10 & 1;
	uint32_t i1 = !((second >> 13 & 1) ^ s), i2 = !((second >> 11 & 1) ^ s);

	return decode_signed(s << 24 | i1 << 23 | i2 << 22 |
				     (first & 0x3ff) << 12 |
				     (second & 0x7ff) << 1,
			     0, 25);
}

static void branches(struct decoded *d, uint64_t at, uint32_t first,
		     uint32_t second)
{
	uint32_t s = first >> 10 & 1;

	switch (second & 0x5000) {
	case 0x0000:
		if (first == 0xf3de && (second & 0xff00) == 0x8f00)
			d->kind = EXCEPTION_RETURN;
		else if (first == 0xf3bf && (second & 0xf0) == 0x60)
			d->class = CLASS_ISB;
		else if (first == 0xf3bf && (second & 0xf0) == 0x40)
			d->class = CLASS_DSB;
		else if (first == 0xf3bf && (second & 0xf0) == 0x50)
			d->class = CLASS_DMB;
		else if ((first >> 7 & 7) != 7)
			direct(d, at,
			       decode_signed(s << 20 | (second & 0x800) << 8 |
						     (second & 0x2000) << 5 |
						     (first & 0x3f) << 12 |
						     (second & 0x7ff) << 1,
					     0, 21),
			       true);
		break;
	case 0x1000:
		direct(d, at, far_offset(first, second), false);
		break;
	case 0x5000:
		direct(d, at, far_offset(first, second), false);
		d->kind = CALL;
		break;
	case 0x4000:
		direct(d, at & ~3ull, far_offset(first, second & ~1u), false);
		d->kind = CALL;
		break;
	}
}

/* LDREXB, LDREXH, LDREXD, LDA, LDAEX, and the stores */
static void synchronise(struct decoded *d, uint32_t first, uint32_t second)
{
	bool load = first & 0x10;
	unsigned op = second >> 4 & 15; /* 4 to 7; 8 on: ordered; 12 on: both */

	if (op < 4)
		return; /* TBB, TBH */
	if (op < 8 || op >= 12) {
		if (load)
			d->class = CLASS_EXCLUSIVE_LOAD;
		else
			d->use = STORES_ONLY;
	}
	if (op >= 8)
		d->also = load ? CLASS_ACQUIRE : CLASS_RELEASE;
}

static void loads(struct decoded *d, uint32_t first, uint32_t second)
{
	unsigned base = first & 15;

	if ((first & 0xff10) == 0xf900) {
		d->align = decode_element(second, first & 0x80);
		return;
	}
	d->simple = (first & 0xfe00) == 0xf800;
	if (((first & 0xffd0) == 0xe890 || (first & 0xffd0) == 0xe910) &&
	    second >> 15)
		d->kind = base == SP && first & 0x20 ? RETURN : INDIRECT;
	else if (((first & 0xffd0) == 0xe990 || (first & 0xffd0) == 0xe810) &&
		 second == 0xc000)
		d->kind = EXCEPTION_RETURN;
	else if (((first & 0xfff0) == 0xf850 || (first & 0xfff0) == 0xf8d0 ||
		  first == 0xf85f || first == 0xf8df) &&
		 second >> 12 == PC)
		d->kind = first == 0xf85d && (second & 0xf00) == 0xb00
				  ? RETURN
				  : INDIRECT;
	else if ((first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000)
		d->kind = INDIRECT;
	else if ((first & 0xfff0) == 0xe850 && (second & 0xf00) == 0xf00)
		d->class = CLASS_EXCLUSIVE_LOAD;
	else if ((first & 0xfff0) == 0xe840)
		d->use = STORES_ONLY;
	else if ((first & 0xffe0) == 0xe8c0)
		synchronise(d, first, second);
	else if ((first & 0xfe00) == 0xec00 || (first & 0xfe40) == 0xe840)
		d->align = 4; /* VLDR, VLDM, LDRD */
}

static enum insn_class class_of_wide(uint32_t first, uint32_t second)
{
	if (first >> 9 == 0x75 || first >> 9 == 0x7d)
		return CLASS_DATA; /* of registers; MUL, UDIV */
	if (first >> 11 == 0x1e && !(second >> 15))
		return CLASS_DATA; /* of immediates */
	if ((first & 0xef00) == 0xef00)
		return CLASS_SIMD;
	if (first >> 8 == 0xee && (second >> 9 & 7) == 5 && !(second & 0x10))
		return CLASS_FLOAT;
	return CLASS_OTHER;
}

struct decoded decode_t32(uint64_t at, uint32_t word, unsigned size)
{
	struct decoded d = { .kind = NO_BRANCH, .class = CLASS_OTHER };
	uint32_t first = word & 0xffff, second = word >> 16;

	if (size == 4) {
		d.class = class_of_wide(first, second);
		d.of_pmu =
			first >> 12 == 14 && decode_pmu32(first << 16 | second);
	}
	if (size == 2)
		narrow(&d, at, first);
	else if ((first & 0xf800) == 0xf000 && second & 0x8000)
		branches(&d, at, first, second);
	else
		loads(&d, first, second);
	if (d.kind != NO_BRANCH)
		d.class = CLASS_OTHER;
	return d;
}
