// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>

#include "compare_runs.h"
#include "tools/compare/stats.h"

#define SLOWER	   1.03
#define ROUNDS_MAX 100
#define EVENTS_MAX 16

static uint64_t state;

/* xorshift64*, 0 < value < 1 */
static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((double)((state * 0x2545f4914f6cdd1d) >> 11) + 0.5) / 0x1p53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double exponential(void)
{
	return -log(uniform());
}

static double noise_normal(void)
{
	return 1 + 0.05 * normal();
}

static double noise_small(void)
{
	return 1 + 0.0005 * normal();
}

static double noise_uniform(void)
{
	return 1 + 0.1 * (uniform() - 0.5);
}

static double noise_lognormal(void)
{
	return exp(0.1 * normal() - 0.005);
}

static double noise_very_skewed(void)
{
	return exp(0.5 * normal() - 0.125);
}

static double noise_exponential(void)
{
	return 0.9 + 0.1 * exponential();
}

static double noise_gamma(void)
{
	return 0.8 + 0.1 * (exponential() + exponential());
}

static double noise_two_modes(void)
{
	return 1 + 0.05 * (uniform() < 0.5 ? 1 : -1) + 0.005 * normal();
}

static double noise_slow_mode(void)
{
	return 0.97 + 0.1 * (uniform() < 0.3) + 0.01 * normal();
}

/* Student's T with 3 degrees of freedom: heavy tails. */
static double noise_heavy(void)
{
	double squares = 0;

	for (int i = 0; i < 3; i++)
		squares += pow(normal(), 2);
	return 1 + 0.02 * normal() / sqrt(squares / 3);
}

static double noise_rare(void)
{
	return 0.985 + 0.3 * (uniform() < 0.05) + 0.01 * normal();
}

/* A counter that says one of two numbers. */
static double noise_counts(void)
{
	return uniform() < 0.5 ? 0.999 : 1.001;
}

enum machine { STEADY, DRIFTS, IN_FOURS };

/* Rounds of a try: what the machine does to each run in its turn. */
static double drift[2 * ROUNDS_MAX];

static void make_drift(size_t runs, enum machine machine)
{
	bool wanders = state & 1;
	double at = 0;

	for (size_t i = 0; i < runs; i++) {
		if (machine == IN_FOURS)
			drift[i] = i % 4 ? 1 : 1.2;
		else
			drift[i] = wanders ? 1 + at
					   : 1 + 0.2 * (double)i / (double)runs;
		at += 0.01 * normal();
	}
}

static const struct kind {
	const char *name;
	double (*noise)(void);
	enum machine machine;
} kinds[COMPARE_KINDS] = {
	{ "normal, 5 %", noise_normal, STEADY },
	{ "normal, 0.05 %", noise_small, STEADY },
	{ "uniform", noise_uniform, STEADY },
	{ "lognormal, 10 %", noise_lognormal, STEADY },
	{ "lognormal, 50 %", noise_very_skewed, STEADY },
	{ "exponential tail", noise_exponential, STEADY },
	{ "gamma tail", noise_gamma, STEADY },
	{ "two modes, half each", noise_two_modes, STEADY },
	{ "two modes, 3 in 10 slow", noise_slow_mode, STEADY },
	{ "heavy tails (T, 3)", noise_heavy, STEADY },
	{ "1 run in 20 is 30 % slower", noise_rare, STEADY },
	{ "two counts", noise_counts, STEADY },
	{ "20 % drift and a walk", noise_lognormal, DRIFTS },
	{ "each fourth run 20 % slower", noise_normal, IN_FOURS },
};

const char *compare_kind_name(size_t kind)
{
	return kinds[kind].name;
}

bool compare_kind_drifts(size_t kind)
{
	return kinds[kind].machine != STEADY;
}

struct runs {
	double a[EVENTS_MAX][ROUNDS_MAX], b[EVENTS_MAX][ROUNDS_MAX];
};

/* A run's events share half of what disturbs them. */
static double one_value(const struct kind *kind, double shared, double own)
{
	return kind->noise == noise_counts ? own : (shared + own) / 2;
}

static void make_runs(const struct kind *kind, size_t rounds, size_t events,
		      double slower, struct runs *out)
{
	bool steady = kind->machine == STEADY;

	if (!steady)
		make_drift(2 * rounds, kind->machine);
	for (size_t i = 0; i < rounds; i++) {
		/* Which of both is first is drawn, as in measure.c. */
		size_t swapped = steady ? 0 : uniform() < 0.5;
		double before = steady ? 1 : drift[2 * i + swapped];
		double after = steady ? 1 : drift[2 * i + !swapped];
		double a = kind->noise(), b = kind->noise();

		/* The first event is the noise itself, undiluted. */
		out->a[0][i] = before * a;
		out->b[0][i] = after * slower * b;
		for (size_t e = 1; e < events; e++) {
			out->a[e][i] =
				before * one_value(kind, a, kind->noise());
			out->b[e][i] = after * slower *
				       one_value(kind, b, kind->noise());
		}
	}
}

/* Any event told apart, as judge.c decides it. */
static bool any_verdict(const struct runs *runs, size_t rounds, size_t events,
			bool *first)
{
	struct stats_pair pair[EVENTS_MAX] = { 0 };
	struct stats_change change;
	double p[EVENTS_MAX];
	bool any = false;

	*first = false;
	for (size_t e = 0; e < events; e++)
		pair[e] = (struct stats_pair){ .a = runs->a[e],
					       .b = runs->b[e],
					       .n_a = rounds,
					       .n_b = rounds,
					       .paired = true };
	if (stats_family(pair, events, 0.05, p))
		return false;
	for (size_t e = 0; e < events; e++) {
		stats_compare(&pair[e], 0.95, &change);
		if (p[e] > 0.05 ||
		    (change.difference_low <= 0 && change.difference_high >= 0))
			continue;
		any = true;
		*first = *first || e == 0;
	}
	return any;
}

static bool holds(double low, double high, double truth)
{
	/* What counts are the same each time leaves no width at all. */
	return low <= truth * (1 + 1e-12) && high >= truth * (1 - 1e-12);
}

void compare_try(size_t kind, size_t rounds, size_t events, size_t tries,
		 uint64_t seed, struct compare_figures *out)
{
	static struct runs runs;
	size_t mean = 0, change = 0, any = 0, seen = 0;
	struct stats_summary summary;
	struct stats_change differs;
	bool first;

	state = seed * 0x9e3779b97f4a7c15 + kind + 1;
	for (size_t t = 0; t < tries; t++) {
		make_runs(&kinds[kind], rounds, events, 1, &runs);
		stats_summarize(runs.a[0], rounds, &summary);
		mean += holds(summary.low, summary.high, 1);
		any += any_verdict(&runs, rounds, events, &first);
		make_runs(&kinds[kind], rounds, events, SLOWER, &runs);
		stats_compare(&(struct stats_pair){ .a = runs.a[0],
						    .b = runs.b[0],
						    .n_a = rounds,
						    .n_b = rounds,
						    .paired = true },
			      0.95, &differs);
		change += holds(differs.ratio_low, differs.ratio_high, SLOWER);
		any_verdict(&runs, rounds, events, &first);
		seen += first;
	}
	*out = (struct compare_figures){
		.mean_held = 100.0 * (double)mean / (double)tries,
		.change_held = 100.0 * (double)change / (double)tries,
		.false_all = 100.0 * (double)any / (double)tries,
		.seen = 100.0 * (double)seen / (double)tries,
	};
}
