// SPDX-License-Identifier: MIT
/* From block to block: branches, exceptions, what instructions there were. */
#include "cpu.h"

/*
 * A branch to the instruction behind it is taken if it has no condition. One
 * with a condition counts as not taken: nothing tells.
 */
static bool is_taken(const struct block *block, uint64_t to)
{
	if (to != block->end || block->conditional)
		return to != block->end;
	/* of AArch32 the decoder does not know all conditions (IT) */
	return block->is_a64 || block->target == to;
}

/* Was @to known to be where the block's indirect branch leads? */
static bool is_expected(struct cpu *cpu, const struct block *block, uint64_t to)
{
	uint64_t *tally = cpu->tally[block->level];
	enum branch_guess guess;

	if (block->branch == RETURN)
		guess = branch_return(&cpu->branches, to) ? BRANCH_RIGHT
							  : BRANCH_WRONG;
	else
		guess = branch_target(&cpu->branches, block->branch_at, to);
	tally[INDIRECT_MISPREDICTED] += guess != BRANCH_RIGHT;
	tally[INDIRECT_WRONG] += guess == BRANCH_WRONG;
	return guess == BRANCH_RIGHT;
}

/* Did the block's last instruction lead to @to? Learns and counts it. */
static void branch(struct cpu *cpu, const struct block *block, uint64_t to)
{
	uint64_t *tally = cpu->tally[block->level];
	bool taken = is_taken(block, to), right = true;

	switch (block->branch) {
	case DIRECT:
	case CALL:
		if (taken && to != block->target)
			return; /* it never came to the branch */
		tally[IMMEDIATE_BRANCHES]++;
		break;
	case EXCEPTION_RETURN:
		tally[EXCEPTION_RETURNS]++;
		tally[TAKEN_BRANCHES]++;
		system_new_space(cpu);
		return;
	case RETURN:
		tally[RETURNS] += taken;
		break;
	default:
		tally[INDIRECT_BRANCHES] += taken;
	}
	tally[BRANCHES]++;
	tally[TAKEN_BRANCHES] += taken;
	if (block->conditional) {
		right = branch_direction(&cpu->branches, block->branch_at,
					 taken);
		tally[CONDITIONAL_BRANCHES]++;
		tally[CONDITIONAL_MISPREDICTED] += !right;
	}
	if (taken && block->branch != DIRECT && block->branch != CALL)
		right = is_expected(cpu, block, to);
	if (taken && (block->branch == CALL || block->branch == INDIRECT_CALL))
		branch_call(&cpu->branches, block->end);
	tally[MISPREDICTED] += !right;
}

/*
 * The instruction that faulted, and what follows it, was not done. Accesses
 * that it made stay, but it is no load or store: it comes again.
 */
static void take_back(struct cpu *cpu, const struct block *block, uint64_t from)
{
	uint64_t *tally = cpu->tally[block->level];

	for (unsigned i = 0; i < block->n; i++) {
		const struct insn *insn = &block->insn[i];

		if (block->virt + insn->offset < from)
			continue;
		tally[INSTRUCTIONS]--;
		tally[CLASS_TALLIES + insn->class]--;
		tally[CLASS_TALLIES + insn->also]--;
	}
	for (int store = 0; store < 2; store++) {
		const struct insn *last = cpu->doing[store];

		if (last && last->block == block &&
		    block->virt + last->offset == from)
			tally[MORE_READS + store]++;
	}
}

/* The kind of exception by the vector's offset, and by the syndrome. */
static enum tally exception_of(const struct cpu *cpu, const struct block *block)
{
	static const uint8_t by_offset[] = {
		OTHER_EXCEPTIONS, UNDEFINED,	   SUPERVISOR_CALLS,
		PREFETCH_ABORTS,  DATA_ABORTS,	   OTHER_EXCEPTIONS,
		INTERRUPTS,	  FAST_INTERRUPTS,
	};

	if (!block->is_a64)
		return by_offset[block->vector];
	switch (block->vector & 3) { /* in units of 0x80 */
	case 1:
		return INTERRUPTS;
	case 2:
		return FAST_INTERRUPTS;
	case 3:
		return OTHER_EXCEPTIONS;
	}
	switch (system_syndrome(cpu->id, block->level) >> 26 & 0x3f) {
	case 0x00:
		return UNDEFINED;
	case 0x11:
	case 0x15:
		return SUPERVISOR_CALLS;
	case 0x20:
	case 0x21:
		return PREFETCH_ABORTS;
	case 0x24:
	case 0x25:
		return DATA_ABORTS;
	}
	return OTHER_EXCEPTIONS;
}

/* Where the code that an exception left would have gone on. */
static uint64_t left_at(const struct cpu *cpu, const struct block *block,
			enum tally what)
{
	uint32_t link;

	if (block->is_a64)
		return system_return(cpu->id, block->level);
	link = qemu_general(cpu->id, 14);
	switch (what) {
	case DATA_ABORTS:
		return link - 8;
	case INTERRUPTS:
	case FAST_INTERRUPTS:
	case PREFETCH_ABORTS:
		return link - 4;
	default:
		return link;
	}
}

static void exception(struct cpu *cpu, const struct block *block)
{
	const struct block *before = cpu->block;
	enum tally what = exception_of(cpu, block);
	uint64_t at;

	cpu->tally[block->level][what]++;
	if (!before)
		return;
	at = left_at(cpu, block, what);
	if (what == DATA_ABORTS && at >= before->virt && at < before->end)
		take_back(cpu, before, at);
	else if (before->branch != NO_BRANCH)
		branch(cpu, before, at);
}

/* Its last instruction cleared a line if it did not fault. */
static void zeroed_last(struct cpu *cpu, const struct block *before,
			const struct block *block)
{
	uint64_t at = block->virt;

	if (block->vector != NO_VECTOR)
		at = left_at(cpu, block, exception_of(cpu, block));
	if (at == before->end)
		memory_zero(cpu, &before->insn[before->n - 1]);
}

static void classes(struct cpu *cpu, const struct block *block)
{
	uint64_t *tally = cpu->tally[block->level] + CLASS_TALLIES;

	for (unsigned i = 0; i < block->classes; i++)
		tally[block->of_class[i].class] += block->of_class[i].n;
}

void flow_block(unsigned vcpu, void *data)
{
	const struct block *block = data, *before;
	struct cpu *cpu = &cpus[vcpu];
	bool jumped = true;

	inside_end(cpu);
	before = cpu->block;
	if (before && before->zeroes)
		zeroed_last(cpu, before, block);
	if (block->vector != NO_VECTOR) {
		exception(cpu, block);
	} else if (before) {
		jumped = block->virt != before->end;
		if (before->branch != NO_BRANCH)
			branch(cpu, before, block->virt);
	}
	cpu->block = block;
	cpu->doing[0] = cpu->doing[1] = NULL;
	cpu->tally[block->level][INSTRUCTIONS] += block->n;
	classes(cpu, block);
	memory_fetch(cpu, block, jumped);
	if (--cpu->watch < 0)
		pmu_watch((int)vcpu);
}

/* What happens between two instructions of a block. */

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
