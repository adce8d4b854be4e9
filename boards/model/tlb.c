// SPDX-License-Identifier: MIT
#include <string.h>

#include "tlb.h"

#define NONE UINT64_MAX /* with a mask of 0: no address */

void micro_tlb_make(struct micro_tlb *tlb, unsigned size)
{
	tlb->size = size < TLB_MICRO_MOST ? size : TLB_MICRO_MOST;
	micro_tlb_flush(tlb);
}

void micro_tlb_flush(struct micro_tlb *tlb)
{
	for (unsigned i = 0; i < TLB_MICRO_MOST; i++) {
		tlb->virt[i] = NONE;
		tlb->mask[i] = 0;
	}
	tlb->next = 0;
}

static uint8_t *hint_of(struct micro_tlb *tlb, uint64_t virt)
{
	return &tlb->hint[(virt >> 12) % sizeof(tlb->hint)];
}

int micro_tlb_find(struct micro_tlb *tlb, uint64_t virt)
{
	uint8_t *hint = hint_of(tlb, virt);

	if ((virt & tlb->mask[*hint]) == tlb->virt[*hint])
		return *hint;
	for (unsigned i = 0; i < tlb->size; i++)
		if ((virt & tlb->mask[i]) == tlb->virt[i])
			return *hint = (uint8_t)i;
	return -1;
}

int micro_tlb_fill(struct micro_tlb *tlb, uint64_t virt, uint64_t phys,
		   unsigned shift)
{
	unsigned i = tlb->next;

	tlb->next = (i + 1) % tlb->size;
	tlb->mask[i] = ~((1ull << shift) - 1);
	tlb->virt[i] = virt & tlb->mask[i];
	tlb->phys[i] = phys;
	*hint_of(tlb, virt) = (uint8_t)i;
	return (int)i;
}

void main_tlb_make(struct main_tlb *tlb, unsigned entries, unsigned ways)
{
	cache_make(&tlb->entries, &(struct cache_shape){ entries, ways, 1 });
}

bool main_tlb_has(struct main_tlb *tlb, uint64_t virt, uint64_t phys,
		  unsigned shift)
{
	/* the low bits choose the set by the virtual page alone */
	uint64_t unused, low = tlb->entries.sets - 1, page = virt >> shift;
	uint64_t above = (phys << 24 ^ (uint64_t)shift << 48) * (low + 1);

	return cache_use(&tlb->entries, above ^ page, false, &unused) ==
	       CACHE_HIT;
}
