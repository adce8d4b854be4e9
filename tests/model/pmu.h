/* SPDX-License-Identifier: MIT */
/*
 * pmu.h - a PMU as the manuals describe it, in software
 *
 * Register files of the ARM1176 (DDI 0301H 3.2.50 to 3.2.54), of ARMv7's PMUv1
 * and PMUv2 (DDI 0406C.d, C12 and B4.1) and of PMUv3 in both states (DDI 0487,
 * D17 and G8). It is written from those and not from the code under test.
 * What a manual leaves open, it answers with something useless, and what a
 * manual forbids, it counts in @violations: code that depends on either fails.
 */
#ifndef TESTS_MODEL_PMU_H
#define TESTS_MODEL_PMU_H

#include <stdbool.h>
#include <stdint.h>

enum model_kind {
	MODEL_ARM1176,
	MODEL_PMUV1, /* Cortex-A5, A8, A9 */
	MODEL_PMUV2, /* Cortex-A7, A12, A15, A17: filters, PMOVSSET */
	MODEL_PMUV3, /* ARMv8: 64-bit cycles, finer user access */
};

/* Which of the state is reached; one name for both states' registers */
enum model_register {
	MODEL_PMCR,
	MODEL_PMCNTENSET,
	MODEL_PMCNTENCLR,
	MODEL_PMOVSR,
	MODEL_PMOVSSET,
	MODEL_PMSWINC,
	MODEL_PMSELR,
	MODEL_PMCEID0,
	MODEL_PMCEID1,
	MODEL_PMCCNTR,
	MODEL_PMXEVTYPER,
	MODEL_PMXEVCNTR,
	MODEL_PMUSERENR,
	MODEL_PMINTENSET,
	MODEL_PMINTENCLR,
	MODEL_PMCCFILTR,
	MODEL_PMEVCNTR, /* of counter n */
	MODEL_PMEVTYPER,
	MODEL_MIDR,
	MODEL_ID_DFR0,
	MODEL_ID_AA64DFR0,
	MODEL_CCNT, /* ARM1176's own from here */
	MODEL_PMN0,
	MODEL_PMN1,
	MODEL_SUNAVCR,
	MODEL_V6_PMCR,
	MODEL_ISB,
	MODEL_NO_REGISTER,
};

struct model_access {
	enum model_register reg;
	unsigned int n; /* counter of PMEVCNTR and PMEVTYPER */
	bool write;
	uint64_t value;
};

struct model_pmu {
	enum model_kind kind;
	unsigned int n; /* event counters */
	bool is_user;	/* accesses come from user mode */
	bool is_long;	/* PMUv3p5: 64-bit event counters */
	uint32_t control;
	uint32_t enabled;
	uint32_t interrupts;
	uint32_t flags;
	uint32_t select;
	uint32_t user_access;
	uint64_t cycles;
	unsigned int divider; /* cycles since the last 64th */
	uint64_t counter[31];
	uint32_t type[32]; /* 31: the cycle counter's filter */

	unsigned int accesses;
	unsigned int undefined;	 /* accesses that a CPU would trap */
	unsigned int violations; /* accesses that a manual forbids */
	/* Called before each access: what an interrupt there would do */
	void (*before)(struct model_pmu *pmu, const struct model_access *next);
	void *context;
};

#define MODEL_CYCLES (UINT32_C(1) << 31)

/* PMCEID0 and PMCEID1: which of the first 64 events there are. */
#define MODEL_EVENTS_0 UINT32_C(0x00021913)
#define MODEL_EVENTS_1 UINT32_C(0x00000018)

/* The PMU of this program, and what it last wrote to PMSELR (current.c) */
extern struct model_pmu model;
extern uint64_t model_last_select;
extern uintptr_t model_thread_pointer;

/** A PMU as after reset, of @n event counters (ARM1176: 2). */
void model_init(struct model_pmu *pmu, enum model_kind kind, unsigned int n);

/** One access. False where the CPU would take an undefined instruction. */
bool model_access(struct model_pmu *pmu, struct model_access *access);

/** AArch32's encoding (opc1 0), or AArch64's op1 3 and 0 of the same shape. */
struct model_access model_decode_cp15(const struct model_pmu *pmu,
				      unsigned int opc1, unsigned int crn,
				      unsigned int crm, unsigned int opc2);
struct model_access model_decode_sys(unsigned int op1, unsigned int crn,
				     unsigned int crm, unsigned int op2);
struct model_access model_decode_name(const char *name);

/** @count events @event happen, in user mode or (@privileged) in the kernel. */
void model_happen(struct model_pmu *pmu, uint32_t event, uint64_t count,
		  bool privileged);

/** @count cycles pass. */
void model_pass(struct model_pmu *pmu, uint64_t count, bool privileged);

/** Is the interrupt line up? */
bool model_interrupt(const struct model_pmu *pmu);

#endif
