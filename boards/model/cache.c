// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "cache.h"

void cache_make(struct cache *cache, const struct cache_shape *shape)
{
	cache->ways = shape->ways;
	cache->sets = shape->size / shape->ways / shape->line;
	cache->shift = (unsigned)__builtin_ctz(shape->line);
	cache->tags =
		calloc((size_t)cache->sets * cache->ways, sizeof(*cache->tags));
	if (!cache->tags)
		abort();
}

static uint64_t *find(const struct cache *cache, uint64_t at)
{
	uint64_t tag = at >> cache->shift << 2 | CACHE_VALID;
	uint64_t *set = cache->tags + cache_set(cache, at) * cache->ways;

	for (unsigned way = 0; way < cache->ways; way++)
		if ((__atomic_load_n(&set[way], __ATOMIC_RELAXED) &
		     ~(uint64_t)CACHE_DIRTY) == tag)
			return &set[way];
	return NULL;
}

unsigned cache_look(const struct cache *cache, uint64_t at)
{
	const uint64_t *tag = find(cache, at);

	return tag ? CACHE_VALID | (*tag & CACHE_DIRTY) : 0;
}

unsigned cache_clean(struct cache *cache, uint64_t at)
{
	uint64_t *tag = find(cache, at);
	unsigned was = cache_look(cache, at);

	if (tag)
		*tag &= ~(uint64_t)CACHE_DIRTY;
	return was;
}

unsigned cache_drop(struct cache *cache, uint64_t at)
{
	uint64_t *set = cache->tags + cache_set(cache, at) * cache->ways;
	uint64_t *tag = find(cache, at), *last = set + cache->ways - 1;
	unsigned was = cache_look(cache, at);

	if (!tag)
		return 0;
	memmove(tag, tag + 1, (size_t)(last - tag) * sizeof(*tag));
	*last = 0; /* the next one to be filled */
	return was;
}

void cache_drop_all(struct cache *cache)
{
	memset(cache->tags, 0,
	       sizeof(*cache->tags) * cache->sets * cache->ways);
}
