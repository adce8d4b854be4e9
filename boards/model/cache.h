/* SPDX-License-Identifier: MIT */
/*
 * A cache: physical addresses, write-back. It drops the line that was used
 * least recently, whatever the core does.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cache_shape {
	unsigned size, ways, line; /* bytes, ways, bytes; size 0: none */
};

struct cache {
	unsigned ways, sets, shift;
	/* of each set, the line used last first: number << 2 | dirty | valid */
	uint64_t *tags;
};

enum { CACHE_VALID = 1, CACHE_DIRTY = 2 };
enum cache_result {
	CACHE_HIT,
	CACHE_DIRTIED, /* a hit, and the first store to the line */
	CACHE_FILLED,
	CACHE_WROTE_BACK,
};

void cache_make(struct cache *cache, const struct cache_shape *shape);

static inline unsigned cache_set(const struct cache *cache, uint64_t at)
{
	return (unsigned)(at >> cache->shift) & (cache->sets - 1);
}

/* Of the line at @at: CACHE_VALID, CACHE_DIRTY; 0: not there. */
unsigned cache_look(const struct cache *cache, uint64_t at);
static inline bool cache_has(const struct cache *cache, uint64_t at)
{
	return cache_look(cache, at);
}

/* The line is no longer dirty, or there; returns what it was. */
unsigned cache_clean(struct cache *cache, uint64_t at);
unsigned cache_drop(struct cache *cache, uint64_t at);
void cache_drop_all(struct cache *cache);

/* @victim: set to the line written back, with CACHE_WROTE_BACK. */
static inline enum cache_result cache_use(struct cache *cache, uint64_t at,
					  bool store, uint64_t *victim)
{
	uint64_t line = at >> cache->shift, tag = line << 2 | CACHE_VALID;
	uint64_t *set = cache->tags + cache_set(cache, at) * cache->ways;
	uint64_t dirty = store ? CACHE_DIRTY : 0, older = set[0];

	if ((older & ~(uint64_t)CACHE_DIRTY) == tag) {
		set[0] = older | dirty;
		return dirty & ~older ? CACHE_DIRTIED : CACHE_HIT;
	}
	for (unsigned way = 1; way < cache->ways; way++) {
		uint64_t here = set[way];

		set[way] = older;
		older = here;
		if ((here & ~(uint64_t)CACHE_DIRTY) == tag) {
			set[0] = here | dirty;
			return dirty & ~here ? CACHE_DIRTIED : CACHE_HIT;
		}
	}
	set[0] = tag | dirty;
	*victim = older >> 2 << cache->shift;
	return older & CACHE_DIRTY ? CACHE_WROTE_BACK : CACHE_FILLED;
}

#endif
