// SPDX-License-Identifier: MIT
#include "bench/multiplex_programs.h"

#include <math.h>

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

static size_t random_size(struct random *random, double low, double high)
{
	return (size_t)random_between(random, low, high);
}

/* Box and Muller. */
static double normal(struct random *random)
{
	double radius = sqrt(-2 * log(1 - random_between(random, 0, 1)));

	return radius * cos(2 * PI * random_between(random, 0, 1));
}

/* Lomax: its variance is infinite for shapes up to 2. */
static double heavy(struct random *random, double shape)
{
	return pow(1 - random_between(random, 0, 1), -1 / shape) - 1;
}

/*
 * What a piece is like: instructions per cycle, events per 100 of these,
 * threads that run (0: it sleeps), cycles in a nanosecond, single events.
 */
struct pace {
	double ipc, rate, threads, ghz, events;
};

struct making {
	struct pace *pace;
	size_t n;
	double pieces_ms; /* in a millisecond */
	struct random *random;
};

static const struct pace fast = { 1, 1, 1, 1, 0 }, slow = { 0.4, 8, 1, 1, 0 };

static void fill(struct making *m, size_t from, size_t length, struct pace pace)
{
	for (size_t i = from; i < m->n && i < from + length; i++)
		m->pace[i] = pace;
}

/* Phases of @low to @high ms, each of a pace that @draw gives. */
static void fill_phases(struct making *m, double low, double high,
			struct pace (*draw)(struct random *, int phase))
{
	size_t length;
	int phase = 0;

	for (size_t i = 0; i < m->n; i += length) {
		length = 1 + random_size(m->random, low * m->pieces_ms,
					 high * m->pieces_ms);
		fill(m, i, length, draw(m->random, phase++));
	}
}

static struct pace fast_or_slow(struct random *random, int phase)
{
	(void)random;
	return phase % 2 ? slow : fast;
}

static void make_uniform(struct making *m)
{
	(void)m;
}

static void make_two(struct making *m)
{
	fill(m, (size_t)(m->n * random_between(m->random, 0.2, 0.8)), m->n,
	     slow);
}

static void make_many(struct making *m)
{
	fill_phases(m, 20, 200, fast_or_slow);
}

static void make_beat(struct making *m, double low_ms, double high_ms,
		      struct pace pace)
{
	double period = random_between(m->random, low_ms, high_ms);
	double phase = random_between(m->random, 0, 1);

	for (size_t i = 0; i < m->n; i++)
		if (fmod(i / m->pieces_ms / period + phase, 1) < 0.3)
			m->pace[i] = pace;
}

static void make_period(struct making *m)
{
	make_beat(m, 36, 44, slow);
}

static void make_bursts(struct making *m)
{
	size_t left = 1 + (size_t)(m->n / m->pieces_ms * 5 / 1000);
	const struct pace burst = { 1, 40, 1, 1, 0 };

	for (; left; left--)
		fill(m, random_size(m->random, 0, m->n),
		     random_size(m->random, 2 * m->pieces_ms,
				 15 * m->pieces_ms),
		     burst);
}

/* A new rate every 10 ms. */
static void make_heavy(struct making *m)
{
	size_t length = (size_t)(10 * m->pieces_ms);

	for (size_t i = 0; i < m->n; i += length)
		fill(m, i, length,
		     (struct pace){ 1, heavy(m->random, 1.8) + 0.1, 1, 1, 0 });
}

static struct pace one_of_three(struct random *random, int phase)
{
	static const struct pace phases[] = { { 1, 1, 1, 1, 0 },
					      { 0.4, 2, 1, 1, 0 },
					      { 0.7, 12, 1, 1, 0 } };

	(void)phase;
	return phases[random_size(random, 0, 3)];
}

static void make_three(struct making *m)
{
	fill_phases(m, 50, 400, one_of_three);
}

static void make_ramp(struct making *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->pace[i].rate = 1 + 20.0 * i / m->n;
}

static void make_start(struct making *m)
{
	fill(m, 0, random_size(m->random, 0.3 * m->pieces_ms, m->pieces_ms),
	     (struct pace){ 0.7, 300, 1, 1, 0 });
}

static void scatter(struct making *m, size_t events)
{
	fill(m, 0, m->n, (struct pace){ 1, 0, 1, 1, 0 });
	for (; events; events--)
		m->pace[random_size(m->random, 0, m->n)].events++;
}

static void make_rare(struct making *m)
{
	scatter(m, random_size(m->random, 0, 6));
}

static void make_sparse(struct making *m)
{
	scatter(m, random_size(m->random, 20, 200));
}

static void make_pareto(struct making *m)
{
	size_t left = (size_t)(m->n / m->pieces_ms * 20 / 1000);

	for (; left; left--)
		fill(m, random_size(m->random, 0, m->n),
		     random_size(m->random, m->pieces_ms, 5 * m->pieces_ms),
		     (struct pace){ 1, 10 * heavy(m->random, 1.5), 1, 1, 0 });
}

static void make_short(struct making *m)
{
	fill_phases(m, 0.5, 6, fast_or_slow);
}

/* One round of four sets. */
static void make_round(struct making *m)
{
	make_beat(m, 16, 16, slow);
}

/* The same, and neither cycles nor instructions tell. */
static void make_round_unseen(struct making *m)
{
	make_beat(m, 16, 16, (struct pace){ 1, 8, 1, 1, 0 });
}

/* It sleeps, and its caches are cold when it wakes up. */
static void make_io(struct making *m)
{
	size_t i = 0;

	while (i < m->n) {
		size_t length = 1 + random_size(m->random, 0, 4 * m->pieces_ms);

		fill(m, i, length, fast);
		fill(m, i, 1, slow);
		i += length;
		length = random_size(m->random, 0, 15 * m->pieces_ms);
		fill(m, i, length, (struct pace){ 0, 0, 0, 1, 0 });
		i += length;
	}
}

/* One works evenly, the other comes and goes, with misses. */
static struct pace one_or_two(struct random *random, int phase)
{
	static const struct pace both = { 0.6, 5, 2, 1, 0 };

	(void)random;
	return phase % 2 ? both : fast;
}

static void make_threads(struct making *m)
{
	fill_phases(m, 3, 60, one_or_two);
}

static struct pace of_a_frequency(struct random *random, int phase)
{
	(void)phase;
	return (struct pace){ 1, 4, 1, 0.6 + 0.2 * random_size(random, 0, 5),
			      0 };
}

static void make_dvfs(struct making *m)
{
	fill_phases(m, 10, 100, of_a_frequency);
}

static void make_collector(struct making *m)
{
	static const struct pace collector = { 0.7, 15, 1, 1, 0 };

	for (size_t i = 0; i < m->n;) {
		size_t length = random_size(m->random, 5 * m->pieces_ms,
					    20 * m->pieces_ms);

		i += random_size(m->random, 50 * m->pieces_ms,
				 150 * m->pieces_ms);
		fill(m, i, length, collector);
		i += length;
	}
}

static struct pace any(struct random *random, int phase)
{
	(void)phase;
	return (struct pace){ random_between(random, 0.3, 1.5),
			      random_between(random, 0, 10), 1, 1, 0 };
}

static void make_phases(struct making *m)
{
	fill_phases(m, 10, 150, any);
}

/* What is like a moment ago, for some 20 ms. */
static void make_walk(struct making *m)
{
	double kept = exp(-1 / (20 * m->pieces_ms)), x = 0;

	for (size_t i = 0; i < m->n; i++) {
		x = kept * x + sqrt(1 - kept * kept) * normal(m->random);
		m->pace[i].rate = exp(0.7 * x);
	}
}

/* Code is translated while it runs: misses fade, cycles do not tell it. */
static void make_warming(struct making *m)
{
	double fade = random_between(m->random, 50, 500) * m->pieces_ms;

	for (size_t i = 0; i < m->n; i++)
		m->pace[i].rate = 1 + 30 * exp(-(double)i / fade);
}

/* One waits in a loop for the other, who misses: fewer events, more IPC. */
static struct pace spins_or_works(struct random *random, int phase)
{
	static const struct pace spins = { 2, 0.01, 2, 1, 0 };

	return phase % 2 ? spins
			 : (struct pace){ 0.5, random_between(random, 3, 6), 1,
					  1, 0 };
}

static void make_spin(struct making *m)
{
	fill_phases(m, 0.2, 8, spins_or_works);
}

/* The last pages are written out when it ends. */
static void make_end(struct making *m)
{
	size_t length = random_size(m->random, 0.01 * m->n, 0.04 * m->n);

	fill(m, m->n - length, length, (struct pace){ 0.8, 60, 1, 1, 0 });
}

/* Workers are born, work unlike each other, and end. */
static void make_crowd(struct making *m)
{
	static const struct pace alone = { 1, 1, 1, 1, 0 };
	size_t length;

	for (size_t i = 0; i < m->n; i += length) {
		struct pace pace = alone;

		length = 1 + random_size(m->random, 5 * m->pieces_ms,
					 80 * m->pieces_ms);
		if (random_between(m->random, 0, 1) < 0.5) {
			pace.threads = 1 + random_size(m->random, 1, 8);
			pace.ipc = random_between(m->random, 0.3, 1.2);
			pace.rate = random_between(m->random, 0, 12);
		}
		fill(m, i, length, pace);
	}
}

/* A fast beat inside a slow one, both unseen by cycles and instructions. */
static void make_beats(struct making *m)
{
	double slow = random_between(m->random, 100, 300);
	double quick = random_between(m->random, 1.5, 9);

	for (size_t i = 0; i < m->n; i++) {
		double ms = i / m->pieces_ms;

		if (fmod(ms, slow) < 0.5 * slow &&
		    fmod(ms, quick) < 0.3 * quick)
			m->pace[i].rate = 10;
	}
}

/* Two rates of one speed, changed seldom. */
static struct pace sly_two(struct random *random, int phase)
{
	(void)random;
	return (struct pace){ 1, phase % 2 ? 6 : 1, 1, 1, 0 };
}

static void make_sly(struct making *m)
{
	fill_phases(m, 100, 1500, sly_two);
}

/* Packets: each wakes it for a moment, few for long, then many. */
static void make_packets(struct making *m)
{
	double busy = 0.1;

	fill(m, 0, m->n, (struct pace){ 0, 0, 0, 1, 0 });
	for (size_t i = 0; i < m->n; i++) {
		if (random_between(m->random, 0, 1) < 0.002 / m->pieces_ms)
			busy = random_between(m->random, 0.02, 0.9);
		if (random_between(m->random, 0, 1) < busy)
			m->pace[i] = (struct pace){ 0.6, 5, 1, 1, 0 };
	}
}

/* Once, anywhere, for some milliseconds: as many events as in all the rest. */
static void make_spike(struct making *m)
{
	size_t length =
		random_size(m->random, 1 * m->pieces_ms, 4 * m->pieces_ms);
	double rate = (double)m->n / (length + 1);

	fill(m, random_size(m->random, 0, m->n), length,
	     (struct pace){ 1, rate, 1, 1, 0 });
}

static const struct kind {
	const char *name;
	void (*make)(struct making *m);
	double pieces_ms, low_s, high_s;
} kinds[PROGRAM_KINDS + 1] = {
	{ "uniform", make_uniform, 1, 1, 5 },
	{ "two phases", make_two, 1, 1, 5 },
	{ "many phases", make_many, 1, 1, 5 },
	{ "periodic", make_period, 1, 1, 5 },
	{ "bursts", make_bursts, 1, 1, 5 },
	{ "heavy tail", make_heavy, 1, 1, 5 },
	{ "three", make_three, 1, 1, 5 },
	{ "ramp", make_ramp, 1, 1, 5 },
	{ "start", make_start, 10, 0.2, 1 },
	{ "rare", make_rare, 1, 1, 5 },
	{ "sparse", make_sparse, 1, 1, 5 },
	{ "short bursts", make_bursts, 10, 0.04, 0.15 },
	{ "Pareto", make_pareto, 1, 1, 5 },
	{ "short", make_short, 20, 0.006, 0.036 },
	{ "a round", make_round, 1, 1, 5 },
	{ "a round, sly", make_round_unseen, 1, 1, 5 },
	{ "I/O", make_io, 5, 0.5, 2 },
	{ "threads", make_threads, 1, 1, 5 },
	{ "frequency", make_dvfs, 1, 1, 5 },
	{ "collector", make_collector, 1, 1, 5 },
	{ "any phases", make_phases, 1, 1, 5 },
	{ "walk", make_walk, 1, 1, 5 },
	{ "warming up", make_warming, 1, 1, 5 },
	{ "spinning", make_spin, 5, 0.3, 2 },
	{ "end", make_end, 5, 0.3, 2 },
	{ "crowd", make_crowd, 1, 1, 5 },
	{ "two beats", make_beats, 2, 1, 5 },
	{ "sly", make_sly, 1, 1, 5 },
	{ "packets", make_packets, 5, 0.5, 2 },
	[PROGRAM_UNKNOWABLE] = { "a spike", make_spike, 2, 1, 5 },
};

const char *program_name(size_t kind)
{
	return kinds[kind].name;
}

static void add_up(struct program *program, const struct making *m)
{
	struct program_sums sum = { 0 };

	for (size_t i = 0; i < m->n; i++) {
		const struct pace *pace = &m->pace[i];
		double ns = pace->threads * program->piece_ns;
		double ipc =
			pace->ipc * fmax(1 + 0.05 * normal(m->random), 0.1);
		double noise = fmax(1 + 0.1 * normal(m->random), 0);

		program->at[i] = sum;
		sum.task_ns += ns;
		sum.cycles += ns * pace->ghz;
		sum.instructions += ns * pace->ghz * ipc;
		sum.count += ns * pace->ghz * ipc * pace->rate * noise / 100 +
			     pace->events;
	}
	program->at[m->n] = sum;
}

void program_make(struct program *program, size_t kind, double seconds,
		  struct random *random)
{
	static struct pace pace[PROGRAM_PIECES_MOST];
	const struct kind *k = &kinds[kind];
	struct making m = { pace, 0, k->pieces_ms, random };

	if (seconds <= 0)
		seconds = random_between(random, k->low_s, k->high_s);
	m.n = (size_t)fmin(seconds * 1000 * k->pieces_ms, PROGRAM_PIECES_MOST);
	fill(&m, 0, m.n, fast);
	k->make(&m);
	program->n = m.n;
	program->piece_ns = 1e6 / k->pieces_ms;
	add_up(program, &m);
}

double program_ns(const struct program *program)
{
	return program->n * program->piece_ns;
}

static double between(double a, double b, double part)
{
	return a + (b - a) * part;
}

struct program_sums program_at(const struct program *program, double ns)
{
	double place = fmin(ns / program->piece_ns, program->n);
	size_t i = (size_t)fmin(place, program->n - 1);
	const struct program_sums *a = &program->at[i], *b = a + 1;
	double part = place - i;

	return (struct program_sums){
		between(a->task_ns, b->task_ns, part),
		between(a->cycles, b->cycles, part),
		between(a->instructions, b->instructions, part),
		floor(between(a->count, b->count, part) + 1e-6),
	};
}
