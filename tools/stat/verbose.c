// SPDX-License-Identifier: MIT
/* -v: how perf was asked for each event, and what came of it. */
#include <inttypes.h>

#include "stat.h"

static void tell_event(FILE *out, const struct engine_event *event)
{
	const struct upmu_perf_event *perf = &event->perf;

	fprintf(out, " %s (type %" PRIu32 ", config 0x%" PRIx64 ")",
		event->name, perf->type, perf->config);
}

static void tell_set(FILE *out, const struct stat_place *place,
		     const struct engine_set *set)
{
	if (place->name[0])
		fprintf(out, "%s: ", place->name);
	if (set->turn == ENGINE_ALWAYS)
		fputs("counted all the time:", out);
	else
		fprintf(out, "turn %d:", set->turn + 1);
	for (size_t i = 0; i < set->n; i++)
		tell_event(out, &place->events->event[set->event[i]]);
	fputc('\n', out);
}

void stat_tell_sets(FILE *out, const struct stat_place *place, size_t places)
{
	for (size_t p = 0; p < places; p++)
		for (size_t i = 0; i < place[p].engine.sets.n; i++)
			tell_set(out, &place[p], &place[p].engine.sets.set[i]);
}

void stat_tell_readings(FILE *out, const struct stat_place *place,
			size_t places)
{
	for (size_t p = 0; p < places; p++) {
		for (size_t i = 0; i < place[p].events->n; i++) {
			const struct engine_count *count = &place[p].count[i];

			/* perf stat -v: the count and its two times */
			fprintf(out,
				"%s%s%s: %" PRIu64 " %" PRIu64 " %" PRIu64
				"%s\n",
				place[p].name, place[p].name[0] ? " " : "",
				place[p].events->event[i].name, count->raw,
				count->enabled_ns, count->running_ns,
				place[p].events->event[i].hidden
					? " (for estimates)"
					: "");
		}
	}
}
