// SPDX-License-Identifier: MIT
/* Rows out of the reports, and what each came to over all ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

static int by_number(const void *a, const void *b)
{
	const struct merge_rank *left = a, *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return strcmp(left->file, right->file);
}

/* "3, 7-9": the numbers from @from on that no rank has, below @end. */
static void tell_missing(struct merge *m, size_t end)
{
	char *list = NULL;
	size_t size, n = 0, first, place = 0;
	FILE *out = open_memstream(&list, &size);

	if (!out)
		return;
	while (place < m->ranks && m->rank[place].number < 0)
		place++;
	for (size_t at = 0; at < end; at++) {
		if (place < m->ranks && m->rank[place].number == (int)at) {
			place++;
			continue;
		}
		first = at;
		while (at + 1 < end && (place >= m->ranks ||
					m->rank[place].number != (int)at + 1))
			at++;
		fprintf(out, "%s%zu", n++ ? ", " : "", first);
		if (at > first)
			fprintf(out, "-%zu", at);
	}
	fclose(out);
	if (n) {
		fprintf(stderr, "upmu merge: no report of rank %s of %zu\n",
			list, end);
		json_array_append_new(m->problems,
				      json_sprintf("no report of rank %s of "
						   "%zu",
						   list, end));
	}
	free(list);
}

/*
 * A run of fewer ranks leaves the files of a former one behind its own, and
 * writes those of its first ranks.
 */
static void leave_former_runs_out(struct merge *m)
{
	size_t kept = 0;
	char why[96];

	for (size_t i = 0; i < m->ranks && !m->wanted; i++)
		m->wanted = m->rank[i].of;
	for (size_t i = 0; i < m->ranks; i++) {
		struct merge_rank *rank = &m->rank[i];

		if (!rank->of || rank->of == m->wanted) {
			m->rank[kept++] = *rank;
			continue;
		}
		snprintf(why, sizeof(why),
			 "of a run of %zu ranks, not of %zu: left out",
			 rank->of, m->wanted);
		merge_complain(m, rank->file, why);
		merge_drop(rank);
	}
	m->ranks = kept;
}

/* Without a number from the launcher, gaps tell. */
static void look_for_missing(struct merge *m)
{
	size_t end;

	if (!m->ranks || m->rank[m->ranks - 1].number < 0)
		return;
	end = (size_t)m->rank[m->ranks - 1].number + 1;
	tell_missing(m, end > m->wanted ? end : m->wanted);
}

/* Reports hold their events in one order, mostly. */
static struct merge_row *row_of(struct merge *m, enum merge_kind kind,
				const char *name, const char *unit)
{
	struct merge_row *more;

	for (size_t i = 0; i < m->rows; i++)
		if (m->row[i].kind == kind && !strcmp(m->row[i].name, name))
			return &m->row[i];
	more = realloc(m->row, (m->rows + 1) * sizeof(*more));
	if (!more)
		return NULL;
	m->row = more;
	more = &m->row[m->rows];
	*more = (struct merge_row){ .kind = kind, .name = name, .unit = unit };
	more->value = malloc(m->ranks * sizeof(*more->value));
	if (!more->value)
		return NULL;
	for (size_t i = 0; i < m->ranks; i++)
		more->value[i] = NAN;
	m->rows++;
	return more;
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Estimates of different ranks err independently: squares add up. */
static void add_reach(struct merge_row *row, const json_t *event)
{
	double half =
		(number_of(event, "high_95") - number_of(event, "low_95")) / 2;

	if (!json_is_true(json_object_get(event, "estimated")))
		return;
	row->reach = sqrt(row->reach * row->reach + half * half);
}

static int add_value(struct merge *m, size_t place, enum merge_kind kind,
		     const char *name, const char *unit, double value,
		     const json_t *event)
{
	struct merge_row *row;

	if (!name)
		return 0;
	row = row_of(m, kind, name, unit ? unit : "");
	if (!row)
		return -1;
	/* An event that stands there twice: the first counts. */
	if (!isnan(row->value[place]) || !isfinite(value))
		return 0;
	row->value[place] = value;
	if (event && json_object_get(event, "modelled"))
		row->modelled = true;
	if (event)
		add_reach(row, event);
	return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int add_rank(struct merge *m, size_t place)
{
	static const struct {
		const char *key, *name;
	} times[] = { { "elapsed_s", "elapsed" },
		      { "user_s", "user" },
		      { "sys_s", "sys" } };
	const json_t *report = m->rank[place].report;
	size_t i, n = sizeof(times) / sizeof(times[0]);
	int error = 0;
	json_t *one;

	for (i = 0; i < n; i++)
		if (!isnan(number_of(report, times[i].key)))
			error |= add_value(m, place, MERGE_TIME, times[i].name,
					   "s", number_of(report, times[i].key),
					   NULL);
	json_array_foreach(json_object_get(report, "events"), i, one) error |=
		add_value(m, place, MERGE_EVENT, text_of(one, "event"),
			  text_of(one, "unit"), number_of(one, "value"), one);
	json_array_foreach(json_object_get(report, "metrics"), i, one) error |=
		add_value(m, place, MERGE_RATIO, text_of(one, "metric"),
			  text_of(one, "unit"), number_of(one, "value"), NULL);
	return error;
}

static void sum_up(struct merge_row *row, size_t ranks)
{
	double squares = 0;

	for (size_t i = 0; i < ranks; i++) {
		if (isnan(row->value[i]))
			continue;
		if (!row->counted || row->value[i] < row->value[row->min])
			row->min = i;
		if (!row->counted || row->value[i] > row->value[row->max])
			row->max = i;
		row->sum += row->value[i];
		row->counted++;
	}
	if (!row->counted)
		return;
	row->has_sum = row->kind != MERGE_RATIO && strcmp(row->name, "elapsed");
	row->mean = row->sum / (double)row->counted;
	for (size_t i = 0; i < ranks; i++)
		if (!isnan(row->value[i]))
			squares += pow(row->value[i] - row->mean, 2);
	if (row->counted > 1)
		row->deviation = sqrt(squares / (double)(row->counted - 1));
	row->imbalance_percent =
		row->mean > 0 ? 100 * (row->value[row->max] / row->mean - 1)
			      : NAN;
}

int merge_add_up(struct merge *m)
{
	int error = 0;

	if (!m->ranks)
		return 0;
	qsort(m->rank, m->ranks, sizeof(*m->rank), by_number);
	leave_former_runs_out(m);
	look_for_missing(m);
	for (size_t i = 0; i < m->ranks; i++)
		error |= add_rank(m, i);
	for (size_t i = 0; i < m->rows; i++)
		sum_up(&m->row[i], m->ranks);
	return error;
}
