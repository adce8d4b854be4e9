// SPDX-License-Identifier: MIT
/* What happens between two instructions of a block. */
#include "cpu.h"

/* Counts what @first and its followers in the block are, @times once more. */
static void count(struct cpu *cpu, const struct insn *first, uint64_t times)
{
	const struct block *block = first->block;
	uint64_t *tally = cpu->tally[block->level];

	for (const struct insn *i = first; i < block->insn + block->n; i++) {
		tally[INSTRUCTIONS] += times;
		tally[CLASS_TALLIES + i->class] += times;
		tally[CLASS_TALLIES + i->also] += times;
	}
}

void inside_end(struct cpu *cpu)
{
	if (cpu->ahead)
		count(cpu, cpu->ahead, 1);
	cpu->ahead = NULL;
}

void inside_zeroed(unsigned vcpu, void *data)
{
	memory_zero(&cpus[vcpu], data);
}

/*
 * A block was counted as it began. What of it is still to come is taken off
 * until the next block begins, or somebody else looks.
 */
void inside_look(unsigned vcpu, void *data)
{
	struct cpu *cpu = &cpus[vcpu];

	inside_end(cpu);
	cpu->ahead = data;
	count(cpu, cpu->ahead, UINT64_MAX);
}
