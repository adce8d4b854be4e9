/* SPDX-License-Identifier: MIT */
/**
 * stats.h - what "upmu compare" says of numbers; docs/compare.md has why
 *
 * Pure arithmetic. A value that is NAN was not measured; it is left out.
 */
#ifndef UPMU_TOOLS_COMPARE_STATS_H
#define UPMU_TOOLS_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What one command's runs gave for one event. */
struct stats_summary {
	size_t n; /* values that there are */
	double mean, deviation, skewness;
	double low, high; /* 95 % interval of the mean; NAN: none */
	double median, min, max;
	double usual_low, usual_high; /* beyond is an outlier; NAN: none is */
	bool constant;		      /* two or more, and all the same */
};

/** How the second command's mean differs from the first's. */
struct stats_change {
	double difference, difference_low, difference_high;
	double ratio, ratio_low, ratio_high; /* NAN: not known */
};

/** @value: of two commands; paired: the same round stands at one place. */
struct stats_pair {
	const double *a, *b;
	size_t n_a, n_b;
	bool paired;
};

/** P(|T| <= t) = @level for Student's T with @freedom degrees (> 0). */
double stats_t(double level, double freedom);

/** 0 or -ENOMEM; of no number is then all that is known. */
int stats_summarize(const double *value, size_t n, struct stats_summary *out);

/** Intervals at @level (0.95); NAN where the values allow none. */
void stats_compare(const struct stats_pair *pair, double level,
		   struct stats_change *out);

/** The same from means and deviations alone, of runs not in turns. */
void stats_compare_summaries(const struct stats_summary *a,
			     const struct stats_summary *b, double level,
			     struct stats_change *out);

/** Welch's test, for where single runs are not known. Return p. */
double stats_welch(const struct stats_summary *a,
		   const struct stats_summary *b);

/**
 * stats_family() - the chance of a difference as clear as each, were all equal
 * @pair: one for each event; runs stand at the same places in all of them
 * @level: what a p is going to be held against
 * @p: is filled: over all events together, so that at most @level of
 *     comparisons of equal programs have any p <= @level. 1: cannot be told.
 *
 * Return: 0 or -ENOMEM.
 */
int stats_family(const struct stats_pair *pair, size_t events, double level,
		 double *p);

/** The next of xorshift64's numbers; *state is not 0. */
uint64_t stats_random(uint64_t *state);

/** With fewer rounds exchanges within rounds alone cannot be below @level. */
size_t stats_rounds_least(double level);

/** With fewer runs of each no p of stats_family() can be below @level. */
size_t stats_runs_least(double level);

/** Is this value of its far from the rest (by Iglewicz and Hoaglin)? */
bool stats_is_outlier(const struct stats_summary *summary, double value);

#endif
