// SPDX-License-Identifier: MIT
#include <string.h>

#include "tlb.h"

#define NONE UINT64_MAX /* with a mask of 0: no address */

void micro_tlb_make(struct micro_tlb *tlb, unsigned size, unsigned page_shift)
{
	tlb->shift = page_shift;
	tlb->size = size < TLB_MICRO_MOST ? size : TLB_MICRO_MOST;
	micro_tlb_flush(tlb);
}

void micro_tlb_flush(struct micro_tlb *tlb)
{
	for (unsigned i = 0; i < TLB_MICRO_MOST; i++) {
		tlb->virt[i] = NONE;
		tlb->mask[i] = 0;
	}
	tlb->next = tlb->wide = 0;
	memset(tlb->pages, 0, sizeof(tlb->pages));
}

static unsigned hash(const struct micro_tlb *tlb, uint64_t virt)
{
	return (virt >> tlb->shift) % sizeof(tlb->pages);
}

static void count(struct micro_tlb *tlb, unsigned slot, int change)
{
	if (tlb->virt[slot] == NONE)
		return;
	if (~tlb->mask[slot] >> tlb->shift)
		tlb->wide += (unsigned)change;
	else
		tlb->pages[hash(tlb, tlb->virt[slot])] += (uint8_t)change;
}

int micro_tlb_find(struct micro_tlb *tlb, uint64_t virt)
{
	unsigned page = hash(tlb, virt);
	uint8_t *hint = &tlb->hint[page];

	if ((virt & tlb->mask[*hint]) == tlb->virt[*hint])
		return *hint;
	if (!tlb->pages[page] && !tlb->wide)
		return -1;
	for (unsigned i = 0; i < tlb->size; i++)
		if ((virt & tlb->mask[i]) == tlb->virt[i])
			return *hint = (uint8_t)i;
	return -1;
}

int micro_tlb_fill(struct micro_tlb *tlb, uint64_t virt, uint64_t phys,
		   unsigned shift)
{
	unsigned i = tlb->next;

	tlb->next = i + 1 < tlb->size ? i + 1 : 0;
	count(tlb, i, -1);
	tlb->mask[i] = ~((1ull << shift) - 1);
	tlb->virt[i] = virt & tlb->mask[i];
	tlb->phys[i] = phys;
	tlb->hint[hash(tlb, virt)] = (uint8_t)i;
	count(tlb, i, 1);
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
