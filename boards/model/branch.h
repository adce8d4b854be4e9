/* SPDX-License-Identifier: MIT */
/*
 * A branch predictor: two-bit counters found by the branch's address mixed
 * with the last branches' directions, a stack of return addresses, a table of
 * targets for indirect branches. Few cores' manuals tell more than sizes.
 */
#ifndef MODEL_BRANCH_H
#define MODEL_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

struct branch_shape {
	unsigned counters, history; /* a power of two; bits */
	unsigned targets, returns;
};

#define BRANCH_COUNTERS 65536
#define BRANCH_TARGETS	4096
#define BRANCH_RETURNS	32

struct branch_predictor {
	struct branch_shape shape;
	uint8_t counter[BRANCH_COUNTERS];
	struct {
		uint64_t from, to;
	} target[BRANCH_TARGETS];
	uint64_t stack[BRANCH_RETURNS];
	unsigned depth, history;
};

void branch_make(struct branch_predictor *p, const struct branch_shape *shape);

/* Each tells whether the guess was right, and learns what was so. */
bool branch_direction(struct branch_predictor *p, uint64_t at, bool taken);
enum branch_guess { BRANCH_RIGHT, BRANCH_WRONG, BRANCH_UNKNOWN };
enum branch_guess branch_target(struct branch_predictor *p, uint64_t at,
				uint64_t to);
bool branch_return(struct branch_predictor *p, uint64_t to);
void branch_call(struct branch_predictor *p, uint64_t back);

#endif
