// SPDX-License-Identifier: MIT
#include "lib/set.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/sources/source.h"

/* perf_event_mmap_page with index 0: "ask the slow path". */
static const char no_page[4096] __attribute__((aligned(64)));

static struct upmu *allocate(const struct upmu_wanted *wanted)
{
	size_t counters = wanted->size * sizeof(struct upmu_counter);
	size_t slots = wanted->size * sizeof(struct upmu_slot);
	struct upmu *set;

	set = calloc(1, sizeof(*set) + counters + slots);
	if (!set)
		return NULL;
	set->size = wanted->size;
	set->slots = (struct upmu_slot *)&set->counters[set->size];
	for (size_t i = 0; i < set->size; i++) {
		struct upmu_slot *slot = &set->slots[i];

		set->counters[i] = (struct upmu_counter){
			.page = no_page,
			.thread = __builtin_thread_pointer(),
			.layout = UPMU_COUNTER_LAYOUT,
			.position = (uint32_t)i,
		};
		strcpy(slot->name, wanted->names[i]);
		for (size_t pmu = 0; pmu < UPMU_PMUS_MAX; pmu++)
			slot->fd[pmu] = -1;
	}
	return set;
}

static void close_source(struct upmu *set)
{
	if (set->source->close)
		set->source->close(set);
}

static int open_with(struct upmu *set, const struct upmu_source *source,
		     const struct upmu_wanted *wanted)
{
	int ret;

	if (!source->open)
		return -EOPNOTSUPP;
	set->source = source;
	ret = source->probe();
	if (!ret)
		ret = source->open(set, wanted);
	if (!ret && !(set->flags & UPMU_OPEN_STOPPED))
		ret = upmu_start(set);
	if (ret)
		close_source(set);
	return ret;
}

static int open_first(struct upmu *set, const struct upmu_wanted *wanted)
{
	int ret = -EOPNOTSUPP;

	for (size_t i = 0; upmu_sources[i]; i++) {
		const struct upmu_source *source = upmu_sources[i];

		if (source->unit && !(set->flags & UPMU_OPEN_ANY_CLOCK))
			continue;
		ret = open_with(set, source, wanted);
		if (!ret)
			return 0;
	}
	return ret;
}

static int open_named(struct upmu *set, const char *name,
		      const struct upmu_wanted *wanted)
{
	const struct upmu_source *source = upmu_source_find(name);

	if (!source)
		return upmu_explain_set(-EINVAL, "unknown source '%s'", name);
	return open_with(set, source, wanted);
}

int upmu_open(struct upmu **out, const char *events,
	      const struct upmu_options *options)
{
	const char *source = options ? options->source : NULL;
	struct upmu_wanted wanted;
	struct upmu *set;
	int ret;

	upmu_explain_clear();
	ret = upmu_wanted_parse(&wanted, events);
	if (ret)
		return ret;
	set = allocate(&wanted);
	if (!set)
		return upmu_explain_set(-ENOMEM, "out of memory");
	set->flags = options ? options->flags : 0;
	if (!source)
		source = secure_getenv("UPMU_SOURCE");
	ret = source ? open_named(set, source, &wanted)
		     : open_first(set, &wanted);
	if (ret) {
		free(set);
		return ret;
	}
	*out = set;
	return 0;
}

void upmu_close(struct upmu *set)
{
	if (!set)
		return;
	close_source(set);
	free(set);
}

int upmu_start(struct upmu *set)
{
	return set->source->start ? set->source->start(set) : 0;
}

int upmu_stop(struct upmu *set)
{
	return set->source->stop ? set->source->stop(set) : 0;
}

size_t upmu_size(const struct upmu *set)
{
	return set->size;
}

const struct upmu_counter *upmu_counter(const struct upmu *set, size_t position)
{
	assert(position < set->size);
	return &set->counters[position];
}

const char *upmu_event_name(const struct upmu *set, size_t position)
{
	assert(position < set->size);
	return set->slots[position].name;
}

const char *upmu_unit(const struct upmu *set, size_t position)
{
	assert(position < set->size);
	return set->source->unit ? set->source->unit : "events";
}

const char *upmu_source(const struct upmu *set)
{
	return set->source->name;
}

int upmu_read(struct upmu *set, struct upmu_value *values, size_t n)
{
	if (n != set->size)
		return upmu_explain_set(-EINVAL,
					"the set has %zu events, not %zu",
					set->size, n);
	return set->source->read(set, values);
}

int upmu_counts(const struct upmu *set, uint64_t *counts, size_t n)
{
	for (size_t i = 0; i < n && i < set->size; i++)
		counts[i] = upmu_count_slow(&set->counters[i]);
	return 0;
}

uint64_t upmu_count_slow(const struct upmu_counter *counter)
{
	struct upmu *set = upmu_set_of(counter);
	uint64_t count;

	if (set->source->count(set, counter->position, &count))
		return UPMU_NO_COUNT;
	return count;
}
