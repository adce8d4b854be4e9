// SPDX-License-Identifier: MIT
#include "lib/sources/source.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/set/options.h"
#include "lib/set/registry.h"

const struct upmu_source *upmu_sources[UPMU_SOURCES_MAX] = {
	&upmu_source_page,  &upmu_source_read,	&upmu_source_raw,
	&upmu_source_timer, &upmu_source_clock,
};

void upmu_source_add(const struct upmu_source *source)
{
	size_t n = 0;

	while (upmu_sources[n])
		n++;
	assert(n + 1 < UPMU_SOURCES_MAX);
	upmu_sources[n] = source;
}

const struct upmu_source *upmu_source_find(const char *name)
{
	for (size_t i = 0; upmu_sources[i]; i++)
		if (!strcmp(upmu_sources[i]->name, name))
			return upmu_sources[i];
	return NULL;
}

void upmu_source_names(char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; upmu_sources[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? ", " : "", upmu_sources[i]->name);
}

static int lacks(const struct upmu_source *source, const char *what)
{
	return upmu_explain_set(-EOPNOTSUPP, "the source '%s' cannot %s",
				source->name, what);
}

int upmu_source_do_probe(const struct upmu_source *source)
{
	if (!source->probe)
		return lacks(source, "be asked");
	return source->probe();
}

int upmu_source_do_open(struct upmu *set, const struct upmu_wanted *wanted)
{
	if (!set->source->open)
		return lacks(set->source, "count");
	if ((set->flags & UPMU_OPEN_STOPPED) && !set->source->start)
		return lacks(set->source, "be started and stopped");
	return set->source->open(set, wanted);
}

void upmu_source_do_close(struct upmu *set)
{
	if (set->source->close)
		set->source->close(set);
}

int upmu_source_do_start(struct upmu *set)
{
	if (!set->source->start)
		return lacks(set->source, "be started and stopped");
	return set->source->start(set);
}

int upmu_source_do_stop(struct upmu *set)
{
	if (!set->source->stop)
		return lacks(set->source, "be started and stopped");
	return set->source->stop(set);
}

int upmu_source_do_read(struct upmu *set, struct upmu_value *values)
{
	if (!set->source->read)
		return lacks(set->source, "be read");
	return set->source->read(set, values);
}

int upmu_source_do_count(struct upmu *set, size_t position, uint64_t *count)
{
	if (!set->source->count)
		return lacks(set->source, "be read");
	return set->source->count(set, position, count);
}

int upmu_probe(size_t position, struct upmu_verdict *verdict)
{
	struct upmu_verdict full = { 0 };
	const struct upmu_source *source;
	int cancel_state;
	size_t n = 0;

	while (upmu_sources[n])
		n++;
	if (position >= n)
		return upmu_explain_done(
			upmu_explain_set(-ENOENT, "there are %zu sources", n));
	source = upmu_sources[position];
	upmu_explain_clear();
	full.source = source->name;
	full.unit = source->unit ? source->unit : "events";
	/* It opens what a set has open, if only for a moment. */
	cancel_state = upmu_registry_hold_forks();
	full.error = upmu_source_do_probe(source);
	upmu_registry_let_forks(cancel_state);
	snprintf(full.reason, sizeof(full.reason), "%s", upmu_explain());
	return upmu_result_give(verdict, &full, sizeof(full),
				UPMU_VERDICT_SIZE_1);
}
