// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "bench/multiplex_programs.h"

const char *const program_names[PROGRAM_KINDS_ALL] = {
	[PROGRAM_UNIFORM] = "uniform",	[PROGRAM_TWO] = "two phases",
	[PROGRAM_MANY] = "many phases", [PROGRAM_PERIOD] = "periodic",
	[PROGRAM_BURSTS] = "bursts",	[PROGRAM_HEAVY] = "heavy tail",
	[PROGRAM_THREE] = "three",	[PROGRAM_RAMP] = "ramp",
};

#define PI 3.14159265358979323846

/* Vigna's splitmix64: each state gives one number. */
static uint64_t next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

double random_between(struct random *random, double low, double high)
{
	return low + (high - low) * (double)(next(random) >> 11) * 0x1p-53;
}

/* Box and Muller. */
static double normal(struct random *random)
{
	double radius = sqrt(-2 * log(1 - random_between(random, 0, 1)));

	return radius * cos(2 * PI * random_between(random, 0, 1));
}

/* Instructions per cycle and events per 100 instructions of one ms. */
struct pace {
	double ipc, rate;
};

static const struct pace fast = { 1, 1 }, slow = { 0.4, 8 };

static void fill(struct pace *pace, size_t ms, size_t from, size_t length,
		 struct pace value)
{
	for (size_t i = from; i < ms && i < from + length; i++)
		pace[i] = value;
}

static void make_two(struct pace *pace, size_t ms, struct random *r)
{
	fill(pace, ms, (size_t)(ms * random_between(r, 0.2, 0.8)), ms, slow);
}

static void make_many(struct pace *pace, size_t ms, struct random *r)
{
	size_t length;
	int turn = 0;

	for (size_t i = 0; i < ms; i += length) {
		length = (size_t)random_between(r, 20, 200);
		fill(pace, ms, i, length, turn ? slow : fast);
		turn = !turn;
	}
}

static void make_period(struct pace *pace, size_t ms, struct random *r)
{
	double period = random_between(r, 36, 44);
	double phase = random_between(r, 0, 1);

	for (size_t i = 0; i < ms; i++)
		if (fmod(i / period + phase, 1) < 0.3)
			pace[i] = slow;
}

static void make_bursts(struct pace *pace, size_t ms, struct random *r)
{
	const struct pace burst = { 1, 40 };

	for (size_t left = ms * 5 / 1000; left; left--) {
		size_t from = (size_t)random_between(r, 0, ms);

		fill(pace, ms, from, (size_t)random_between(r, 2, 15), burst);
	}
}

/* Lomax with shape 1.8: a mean, but no variance. */
static void make_heavy(struct pace *pace, size_t ms, struct random *r)
{
	for (size_t i = 0; i < ms; i += 10) {
		double tail = pow(1 - random_between(r, 0, 1), -1 / 1.8) - 1;

		fill(pace, ms, i, 10, (struct pace){ 1, tail + 0.1 });
	}
}

/* Neither cycles nor instructions tell the second from the third. */
static void make_three(struct pace *pace, size_t ms, struct random *r)
{
	static const struct pace phases[] = { { 1, 1 },
					      { 0.4, 2 },
					      { 0.7, 12 } };
	size_t length;

	for (size_t i = 0; i < ms; i += length) {
		length = (size_t)random_between(r, 50, 400);
		fill(pace, ms, i, length,
		     phases[(size_t)random_between(r, 0, 3)]);
	}
}

static void make_ramp(struct pace *pace, size_t ms, struct random *r)
{
	(void)r;
	for (size_t i = 0; i < ms; i++)
		pace[i].rate = 1 + 20.0 * i / ms;
}

void program_make(struct program *program, enum program_kind kind,
		  double seconds, struct random *random)
{
	static void (*const make[PROGRAM_KINDS_ALL])(struct pace *, size_t,
						     struct random *) = {
		[PROGRAM_TWO] = make_two,	[PROGRAM_MANY] = make_many,
		[PROGRAM_PERIOD] = make_period, [PROGRAM_BURSTS] = make_bursts,
		[PROGRAM_HEAVY] = make_heavy,	[PROGRAM_THREE] = make_three,
		[PROGRAM_RAMP] = make_ramp,
	};
	struct pace pace[PROGRAM_MS_MOST];

	program->ms = (size_t)(seconds * 1000);
	program->total = 0;
	fill(pace, program->ms, 0, program->ms, fast);
	if (make[kind])
		make[kind](pace, program->ms, random);
	for (size_t i = 0; i < program->ms; i++) {
		double ipc = pace[i].ipc * fmax(1 + 0.05 * normal(random), 0.1);
		double noise = fmax(1 + 0.1 * normal(random), 0);

		program->instructions[i] = ipc * 1e6;
		program->count[i] = ipc * 1e4 * pace[i].rate * noise;
		program->total += program->count[i];
	}
}

static void shuffle(size_t *order, size_t n, struct random *random)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = (size_t)random_between(random, 0, i + 1);
		size_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

size_t program_slices(const struct program *program, size_t sets,
		      double slice_ms, struct random *random,
		      struct estimate_slice *slice, size_t most)
{
	size_t order[16], n = 0, at = 0;

	while (at < program->ms && n < most) {
		struct estimate_slice *s = &slice[n];
		size_t length =
			(size_t)(slice_ms * random_between(random, 0.5, 1.5) +
				 0.5);
		size_t end = at + (length ? length : 1);

		if (n % sets == 0)
			shuffle(order, sets, random);
		if (end > program->ms)
			end = program->ms;
		*s = (struct estimate_slice){ .time = end - at,
					      .cycles = (end - at) * 1e6 };
		for (; at < end; at++) {
			s->instructions += program->instructions[at];
			s->count += program->count[at];
		}
		if (order[n % sets])
			s->count = NAN;
		n++;
	}
	return n;
}

static void hide_instructions(struct estimate_slice *slice, size_t n)
{
	for (size_t i = 0; i < n; i++)
		slice[i].instructions = NAN;
}

void trial_run(const struct trial_options *options, struct trial *out)
{
	struct estimate_slice slice[2 * PROGRAM_MS_MOST];
	struct random random = { .state = 1000 + options->kind };
	struct program program;
	double linear2 = 0, error2 = 0, width = 0;
	size_t held = 0;

	for (size_t i = 0; i < options->runs; i++) {
		struct estimate e = { 0 };
		size_t n;

		program_make(&program, options->kind,
			     random_between(&random, options->low_s,
					    options->high_s),
			     &random);
		n = program_slices(&program, options->sets, options->slice_ms,
				   &random, slice, 2 * PROGRAM_MS_MOST);
		if (options->without_instructions)
			hide_instructions(slice, n);
		estimate_total(slice, n, &e);
		linear2 +=
			pow(estimate_linear(slice, n) / program.total - 1, 2);
		error2 += pow(e.total / program.total - 1, 2);
		held += e.low <= program.total && program.total <= e.high;
		width += (e.high - e.low) / 2 / program.total;
	}
	*out = (struct trial){
		.linear_rms = sqrt(linear2 / options->runs),
		.rms = sqrt(error2 / options->runs),
		.held = (double)held / options->runs,
		.width = width / options->runs,
	};
}
