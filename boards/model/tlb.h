/* SPDX-License-Identifier: MIT */
/*
 * Translation look-aside buffers. The micro TLB is fully associative and
 * drops its oldest entry. In the main TLB a page is a pair, virtual and
 * physical: so a page that was mapped anew is another one, and no address
 * space numbers are needed.
 */
#ifndef MODEL_TLB_H
#define MODEL_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"

#define TLB_MICRO_MOST 64

struct micro_tlb {
	unsigned size, next;
	unsigned shift; /* log2 of the kernel's pages */
	unsigned wide;	/* entries that are more than one page */
	/* a page or a block of pages: where it begins, the bits that tell */
	uint64_t virt[TLB_MICRO_MOST], mask[TLB_MICRO_MOST];
	uint64_t phys[TLB_MICRO_MOST];
	/* by a page's number: how many entries are such pages, a likely slot */
	uint8_t pages[256], hint[256];
};

struct main_tlb {
	struct cache entries;
};

void micro_tlb_make(struct micro_tlb *tlb, unsigned size, unsigned page_shift);
void micro_tlb_flush(struct micro_tlb *tlb);
/* The slot of address @virt, or -1. */
int micro_tlb_find(struct micro_tlb *tlb, uint64_t virt);
/* The slot that is filled next: what it holds now will be gone. */
static inline int micro_tlb_next(const struct micro_tlb *tlb)
{
	return (int)tlb->next;
}
/* Returns the slot. @shift: log2 of what is mapped as one. */
int micro_tlb_fill(struct micro_tlb *tlb, uint64_t virt, uint64_t phys,
		   unsigned shift);

void main_tlb_make(struct main_tlb *tlb, unsigned entries, unsigned ways);
bool main_tlb_has(struct main_tlb *tlb, uint64_t virt, uint64_t phys,
		  unsigned shift);

#endif
