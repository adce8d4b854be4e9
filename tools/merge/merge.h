/* SPDX-License-Identifier: MIT */
/**
 * merge.h - what the files of "upmu merge" share
 *
 * Files of "upmu stat -j", one for each process of a parallel program, become
 * a table: a column for each rank, a row for each event, time and ratio.
 */
#ifndef UPMU_TOOLS_MERGE_H
#define UPMU_TOOLS_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct merge_rank {
	int number;	 /* -1: not told by its file */
	size_t of;	 /* how many ranks its run had; 0: not told */
	const char *job; /* what its launcher called the run; NULL: not told */
	json_int_t began_unix_s; /* 0: not told */
	size_t order;		 /* in which it was read */
	char *file;
	json_t *report;
};

enum merge_kind { MERGE_TIME, MERGE_EVENT, MERGE_RATIO };

/** What one event came to in each rank, and over all of them. */
struct merge_row {
	enum merge_kind kind;
	const char *name, *unit; /* of the first report that has it */
	const char *place;	 /* a CPU, a thread, a cgroup; "": the whole */
	const char *event;	 /* that a ratio stands beside; "": no ratio */
	bool has_twin;		 /* of the same name, beside another event */
	bool modelled;		 /* by an emulated board's model, in a rank */
	bool ran;		 /* an event: what it counts ran in a rank */
	double *value;		 /* one for each rank; NAN: not counted there */
	size_t counted;		 /* ranks that have a value */
	bool has_sum; /* of ratios and of wall clocks there is none */
	double sum;
	double reach; /* the sum's 95 % interval: +- that; 0: none; NAN: not
			 known, as a rank's is not */
	double mean, deviation;
	size_t min, max;	  /* places of the smallest and the largest */
	double imbalance_percent; /* 100 * (max / mean - 1) */
};

struct merge {
	struct merge_rank *rank; /* in order of their numbers */
	size_t ranks;
	size_t wanted; /* how many there should be; 0: not told */
	struct merge_row *row;
	size_t rows;
	double first_s, first_end_s, last_s; /* since 1970; 0: not told */
	size_t next;	   /* the row that comes next in most reports */
	json_t *problems;  /* strings; said to the user already */
	const char *fault; /* of the last report of this file */
};

/** Say what is wrong with a file, and remember it. */
void merge_complain(struct merge *m, const char *file, const char *why);
/** Read all reports of a file ("-": standard input). */
void merge_read(struct merge *m, const char *path);
/** Order; what is of another run, or missing, or was broken off. */
void merge_choose_run(struct merge *m);
/** Rows and sums; 0 or -1: no memory. */
int merge_add_up(struct merge *m);
void merge_drop(struct merge_rank *rank);
void merge_free(struct merge *m);

/** "3", or the file's name; @out of @size. */
char *merge_label(char *out, size_t size, const struct merge_rank *rank);
/** Its name, and what tells it from others of that name. */
char *merge_row_label(char *out, size_t size, const struct merge_row *row);

struct merge_output {
	const struct merge *merge;
	bool per_rank;
};

/** Of a struct merge_output; 0, or -1 with errno set. */
int merge_write_text(FILE *out, const void *what);
int merge_write_json(FILE *out, const void *what);

#endif
