// SPDX-License-Identifier: MIT
/*
 * multiplex [RUNS [SEED]|slices] - how good the estimates of "upmu stat" are,
 * beside linear scaling, on made-up programs; or the slices of one run. Both
 * are in docs/multiplexing.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/multiplex_programs.h"
#include "bench/multiplex_turns.h"

static void print_row(const char *name, const struct trial *t)
{
	printf("%-13s %7.2f %7.2f %7.2f %6.2f %6.2f %6.1f %8.1f %6.2f\n", name,
	       100 * t->perf, 100 * t->linear, 100 * t->upmu, t->upmu / t->perf,
	       t->upmu / t->linear, 100 * t->held, 100 * t->width, t->wide);
}

static void print_table(struct trial_options o, const char *title)
{
	double perf = 0, linear = 0, held = 0;
	size_t empty = 0, apart = 0, apart_held = 0, looked = 0;
	struct trial t;

	printf("%s\n%-13s %7s %7s %7s %6s %6s %6s %8s %6s\n", title, "program",
	       "perf", "linear", "upmu", "/perf", "/lin.", "held", "+-",
	       "wide");
	for (o.kind = 0; o.kind < PROGRAM_KINDS; o.kind++) {
		trial_run(&o, &t);
		print_row(program_name(o.kind), &t);
		perf += log(t.upmu / t.perf);
		linear += log(t.upmu / t.linear);
		held += t.held;
		empty += t.empty;
		apart += t.apart;
		apart_held += t.apart_held;
		looked += t.looked;
	}
	printf("%-13s %30.2f %6.2f %6.1f\n", "all", exp(perf / PROGRAM_KINDS),
	       exp(linear / PROGRAM_KINDS), 100 * held / PROGRAM_KINDS);
	o.kind = PROGRAM_UNKNOWABLE;
	trial_run(&o, &t);
	print_row(program_name(o.kind), &t);
	printf("of %zu intervals %zu have no width, %zu exclude linear "
	       "scaling; %zu of these hold the truth\n\n",
	       looked, empty, apart, apart_held);
}

/* Four periods of one program, when slices have their full length. */
static void print_slices(struct trial_options o)
{
	struct trial t;

	while (strcmp(program_name(o.kind), "periodic"))
		o.kind++;
	o.runs = 1;
	o.low_s = o.high_s = 0.36;
	o.show_ms = 200;
	trial_run(&o, &t);
}

int main(int argc, char **argv)
{
	struct trial_options o = {
		.runs = 250, .sets = 4, .slice_ms = 4, .switch_us = 8
	};

	if (argc > 1 && !strcmp(argv[1], "slices")) {
		print_slices(o);
		return 0;
	}
	if (argc > 1)
		o.runs = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		o.seed = strtoull(argv[2], NULL, 10);
	if (!o.runs)
		return 2;
	print_table(o, "four sets, slices of 4 ms");
	o.without_instructions = true;
	print_table(o, "the same, no counter to spare for instructions");
	o.without_instructions = false;
	o.sets = 2;
	print_table(o, "two sets");
	o.sets = 4;
	o.slice_ms = 1;
	print_table(o, "four sets, slices of 1 ms");
	return 0;
}
