/* SPDX-License-Identifier: MIT */
/**
 * multiplex_turns.h - made-up programs under the turns of "upmu stat"
 *
 * lib/engine's own turns, timeline and estimates, on a clock and counters that
 * are made up too.
 */
#ifndef UPMU_BENCH_MULTIPLEX_TURNS_H
#define UPMU_BENCH_MULTIPLEX_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trial_options {
	size_t kind, runs, sets;
	uint64_t seed; /* 0: that of the tests */
	double slice_ms;
	double switch_us;	   /* of processor time that a switch takes */
	double low_s, high_s;	   /* 0: as long as the kind is */
	bool without_instructions; /* none to spare for them */
	double show_ms;		   /* from here on print each slice; 0: none */
};

/** What many runs of one kind say; in each run every set is looked at. */
struct trial {
	double perf;	/* relative error of linear scaling, in perf's turns */
	double linear;	/* of linear scaling, in ours */
	double upmu;	/* all three: root mean square */
	double held;	/* share of intervals with an end that held the truth */
	double width;	/* mean half width of these, relative */
	double wide;	/* that to the width which had held 95 of 100 */
	double unknown; /* share of intervals without an end */
	double cost;	/* share of the time that switching took */
	size_t looked;
	size_t empty;	   /* intervals of width 0, though much was not seen */
	size_t apart;	   /* intervals without what linear scaling says */
	size_t apart_held; /* of these, with the truth */
};

void trial_run(const struct trial_options *options, struct trial *out);

#endif
