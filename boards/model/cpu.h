/* SPDX-License-Identifier: MIT */
/* A modelled core, for the files that make it up. */
#ifndef MODEL_CPU_H
#define MODEL_CPU_H

#include "branch.h"
#include "cache.h"
#include "decode.h"
#include "model.h"
#include "qemu.h"
#include "tlb.h"

/* An instruction of a block. */
struct insn {
	struct block *block;
	uint16_t offset; /* from the block's begin */
	bool simple;	 /* this and what follows: see struct decoded */
	bool of_pmu, zeroes;
	uint8_t use, align, class, also;
	uint8_t address; /* of what it zeroes: a general register */
};

/* What QEMU translates at once: it is entered at its beginning only. */
struct block {
	struct block *chain; /* with the same hash */
	uint64_t hash;
	uint64_t virt, end; /* of what follows it */
	uint64_t branch_at, target;
	/*
	 * Where it lies, physical; the second: on the next page. Not by lines:
	 * unlike cores run the same block.
	 */
	uint64_t phys[2];
	uint16_t bytes[2];
	uint8_t level, branch, vector;
	bool conditional, is_a64;
	uint16_t n;
	uint16_t class[CLASSES];
	struct insn insn[];
};

#define NO_VECTOR 0xff

/*
 * The lines that need no second look: of their set the one used last, their
 * page in the micro TLB, and for stores dirty already. By virtual address.
 */
#define QUICK 128
#define SEEN  1024

struct cpu {
	uint64_t tally[MODEL_LEVELS][TALLIES];
	int64_t watch;		  /* blocks until pmu_watch() */
	uint64_t quick[2][QUICK]; /* for reads, writes */
	uint64_t line_mask;
	unsigned line_shift, page_shift;
	const struct insn *doing[2]; /* reads, writes */

	const struct block *block; /* that runs now */
	const struct insn *ahead;  /* this and what follows: see inside.c */
	uint64_t fetched;	   /* the line that was fetched last */
	uint64_t fetch_page;

	int id;
	bool flush;	/* of the micro TLBs, wanted by any CPU */
	uint64_t space; /* the process that ran here last */
	struct cache l1i, l1d;
	uint8_t *quick_of_set;
	/* of each slot of the data TLB: which of quick[0] are of its page */
	unsigned __int128 quick_of_slot[TLB_MICRO_MOST];
	/* what QEMU said last of a page: asking it again is slow */
	struct {
		uint64_t page, phys;
	} seen[SEEN];
	struct micro_tlb itlb, dtlb;
	struct main_tlb tlb;
	bool has_tlb, has_l2, read_allocate;
	struct branch_predictor branches;
};

extern struct cpu cpus[QEMU_CPUS];

static inline uint64_t *cpu_tally(struct cpu *cpu, unsigned level)
{
	return cpu->tally[level];
}

/* ---- memory.c -------------------------------------------------------------
 */

void memory_make(struct cpu *cpu);
/* QEMU's callback for each access; @data is the struct insn. */
void memory_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t virt,
		   void *data);
/* Lines @line to @line + @lines of @block's are fetched. */
void memory_fetch(struct cpu *cpu, const struct block *block, bool jumped);
void memory_flush(struct cpu *cpu);

/* ---- flow.c ----------------------------------------------------------------
 */

/* QEMU's callback before each block; @data is the struct block. */
void flow_block(unsigned vcpu, void *data);

/* ---- inside.c ---------------------------------------------------------------
 */

/* QEMU's callback before an instruction of the PMU's; @data is the insn. */
void inside_look(unsigned vcpu, void *data);
/* The block is over. */
void inside_end(struct cpu *cpu);

/* ---- translate.c ------------------------------------------------------------
 */

struct block *translate_block(int cpu, const struct qemu_plugin_tb *tb);

/* ---- system.c ---------------------------------------------------------------
 */

void system_hook(void);
/* Where the exception vectors of this level are now. */
uint64_t system_vectors(int cpu, int level);
uint64_t system_return(int cpu, int level);   /* ELR */
uint64_t system_syndrome(int cpu, int level); /* ESR */
unsigned system_page_shift(int cpu);
/* On the way to user mode: another process than the last time? */
void system_new_space(struct cpu *cpu);

#endif
