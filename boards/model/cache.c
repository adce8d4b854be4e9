// SPDX-License-Identifier: MIT
#include <stdlib.h>

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
