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
	uint64_t virt[TLB_MICRO_MOST], phys[TLB_MICRO_MOST]; /* pages */
	uint8_t hint[256];
};

struct main_tlb {
	struct cache entries;
};

void micro_tlb_make(struct micro_tlb *tlb, unsigned size);
void micro_tlb_flush(struct micro_tlb *tlb);
/* The slot of page @virt, or -1. */
int micro_tlb_find(struct micro_tlb *tlb, uint64_t virt);
/* Returns the slot, sets @gone to the page that had to go. */
int micro_tlb_fill(struct micro_tlb *tlb, uint64_t virt, uint64_t phys,
		   uint64_t *gone);

void main_tlb_make(struct main_tlb *tlb, unsigned entries, unsigned ways);
void main_tlb_flush(struct main_tlb *tlb);
bool main_tlb_has(struct main_tlb *tlb, uint64_t virt, uint64_t phys);

#endif
