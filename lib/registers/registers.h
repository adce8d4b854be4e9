/* SPDX-License-Identifier: MIT */
/*
 * registers.h - what the PMU's registers say right now, for those who want to
 * see them: upmu regs
 */
#ifndef UPMU_LIB_REGISTERS_H
#define UPMU_LIB_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#define UPMU_REGISTERS_COUNTERS 31

struct upmu_registers {
	bool has_enables; /* PMCNTENSET, PMINTENSET; not on ARM1176 */
	uint32_t user_access;
	uint32_t control;
	uint32_t enabled; /* masks: counter n is bit n, cycles bit 31 */
	uint32_t overflow;
	uint32_t selected;
	unsigned int counters;
	uint64_t cycles;
	uint32_t type[UPMU_REGISTERS_COUNTERS];
	uint64_t counter[UPMU_REGISTERS_COUNTERS];
};

/** "v6", "v7", "v8-32", "v8-64": the names and fields that apply; "none". */
const char *upmu_registers_architecture(void);

/**
 * Read the registers of the CPU that this thread is on, as they are. Two of
 * them may be of different CPUs where the thread is not pinned. The caller
 * holds a lease. Returns 0 or
 *   -EACCES      user mode may not read them here (PMUSERENR.EN is 0: no
 *                lease, or one that grants reading counters only); where that
 *                register can be read, @out->user_access is filled
 *   -EOPNOTSUPP  not an ARM processor
 */
int upmu_registers_read(struct upmu_registers *out);

/**
 * Which PMU registers this machine has, asked at run time.
 * 6: ARM1176's c15. 7: CP15 c9, ARMv7 and later in 32-bit programs. 8: AArch64.
 * 0: no ARM processor, or an older one. What the processor is, not what the
 * library was compiled for.
 */
unsigned int upmu_processor_registers(void);

#endif
