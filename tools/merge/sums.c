// SPDX-License-Identifier: MIT
/* Rows out of the reports, and what each came to over all ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

static bool is_same(const struct merge_row *a, const struct merge_row *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name) &&
	       !strcmp(a->place, b->place) && !strcmp(a->event, b->event);
}

/* Reports hold their events in one order, mostly. */
static struct merge_row *find_row(struct merge *m, const struct merge_row *like)
{
	for (size_t n = 0; n < m->rows; n++) {
		size_t i = (m->next + n) % m->rows;

		if (is_same(&m->row[i], like)) {
			m->next = i + 1;
			return &m->row[i];
		}
	}
	return NULL;
}

static struct merge_row *row_of(struct merge *m, const struct merge_row *like)
{
	struct merge_row *more = find_row(m, like);

	if (more)
		return more;
	more = realloc(m->row, (m->rows + 1) * sizeof(*more));
	if (!more)
		return NULL;
	m->row = more;
	more = &m->row[m->rows];
	*more = *like;
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

/* Nothing ran there that it could have counted: of that rank it is 0. */
static double count_of(const json_t *event)
{
	return json_is_true(json_object_get(event, "idle"))
		       ? 0
		       : number_of(event, "value");
}

/* The row that has the value now, or NULL. */
static struct merge_row *put_value(struct merge_row *row, size_t rank,
				   double value)
{
	/* An event that stands there twice: the first counts. */
	if (!isnan(row->value[rank]) || !isfinite(value))
		return NULL;
	row->value[rank] = value;
	return row;
}

static int add_time(struct merge *m, size_t rank, const char *key,
		    const char *name)
{
	double value = number_of(m->rank[rank].report, key);
	struct merge_row *row;

	if (isnan(value))
		return 0;
	row = row_of(m, &(struct merge_row){ .kind = MERGE_TIME,
					     .name = name,
					     .unit = "s",
					     .place = "",
					     .event = "" });
	if (row)
		put_value(row, rank, value);
	return row ? 0 : -1;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int add_event(struct merge *m, size_t rank, const json_t *event)
{
	struct merge_row *row =
		row_of(m, &(struct merge_row){ .kind = MERGE_EVENT,
					       .name = text_of(event, "event"),
					       .unit = text_of(event, "unit"),
					       .place = text_of(event, "place"),
					       .event = "" });

	if (!row)
		return -1;
	row = put_value(row, rank, count_of(event));
	if (!row)
		return 0;
	row->ran |= json_is_number(json_object_get(event, "value"));
	if (json_object_get(event, "modelled"))
		row->modelled = true;
	add_reach(row, event);
	return 0;
}

/* Unlike cores have one each, of the same name. */
static int add_ratio(struct merge *m, size_t rank, const json_t *ratio)
{
	struct merge_row *row = row_of(
		m, &(struct merge_row){ .kind = MERGE_RATIO,
					.name = text_of(ratio, "metric"),
					.unit = text_of(ratio, "unit"),
					.place = text_of(ratio, "place"),
					.event = text_of(ratio, "event") });

	if (row)
		put_value(row, rank, number_of(ratio, "value"));
	return row ? 0 : -1;
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
		error |= add_time(m, place, times[i].key, times[i].name);
	json_array_foreach(json_object_get(report, "events"), i, one) error |=
		add_event(m, place, one);
	json_array_foreach(json_object_get(report, "metrics"), i, one) error |=
		add_ratio(m, place, one);
	return error;
}

static void sum_up(struct merge_row *row, size_t ranks)
{
	double squares = 0;

	/* Of what ran in no rank stat says "not counted", so do we. */
	for (size_t i = 0; row->kind == MERGE_EVENT && !row->ran && i < ranks;
	     i++)
		row->value[i] = NAN;
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
	/* Of equal values rounding puts it a hair above or below them all. */
	row->mean = fmin(
		fmax(row->sum / (double)row->counted, row->value[row->min]),
		row->value[row->max]);
	for (size_t i = 0; i < ranks; i++)
		if (!isnan(row->value[i]))
			squares += pow(row->value[i] - row->mean, 2);
	if (row->counted > 1)
		row->deviation = sqrt(squares / (double)(row->counted - 1));
	row->imbalance_percent =
		row->mean > 0 ? 100 * (row->value[row->max] / row->mean - 1)
			      : NAN;
}

static bool has_twin(const struct merge *m, const struct merge_row *row)
{
	for (size_t i = 0; i < m->rows; i++)
		if (&m->row[i] != row && m->row[i].kind == row->kind &&
		    !strcmp(m->row[i].name, row->name) &&
		    !strcmp(m->row[i].place, row->place))
			return true;
	return false;
}

int merge_add_up(struct merge *m)
{
	int error = 0;

	for (size_t i = 0; i < m->ranks; i++)
		error |= add_rank(m, i);
	for (size_t i = 0; i < m->rows; i++) {
		m->row[i].has_twin = has_twin(m, &m->row[i]);
		sum_up(&m->row[i], m->ranks);
	}
	return error;
}
