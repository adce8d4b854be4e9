/* SPDX-License-Identifier: MIT */
/* What the files of the model share. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_LEVELS 4	   /* exception levels 0 to 3 */
#define MODEL_CODES  0x100 /* event numbers that may be modelled */
#define MODEL_SUMS   0x110 /* from MODEL_CODES on: a core's own events */

/*
 * What the model counts, for each CPU and exception level. Events are sums
 * and differences of these (events.c).
 */
enum tally {
	READS,
	WRITES, /* accesses, devices' too */
	DEVICE_READS,
	DEVICE_WRITES,
	MORE_READS,
	MORE_WRITES, /* all but an instruction's first */
	SPLIT_READS,
	SPLIT_WRITES, /* went on in the next line */
	UNALIGNED_READS,
	UNALIGNED_WRITES,
	L1D_READ_REFILLS,
	L1D_WRITE_REFILLS,
	L1D_WRITE_BACKS, /* for want of room */
	L1D_CLEANS,	 /* written back since somebody wanted it */
	L1D_INVALIDATED,
	SNOOPED, /* refilled from another CPU's L1 */
	DTLB_READ_REFILLS,
	DTLB_WRITE_REFILLS,
	L1I_FETCHES,
	L1I_REFILLS,
	ITLB_REFILLS,
	L2_READS,
	L2_WRITES,
	L2_READ_REFILLS,
	L2_WRITE_REFILLS,
	L2_WRITE_BACKS,
	L2_CLEANS,
	L2_INVALIDATED,
	TLB_LOOKUPS,
	TLB_REFILLS, /* of the main TLB */
	BUS_READS,
	BUS_WRITES,
	BRANCHES,
	IMMEDIATE_BRANCHES,
	RETURNS,
	INDIRECT_BRANCHES,
	TAKEN_BRANCHES,
	CONDITIONAL_BRANCHES,
	MISPREDICTED,
	CONDITIONAL_MISPREDICTED,
	INDIRECT_MISPREDICTED,
	INDIRECT_WRONG, /* of these: another target was expected */
	EXCEPTION_RETURNS,
	UNDEFINED,
	SUPERVISOR_CALLS,
	PREFETCH_ABORTS,
	DATA_ABORTS,
	INTERRUPTS,
	FAST_INTERRUPTS,
	OTHER_EXCEPTIONS,
	CONTEXT_WRITES,
	TABLE_WRITES,
	INSTRUCTIONS,
	CLASS_TALLIES, /* and one for each enum insn_class */
	TALLIES = CLASS_TALLIES + 16,
};

/* ---- events.c ------------------------------------------------------------ */

bool event_is_modelled(unsigned code);
/* Of an event that is not the architecture's: MODEL_CODES and more, or 0. */
unsigned event_own(const char *name);
/* Of the levels whose bit is set in @levels; @code: or what event_own() said.
 */
uint64_t event_total(const uint64_t (*tally)[TALLIES], unsigned code,
		     unsigned levels);

/* ---- core.c -------------------------------------------------------------- */

/* What all the CPUs did so far. */
const uint64_t (*core_tally(int cpu))[TALLIES];
/* Make the cores as they were just built, before anything runs. */
void core_make(void);
/* Begin: instrument what runs from now on. Not before anyone counts. */
void core_start(void);
/* In @blocks blocks of instructions call pmu_watch(). */
void core_watch_after(int cpu, int64_t blocks);
#define CORE_BLOCK_MOST 32768 /* more of one event no block can count */

/* ---- pmu.c ----------------------------------------------------------------
 */

/* Put our functions into the registers of each CPU's PMU. */
bool pmu_hook(char *reason);
/*
 * The events in @wanted that the PMU of @cpu shall count by the model; @own:
 * what event_own() said of each, or 0.
 */
void pmu_offer(int cpu, const bool *wanted, const uint16_t *own);
/* Look whether a counter ran over; called after so many blocks. */
void pmu_watch(int cpu);
/* Does a counter with an event that QEMU lacks keep what is written to it? */
bool pmu_try(char *reason);

/*
 * arm1176_add - give the CPU the registers of its PMU, which QEMU lacks
 * @reason: QEMU_REASON bytes, filled when it returns false
 */
bool arm1176_add(char *reason);

/* Is the event counted, by the model or by the emulator's clock? */
bool arm1176_counts(unsigned event);

/* The emulator's clock: a nanosecond of the board's time is a cycle. */

/*
 * clock_find - look up what is used of the emulator's clock; call it first
 * @reason: QEMU_REASON bytes, filled when it returns false
 */
bool clock_find(char *reason);

/* Both: in the function of a register only, where the time is known. */
uint64_t clock_cycles(void);
/* Executed since the board started; only where clock_counts_instructions(). */
uint64_t clock_instructions(void);
bool clock_counts_instructions(void); /* -icount */

#endif
