// SPDX-License-Identifier: MIT
/*
 * multiplex [RUNS] - how good the estimates of "upmu stat" are, beside
 * linear scaling of the very same slices, on made-up programs. The table is
 * in docs/multiplexing.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/multiplex_programs.h"

static void print_row(const char *name, const struct trial *t)
{
	printf("%-12s %7.2f %% %8.2f %% %7.2f %9.1f %% %8.1f %%\n", name,
	       100 * t->linear_rms, 100 * t->rms, t->rms / t->linear_rms,
	       100 * t->held, 100 * t->width);
}

static void print_table(struct trial_options o, const char *title)
{
	double logs = 0, held = 0;
	struct trial t;

	printf("%s\n%-12s %9s %10s %7s %11s %10s\n", title, "program", "linear",
	       "upmu", "ratio", "held", "+-");
	for (int kind = 0; kind < PROGRAM_KINDS_ALL; kind++) {
		o.kind = kind;
		trial_run(&o, &t);
		print_row(program_names[kind], &t);
		if (kind >= PROGRAM_KINDS)
			continue;
		logs += log(t.rms / t.linear_rms);
		held += t.held;
	}
	printf("%-12s %9s %10s %7.2f %9.1f %%\n\n", "first six", "", "",
	       exp(logs / PROGRAM_KINDS), 100 * held / PROGRAM_KINDS);
}

int main(int argc, char **argv)
{
	struct trial_options o = {
		.runs = 1000, .sets = 4, .slice_ms = 4, .low_s = 1, .high_s = 5
	};

	if (argc > 1)
		o.runs = strtoul(argv[1], NULL, 10);
	if (!o.runs)
		return 2;
	print_table(o, "four sets, slices of 4 ms, 1 to 5 s");
	o.without_instructions = 1;
	print_table(o, "the same, no counter to spare for instructions");
	o.without_instructions = 0;
	o.sets = 2;
	print_table(o, "two sets");
	o.sets = 4;
	o.slice_ms = 1;
	print_table(o, "four sets, slices of 1 ms");
	o.slice_ms = 4;
	o.low_s = 0.1;
	o.high_s = 0.4;
	print_table(o, "four sets, short runs: 0.1 to 0.4 s");
	return 0;
}
