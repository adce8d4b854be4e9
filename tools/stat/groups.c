// SPDX-License-Identifier: MIT
/* -M and -d: which ratios, and which events they want. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static bool is_chosen(const struct stat_groups *groups, const char *key)
{
	for (size_t i = 0; i < groups->n; i++)
		if (!strcmp(groups->key[i], key))
			return true;
	return false;
}

static void tell_groups(void)
{
	const char *group;

	fputs("hint: -M all or some of", stderr);
	for (size_t i = 0; (group = metric_group_at(i)); i++)
		fprintf(stderr, "%s %s", i ? "," : "", group);
	fputs("; upmu list --metrics\n", stderr);
}

static int choose(struct stat_groups *groups, const char *word, size_t length)
{
	const struct metric_row *row;
	bool found = false;

	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		if (!metric_is(row, word, length))
			continue;
		found = true;
		if (!is_chosen(groups, row->key) &&
		    groups->n < STAT_GROUPS_MOST)
			groups->key[groups->n++] = row->key;
	}
	if (found)
		return 0;
	fprintf(stderr, "upmu stat: -M: no group or ratio '%.*s'\n",
		(int)length, word);
	tell_groups();
	return -1;
}

static int choose_list(struct stat_groups *groups, const char *list)
{
	size_t length = strcspn(list, ",");

	while (!choose(groups, list, length)) {
		list += length;
		if (!*list++)
			return 0;
		length = strcspn(list, ",");
	}
	return -1;
}

int stat_groups_choose(struct stat_groups *groups,
		       const struct stat_options *options)
{
	static const char *const detailed[] = { "cache,memory", "all" };

	*groups = (struct stat_groups){ 0 };
	if (options->metrics && choose_list(groups, options->metrics))
		return -1;
	if (!options->detailed)
		return 0;
	return choose_list(groups, detailed[options->detailed > 1]);
}

/* ---- the events that they want ------------------------------------------ */

struct wanted {
	FILE *out;
	const struct upmu_core *core;
	bool unlike; /* a name has to say on which kind of core */
	size_t n;
};

/* The names alone are asked for: a formula is read whole, whatever they are. */
static double want(void *context, const char *name, size_t length)
{
	struct wanted *w = context;

	if (length == 5 && !strncmp(name, "slots", 5))
		return 0;
	fputs(w->n++ ? "," : "", w->out);
	if (w->unlike)
		fprintf(w->out, "%s/%.*s/", upmu_core_name(w->core),
			(int)length, name);
	else
		fprintf(w->out, "%.*s", (int)length, name);
	return 0;
}

char *stat_groups_events(const struct stat_groups *groups,
			 const struct upmu_machine *machine)
{
	char *text = NULL;
	size_t size;
	struct wanted w = { .out = open_memstream(&text, &size),
			    .unlike = machine->n_kinds > 1 };

	for (size_t k = 0; w.out && k < machine->n_kinds; k++) {
		const struct upmu_core_kind *kind = &machine->kinds[k];

		w.core = kind->core;
		for (size_t i = 0; i < groups->n; i++) {
			const struct metric_row *row =
				metric_for(groups->key[i], kind->core, kind);

			if (row)
				metric_value(row, want, &w);
		}
	}
	if (w.out)
		fclose(w.out);
	return text;
}

/* ---- their values -------------------------------------------------------- */

struct evaluation {
	const struct stat_report *report;
	const struct metric_row *row;
	int lane;
	int first; /* event of the formula, or -1 */
	bool unsure;
};

static bool is_called(const struct upmu_event *event, const char *name,
		      size_t length)
{
	const char *own;

	if (!event || event->modifiers || !event->row)
		return false;
	own = upmu_row_name(event->row);
	return strlen(own) == length && !strncasecmp(own, name, length);
}

static double count_of(void *context, const char *name, size_t length)
{
	struct evaluation *e = context;
	const struct engine_events *events = e->report->events;
	const struct upmu_core *core = events->machine.kinds[e->lane].core;

	if (length == 5 && !strncmp(name, "slots", 5))
		return metric_slots(e->row, core);
	for (size_t i = 0; i < events->n; i++) {
		const struct engine_event *event = &events->event[i];

		const struct engine_count *count = &e->report->count[i];

		if (event->lane != e->lane ||
		    !is_called(event->parsed, name, length) ||
		    count->state != ENGINE_COUNTED)
			continue;
		if (e->first < 0)
			e->first = (int)i;
		if (!stat_go_together(e->report, count,
				      &e->report->count[e->first]))
			return NAN;
		e->unsure |= stat_is_unsure(e->report, count);
		return stat_value(e->report, count);
	}
	return NAN;
}

size_t stat_groups_add(const struct stat_report *report, int lane,
		       struct stat_metric *out, size_t most)
{
	const struct stat_groups *groups = report->groups;
	const struct upmu_machine *machine = &report->events->machine;
	size_t n = 0;

	if (!groups || lane >= (int)machine->n_kinds)
		return 0;
	for (size_t i = 0; i < groups->n && n < most; i++) {
		const struct upmu_core_kind *kind = &machine->kinds[lane];
		struct evaluation e = { .report = report,
					.lane = lane,
					.first = -1 };
		double value;

		e.row = metric_for(groups->key[i], kind->core, kind);
		if (!e.row)
			continue;
		value = metric_value(e.row, count_of, &e);
		if (!isfinite(value))
			continue;
		out[n++] = (struct stat_metric){ .key = e.row->key,
						 .label = e.row->text,
						 .unit = e.row->unit,
						 .event = e.first,
						 .value = value,
						 .unsure = e.unsure,
						 .row = e.row };
	}
	return n;
}
