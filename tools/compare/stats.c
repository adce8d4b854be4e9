// SPDX-License-Identifier: MIT
/* Means, intervals and outliers; docs/compare.md names the sources. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993. */
#define OUTLIER_SCORE	   3.5
#define MAD_OF_DEVIATION   0.6745
#define OUTLIER_RUNS_LEAST 5

#define SKEW_RUNS_LEAST 4

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, even, odd;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 500; m++) {
		even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / (1 + even * d);
		c = 1 + even / c;
		f *= d * c;
		odd = -(a + m) * (a + b + m) * x /
		      ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		f *= d * c;
		if (fabs(d * c - 1) < 1e-14)
			break;
	}
	return f;
}

static double beta_share(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
		    b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| > |t|) */
static double t_beyond(double t, double freedom)
{
	return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double stats_t(double level, double freedom)
{
	double low = 0, high = 1;

	while (t_beyond(high, freedom) > 1 - level && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double t = (low + high) / 2;

		if (t_beyond(t, freedom) > 1 - level)
			low = t;
		else
			high = t;
	}
	return (low + high) / 2;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts what is given. */
static double middle(double *sorted, size_t n)
{
	if (!n)
		return NAN;
	qsort(sorted, n, sizeof(*sorted), by_size);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static size_t keep_known(const double *value, size_t n, double *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(value[i]))
			out[kept++] = value[i];
	return kept;
}

/* Beyond the largest double there is no number, and no interval. */
static double finite_or_none(double value)
{
	return isfinite(value) ? value : NAN;
}

/* Both ends or none. */
static void keep_finite(double *low, double *high)
{
	if (!isfinite(*low) || !isfinite(*high))
		*low = *high = NAN;
}

static double mean_of(const double *value, size_t n)
{
	double sum = 0, mean = 0;

	for (size_t i = 0; i < n; i++) {
		sum += value[i];
		mean += value[i] / (double)n;
	}
	return isfinite(sum) ? sum / (double)n : mean;
}

static void find_moments(const double *value, struct stats_summary *out)
{
	double n = (double)out->n, squares = 0, cubes = 0;

	out->mean = mean_of(value, out->n);
	for (size_t i = 0; i < out->n; i++) {
		double off = value[i] - out->mean;

		squares += off * off;
		cubes += off * off * off;
	}
	out->deviation =
		out->n > 1 ? finite_or_none(sqrt(squares / (n - 1))) : NAN;
	out->skewness = squares > 0 ? cubes / n / pow(squares / n, 1.5) : 0;
}

/*
 * Student's interval fails where runs are skewed, as run times are: Hall's
 * cubic transformation (J. R. Statist. Soc. B 54, 1992, 221-228) takes the
 * skewness out of t first.
 */
static double untransform(double t, double skewness, double n)
{
	double x = t / sqrt(n);

	if (fabs(skewness) < 1e-6)
		return x;
	return 3 / skewness *
	       (cbrt(1 + skewness * (x - skewness / (6 * n))) - 1);
}

static void find_interval(struct stats_summary *out)
{
	/* Of three runs one always looks like a skew. */
	double skewness = out->n < SKEW_RUNS_LEAST ? 0 : out->skewness;
	double n = (double)out->n, t;

	out->low = out->high = NAN;
	if (out->n < 2)
		return;
	t = stats_t(0.95, n - 1);
	out->low = out->mean - out->deviation * untransform(t, skewness, n);
	out->high = out->mean - out->deviation * untransform(-t, skewness, n);
	/* What is never below 0 has no mean below it. */
	if (out->min >= 0)
		out->low = fmax(out->low, 0);
	keep_finite(&out->low, &out->high);
}

/* Once for all runs: of 20,000 each would ask for two sorts. @sorted: is used
 * up. */
static void find_usual(double *sorted, struct stats_summary *out)
{
	double mad, reach;

	for (size_t i = 0; i < out->n; i++)
		sorted[i] = fabs(sorted[i] - out->median);
	mad = middle(sorted, out->n);
	if (out->n < OUTLIER_RUNS_LEAST || !(mad > 0))
		return;
	reach = OUTLIER_SCORE * mad / MAD_OF_DEVIATION;
	out->usual_low = out->median - reach;
	out->usual_high = out->median + reach;
}

int stats_summarize(const double *value, size_t n, struct stats_summary *out)
{
	double *known = malloc((n + 1) * sizeof(*known));

	*out = (struct stats_summary){ .mean = NAN,
				       .deviation = NAN,
				       .low = NAN,
				       .high = NAN,
				       .median = NAN,
				       .min = NAN,
				       .max = NAN,
				       .usual_low = NAN,
				       .usual_high = NAN };
	if (!known)
		return -ENOMEM;
	out->n = keep_known(value, n, known);
	if (out->n) {
		out->median = middle(known, out->n);
		out->min = known[0];
		out->max = known[out->n - 1];
		find_moments(known, out);
		out->constant = out->n > 1 && out->min >= out->max;
		/* No rounding error in what is the same each time. */
		if (out->min >= out->max) {
			out->mean = out->min;
			out->deviation = out->n > 1 ? 0 : NAN;
			out->skewness = 0;
		}
		find_interval(out);
		find_usual(known, out);
	}
	free(known);
	return 0;
}

/*
 * Means, their variances and covariance, and the degrees of freedom: of what
 * mean(b) - mean(a) and what mean(b) - ratio mean(a) varies by.
 */
struct means {
	double a, b, var_a, var_b, covariance;
	double freedom, ratio_freedom;
};

/*
 * The ratios r for which mean(b) - r mean(a) is not clearly off 0: Fieller,
 * J. R. Statist. Soc. B 16 (1954) 175-185.
 */
static void fieller(const struct means *m, double t, struct stats_change *out)
{
	double q = t * t;
	double a = m->a * m->a - q * m->var_a;
	double b = m->a * m->b - q * m->covariance;
	/* b^2 - ac, with c = mean(b)^2 - q var(b), less what cancels out. */
	double root =
		q * (m->a * m->a * m->var_b + m->b * m->b * m->var_a -
		     2 * m->a * m->b * m->covariance) -
		q * q * (m->var_a * m->var_b - m->covariance * m->covariance);

	out->ratio_low = out->ratio_high = NAN;
	/* A first mean that may be 0 bounds no ratio. */
	if (!(a > 0))
		return;
	root = sqrt(fmax(root, 0));
	out->ratio_low = fmax((b - root) / a, m->b >= 0 ? 0 : -INFINITY);
	out->ratio_high = (b + root) / a;
	keep_finite(&out->ratio_low, &out->ratio_high);
}

static void find_change(const struct means *m, double level,
			struct stats_change *out)
{
	double t, error;

	*out = (struct stats_change){
		.difference = finite_or_none(m->b - m->a),
		.difference_low = NAN,
		.difference_high = NAN,
		.ratio = m->a > 0 ? finite_or_none(m->b / m->a) : NAN,
		.ratio_low = NAN,
		.ratio_high = NAN,
	};
	if (!(m->freedom > 0))
		return;
	t = stats_t(level, m->freedom);
	error = sqrt(fmax(m->var_a + m->var_b - 2 * m->covariance, 0));
	out->difference_low = out->difference - t * error;
	out->difference_high = out->difference + t * error;
	keep_finite(&out->difference_low, &out->difference_high);
	fieller(m, stats_t(level, m->ratio_freedom), out);
}

/* From the first one on: a sum of large counts would have no last digits. */
static void paired_means(const struct stats_pair *pair, struct means *m)
{
	double n = 0, aa = 0, bb = 0, ab = 0, first_a = 0, first_b = 0;

	*m = (struct means){ 0 };
	for (size_t i = 0; i < pair->n_a; i++) {
		if (isnan(pair->a[i]) || isnan(pair->b[i]))
			continue;
		if (!n++) {
			first_a = pair->a[i];
			first_b = pair->b[i];
		}
		m->a += pair->a[i] - first_a;
		m->b += pair->b[i] - first_b;
	}
	m->a = first_a + m->a / n;
	m->b = first_b + m->b / n;
	for (size_t i = 0; i < pair->n_a; i++) {
		double a = pair->a[i] - m->a, b = pair->b[i] - m->b;

		if (isnan(a) || isnan(b))
			continue;
		aa += a * a;
		bb += b * b;
		ab += a * b;
	}
	m->freedom = m->ratio_freedom = n - 1;
	m->var_a = aa / n / (n - 1);
	m->var_b = bb / n / (n - 1);
	m->covariance = ab / n / (n - 1);
}

/* Welch's degrees of freedom, of two runs of each at least (Biometrika 34,
 * 1947, 28-35). */
static double welch_freedom(double a, double n_a, double b, double n_b)
{
	double sum = a + b;

	if (!(sum > 0))
		return n_a + n_b - 2;
	return sum * sum / (a * a / (n_a - 1) + b * b / (n_b - 1));
}

static void separate_means(const struct stats_summary *a,
			   const struct stats_summary *b, struct means *m)
{
	double ratio = a->mean > 0 ? b->mean / a->mean : 1;

	*m = (struct means){ .a = a->mean, .b = b->mean };
	if (a->n < 2 || b->n < 2)
		return;
	m->var_a = a->deviation * a->deviation / (double)a->n;
	m->var_b = b->deviation * b->deviation / (double)b->n;
	m->freedom =
		welch_freedom(m->var_a, (double)a->n, m->var_b, (double)b->n);
	m->ratio_freedom = welch_freedom(ratio * ratio * m->var_a, (double)a->n,
					 m->var_b, (double)b->n);
}

void stats_compare_summaries(const struct stats_summary *a,
			     const struct stats_summary *b, double level,
			     struct stats_change *out)
{
	struct means m;

	separate_means(a, b, &m);
	find_change(&m, level, out);
}

void stats_compare(const struct stats_pair *pair, double level,
		   struct stats_change *out)
{
	struct stats_summary a, b;
	struct means m;

	if (pair->paired) {
		paired_means(pair, &m);
		find_change(&m, level, out);
		return;
	}
	stats_summarize(pair->a, pair->n_a, &a);
	stats_summarize(pair->b, pair->n_b, &b);
	stats_compare_summaries(&a, &b, level, out);
}

double stats_welch(const struct stats_summary *a, const struct stats_summary *b)
{
	struct means m;
	double error;

	separate_means(a, b, &m);
	if (!(m.freedom > 0))
		return 1;
	error = sqrt(m.var_a + m.var_b);
	if (!(error > 0))
		return 1; /* two constants: nothing to judge chance by */
	return t_beyond((m.b - m.a) / error, m.freedom);
}

uint64_t stats_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

bool stats_is_outlier(const struct stats_summary *summary, double value)
{
	return value < summary->usual_low || value > summary->usual_high;
}
