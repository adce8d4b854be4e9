// SPDX-License-Identifier: MIT
/* upmu list --metrics: the ratios that a core's events allow. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/metrics/metrics.h"
#include "list.h"

static const char *const better[] = {
	[METRIC_NEITHER] = "", [METRIC_LOW] = "low", [METRIC_HIGH] = "high"
};

/* The first of its key that holds stands for all. */
static bool is_shown(const struct metric_row *row, const struct upmu_core *core,
		     const struct upmu_core_kind *kind)
{
	return metric_for(row->key, core, kind) == row;
}

static void print_row(const struct metric_row *row,
		      const struct upmu_core *core)
{
	printf("  %-26s %-4s %s\n", row->key, row->unit, row->text);
	printf("      = %s", row->formula);
	if (row->cores[0])
		printf(", slots = %u", metric_slots(row, core));
	printf("\n      -M %s; ", row->groups);
	if (row->better)
		printf("%s is good: else see %s; ", better[row->better],
		       row->hint);
	printf("from %s\n", row->source);
}

static size_t print_core(const struct upmu_core *core,
			 const struct upmu_core_kind *kind)
{
	const struct metric_row *row;
	size_t n = 0;

	printf("%s (%s)\n\n", upmu_core_title(core), upmu_core_name(core));
	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		if (!is_shown(row, core, kind))
			continue;
		print_row(row, core);
		n++;
	}
	if (!n)
		puts("  none: its table has no two events of one");
	putchar('\n');
	return n;
}

static json_t *row_object(const struct metric_row *row,
			  const struct upmu_core *core)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i}",
			 "metric", row->key, "groups", row->groups, "formula",
			 row->formula, "unit", row->unit, "text", row->text,
			 "better", better[row->better], "hint", row->hint,
			 "source", row->source, "slots",
			 (int)metric_slots(row, core));
}

static json_t *core_object(const struct upmu_core *core,
			   const struct upmu_core_kind *kind)
{
	const struct metric_row *row;
	json_t *list = json_array();

	for (size_t i = 0; (row = metric_row_at(i)); i++)
		if (is_shown(row, core, kind))
			json_array_append_new(list, row_object(row, core));
	return json_pack("{s:s, s:o}", "core", upmu_core_name(core), "metrics",
			 list);
}

int list_metrics(const struct upmu_machine *machine, bool is_here, bool json)
{
	json_t *cores = json ? json_array() : NULL;
	size_t shown = 0;

	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &machine->kinds[i];
		const struct upmu_core *core = kind->core;

		if (!core)
			continue;
		shown++;
		if (json)
			json_array_append_new(
				cores,
				core_object(core, is_here ? kind : NULL));
		else
			print_core(core, is_here ? kind : NULL);
	}
	if (json) {
		json_dumpf(cores, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(cores);
	}
	if (shown || json)
		return 0;
	fputs("upmu list: this processor has no table of events\n"
	      "hint: upmu list --metrics --core neoverse-n1\n",
	      stderr);
	return 1;
}
