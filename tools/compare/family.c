// SPDX-License-Identifier: MIT
/*
 * Verdicts by permutation: were the two programs the same, the two runs of a
 * round could as well have stood the other way round. How often does such an
 * exchange show, in any event, a difference as clear as the one seen? Exact
 * whatever the numbers' distribution; for several events at once the largest
 * counts (Westfall and Young, Resampling-Based Multiple Testing, 1993).
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats.h"

/* All 2^n exchanges are tried up to here, beyond that a sample of them. */
#define ROUNDS_ALL 13
#define SAMPLED	   9999
/* A p of few runs is known from that sample to some tenth of itself. */
#define SURE_OF 0.9
/* Rounding must not part equal sums, nor what is 0 but for rounding from 0. */
#define SAME	 (1 - 1e-9)
#define ROUNDING 1e-12

/*
 * One row per event, one column per run. A difference is the sum of a row
 * times +1 or -1, in units of the row's own length: any statistic of Student's
 * kind grows with that.
 */
struct family {
	double *row;
	size_t events, runs, n_b;
	double *seen; /* one per event */
	double *sign; /* one per run */
	bool paired;
	uint64_t random; /* begins alike: the same numbers, the same verdict */
};

static double length(const double *row, size_t n)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += row[i] * row[i];
	return sqrt(squares);
}

static void scale(double *row, size_t n)
{
	double size = length(row, n);

	for (size_t i = 0; i < n; i++)
		row[i] = size > 0 ? row[i] / size : 0;
}

static void fill_paired(const struct stats_pair *pair, double *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double off = pair->b[i] - pair->a[i];

		row[i] = isnan(off) ? 0 : off;
	}
	scale(row, n);
}

/* What was not measured stands at the mean, and so counts for nothing. */
static void fill_separate(const struct stats_pair *pair, double *row, size_t n)
{
	double sum = 0, known = 0;

	for (size_t i = 0; i < n; i++) {
		row[i] = i < pair->n_a ? pair->a[i] : pair->b[i - pair->n_a];
		if (isnan(row[i]))
			continue;
		sum += row[i];
		known++;
	}
	for (size_t i = 0; i < n; i++)
		row[i] = isnan(row[i]) ? 0 : row[i] - sum / known;
	scale(row, n);
}

static double difference(const struct family *f, size_t event)
{
	const double *row = &f->row[event * f->runs];
	double sum = 0;

	for (size_t i = 0; i < f->runs; i++)
		sum += f->sign[i] * row[i];
	return fabs(sum);
}

static double largest(const struct family *f)
{
	double most = 0;

	for (size_t i = 0; i < f->events; i++)
		most = fmax(most, difference(f, i));
	return most;
}

static void exchange(struct family *f, uint64_t which)
{
	if (f->paired) {
		for (size_t i = 0; i < f->runs; i++)
			f->sign[i] = (which == UINT64_MAX
					      ? stats_random(&f->random) >> 33
					      : which >> i) &
						     1
					     ? 1
					     : -1;
		return;
	}
	for (size_t i = f->runs - 1; i > 0; i--) {
		size_t other = stats_random(&f->random) % (i + 1);
		double sign = f->sign[i];

		f->sign[i] = f->sign[other];
		f->sign[other] = sign;
	}
}

static void count_exchanges(struct family *f, double *p)
{
	bool all = f->paired && f->runs <= ROUNDS_ALL;
	size_t tries = all ? (size_t)1 << f->runs : SAMPLED;

	for (size_t t = 0; t < tries; t++) {
		double most;

		exchange(f, all ? t : UINT64_MAX);
		most = largest(f);
		for (size_t i = 0; i < f->events; i++)
			p[i] += most >= f->seen[i] * SAME - ROUNDING;
	}
	/* What was seen is itself one of a sample's arrangements. */
	for (size_t i = 0; i < f->events; i++)
		p[i] = all ? p[i] / (double)tries
			   : (p[i] + 1) / ((double)tries + 1);
}

static void start_signs(struct family *f)
{
	for (size_t i = 0; i < f->runs; i++) {
		f->sign[i] = 1;
		if (!f->paired)
			f->sign[i] = i < f->runs - f->n_b
					     ? -1 / (double)(f->runs - f->n_b)
					     : 1 / (double)f->n_b;
	}
}

/* The clearest of runs in turns is seen in 2 of their 2^n exchanges. */
size_t stats_rounds_least(double level)
{
	return 1 + (size_t)ceil(-log2(level));
}

size_t stats_runs_least(double level)
{
	double exchanges = 2; /* 2n over n */
	size_t n = 1;

	for (; 2 / exchanges > SURE_OF * level; n++)
		exchanges *= 2 * (2 * (double)n + 1) / ((double)n + 1);
	return n;
}

int stats_family(const struct stats_pair *pair, size_t events, double level,
		 double *p)
{
	struct family f = { .events = events,
			    .n_b = pair->n_b,
			    .random = 0x9e3779b97f4a7c15 };

	if (!events || !pair->n_a || !pair->n_b)
		return 0;
	f.paired = pair->paired && pair->n_a >= stats_rounds_least(level);
	f.runs = f.paired ? pair->n_a : pair->n_a + pair->n_b;
	f.row = calloc(events * f.runs + events + f.runs, sizeof(*f.row));
	if (!f.row)
		return -ENOMEM;
	f.seen = f.row + events * f.runs;
	f.sign = f.seen + events;
	start_signs(&f);
	for (size_t i = 0; i < events; i++) {
		double *row = &f.row[i * f.runs];

		if (f.paired)
			fill_paired(&pair[i], row, f.runs);
		else
			fill_separate(&pair[i], row, f.runs);
		f.seen[i] = difference(&f, i);
		p[i] = 0;
	}
	count_exchanges(&f, p);
	free(f.row);
	return 0;
}
