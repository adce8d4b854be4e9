// SPDX-License-Identifier: MIT
/* Which of the files are one run's, and which of its ranks are missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

static int by_number(const void *a, const void *b)
{
	const struct merge_rank *left = a, *right = b;
	int names = left->number < 0 ? strcmp(left->file, right->file) : 0;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	if (names)
		return names;
	return left->order < right->order ? -1 : 1;
}

/* The latest one: files of a former run are found beside those of a later. */
static const struct merge_rank *latest_of(const struct merge *m)
{
	const struct merge_rank *latest = NULL;

	for (size_t i = 0; i < m->ranks; i++) {
		const struct merge_rank *rank = &m->rank[i];

		if (!rank->of && !rank->job)
			continue;
		if (!latest || rank->began_unix_s > latest->began_unix_s)
			latest = rank;
	}
	return latest;
}

/* Why it is left out; false: it is not. */
static bool is_of_another_run(const struct merge_rank *rank,
			      const struct merge_rank *run, char *why,
			      size_t size)
{
	if (rank->of && run->of && rank->of != run->of)
		snprintf(why, size,
			 "of a run of %zu ranks, not of %zu: left out",
			 rank->of, run->of);
	else if (rank->job && run->job && strcmp(rank->job, run->job))
		snprintf(why, size, "of another run (job %s, not %s): left out",
			 rank->job, run->job);
	else
		return false;
	return true;
}

static bool is_there_already(const struct merge *m, size_t kept, int number,
			     char *why, size_t size)
{
	if (number < 0 || !kept || m->rank[kept - 1].number != number)
		return false;
	snprintf(why, size, "rank %d a second time: left out", number);
	return true;
}

/*
 * A rank that wrote nothing, and a run of fewer ranks, leave the files of a
 * former run among their own.
 */
static void leave_others_out(struct merge *m)
{
	const struct merge_rank *latest = latest_of(m);
	struct merge_rank run = latest ? *latest : (struct merge_rank){ 0 };
	size_t kept = 0;
	char why[320];

	json_incref(run.report);
	for (size_t i = 0; i < m->ranks; i++) {
		struct merge_rank rank = m->rank[i];

		if (!is_of_another_run(&rank, &run, why, sizeof(why)) &&
		    !is_there_already(m, kept, rank.number, why, sizeof(why))) {
			m->rank[kept++] = rank;
			continue;
		}
		merge_complain(m, rank.file, why);
		merge_drop(&rank);
	}
	m->ranks = kept;
	json_decref(run.report);
}

static void count_wanted(struct merge *m)
{
	for (size_t i = 0; i < m->ranks && !m->wanted; i++)
		m->wanted = m->rank[i].of;
}

/* "3, 7-9": the numbers below @end that no rank has. */
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

/* Without a number from the launcher, gaps tell. */
static void look_for_missing(struct merge *m)
{
	size_t end;

	if (!m->ranks || m->rank[m->ranks - 1].number < 0)
		return;
	end = (size_t)m->rank[m->ranks - 1].number + 1;
	tell_missing(m, end > m->wanted ? end : m->wanted);
}

/* They are in the numbers, as far as they came. */
static void look_for_failed(struct merge *m)
{
	char why[96];

	for (size_t i = 0; i < m->ranks; i++) {
		const json_t *report = m->rank[i].report;
		const char *signal =
			json_string_value(json_object_get(report, "ended_by"));

		if (signal)
			snprintf(why, sizeof(why),
				 "ended by %.40s: counted until then", signal);
		else if (json_object_get(report, "failed"))
			snprintf(why, sizeof(why), "its program failed");
		else
			continue;
		merge_complain(m, m->rank[i].file, why);
	}
}

static void note_times(struct merge *m)
{
	for (size_t i = 0; i < m->ranks; i++) {
		const struct merge_rank *rank = &m->rank[i];
		const json_t *elapsed =
			json_object_get(rank->report, "elapsed_s");
		double began_s = (double)rank->began_unix_s;
		double end_s = began_s + json_number_value(elapsed);

		if (!rank->began_unix_s)
			continue;
		if (!m->first_s || began_s < m->first_s) {
			m->first_s = began_s;
			m->first_end_s = end_s;
		}
		/* seconds are whole: several may be the first */
		if (began_s == m->first_s)
			m->first_end_s = fmax(m->first_end_s, end_s);
		m->last_s = fmax(m->last_s, began_s);
	}
}

void merge_choose_run(struct merge *m)
{
	if (!m->ranks)
		return;
	qsort(m->rank, m->ranks, sizeof(*m->rank), by_number);
	leave_others_out(m);
	count_wanted(m);
	look_for_missing(m);
	look_for_failed(m);
	note_times(m);
}
