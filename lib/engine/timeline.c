// SPDX-License-Identifier: MIT
#include "lib/engine/turns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 16 minutes of slices of 4 ms in four sets, some 5 MB at most. */
#define ROWS_MOST  (1u << 16)
#define ROWS_FIRST 32u

/* Columns of a row, and of a lane's part of it. */
enum { ROW_TURN, ROW_LANES };
enum { LANE_TIME, LANE_CYCLES, LANE_INSTRUCTIONS, LANE_COUNTS };

int engine_timeline_init(struct engine_timeline *timeline,
			 const struct engine_sets *sets, size_t lanes)
{
	/* Two of so many slices are one set's, and can be joined. */
	size_t least = 2 * (sets->turns + 1), counts = 0;

	for (size_t i = 0; i < sets->n; i++)
		if (sets->set[i].turn >= 0 && sets->set[i].n > counts)
			counts = sets->set[i].n;
	*timeline = (struct engine_timeline){
		.most = least > ROWS_FIRST ? least : ROWS_FIRST,
		.lanes = lanes,
		.counts = counts,
		.width = ROW_LANES + lanes * (LANE_COUNTS + counts),
	};
	timeline->row = malloc(timeline->most * timeline->width *
			       sizeof(*timeline->row));
	return timeline->row ? 0 : -ENOMEM;
}

void engine_timeline_free(struct engine_timeline *timeline)
{
	free(timeline->row);
	timeline->row = NULL;
}

void engine_timeline_clear(struct engine_timeline *timeline)
{
	timeline->n = 0;
}

static double *row_at(const struct engine_timeline *timeline, size_t i)
{
	return timeline->row + i * timeline->width;
}

/* Join each slice with the next one of the same turn. */
static void join_pairs(struct engine_timeline *timeline)
{
	double *open[ENGINE_TURNS_MAX] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < timeline->n; i++) {
		double *row = row_at(timeline, i);
		int turn = (int)row[ROW_TURN];
		double *first = turn < 0 ? NULL : open[turn];

		if (first) {
			for (size_t k = ROW_LANES; k < timeline->width; k++)
				first[k] += row[k];
			open[turn] = NULL;
			continue;
		}
		first = row_at(timeline, n++);
		memmove(first, row, timeline->width * sizeof(*row));
		if (turn >= 0)
			open[turn] = first;
	}
	timeline->n = n;
}

/* Where memory is short, coarser slices do as well. */
static void make_room(struct engine_timeline *timeline)
{
	size_t more = timeline->most * 2;
	double *row = NULL;

	if (timeline->n < timeline->most)
		return;
	if (more <= ROWS_MOST)
		row = realloc(timeline->row,
			      more * timeline->width * sizeof(*row));
	if (!row) {
		join_pairs(timeline);
		return;
	}
	timeline->row = row;
	timeline->most = more;
}

void engine_timeline_add(struct engine_timeline *timeline, int turn,
			 const struct engine_slice *lane)
{
	double *row;

	make_room(timeline);
	row = row_at(timeline, timeline->n++);
	row[ROW_TURN] = turn;
	row += ROW_LANES;
	for (size_t i = 0; i < timeline->lanes; i++) {
		row[LANE_TIME] = lane[i].time_ns;
		row[LANE_CYCLES] = lane[i].cycles;
		row[LANE_INSTRUCTIONS] = lane[i].instructions;
		memcpy(row + LANE_COUNTS, lane[i].count,
		       timeline->counts * sizeof(*row));
		row += LANE_COUNTS + timeline->counts;
	}
}

int engine_timeline_estimate(const struct engine_timeline *timeline, int turn,
			     size_t lane, size_t place, unsigned int without,
			     struct estimate *out)
{
	bool has_cycles = !(without >> ENGINE_BASE_CYCLES & 1);
	bool has_instructions = !(without >> ENGINE_BASE_INSTRUCTIONS & 1);
	struct estimate_slice *slice;
	int error;

	slice = malloc((timeline->n + 1) * sizeof(*slice));
	if (!slice)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->n; i++) {
		const double *row = row_at(timeline, i);
		const double *part = row + ROW_LANES +
				     lane * (LANE_COUNTS + timeline->counts);

		slice[i] = (struct estimate_slice){
			.time = part[LANE_TIME],
			.cycles = has_cycles ? part[LANE_CYCLES] : NAN,
			.instructions = has_instructions
						? part[LANE_INSTRUCTIONS]
						: NAN,
			.count = (int)row[ROW_TURN] == turn
					 ? part[LANE_COUNTS + place]
					 : NAN,
		};
	}
	error = estimate_total(slice, timeline->n, out);
	free(slice);
	return error;
}
