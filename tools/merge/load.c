// SPDX-License-Identifier: MIT
/* The files of all ranks, and which of them are missing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "tools/documents.h"

#define RANKS_MOST 10000000 /* what is more was written by no launcher */

void merge_complain(struct merge *m, const char *file, const char *why)
{
	fprintf(stderr, "upmu merge: '%s': %s\n", file, why);
	json_array_append_new(m->problems, json_sprintf("%s: %s", file, why));
}

static bool is_absent_or(const json_t *report, const char *key,
			 json_int_t least, json_int_t most)
{
	const json_t *number = json_object_get(report, key);

	return !number || (json_is_integer(number) &&
			   json_integer_value(number) >= least &&
			   json_integer_value(number) <= most);
}

/* Returns NULL for a report that can be taken, or what is wrong with it. */
static const char *find_fault(const json_t *report)
{
	const json_t *format = json_object_get(report, "upmu_stat");
	const json_t *events = json_object_get(report, "events");
	size_t i;
	json_t *event;

	if (!json_is_integer(format))
		return "no report of upmu stat -j";
	if (documents_is_another(report))
		return DOCUMENTS_ANOTHER;
	if (!is_absent_or(report, "rank", 0, RANKS_MOST - 1) ||
	    !is_absent_or(report, "ranks", 1, RANKS_MOST))
		return "its rank is none";
	if (json_object_get(report, "interval_s"))
		return "intervals of -I; whole runs are wanted";
	if (!json_is_array(events) ||
	    !json_is_array(json_object_get(report, "metrics")))
		return "no whole report of upmu stat -j";
	json_array_foreach(events, i, event) if (
		!json_is_string(json_object_get(
			event,
			"event"))) return "no whole report of upmu stat -j";
	return NULL;
}

static void take(struct merge *m, const char *file, json_t *report)
{
	const json_t *number = json_object_get(report, "rank");
	const char *fault = find_fault(report);
	struct merge_rank *more, rank = { .number = -1, .report = report };
	const json_t *began = json_object_get(report, "began_unix_s");

	if (fault && fault != m->fault)
		merge_complain(m, file, fault);
	m->fault = fault;
	if (fault)
		return;
	if (number)
		rank.number = (int)json_integer_value(number);
	rank.of = (size_t)json_integer_value(json_object_get(report, "ranks"));
	rank.job = json_string_value(json_object_get(report, "job"));
	rank.began_unix_s = json_integer_value(began);
	rank.order = m->ranks;
	more = realloc(m->rank, (m->ranks + 1) * sizeof(*more));
	if (more)
		m->rank = more;
	rank.file = strdup(file);
	if (!more || !rank.file) {
		free(rank.file);
		merge_complain(m, file, strerror(ENOMEM));
		return;
	}
	json_incref(report);
	m->rank[m->ranks++] = rank;
}

static bool take_document(void *m, const char *file, json_t *report)
{
	take(m, file, report);
	return true;
}

static void complain(void *m, const char *file, const char *why)
{
	merge_complain(m, file, why);
}

void merge_read(struct merge *m, const char *path)
{
	m->fault = NULL;
	documents_read(path, &(struct documents_reader){
				     .take = take_document,
				     .complain = complain,
				     .argument = m,
			     });
}

void merge_drop(struct merge_rank *rank)
{
	free(rank->file);
	json_decref(rank->report);
}

void merge_free(struct merge *m)
{
	for (size_t i = 0; i < m->ranks; i++)
		merge_drop(&m->rank[i]);
	for (size_t i = 0; i < m->rows; i++)
		free(m->row[i].value);
	free(m->rank);
	free(m->row);
	json_decref(m->problems);
}
