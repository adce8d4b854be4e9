// SPDX-License-Identifier: MIT
/*
 * Reading a set: what every source shares.
 */
#include <assert.h>
#include <errno.h>

#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/set/fast.h"
#include "lib/set/set.h"
#include "lib/sources/source.h"

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
static __attribute__((noinline)) int counts_slow(const struct upmu *set,
						 uint64_t *counts, size_t n,
						 bool needs_counter)
{
	struct upmu_value values[UPMU_EVENTS_MAX];
	int ret;

	ret = check_room(set, n);
	if (ret)
		return ret;
	if (set->source->counts && !set->source->counts(set, counts))
		return 0;
	ret = upmu_source_do_read((struct upmu *)(uintptr_t)set, values);
	if (ret)
		return ret;
	if (needs_counter && values[0].enabled_ns && !values[0].running_ns)
		return upmu_explain_no_counter();
	for (size_t i = 0; i < n; i++)
		counts[i] = values[i].count;
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
