// SPDX-License-Identifier: MIT
#include "lib/set/set.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/perf/pmus.h"
#include "lib/set/options.h"
#include "lib/set/registry.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

/* perf_event_mmap_page with index 0: "ask the slow path". */
static const struct perf_event_mmap_page no_page;

static struct upmu *allocate(const struct upmu_wanted *wanted,
			     const struct upmu_options *options)
{
	size_t counters = wanted->size * sizeof(struct upmu_counter);
	size_t slots = wanted->size * sizeof(struct upmu_slot);
	struct upmu *set;

	set = calloc(1, sizeof(*set) + counters + slots);
	if (!set)
		return NULL;
	set->flags = options->flags;
	set->pid = options->flags & UPMU_OPEN_CPU ? -1 : options->pid;
	set->cpu = options->flags & UPMU_OPEN_CPU ? (int)options->cpu : -1;
	set->who = set->pid ? set->pid : upmu_sys_thread();
	set->counts_others = upmu_options_name_others(options);
	set->size = wanted->size;
	set->slots = (struct upmu_slot *)&set->counters[set->size];
	for (size_t i = 0; i < set->size; i++) {
		struct upmu_slot *slot = &set->slots[i];

		set->counters[i] = (struct upmu_counter){
			.page = &no_page,
			.thread = upmu_thread_key(0),
			.position = i,
		};
		strcpy(slot->name, wanted->events[i].name);
		slot->unit = wanted->events[i].unit;
	}
	return set;
}

void upmu_set_forget_pages(struct upmu *set)
{
	for (size_t i = 0; i < set->size; i++) {
		set->counters[i].page = &no_page;
		memset(set->slots[i].page, 0, sizeof(set->slots[i].page));
	}
}

static int open_with(struct upmu *set, const struct upmu_source *source,
		     const struct upmu_wanted *wanted)
{
	int ret;

	set->source = source;
	if (set->counts_others && !source->counts_others)
		return upmu_explain_set(-EOPNOTSUPP,
					"the source '%s' counts the calling "
					"thread only",
					source->name);
	ret = upmu_source_do_open(set, wanted);
	if (!ret && !(set->flags & (UPMU_OPEN_STOPPED | UPMU_OPEN_ON_EXEC)) &&
	    source->start)
		ret = source->start(set);
	if (ret)
		upmu_source_do_close(set);
	return ret;
}

/*
 * The error to tell is that of the last source that would have counted: a page
 * or a raw register that is not to be had is no reason to fail, perf's is.
 */
static int open_first(struct upmu *set, const struct upmu_wanted *wanted)
{
	char reason[UPMU_EXPLAIN_SIZE];
	int error = -EOPNOTSUPP;

	reason[0] = '\0';
	for (size_t i = 0; upmu_sources[i]; i++) {
		const struct upmu_source *source = upmu_sources[i];
		int ret;

		if (source->by_name_only)
			continue;
		if (source->is_clock && !(set->flags & UPMU_OPEN_ANY_CLOCK))
			continue;
		/* perf serves, but for want of something: nobody then takes
		 * the registers from all others. */
		if (upmu_pmus_is_want(error) && !source->is_clock)
			continue;
		ret = open_with(set, source, wanted);
		if (!ret)
			return 0;
		if (!source->tells_error)
			continue;
		error = ret;
		strcpy(reason, upmu_explain());
	}
	return upmu_explain_set(error, "%s", reason);
}

static int open_named(struct upmu *set, const char *name,
		      const struct upmu_wanted *wanted)
{
	const struct upmu_source *source = upmu_source_find(name);
	char names[128];

	if (source)
		return open_with(set, source, wanted);
	upmu_source_names(names, sizeof(names));
	return upmu_explain_set(-EINVAL, "unknown source '%s'; there are: %s",
				name, names);
}

/* Empty is as good as unset: a shell sets it so for one command. */
static const char *source_of_environment(void)
{
	const char *source = secure_getenv("UPMU_SOURCE");

	return source && source[0] ? source : NULL;
}

static int open_wanted(struct upmu **out, const struct upmu_wanted *wanted,
		       const struct upmu_options *options)
{
	const char *source = options->source;
	struct upmu *set;
	int ret;

	set = allocate(wanted, options);
	if (!set)
		return upmu_explain_set(-ENOMEM, "out of memory");
	if (!source)
		source = source_of_environment();
	ret = source ? open_named(set, source, wanted)
		     : open_first(set, wanted);
	if (ret) {
		free(set);
		return ret;
	}
	upmu_registry_add(set);
	*out = set;
	return 0;
}

static int open_events(struct upmu **out, const char *events,
		       const struct upmu_options *options)
{
	struct upmu_wanted *wanted = malloc(sizeof(*wanted));
	int ret;

	if (!wanted)
		return upmu_explain_set(-ENOMEM, "out of memory");
	ret = upmu_wanted_parse(wanted, events, options);
	if (!ret)
		ret = open_wanted(out, wanted, options);
	free(wanted);
	return ret;
}

/*
 * Then another thread may open one that wants the same counter. Less than
 * upmu_options_name_others() says: UPMU_OPEN_INHERIT and _ON_EXEC of one's own
 * thread are of a thread that opens nothing else meanwhile.
 */
static bool names_whom(const struct upmu_options *options)
{
	return options->pid || options->flags & UPMU_OPEN_CPU;
}

int upmu_set_open(struct upmu **out, const char *events,
		  const struct upmu_options *options, bool is_measured)
{
	struct upmu_options full;
	int ret, cancel_state;

	assert(out && events);
	upmu_explain_clear();
	ret = upmu_options_copy(&full, options);
	if (ret)
		return upmu_explain_done(ret);
	cancel_state = names_whom(&full) ? upmu_registry_hold_all()
					 : upmu_registry_hold_forks();
	ret = open_events(out, events, &full);
	if (!ret)
		(*out)->is_measured = is_measured;
	upmu_registry_let_forks(cancel_state);
	return upmu_explain_done(ret);
}

int upmu_open(struct upmu **out, const char *events,
	      const struct upmu_options *options)
{
	return upmu_set_open(out, events, options, false);
}

void upmu_close(struct upmu *set)
{
	int cancel_state;

	if (!set)
		return;
	cancel_state = upmu_registry_hold_forks();
	upmu_registry_remove(set);
	upmu_source_do_close(set);
	free(set);
	upmu_registry_let_forks(cancel_state);
}

size_t upmu_size(const struct upmu *set)
{
	assert(set);
	return set->size;
}

const struct upmu_counter *upmu_counter_at(const struct upmu *set,
					   size_t position)
{
	assert(set && position < set->size);
	return &set->counters[position];
}

const char *upmu_event_name(const struct upmu *set, size_t position)
{
	assert(set && position < set->size);
	return set->slots[position].name;
}

const char *upmu_unit(const struct upmu *set, size_t position)
{
	assert(set && position < set->size);
	return set->source->unit ? set->source->unit
				 : set->slots[position].unit;
}

const char *upmu_source(const struct upmu *set)
{
	assert(set);
	return set->source->name;
}
