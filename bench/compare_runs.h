/* SPDX-License-Identifier: MIT */
/**
 * compare_runs.h - made-up runs of known distributions, for "upmu compare"
 *
 * What machines do to run times: noise, skew, two modes, heavy tails, drift,
 * neighbours that come and go. Seeded, so that each number can be had again.
 */
#ifndef UPMU_BENCH_COMPARE_RUNS_H
#define UPMU_BENCH_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPARE_KINDS 14

/** What a kind of noise makes of our intervals, in percent of tries. */
struct compare_figures {
	double mean_held;   /* the mean's interval holds the truth */
	double change_held; /* the change's, B being 3 % slower */
	double false_all;   /* a verdict on any event, of equal programs */
	double seen;	    /* the 3 % are told, in the same many events */
};

const char *compare_kind_name(size_t kind);
/** Runs depend on those before: the mean's interval promises nothing. */
bool compare_kind_drifts(size_t kind);

/** @events: looked at together, by half of common noise. */
void compare_try(size_t kind, size_t rounds, size_t events, size_t tries,
		 uint64_t seed, struct compare_figures *out);

#endif
