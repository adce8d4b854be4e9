/* SPDX-License-Identifier: MIT */
/**
 * multiplex_programs.h - made-up programs to try multiplexing on
 *
 * A program is a list of pieces of one length, in each of which it runs
 * evenly. Everything follows from the seed.
 */
#ifndef UPMU_BENCH_MULTIPLEX_PROGRAMS_H
#define UPMU_BENCH_MULTIPLEX_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The first eight are those that the estimates were made with, the others were
 * made up against them. The last one, beyond the count, happens in one moment:
 * what fell into another set's slice nobody can know.
 */
#define PROGRAM_KINDS	    29
#define PROGRAM_UNKNOWABLE  PROGRAM_KINDS
#define PROGRAM_PIECES_MOST 10000

/** What a program has done since it began. */
struct program_sums {
	double task_ns, cycles, instructions, count;
};

struct program {
	size_t n;
	double piece_ns;
	struct program_sums
		at[PROGRAM_PIECES_MOST + 1]; /* each piece's begin */
};

struct random {
	uint64_t state;
};

double random_between(struct random *random, double low, double high);

const char *program_name(size_t kind);

/** A program of this kind, as long as the kind says or of @seconds. */
void program_make(struct program *program, size_t kind, double seconds,
		  struct random *random);

/** Events are whole. */
struct program_sums program_at(const struct program *program, double ns);
double program_ns(const struct program *program);

#endif
