// SPDX-License-Identifier: MIT
/*
 * Which of several ratios that are called alike one is. Rarely run: out_text.c
 * and metrics.c lie in the blocks of tools/often.ld.
 */
#include <stdio.h>
#include <string.h>

#include "stat.h"

/* On unlike cores a ratio stands there once for each kind. */
void out_write_kind(FILE *out, const struct stat_report *report,
		    const struct stat_metric *metric)
{
	const struct engine_events *events = report->events;
	int lane = metric->event < 0 ? -1 : events->event[metric->event].lane;

	if (events->lanes > 1 && lane >= 0)
		fprintf(out, "  # %s",
			upmu_kind_label(&events->machine.kinds[lane]));
}

/*
 * The event of ratio @i where another of the @n, of its kind of core, is called
 * as it: the default view and -M have a branch_pti each. Or NULL.
 */
static const char *event_of(const struct stat_report *report,
			    const struct stat_metric *metric, size_t n,
			    size_t i)
{
	const struct engine_event *events = report->events->event;
	int own = metric[i].event;

	for (size_t k = 0; own >= 0 && k < n; k++) {
		int other = metric[k].event;

		if (other >= 0 && other != own &&
		    events[other].lane == events[own].lane &&
		    !strcmp(metric[k].key, metric[i].key))
			return events[own].name;
	}
	return NULL;
}

void out_write_which(FILE *out, const struct stat_report *report,
		     const struct stat_metric *metric, size_t n, size_t i)
{
	const char *event = event_of(report, metric, n, i);

	if (metric[i].unsure)
		fputs(" (unsure)", out);
	if (event)
		fprintf(out, ", of %s", event);
	out_write_kind(out, report, &metric[i]);
}
