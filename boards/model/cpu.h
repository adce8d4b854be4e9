/* SPDX-License-Identifier: MIT */
/* A modelled core, for the files that make it up. */
#ifndef MODEL_CPU_H
#define MODEL_CPU_H

#include <pthread.h>

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
	bool zeroes; /* its last instruction */
	uint8_t classes;
	uint16_t n;
	/* how many instructions of it are of which class, CLASS_OTHER left out
	 */
	struct {
		uint8_t class;
		uint16_t n;
	} of_class[CLASSES];
	struct insn insn[];
};

#define NO_VECTOR 0xff

/*
 * The lines that need no second look: of their set the one used last, their
 * page in the micro TLB, and for stores dirty already. By virtual address.
 */
#define QUICK 128
#define SEEN  1024

/* What a CPU's caches are told: of a line of data, of code, of all TLBs. */
enum note {
	CLEAN_DATA,
	DROP_DATA,   /* written back if it is dirty */
	FORGET_DATA, /* lost */
	DROP_CODE,
	FLUSH_TLBS,
};
#define EVERYWHERE UINT64_MAX
#define NOTES	   2048 /* lines of the largest L1 caches, data and code */

struct notes {
	pthread_mutex_t lock;
	bool waits;	       /* without the lock: is there any? */
	bool flush, drop_code; /* all TLBs, all code */
	bool lost;	       /* there were more than there is room for */
	unsigned n;
	struct note_of {
		uint64_t at;
		enum note note;
	} line[NOTES];
};

struct mapping {
	uint64_t phys;
	unsigned shift; /* log2 of the page or block that it is in */
};
#define NO_MAPPING ((struct mapping){ UINT64_MAX, 0 })

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
	struct notes notes; /* of other CPUs */
	uint64_t space;	    /* the process that ran here last */
	struct cache l1i, l1d;
	uint8_t *quick_of_set;
	/* of each slot of the data TLB: which of quick[0] are of its page */
	unsigned __int128 quick_of_slot[TLB_MICRO_MOST];
	/* what QEMU said last of a page: asking it again is slow */
	struct seen {
		uint64_t page, phys;
		unsigned shift;
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

/* @page_shift: log2 of the kernel's pages. */
void memory_make(struct cpu *cpu, unsigned page_shift);
/* QEMU's callback for each access; @data is the struct insn. */
void memory_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t virt,
		   void *data);
/* Lines @line to @line + @lines of @block's are fetched. */
void memory_fetch(struct cpu *cpu, const struct block *block, bool jumped);
void memory_flush(struct cpu *cpu);
/* @block zeroed a line: its DC ZVA is @insn. */
void memory_zero(struct cpu *cpu, const struct insn *insn);
/* The physical address of RAM. */
bool memory_address(struct cpu *cpu, uint64_t virt, uint64_t *phys);
/* Of a line by its physical address: it is seen closely the next time; */
void memory_not_quick(struct cpu *cpu, uint64_t at);
/* it goes to the second level; */
void memory_write_back(struct cpu *cpu, uint64_t *tally, uint64_t at);
/* the second level does with it as it is told. */
void memory_maintain_l2(struct cpu *cpu, uint64_t *tally, uint64_t at,
			enum note note);

/* ---- snoop.c ----------------------------------------------------------------
 */

/* From now on instructions that maintain caches are seen. */
void snoop_start(void);
/* Do what other CPUs, or all, want. */
void snoop_take(struct cpu *cpu, uint64_t *tally);
static inline bool snoop_waits(const struct cpu *cpu)
{
	return __atomic_load_n(&cpu->notes.waits, __ATOMIC_RELAXED);
}
void snoop_flush_tlbs(const struct cpu *from);
/* Has another CPU the line? Now it is no longer its own. */
bool snoop_ask(const struct cpu *from, uint64_t at, bool store);

/* ---- walk.c -----------------------------------------------------------------
 */

void walk_find(int cpu);
void walk_kernel(bool is_a64);
/* What the page tables of @cpu say of @virt, where its MMU is on. */
struct mapping walk(int cpu, uint64_t virt);

/* ---- flow.c ----------------------------------------------------------------
 */

/* QEMU's callback before each block; @data is the struct block. */
void flow_block(unsigned vcpu, void *data);

/* ---- inside.c ---------------------------------------------------------------
 */

/* QEMU's callback before an instruction of the PMU's; @data is the insn. */
void inside_look(unsigned vcpu, void *data);
/* The same behind an instruction that zeroed a line. */
void inside_zeroed(unsigned vcpu, void *data);
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
