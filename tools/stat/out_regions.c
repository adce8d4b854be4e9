// SPDX-License-Identifier: MIT
/* What a program counted of its regions, in each format. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "lib/region/region.h"
#include "stat.h"
#include "regions.h"
#include "tools/print.h"

#define REGION_WIDTH 20

static bool is_first_of(const struct stat_regions *regions, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(regions->row[k].region, regions->row[i].region))
			return false;
	return true;
}

const char *stat_regions_next(const struct stat_regions *regions,
			      const char *region)
{
	bool after = !region;

	for (size_t i = 0; i < regions->n; i++) {
		if (!is_first_of(regions, i))
			continue;
		if (after)
			return regions->row[i].region;
		after = !strcmp(regions->row[i].region, region);
	}
	return NULL;
}

/* One of another kind of core alone is none of all. */
const char *out_regions_missing(const struct engine_event *event)
{
	return stat_state_text(event->state == ENGINE_COUNTED
				       ? ENGINE_NOT_SUPPORTED
				       : event->state);
}

static double mean_of(const struct stat_region_row *row)
{
	return row->calls ? (double)row->total / (double)row->calls : 0;
}

static void write_row(FILE *out, const struct stat_region_row *row, bool named)
{
	char name[sizeof(row->event) + sizeof(row->unit) + 3];
	const char *region = named ? row->region : "";
	int left = REGION_WIDTH - (int)plain_columns(region);

	upmu_region_label(name, sizeof(name), row->event, row->unit);
	plain_write(out, region);
	fprintf(out,
		"%*s %-20s %10" PRIu64 " %15" PRIu64 " %15.1f %15" PRIu64
		" %15" PRIu64 "\n",
		left > 0 ? left : 0, "", name, row->calls, row->total,
		mean_of(row), row->min, row->max);
}

void out_regions_unread(FILE *out, const char *before,
			const struct stat_regions *regions)
{
	fprintf(out,
		"%swhat %zu process%s wrote of regions is not whole, and left "
		"out\n",
		before, regions->unread, regions->unread == 1 ? "" : "es");
}

void out_regions_missed(FILE *out, const char *before,
			const struct stat_regions *regions)
{
	fprintf(out,
		"%scalls of regions that could not be counted, and are "
		"missing: %" PRIu64 ";\nthe first: %s\n",
		before, regions->missed, regions->why);
}

static void write_notes(FILE *out, const struct stat_report *report)
{
	const struct stat_regions *regions = report->regions;

	if (regions->passes > 1)
		out_write_passes(out, report, regions->passes);
	if (regions->unread)
		out_regions_unread(out, "\n", regions);
	if (regions->missed)
		out_regions_missed(out, "\n", regions);
	if (regions->running < 0.9995)
		fprintf(out,
			"\nthe events were counted in %.1f %% of the time "
			"only: others use the counters too,\nand what came in "
			"the rest is missing\n",
			100 * regions->running);
}

void out_regions_text(FILE *out, const struct stat_report *report)
{
	const struct stat_regions *regions = report->regions;
	const char *region = NULL;

	if (!regions->n && !regions->unread && !regions->missed) {
		fputs("the program marked no region\n"
		      "hint: regions begin by upmu_region_begin(3) of libupmu, "
		      "and are written when the program exits\n",
		      out);
		return;
	}
	fprintf(out, "%-20s %-20s %10s %15s %15s %15s %15s\n", "region",
		"event", "calls", "total", "mean", "min", "max");
	while ((region = stat_regions_next(regions, region))) {
		bool named = true;

		for (size_t i = 0; i < regions->n; i++) {
			if (strcmp(regions->row[i].region, region))
				continue;
			write_row(out, &regions->row[i], named);
			named = false;
		}
	}
	for (size_t i = 0; i < regions->n_missing; i++)
		fprintf(out, "%-20s %-20s %10s\n", "",
			regions->missing[i]->name,
			out_regions_missing(regions->missing[i]));
	write_notes(out, report);
}

static json_t *make_event(const struct stat_region_row *row)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:f, s:I, s:I, s:I}", "event",
			 row->event, "unit", row->unit, "calls",
			 (json_int_t)row->calls, "total",
			 (json_int_t)row->total, "mean", mean_of(row), "min",
			 (json_int_t)row->min, "max", (json_int_t)row->max,
			 "overhead", (json_int_t)row->overhead);
}

static void add_trouble(json_t *out, const struct stat_regions *regions)
{
	if (regions->unread)
		json_object_set_new(out, "unread",
				    json_integer((json_int_t)regions->unread));
	if (!regions->missed)
		return;
	json_object_set_new(out, "missed_calls",
			    json_integer((json_int_t)regions->missed));
	json_object_set_new(out, "missed_why", json_string(regions->why));
}

json_t *out_regions_json(const struct stat_report *report)
{
	const struct stat_regions *regions = report->regions;
	json_t *list = json_array(), *missing = json_array(), *out;
	const char *region = NULL;

	while ((region = stat_regions_next(regions, region))) {
		json_t *events = json_array();

		for (size_t i = 0; i < regions->n; i++)
			if (!strcmp(regions->row[i].region, region))
				json_array_append_new(
					events, make_event(&regions->row[i]));
		json_array_append_new(list,
				      json_pack("{s:s, s:o}", "region", region,
						"events", events));
	}
	out = json_pack("{s:i, s:f, s:o}", "passes", (int)report->passes,
			"running_percent", 100 * regions->running, "regions",
			list);
	for (size_t i = 0; i < regions->n_missing; i++)
		json_array_append_new(missing,
				      json_string(regions->missing[i]->name));
	if (json_array_size(missing))
		json_object_set(out, "not_counted", missing);
	json_decref(missing);
	add_trouble(out, regions);
	return out;
}
