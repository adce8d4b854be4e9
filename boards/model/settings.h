/* SPDX-License-Identifier: MIT */
/* What is modelled: written by boards/model.py, a word and numbers a line. */
#ifndef MODEL_SETTINGS_H
#define MODEL_SETTINGS_H

#include "branch.h"
#include "cache.h"
#include "model.h"

struct core_shape {
	struct cache_shape l1i, l1d, l2;
	unsigned itlb, dtlb;		/* entries of the micro TLBs */
	unsigned tlb_entries, tlb_ways; /* of the main one */
	struct branch_shape branches;
	bool is_arm1176;	  /* its PMU is not the architecture's */
	bool read_allocate;	  /* L1D takes in no line that a store misses */
	uint32_t midr, pmcr;	  /* 0: as the emulator has them */
	bool events[MODEL_CODES]; /* that the core has */
	uint16_t own[MODEL_CODES]; /* not the architecture's: event_own() */
};

/*
 *     ram 0x40000000          where RAM begins
 *     hidden 1                a CPU whose ID registers do not tell its PMU
 *     perfmon 1               what they tell of the PMU of each CPU
 *     core 0                  what follows is of this CPU
 *     l1d 32768 4 64          a cache: size, ways, line
 *     itlb 10                 entries
 *     tlb 256 2               entries, ways
 *     branches 256 8 8 8      counters, bits of history, targets, returns
 *     events 0x03 0x04 ...
 *     own 0xc9 conditional    one that is the core's own: see event_own()
 *     arm1176                 the PMU is that core's own
 *     read-allocate           L1D takes in lines for loads only
 *     identity 0x410fc075 0x41072000    MIDR; what PMCR says of the core
 *
 * @reason: QEMU_REASON bytes, filled when it returns false
 */
bool settings_read(const char *path, char *reason);

uint64_t settings_ram(void);
/* One, for all CPUs, or one for each. */
int settings_cores(void);
const struct core_shape *settings_core(int cpu);

/* What the guest reads in MIDR and, of the core, in PMCR. Call it first. */
void identity_put(int cpu, const struct core_shape *core);
/* And which PMU it has. Before the machine first runs. */
void identity_tell(int cpu);

#endif
