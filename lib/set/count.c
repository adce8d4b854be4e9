// SPDX-License-Identifier: MIT
/*
 * Reading a set: what every source shares.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/set/fast.h"
#include "lib/set/set.h"
#include "lib/sources/source.h"
#include "upmu.h"

int upmu_start(struct upmu *set)
{
	assert(set);
	return upmu_source_do_start(set);
}

int upmu_stop(struct upmu *set)
{
	assert(set);
	return upmu_source_do_stop(set);
}

static int check_room(const struct upmu *set, size_t n)
{
	if (n == set->size)
		return 0;
	return upmu_explain_set(-EINVAL,
				"room for %zu values, but the set has %zu "
				"events",
				n, set->size);
}

/* Into a copy: out-parameters stay untouched where reading fails half-way. */
int upmu_read(struct upmu *set, struct upmu_value *values, size_t n)
{
	struct upmu_value copy[UPMU_EVENTS_MAX];
	int ret;

	assert(set && values);
	ret = check_room(set, n);
	if (ret)
		return ret;
	ret = upmu_source_do_read(set, copy);
	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++)
		values[i] = copy[i];
	return 0;
}

/* @needs_counter: a 0 of events that had none until now is an error. */
static int read_counts(const struct upmu *set, uint64_t *counts,
		       bool needs_counter)
{
	struct upmu_value values[UPMU_EVENTS_MAX];
	int ret;

	ret = upmu_source_do_read((struct upmu *)(uintptr_t)set, values);
	if (ret)
		return ret;
	if (needs_counter && values[0].enabled_ns && !values[0].running_ns)
		return upmu_explain_no_counter();
	for (size_t i = 0; i < set->size; i++)
		counts[i] = values[i].count;
	return 0;
}

/* Into a copy: a source may know some of the counts when it gives up. */
static __attribute__((noinline)) int counts_slow(const struct upmu *set,
						 uint64_t *counts, size_t n,
						 bool needs_counter)
{
	uint64_t copy[UPMU_EVENTS_MAX];
	int ret;

	ret = check_room(set, n);
	if (ret)
		return ret;
	if (!set->source->counts || set->source->counts(set, copy))
		return read_counts(set, counts, needs_counter);
	memcpy(counts, copy, n * sizeof(*counts));
	return 0;
}

/* A set that is not read by registers has pages that say so at once. */
static inline int counts_of(const struct upmu *set, uint64_t *counts, size_t n,
			    bool needs_counter)
{
	assert(set && counts);
	if (n == set->size && upmu_is_opener(set->counters) &&
	    !upmu_fast_counts(set->counters, counts, n))
		return 0;
	return counts_slow(set, counts, n, needs_counter);
}

int upmu_count_all(const struct upmu *set, uint64_t *counts, size_t n)
{
	return counts_of(set, counts, n, true);
}

int upmu_set_counts(const struct upmu *set, uint64_t *counts, size_t n)
{
	return counts_of(set, counts, n, false);
}

uint64_t upmu_count_by_call(const struct upmu_counter *counter)
{
	return upmu_count(counter);
}

uint64_t upmu_inline_fallback(const struct upmu_counter *counter)
{
	struct upmu *set;
	uint64_t count;

	assert(counter);
	set = upmu_set_of(counter);
	if (upmu_source_do_count(set, counter->position, &count))
		return UPMU_NO_COUNT;
	return count;
}

struct wide {
	uint64_t high, low;
};

/* 64 x 64 bits; 32-bit ARM has no __int128. */
static struct wide multiply(uint64_t a, uint64_t b)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32;
	uint64_t b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t low = a0 * b0;
	uint64_t middle = a1 * b0 + (low >> 32);
	uint64_t carry = a0 * b1 + (uint32_t)middle;

	return (struct wide){
		.high = a1 * b1 + (middle >> 32) + (carry >> 32),
		.low = carry << 32 | (uint32_t)low,
	};
}

static struct wide add_wide(struct wide a, uint64_t b)
{
	a.low += b;
	a.high += a.low < b;
	return a;
}

/* Bit by bit; the caller saw to it that the quotient has 64 bits. */
static uint64_t divide(struct wide n, uint64_t by)
{
	uint64_t rest = n.high, quotient = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t top = rest >> 63;

		rest = rest << 1 | (n.low >> bit & 1);
		quotient <<= 1;
		if (top || rest >= by) {
			rest -= by;
			quotient |= 1;
		}
	}
	return quotient;
}

int upmu_scale(const struct upmu_value *value, uint64_t *estimate)
{
	struct wide product;

	assert(value && estimate);
	if (value->running_ns > value->enabled_ns)
		return upmu_explain_set(-EINVAL,
					"running_ns is more than enabled_ns");
	if (!value->running_ns)
		return upmu_explain_set(-ENODATA,
					"the event was never on the hardware");
	product = multiply(value->count, value->enabled_ns);
	product = add_wide(product, value->running_ns / 2);
	if (product.high >= value->running_ns)
		return upmu_explain_set(-EOVERFLOW,
					"the estimate has more than 64 bits");
	*estimate = divide(product, value->running_ns);
	return 0;
}
