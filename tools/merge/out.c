// SPDX-License-Identifier: MIT
/* What upmu merge prints; docs/schema/merge.schema.json is JSON's contract. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "merge.h"
#include "tools/print.h"
#include "tools/version.h"

#define SCHEMA_VERSION 1
#define CELL	       48
#define LABEL	       192
#define APART_S	       60 /* clocks of different hosts differ, too */

char *merge_label(char *out, size_t size, const struct merge_rank *rank)
{
	if (rank->number >= 0)
		snprintf(out, size, "%d", rank->number);
	else
		snprintf(out, size, "%s", rank->file);
	return plain(out);
}

char *merge_row_label(char *out, size_t size, const struct merge_row *row)
{
	snprintf(out, size, "%s%s%s%s%s", row->name, row->place[0] ? " " : "",
		 row->place, row->has_twin ? " " : "",
		 row->has_twin ? row->event : "");
	return plain(out);
}

/* ns are printed as seconds; the mean of 0 and 1 is not 1. */
static const char *put_value(char *out, const struct merge_row *row,
			     double value)
{
	if (!isfinite(value))
		snprintf(out, CELL, "-");
	else if (!strcmp(row->unit, "ns"))
		snprintf(out, CELL, "%.6f s", value / 1e9);
	else if (row->kind == MERGE_TIME)
		snprintf(out, CELL, "%.6f s", value);
	else if (row->kind == MERGE_RATIO)
		snprintf(out, CELL, "%.3f", value);
	else if (value < 1000 && value != round(value))
		snprintf(out, CELL, "%.1f", value);
	else
		digits_grouped(out, value);
	return out;
}

static void put_left(FILE *out, int width, const char *text)
{
	fprintf(out, "%s%*s", text, width - (int)plain_columns(text), "");
}

/* What names take: of events and times, of ranks. */
struct widths {
	int row, rank;
};

static int wider(int width, const char *text)
{
	int columns = (int)plain_columns(text);

	return columns > width ? columns : width;
}

static struct widths measure(const struct merge *m)
{
	struct widths widths = { .row = 22, .rank = 5 };
	char label[LABEL];

	for (size_t i = 0; i < m->rows; i++)
		widths.row =
			wider(widths.row, merge_row_label(label, sizeof(label),
							  &m->row[i]));
	for (size_t i = 0; i < m->ranks; i++)
		widths.rank =
			wider(widths.rank,
			      merge_label(label, sizeof(label), &m->rank[i]));
	return widths;
}

static void put_extreme(FILE *out, const struct merge *m, int width,
			const struct merge_row *row, size_t place)
{
	char value[CELL], label[LABEL];

	fprintf(out, " %16s @", put_value(value, row, row->value[place]));
	put_left(out, width,
		 merge_label(label, sizeof(label), &m->rank[place]));
}

static void put_row(FILE *out, const struct merge *m, struct widths width,
		    const struct merge_row *row)
{
	char text[CELL], label[LABEL];

	put_left(out, width.row, merge_row_label(label, sizeof(label), row));
	if (!row->counted) {
		fprintf(out, " %18s\n", "<not counted>");
		return;
	}
	fprintf(out, " %18s",
		row->has_sum ? put_value(text, row, row->sum) : "-");
	fprintf(out, " %16s", put_value(text, row, row->mean));
	put_extreme(out, m, width.rank, row, row->min);
	put_extreme(out, m, width.rank, row, row->max);
	if (isfinite(row->imbalance_percent))
		fprintf(out, " %7.1f %%", row->imbalance_percent);
	if (row->has_sum && isnan(row->reach))
		fputs("  sum +- unknown", out);
	else if (row->reach > 0 && row->sum > 0)
		fprintf(out, "  sum +- %.2f %%", 100 * row->reach / row->sum);
	if (row->counted < m->ranks)
		fprintf(out, "  of %zu rank%s", row->counted,
			row->counted == 1 ? "" : "s");
	if (row->modelled)
		fputs("  modelled", out);
	fputc('\n', out);
}

static int width_of(const char *label)
{
	size_t length = strlen(label);

	return length > 16 ? (int)length : 16;
}

static void put_ranks(FILE *out, const struct merge *m, int width)
{
	char text[CELL], label[LABEL];

	width = width > 12 ? width : 12;
	fprintf(out, "\n%-*s", width, "rank");
	for (size_t i = 0; i < m->rows; i++)
		fprintf(out, " %16s",
			merge_row_label(label, sizeof(label), &m->row[i]));
	fputc('\n', out);
	for (size_t place = 0; place < m->ranks; place++) {
		put_left(out, width,
			 merge_label(label, sizeof(label), &m->rank[place]));
		for (size_t i = 0; i < m->rows; i++)
			fprintf(out, " %*s",
				width_of(merge_row_label(label, sizeof(label),
							 &m->row[i])),
				put_value(text, &m->row[i],
					  m->row[i].value[place]));
		fputc('\n', out);
	}
}

/* Ranks of one run overlap. */
static void put_times(FILE *out, const struct merge *m)
{
	time_t first = (time_t)m->first_s, last = (time_t)m->last_s;
	char from[32], to[32];
	struct tm local;

	if (m->last_s < m->first_end_s + APART_S ||
	    !strftime(from, sizeof(from), "%F %T",
		      localtime_r(&first, &local)) ||
	    !strftime(to, sizeof(to), "%F %T", localtime_r(&last, &local)))
		return;
	fprintf(out, ", begun from %s to %s", from, to);
}

int merge_write_text(FILE *out, const void *what)
{
	const struct merge_output *o = what;
	const struct merge *m = o->merge;
	const struct widths width = measure(m);

	fprintf(out, "%zu rank%s", m->ranks, m->ranks == 1 ? "" : "s");
	if (m->wanted > m->ranks)
		fprintf(out, " of %zu", m->wanted);
	put_times(out, m);
	fprintf(out, "\n\n%-*s %18s %16s %16s %-*s %16s %-*s %9s\n", width.row,
		"", "sum", "mean", "smallest", width.rank + 1, "@rank",
		"largest", width.rank + 1, "@rank", "imbalance");
	for (size_t i = 0; i < m->rows; i++)
		put_row(out, m, width, &m->row[i]);
	if (o->per_rank)
		put_ranks(out, m, width.rank);
	return ferror(out) ? -1 : 0;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *make_row(const struct merge *m, const struct merge_row *row)
{
	static const char *const kind[] = { "time", "event", "ratio" };
	json_t *values = json_array(), *out;

	for (size_t i = 0; i < m->ranks; i++)
		json_array_append_new(values, number(row->value[i]));
	out = json_pack("{s:s, s:s, s:s, s:I, s:o}", "name", row->name, "kind",
			kind[row->kind], "unit", row->unit, "counted",
			(json_int_t)row->counted, "values", values);
	if (row->place[0])
		json_object_set_new(out, "place", json_string(row->place));
	if (row->event[0])
		json_object_set_new(out, "event", json_string(row->event));
	if (row->modelled)
		json_object_set_new(out, "modelled", json_true());
	if (!row->counted)
		return out;
	if (row->has_sum)
		json_object_set_new(out, "sum", number(row->sum));
	if (row->reach > 0 || isnan(row->reach))
		json_object_set_new(out, "sum_reach_95", number(row->reach));
	json_object_set_new(out, "mean", number(row->mean));
	json_object_set_new(out, "deviation", number(row->deviation));
	json_object_set_new(out, "smallest", number(row->value[row->min]));
	json_object_set_new(out, "smallest_at",
			    json_integer((json_int_t)row->min));
	json_object_set_new(out, "largest", number(row->value[row->max]));
	json_object_set_new(out, "largest_at",
			    json_integer((json_int_t)row->max));
	json_object_set_new(out, "imbalance_percent",
			    number(row->imbalance_percent));
	return out;
}

static json_t *make_rank(const struct merge_rank *rank)
{
	json_t *file = json_string(rank->file);
	json_t *out = json_pack("{s:o}", "file", file ? file : json_null());
	json_t *host = json_object_get(json_object_get(rank->report, "machine"),
				       "host");

	if (rank->number >= 0)
		json_object_set_new(out, "rank", json_integer(rank->number));
	if (rank->began_unix_s)
		json_object_set_new(out, "began_unix_s",
				    json_integer(rank->began_unix_s));
	if (json_is_string(host))
		json_object_set(out, "host", host);
	return out;
}

int merge_write_json(FILE *out, const void *what)
{
	const struct merge_output *o = what;
	const struct merge *m = o->merge;
	json_t *ranks = json_array(), *rows = json_array(), *root;
	int error;

	for (size_t i = 0; i < m->ranks; i++)
		json_array_append_new(ranks, make_rank(&m->rank[i]));
	for (size_t i = 0; i < m->rows; i++)
		json_array_append_new(rows, make_row(m, &m->row[i]));
	root = json_pack("{s:i, s:s, s:I, s:o, s:o, s:O}", "upmu_merge",
			 SCHEMA_VERSION, "version", UPMU_VERSION_TEXT,
			 "ranks_wanted",
			 (json_int_t)(m->wanted ? m->wanted : m->ranks),
			 "ranks", ranks, "rows", rows, "problems", m->problems);
	error = json_dumpf(root, out,
			   JSON_REAL_PRECISION(15) | JSON_INDENT(1)) ||
		fputc('\n', out) == EOF;
	json_decref(root);
	return error || ferror(out) ? -1 : 0;
}
