// SPDX-License-Identifier: MIT
/*
 * A count of part of the run is extended in three steps:
 *
 * 1. The counted slices are fitted by (count = a cycles + b instructions);
 *    the cycles and instructions of the whole run are known, so the fit
 *    tells the rest. Slices are weighted by 1/time: the variance of a sum
 *    grows with its length.
 * 2. What the fit leaves over in one slice is carried into the gaps beside
 *    it, as far as neighbours have proved to be alike (0: not at all).
 * 3. The interval comes from each slice's own leftover and its weight in
 *    the total, widened for few slices or few that matter (Student,
 *    Satterthwaite) and bent for lopsided leftovers (Hall 1992): events that
 *    come in rare bursts are rather under- than overestimated, so the upper
 *    side must reach further. Of few events the interval is the binomial
 *    distribution's (Clopper and Pearson).
 *
 * docs/multiplexing.md has the reasons and what simulation says.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/engine/estimate.h"

/* Below these a second coefficient, a correlation cannot be told from luck. */
#define SLICES_FOR_TWO	  6
#define SLICES_FOR_NEARBY 12
/* Hall's bend is a series in the skewness and means nothing far out. */
#define SKEWNESS_MOST 1.2
/*
 * About the zero of its cube root the bend is steep: to 17 standard errors
 * where two slices matter. By trial, more than these hold no more.
 */
#define BEND_MOST 9.5
/* 3 for normal leftovers; by trial, as those of rare bursts are not normal. */
#define SATTERTHWAITE 2
/* Of what grows with the distance, so much is less in the gap between. */
#define NEARER 0.7
/* A count begins and ends between two events. */
#define ROUNDING (1.0 / 6)
/* So many events are reckoned one by one. */
#define FEW 40
/* More than any counter counts, and a double holds each integer. */
#define ALL_MOST 0x1p53
/* Squares of a slice's events, to what they are where events come by chance. */
#define CLUMPED 1.5
/* An interval this many times the total says nothing. */
#define WIDTH_MOST 10

/** One slice that counted the event. */
struct own {
	double time, x[2], count;
	double gap;	 /* time of others' slices since the one before */
	double leftover; /* count less what the fit says */
	double nearby;	 /* the neighbours' leftover, scaled to this length */
	double leverage; /* of this slice on the fit, 0 to 1 */
	double fitted;	 /* weight in the rest of the run through the fit */
	double carried;	 /* and through its gaps */
};

struct work {
	struct own *own;
	size_t n;
	double tail;	   /* time after the last own slice */
	double total[2];   /* cycles and instructions of the whole run */
	double time, rest; /* counted, not counted */
	double count;
	size_t columns;
	double inverse[3]; /* of the normal equations: 00, 01, 11 */
	double b[2];
};

static void gather(struct work *w, const struct estimate_slice *slice, size_t n)
{
	double gap = 0;

	for (size_t i = 0; i < n; i++) {
		const struct estimate_slice *s = &slice[i];
		double x[2] = { isnan(s->cycles) ? s->time : s->cycles,
				isnan(s->instructions) ? 0 : s->instructions };

		w->total[0] += x[0];
		w->total[1] += x[1];
		if (isnan(s->count) || s->time <= 0) {
			gap += s->time;
			continue;
		}
		w->own[w->n++] = (struct own){ .time = s->time,
					       .x = { x[0], x[1] },
					       .count = s->count,
					       .gap = gap };
		w->rest += gap;
		gap = 0;
		w->time += s->time;
		w->count += s->count;
	}
	w->tail = gap;
	w->rest += gap;
}

/* Fit with @columns of x. Returns false where they cannot be told apart. */
static bool fit(struct work *w, size_t columns)
{
	double s[3] = { 0 }, t[2] = { 0 }, determinant;

	for (size_t i = 0; i < w->n; i++) {
		const struct own *o = &w->own[i];

		s[0] += o->x[0] * o->x[0] / o->time;
		s[1] += o->x[0] * o->x[1] / o->time;
		s[2] += o->x[1] * o->x[1] / o->time;
		t[0] += o->x[0] * o->count / o->time;
		t[1] += o->x[1] * o->count / o->time;
	}
	determinant = s[0] * s[2] - s[1] * s[1];
	w->columns = columns;
	if (columns == 1) {
		/* The first fit: the others are 0. */
		w->inverse[0] = s[0] > 0 ? 1 / s[0] : 0;
	} else {
		/* Instructions may but mirror the cycles. */
		if (determinant <= 1e-9 * s[0] * s[2])
			return false;
		w->inverse[0] = s[2] / determinant;
		w->inverse[1] = -s[1] / determinant;
		w->inverse[2] = s[0] / determinant;
	}
	w->b[0] = w->inverse[0] * t[0] + w->inverse[1] * t[1];
	w->b[1] = w->inverse[1] * t[0] + w->inverse[2] * t[1];
	return true;
}

/* a' inverse b */
static double product(const struct work *w, const double *a, const double *b)
{
	return a[0] * b[0] * w->inverse[0] +
	       (a[0] * b[1] + a[1] * b[0]) * w->inverse[1] +
	       a[1] * b[1] * w->inverse[2];
}

/*
 * Would the fit speak of something that it has not seen? What was not
 * counted must have as many instructions a cycle as some slices had.
 */
static bool extrapolates(const struct work *w)
{
	double x[2] = { w->total[0], w->total[1] };
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < w->n; i++) {
		const struct own *o = &w->own[i];

		x[0] -= o->x[0];
		x[1] -= o->x[1];
		low = fmin(low, o->x[1] / o->x[0]);
		high = fmax(high, o->x[1] / o->x[0]);
	}
	return w->rest > 0 && (x[1] < low * x[0] || x[1] > high * x[0]);
}

static void leftovers(struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct own *o = &w->own[i];

		o->leftover = o->count - w->b[0] * o->x[0] - w->b[1] * o->x[1];
		o->leverage = product(w, o->x, o->x) / o->time;
		o->fitted = product(w, w->total, o->x) / o->time - 1;
	}
}

/* Each gap belongs to the slices on both its sides, by their length. */
static void share_gaps(struct work *w)
{
	struct own *first = &w->own[0], *last = &w->own[w->n - 1];

	first->carried += first->gap / first->time;
	last->carried += w->tail / last->time;
	for (size_t i = 1; i < w->n; i++) {
		struct own *a = &w->own[i - 1], *b = &w->own[i];
		double share = b->gap / (a->time + b->time);

		a->carried += share;
		b->carried += share;
	}
}

/*
 * How much of the neighbours' leftover is found again in the slice between
 * them: 0 where that cannot be told from luck, at most 1.
 */
static double likeness(struct work *w)
{
	double product = 0, square = 0, noise = 0;

	if (w->n < SLICES_FOR_NEARBY)
		return 0;
	for (size_t i = 0; i < w->n; i++) {
		struct own *o = &w->own[i];
		double sum = 0, time = 0, both;

		if (i) {
			sum += o[-1].leftover;
			time += o[-1].time;
		}
		if (i + 1 < w->n) {
			sum += o[1].leftover;
			time += o[1].time;
		}
		o->nearby = sum / time * o->time;
		both = o->leftover * o->nearby / o->time;
		product += both;
		noise += both * both;
		square += o->nearby * o->nearby / o->time;
	}
	if (square <= 0 || product < 2 * sqrt(noise))
		return 0;
	return fmin(product / square, 1);
}

/*
 * Which part of the difference between neighbours grows with their distance,
 * by a line through that of next ones and next but one: 0 to 1.
 */
static double nearness(const struct work *w)
{
	double one = 0, two = 0;

	for (size_t i = 2; i < w->n; i++) {
		const struct own *o = &w->own[i];
		double here = o->leftover / o->time;

		one += o->time * pow(here - o[-1].leftover / o[-1].time, 2);
		two += o->time * pow(here - o[-2].leftover / o[-2].time, 2);
	}
	return one > 0 ? fmax(0, fmin(two / one - 1, 1)) : 0;
}

/* Student's t for a two-sided 95 %: a table, then Cornish and Fisher. */
static double student(double f)
{
	static const double few[] = { INFINITY, 12.706, 4.303, 3.182, 2.776 };
	const size_t known = sizeof(few) / sizeof(few[0]);
	double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;

	if (f < known)
		return few[(size_t)f];
	return z + (z3 + z) / (4 * f) +
	       (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f);
}

/* Hall's inverse: the quantile of a studentized sum with this skewness. */
static double bend(double quantile, double skewness)
{
	double most = fmax(BEND_MOST, fabs(quantile)), bent;

	if (fabs(skewness) < 1e-6)
		return quantile;
	bent = 3 / skewness *
	       (cbrt(1 + skewness * (quantile - skewness / 6)) - 1);
	return fmax(-most, fmin(most, bent));
}

/* Sums over the slices of what they left over, as weights make of it. */
struct spread {
	double variance, third;
	double squares, cubes, fourths;
};

static void add_up(const struct work *w, double alike, struct spread *s)
{
	double near = 1 - NEARER * alike * nearness(w);
	double rest = w->rest / w->time;

	for (size_t i = 0; i < w->n; i++) {
		const struct own *o = &w->own[i];
		double e = o->leftover - alike * o->nearby;
		double weight = (1 - alike) * o->fitted + alike * o->carried;
		/* A slice pulls the fit towards itself: undo that. */
		double e2 = near * e * e / fmax(1 - o->leverage, 0.1);
		double scaled = weight * copysign(sqrt(e2), e);

		s->variance += weight * weight * e2;
		s->third += scaled * scaled * scaled;
		s->squares += e2;
		s->cubes += e * e * e;
		s->fourths += e2 * e2;
	}
	/* The rest of the run varies by itself, as much as what was seen. */
	s->variance += rest * s->squares + rest * rest * ROUNDING;
	s->third -= rest * s->cubes;
}

static double find_interval(const struct work *w, double alike,
			    struct estimate *out)
{
	struct spread s = { 0 };
	double deviation, skewness, freedom, t;

	add_up(w, alike, &s);
	deviation = sqrt(s.variance);
	if (deviation <= 0) {
		out->low = out->high = out->total;
		return 0;
	}
	skewness = s.third / (s.variance * deviation);
	skewness = fmax(-SKEWNESS_MOST, fmin(SKEWNESS_MOST, skewness));
	freedom = w->n - w->columns;
	if (s.fourths > 0)
		freedom = fmin(freedom, SATTERTHWAITE * s.squares * s.squares /
						s.fourths);
	t = student(freedom);
	out->low = out->total - deviation * bend(t, skewness);
	out->high = out->total - deviation * bend(-t, skewness);
	return deviation;
}

/* The total by one fit; its standard error is returned. */
static double find_total(struct work *w, struct estimate *out)
{
	double alike, deviation = INFINITY;

	leftovers(w);
	alike = likeness(w);
	out->total = w->b[0] * w->total[0] + w->b[1] * w->total[1];
	for (size_t i = 0; i < w->n; i++)
		out->total +=
			alike * (1 + w->own[i].carried) * w->own[i].leftover;
	out->slices = w->n;
	if (w->n < 2) {
		out->low = w->count;
		out->high = INFINITY;
	} else {
		deviation = find_interval(w, alike, out);
	}
	return deviation;
}

/* How likely @seen of @all events or fewer were in this share of the time. */
static double at_most(size_t seen, double all, double share)
{
	double term = exp(all * log1p(-share)), sum = term;

	for (size_t i = 0; i < seen && (double)i < all; i++) {
		term *= (all - (double)i) / (double)(i + 1) * share /
			(1 - share);
		sum += term;
	}
	return sum;
}

/*
 * The fewest events, @least or more, of which @seen or fewer are no likelier
 * than that. By halves: of a millionth of the time there are a million steps.
 */
static double all_for(size_t seen, double least, double share, double likely)
{
	double low = least, high = least;

	while (high < ALL_MOST && at_most(seen, high, share) > likely) {
		low = high;
		high *= 2;
	}
	while (high - low > 1) {
		double middle = floor((low + high) / 2);

		if (at_most(seen, middle, share) > likely)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Do events come in company more often than by chance? */
static bool clumped(const struct work *w)
{
	double squares = 0;

	for (size_t i = 0; i < w->n; i++)
		squares += w->own[i].count * w->own[i].count;
	return squares > CLUMPED * w->count * (1 + w->count / w->n);
}

static void reckon_few(const struct work *w, struct estimate *out)
{
	double share = w->time / (w->time + w->rest);
	size_t seen = (size_t)w->count;
	double all = (double)seen;

	if (w->rest <= 0 || w->n < 2)
		return;
	if (!clumped(w)) {
		out->low = INFINITY;
		out->high = 0;
	}
	if (seen)
		all = all_for(seen - 1, all, share, 0.975);
	out->low = fmin(out->low, all);
	out->high =
		fmax(out->high, all_for(seen, fmax(all, 1), share, 0.025) - 1);
	out->total = fmin(out->total, out->high);
}

/* By the cycles alone or with the instructions: what fits more closely. */
static void choose(struct work *w, struct estimate *out)
{
	struct estimate other;
	double deviation;

	share_gaps(w);
	fit(w, 1);
	deviation = find_total(w, out);
	if (w->n >= SLICES_FOR_TWO && !extrapolates(w) && fit(w, 2) &&
	    find_total(w, &other) < deviation)
		*out = other;
	if (w->count <= FEW)
		reckon_few(w, out);
	else if (out->high - out->low > WIDTH_MOST * out->total)
		out->high = INFINITY;
	/* No estimate is below what was seen. */
	out->total = fmax(out->total, w->count);
	out->low = fmax(out->low, w->count);
	out->high = fmax(out->high, out->total);
}

int estimate_total(const struct estimate_slice *slice, size_t n,
		   struct estimate *out)
{
	struct work w = { 0 };
	size_t counted = 0;

	for (size_t i = 0; i < n; i++)
		counted += !isnan(slice[i].count) && slice[i].time > 0;
	if (!counted)
		return -ENODATA;
	w.own = calloc(counted, sizeof(*w.own));
	if (!w.own)
		return -ENOMEM;
	gather(&w, slice, n);
	choose(&w, out);
	free(w.own);
	return 0;
}

double estimate_linear(const struct estimate_slice *slice, size_t n)
{
	double count = 0, time = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		all += slice[i].time;
		if (isnan(slice[i].count))
			continue;
		count += slice[i].count;
		time += slice[i].time;
	}
	return time > 0 ? count * all / time : NAN;
}
