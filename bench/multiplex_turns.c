// SPDX-License-Identifier: MIT
#include "bench/multiplex_turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/multiplex_programs.h"
#include "lib/engine/clock.h"
#include "lib/engine/sets.h"
#include "lib/engine/turns.h"

#define SETS_MOST 8
#define PERF_MS	  4 /* how long perf gives each group */

/* The one machine: the engine's calls below have no other place for it. */
static struct {
	const struct program *program;
	double start_ns, now_ns, cpu_ns, switch_ns, show_ms;
	double on_ns;
	bool is_on[SETS_MOST];
	struct program_sums on[SETS_MOST]; /* when it was switched on */
	struct engine_reading sum[SETS_MOST];
} machine;

double engine_now_ns(void)
{
	return machine.now_ns;
}

double engine_clock_ns(clockid_t clock)
{
	(void)clock;
	return machine.cpu_ns;
}

static struct program_sums sums(void)
{
	return program_at(machine.program, machine.now_ns - machine.start_ns);
}

static void show(int turn, const struct program_sums *now)
{
	const struct program_sums *on = &machine.on[turn];
	double cycles = now->cycles - on->cycles;
	double at = (machine.on_ns - machine.start_ns) / 1e6;

	if (machine.show_ms <= 0 || at < machine.show_ms || cycles <= 0)
		return;
	printf("%8.2f ms set %c %6.2f ms %5.2f instr./cycle %7.2f events/1000 "
	       "cycles\n",
	       at, 'A' + turn, (machine.now_ns - machine.on_ns) / 1e6,
	       (now->instructions - on->instructions) / cycles,
	       1000 * (now->count - on->count) / cycles);
}

void engine_turn_switch(const struct engine_sets *sets, int turn, bool on)
{
	struct engine_reading *sum = &machine.sum[turn];
	struct program_sums now = sums();

	(void)sets;
	machine.cpu_ns += machine.switch_ns / 2;
	if (on) {
		machine.on[turn] = now;
		machine.on_ns = machine.now_ns;
	} else if (machine.is_on[turn]) {
		show(turn, &now);
		sum->running_ns += now.task_ns - machine.on[turn].task_ns;
		sum->count[0] += now.count - machine.on[turn].count;
	}
	machine.is_on[turn] = on;
}

/* The first sets take turns, what is always on is the last. */
int engine_set_read(const struct engine_sets *sets, size_t set,
		    struct engine_reading *reading)
{
	struct program_sums now = sums();
	bool on = set < sets->turns && machine.is_on[set];

	if (set == sets->turns) {
		*reading = (struct engine_reading){
			.enabled_ns = now.task_ns,
			.running_ns = now.task_ns,
			.count = { now.cycles, now.instructions },
		};
		return 0;
	}
	if (on)
		engine_turn_switch(sets, set, false);
	*reading = machine.sum[set];
	reading->enabled_ns = now.task_ns;
	if (on)
		engine_turn_switch(sets, set, true);
	return 0;
}

/* Relative to the truth; where that is 0 an event is all there is. */
static double error_of(double value, double truth)
{
	return (value - truth) / fmax(truth, 1);
}

/* perf: in one order, each as long, what was counted times time over time. */
static double by_perf(const struct program *program, size_t sets, size_t set)
{
	double count = 0, task = 0, all, end = program_ns(program);
	struct program_sums a, b;

	for (size_t ms = set * PERF_MS; ms * 1e6 < end; ms += sets * PERF_MS) {
		double at = ms * 1e6;

		a = program_at(program, at);
		b = program_at(program, at + PERF_MS * 1e6);
		count += b.count - a.count;
		task += b.task_ns - a.task_ns;
	}
	all = program_at(program, end).task_ns;
	return task > 0 ? count * all / task : 0;
}

/* The trial, as sums of squares and the like, until conclude(). */
struct tally {
	struct trial *sum;
	size_t known, held;
	double *reach; /* how far off the truth is, in intervals */
};

static void look_at_interval(const struct estimate *e, double linear,
			     double truth, struct tally *t)
{
	double half = truth > e->total ? e->high - e->total : e->total - e->low;
	bool held = e->low <= truth && truth <= e->high;
	/* Counts are whole. */
	bool apart = linear < e->low - 0.5 || linear > e->high + 0.5;

	t->held += held;
	t->sum->width += (e->high - e->low) / 2 / fmax(truth, 1);
	t->sum->empty += e->high <= e->low;
	t->sum->apart += apart;
	t->sum->apart_held += apart && held;
	t->reach[t->known++] =
		truth == e->total ? 0
				  : fabs(truth - e->total) / fmax(half, 1e-9);
}

static void look_at(const struct engine_turns *turns, size_t set,
		    struct tally *t)
{
	const struct program *program = machine.program;
	struct program_sums all = program_at(program, program_ns(program));
	const struct engine_reading *sum = &machine.sum[set];
	double perf = by_perf(program, turns->sets->turns, set), linear = 0;
	struct estimate e = { .high = INFINITY };

	engine_timeline_estimate(&turns->timeline, (int)set, 0, 0, 0, &e);
	if (sum->running_ns)
		linear = (double)sum->count[0] * all.task_ns /
			 (double)sum->running_ns;
	t->sum->perf += pow(error_of(perf, all.count), 2);
	t->sum->linear += pow(error_of(linear, all.count), 2);
	t->sum->upmu += pow(error_of(e.total, all.count), 2);
	t->sum->looked++;
	if (!isinf(e.high))
		look_at_interval(&e, linear, all.count, t);
}

static void start_machine(const struct program *program, double switch_us,
			  struct random *random)
{
	machine.program = program;
	/* The turns' luck is drawn from the clock. */
	machine.start_ns = floor(random_between(random, 1e12, 1e15));
	machine.now_ns = machine.start_ns;
	machine.cpu_ns = 0;
	machine.switch_ns = switch_us * 1e3;
	for (size_t i = 0; i < SETS_MOST; i++) {
		machine.sum[i] = (struct engine_reading){ 0 };
		machine.is_on[i] = false;
	}
}

static void take_turns(struct engine_turns *turns)
{
	double end = machine.start_ns + program_ns(machine.program);

	engine_turn_switch(turns->sets, 0, true);
	do {
		machine.now_ns = fmin(turns->end_ns, end);
		engine_turns_next(turns, machine.now_ns < end);
	} while (machine.now_ns < end);
	for (size_t i = 0; i < turns->sets->turns; i++)
		engine_turn_switch(turns->sets, (int)i, false);
}

static void run_once(const struct trial_options *o, struct tally *t)
{
	struct engine_event event[] = { { .base = ENGINE_BASE_NONE },
					{ .base = ENGINE_BASE_CYCLES },
					{ .base = ENGINE_BASE_INSTRUCTIONS } };
	struct engine_events events = { .event = event, .n = 3, .lanes = 1 };
	struct engine_set set[SETS_MOST + 1] = { 0 };
	struct engine_sets sets = { .set = set,
				    .n = o->sets + 1,
				    .turns = o->sets };
	struct engine_turns turns;

	for (size_t i = 0; i < o->sets; i++)
		set[i] = (struct engine_set){ .turn = (int)i, .n = 1 };
	set[o->sets] =
		(struct engine_set){ .turn = ENGINE_ALWAYS,
				     .n = o->without_instructions ? 1 : 2,
				     .event = { 1, 2 } };
	if (engine_turns_start(&turns, &sets, &events, o->slice_ms))
		abort();
	take_turns(&turns);
	for (size_t i = 0; i < o->sets; i++)
		look_at(&turns, i, t);
	t->sum->cost += engine_turns_cost(&turns) / (double)o->runs;
	engine_turns_free(&turns);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void conclude(struct tally *t)
{
	struct trial *out = t->sum;

	out->perf = sqrt(out->perf / out->looked);
	out->linear = sqrt(out->linear / out->looked);
	out->upmu = sqrt(out->upmu / out->looked);
	out->unknown = 1 - (double)t->known / out->looked;
	if (!t->known)
		return;
	out->held = (double)t->held / t->known;
	out->width /= t->known;
	qsort(t->reach, t->known, sizeof(*t->reach), by_size);
	out->wide = 1 / t->reach[(size_t)(0.95 * t->known)];
}

void trial_run(const struct trial_options *o, struct trial *out)
{
	static struct program program;
	struct random random = { .state = 1000 + 1000003 * o->seed + o->kind };
	struct tally tally = {
		.sum = out, .reach = calloc(o->runs * o->sets, sizeof(double))
	};

	if (!tally.reach || o->sets > SETS_MOST)
		abort();
	*out = (struct trial){ 0 };
	for (size_t i = 0; i < o->runs; i++) {
		program_make(&program, o->kind,
			     random_between(&random, o->low_s, o->high_s),
			     &random);
		start_machine(&program, o->switch_us, &random);
		machine.show_ms = o->show_ms;
		run_once(o, &tally);
	}
	conclude(&tally);
	free(tally.reach);
}
