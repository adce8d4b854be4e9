// SPDX-License-Identifier: MIT
#include <string.h>

#include "branch.h"

static unsigned at_most(unsigned wanted, unsigned most)
{
	return wanted < most ? wanted : most;
}

void branch_make(struct branch_predictor *p, const struct branch_shape *shape)
{
	memset(p, 0, sizeof(*p));
	p->shape.counters = at_most(shape->counters, BRANCH_COUNTERS);
	p->shape.history = shape->history;
	p->shape.targets = at_most(shape->targets, BRANCH_TARGETS);
	p->shape.returns = at_most(shape->returns, BRANCH_RETURNS);
}

bool branch_direction(struct branch_predictor *p, uint64_t at, bool taken)
{
	unsigned index =
		((unsigned)(at >> 1) ^ p->history) & (p->shape.counters - 1);
	uint8_t *counter = &p->counter[index];
	bool guess = *counter >= 2;

	if (taken && *counter < 3)
		++*counter;
	if (!taken && *counter)
		--*counter;
	p->history = (p->history << 1 | taken) & ((1u << p->shape.history) - 1);
	return guess == taken;
}

enum branch_guess branch_target(struct branch_predictor *p, uint64_t at,
				uint64_t to)
{
	unsigned index = (unsigned)(at >> 1) % p->shape.targets;
	enum branch_guess guess = BRANCH_UNKNOWN;

	if (p->target[index].from == at)
		guess = p->target[index].to == to ? BRANCH_RIGHT : BRANCH_WRONG;
	p->target[index].from = at;
	p->target[index].to = to;
	return guess;
}

bool branch_return(struct branch_predictor *p, uint64_t to)
{
	p->depth = (p->depth + p->shape.returns - 1) % p->shape.returns;
	return p->stack[p->depth] == to;
}

void branch_call(struct branch_predictor *p, uint64_t back)
{
	p->stack[p->depth] = back;
	p->depth = (p->depth + 1) % p->shape.returns;
}
