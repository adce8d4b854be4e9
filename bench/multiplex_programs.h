/* SPDX-License-Identifier: MIT */
/**
 * multiplex_programs.h - made-up programs to try multiplexing on
 *
 * A program is a list of milliseconds, each with its instructions and its
 * count of one event; cycles are a million in each. Everything follows from
 * the seed.
 */
#ifndef UPMU_BENCH_MULTIPLEX_PROGRAMS_H
#define UPMU_BENCH_MULTIPLEX_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/engine/estimate.h"

enum program_kind {
	PROGRAM_UNIFORM, /* the same all the time, but for noise */
	PROGRAM_TWO,	 /* two long phases */
	PROGRAM_MANY,	 /* the two phases in turn, 20 to 200 ms each */
	PROGRAM_PERIOD,	 /* the same, every 36 to 44 ms */
	PROGRAM_BURSTS,	 /* five bursts a second, 40 times the rate */
	PROGRAM_HEAVY,	 /* a rate from a distribution without variance */
	PROGRAM_KINDS,	 /* up to here the bar of estimates applies */
	PROGRAM_THREE = PROGRAM_KINDS, /* three phases, two look alike */
	PROGRAM_RAMP,		       /* a rate that rises throughout */
	PROGRAM_KINDS_ALL
};

extern const char *const program_names[PROGRAM_KINDS_ALL];

#define PROGRAM_MS_MOST 5000

struct program {
	size_t ms;
	double total; /* of the event */
	double instructions[PROGRAM_MS_MOST];
	double count[PROGRAM_MS_MOST];
};

struct random {
	uint64_t state;
};

double random_between(struct random *random, double low, double high);

/** A program of @seconds, at most PROGRAM_MS_MOST. */
void program_make(struct program *program, enum program_kind kind,
		  double seconds, struct random *random);

/**
 * Cut it as "upmu stat" does: @sets in a new random order in each round,
 * slices of half to one and a half @slice_ms. The first set's count is kept.
 * Returns the number of slices, at most @most.
 */
size_t program_slices(const struct program *program, size_t sets,
		      double slice_ms, struct random *random,
		      struct estimate_slice *slice, size_t most);

/** What many runs of one kind say. */
struct trial {
	double linear_rms, rms; /* relative errors */
	double held;  /* share of runs whose interval held the truth */
	double width; /* mean half width of the interval, relative */
};

struct trial_options {
	enum program_kind kind;
	size_t runs, sets;
	double slice_ms, low_s, high_s;
	int without_instructions;
};

void trial_run(const struct trial_options *options, struct trial *out);

#endif
