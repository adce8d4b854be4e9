// SPDX-License-Identifier: MIT
#include <string.h>

#include "tlb.h"

#define NONE UINT64_MAX

void micro_tlb_make(struct micro_tlb *tlb, unsigned size)
{
	tlb->size = size < TLB_MICRO_MOST ? size : TLB_MICRO_MOST;
	micro_tlb_flush(tlb);
}

void micro_tlb_flush(struct micro_tlb *tlb)
{
	memset(tlb->virt, 0xff, sizeof(tlb->virt));
	tlb->next = 0;
}

int micro_tlb_find(struct micro_tlb *tlb, uint64_t virt)
{
	uint8_t *hint = &tlb->hint[virt % sizeof(tlb->hint)];

	if (tlb->virt[*hint] == virt)
		return *hint;
	for (unsigned i = 0; i < tlb->size; i++)
		if (tlb->virt[i] == virt)
			return *hint = (uint8_t)i;
	return -1;
}

int micro_tlb_fill(struct micro_tlb *tlb, uint64_t virt, uint64_t phys,
		   uint64_t *gone)
{
	unsigned i = tlb->next;

	tlb->next = (i + 1) % tlb->size;
	*gone = tlb->virt[i];
	tlb->virt[i] = virt;
	tlb->phys[i] = phys;
	tlb->hint[virt % sizeof(tlb->hint)] = (uint8_t)i;
	return (int)i;
}

void main_tlb_make(struct main_tlb *tlb, unsigned entries, unsigned ways)
{
	cache_make(&tlb->entries, &(struct cache_shape){ entries, ways, 1 });
}

void main_tlb_flush(struct main_tlb *tlb)
{
	const struct cache *entries = &tlb->entries;

	memset(entries->tags, 0,
	       sizeof(*entries->tags) * entries->sets * entries->ways);
}

bool main_tlb_has(struct main_tlb *tlb, uint64_t virt, uint64_t phys)
{
	uint64_t unused, sets = tlb->entries.sets;
	/* the low bits choose the set by the virtual page alone */
	uint64_t page = (phys << 24 ^ virt / sets) * sets + virt % sets;

	return cache_use(&tlb->entries, page, false, &unused) == CACHE_HIT;
}
