// SPDX-License-Identifier: MIT
/*
 * Which registers there are, how they are named and who may reach them.
 */
#include "tests/model/pmu.h"

#include <stdio.h>
#include <string.h>

#include "tests/model/registers.h"

/* Who may: PMUv3's answers; earlier PMUs know EN only. */
enum rule { NOBODY, ANYBODY, EN, EN_CR, EN_ER, EN_SW };

struct row {
	enum model_register reg;
	const char *name; /* AArch64's */
	uint8_t crn, crm, opc2;
	uint8_t op1; /* AArch64's: 3 at EL0, 0 at EL1 */
	enum model_kind since;
	enum rule user_read, user_write;
	bool can_read, can_write;
};

static const struct row rows[] = {
	{ MODEL_PMCR, "pmcr_el0", 9, 12, 0, 3, MODEL_PMUV1, EN, EN, 1, 1 },
	{ MODEL_PMCNTENSET, "pmcntenset_el0", 9, 12, 1, 3, MODEL_PMUV1, EN, EN,
	  1, 1 },
	{ MODEL_PMCNTENCLR, "pmcntenclr_el0", 9, 12, 2, 3, MODEL_PMUV1, EN, EN,
	  1, 1 },
	{ MODEL_PMOVSR, "pmovsclr_el0", 9, 12, 3, 3, MODEL_PMUV1, EN, EN, 1,
	  1 },
	{ MODEL_PMSWINC, "pmswinc_el0", 9, 12, 4, 3, MODEL_PMUV1, EN, EN_SW, 0,
	  1 },
	{ MODEL_PMSELR, "pmselr_el0", 9, 12, 5, 3, MODEL_PMUV1, EN_ER, EN_ER, 1,
	  1 },
	{ MODEL_PMCEID0, "pmceid0_el0", 9, 12, 6, 3, MODEL_PMUV3, EN, NOBODY, 1,
	  0 },
	{ MODEL_PMCEID1, "pmceid1_el0", 9, 12, 7, 3, MODEL_PMUV3, EN, NOBODY, 1,
	  0 },
	{ MODEL_PMCCNTR, "pmccntr_el0", 9, 13, 0, 3, MODEL_PMUV1, EN_CR, EN, 1,
	  1 },
	{ MODEL_PMXEVTYPER, "pmxevtyper_el0", 9, 13, 1, 3, MODEL_PMUV1, EN, EN,
	  1, 1 },
	{ MODEL_PMXEVCNTR, "pmxevcntr_el0", 9, 13, 2, 3, MODEL_PMUV1, EN_ER, EN,
	  1, 1 },
	{ MODEL_PMUSERENR, "pmuserenr_el0", 9, 14, 0, 3, MODEL_PMUV1, ANYBODY,
	  NOBODY, 1, 1 },
	{ MODEL_PMINTENSET, "pmintenset_el1", 9, 14, 1, 0, MODEL_PMUV1, NOBODY,
	  NOBODY, 1, 1 },
	{ MODEL_PMINTENCLR, "pmintenclr_el1", 9, 14, 2, 0, MODEL_PMUV1, NOBODY,
	  NOBODY, 1, 1 },
	{ MODEL_PMOVSSET, "pmovsset_el0", 9, 14, 3, 3, MODEL_PMUV2, EN, EN, 1,
	  1 },
	{ MODEL_PMCCFILTR, "pmccfiltr_el0", 14, 15, 7, 3, MODEL_PMUV3, EN, EN,
	  1, 1 },
	{ MODEL_MIDR, "midr_el1", 0, 0, 0, 0, MODEL_ARM1176, NOBODY, NOBODY, 1,
	  0 },
	{ MODEL_ID_DFR0, "id_dfr0_el1", 0, 1, 2, 0, MODEL_PMUV1, NOBODY, NOBODY,
	  1, 0 },
};

/* DDI 0301H; all four open with V, SUNAVCR to nobody but the kernel */
static const struct row v6_rows[] = {
	{ MODEL_V6_PMCR, "", 15, 12, 0, 0, MODEL_ARM1176, EN, EN, 1, 1 },
	{ MODEL_CCNT, "", 15, 12, 1, 0, MODEL_ARM1176, EN, EN, 1, 1 },
	{ MODEL_PMN0, "", 15, 12, 2, 0, MODEL_ARM1176, EN, EN, 1, 1 },
	{ MODEL_PMN1, "", 15, 12, 3, 0, MODEL_ARM1176, EN, EN, 1, 1 },
	{ MODEL_SUNAVCR, "", 15, 9, 0, 0, MODEL_ARM1176, NOBODY, NOBODY, 1, 1 },
	{ MODEL_ISB, "", 7, 5, 4, 0, MODEL_ARM1176, NOBODY, ANYBODY, 0, 1 },
	{ MODEL_MIDR, "", 0, 0, 0, 0, MODEL_ARM1176, NOBODY, NOBODY, 1, 0 },
};

static const struct row counter_row = { MODEL_PMEVCNTR, "",    0,  0, 0, 3,
					MODEL_PMUV3,	EN_ER, EN, 1, 1 };
static const struct row type_row = { MODEL_PMEVTYPER, "", 0,  0, 0, 3,
				     MODEL_PMUV3,     EN, EN, 1, 1 };
static const struct row aa64dfr0_row = { MODEL_ID_AA64DFR0,
					 "id_aa64dfr0_el1",
					 0,
					 5,
					 0,
					 0,
					 MODEL_PMUV3,
					 NOBODY,
					 NOBODY,
					 1,
					 0 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct model_access none(void)
{
	return (struct model_access){ .reg = MODEL_NO_REGISTER };
}

/* Counters have encodings of their own: n is crm's low bits and opc2. */
static bool is_of_counter(unsigned int crn, unsigned int crm, unsigned int opc2,
			  struct model_access *access)
{
	if (crn != 14 || crm < 8 || (crm == 15 && opc2 == 7) ||
	    (crm == 11 && opc2 == 7))
		return false;
	access->reg = crm < 12 ? MODEL_PMEVCNTR : MODEL_PMEVTYPER;
	access->n = (crm & 3) * 8 + opc2;
	return true;
}

static struct model_access decode(const struct row *table, size_t size,
				  unsigned int crn, unsigned int crm,
				  unsigned int opc2)
{
	struct model_access access = none();

	for (size_t i = 0; i < size; i++)
		if (table[i].crn == crn && table[i].crm == crm &&
		    table[i].opc2 == opc2)
			access.reg = table[i].reg;
	return access;
}

struct model_access model_decode_cp15(const struct model_pmu *pmu,
				      unsigned int opc1, unsigned int crn,
				      unsigned int crm, unsigned int opc2)
{
	struct model_access access = none();

	if (opc1)
		return access;
	if (pmu->kind == MODEL_ARM1176)
		return decode(v6_rows, COUNT(v6_rows), crn, crm, opc2);
	if (pmu->kind == MODEL_PMUV3 && is_of_counter(crn, crm, opc2, &access))
		return access;
	return decode(rows, COUNT(rows), crn, crm, opc2);
}

struct model_access model_decode_sys(unsigned int op1, unsigned int crn,
				     unsigned int crm, unsigned int op2)
{
	struct model_access access = none();

	if (op1 == 3 && is_of_counter(crn, crm, op2, &access))
		return access;
	if (op1 == aa64dfr0_row.op1 && crn == aa64dfr0_row.crn &&
	    crm == aa64dfr0_row.crm && op2 == aa64dfr0_row.opc2)
		access.reg = MODEL_ID_AA64DFR0;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].op1 == op1 && rows[i].crn == crn &&
		    rows[i].crm == crm && rows[i].opc2 == op2)
			access.reg = rows[i].reg;
	return access;
}

struct model_access model_decode_name(const char *name)
{
	struct model_access access = none();
	int end = 0;

	if (sscanf(name, "pmevcntr%u_el0%n", &access.n, &end) == 1 && end) {
		access.reg = MODEL_PMEVCNTR;
		return access;
	}
	if (sscanf(name, "pmevtyper%u_el0%n", &access.n, &end) == 1 && end) {
		access.reg = MODEL_PMEVTYPER;
		return access;
	}
	if (!strcmp(name, aa64dfr0_row.name))
		access.reg = MODEL_ID_AA64DFR0;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(name, rows[i].name))
			access.reg = rows[i].reg;
	return access;
}

static const struct row *row_of(const struct model_pmu *pmu,
				enum model_register reg)
{
	const struct row *table = rows;
	size_t size = COUNT(rows);

	if (pmu->kind == MODEL_ARM1176) {
		table = v6_rows;
		size = COUNT(v6_rows);
	}
	if (reg == MODEL_PMEVCNTR)
		return &counter_row;
	if (reg == MODEL_PMEVTYPER)
		return &type_row;
	if (reg == MODEL_ID_AA64DFR0)
		return &aa64dfr0_row;
	for (size_t i = 0; i < size; i++)
		if (table[i].reg == reg)
			return &table[i];
	return NULL;
}

static bool is_permitted(const struct model_pmu *pmu, enum rule rule)
{
	uint32_t access = pmu->user_access;

	if (!pmu->is_user || rule == ANYBODY)
		return true;
	if (rule == NOBODY)
		return false;
	if (access & USER_EN)
		return true;
	if (pmu->kind != MODEL_PMUV3)
		return false;
	return (rule == EN_CR && (access & USER_CR)) ||
	       (rule == EN_ER && (access & USER_ER)) ||
	       (rule == EN_SW && (access & USER_SW));
}

bool model_is_defined(const struct model_pmu *pmu,
		      const struct model_access *access)
{
	const struct row *row = row_of(pmu, access->reg);

	if (!row || pmu->kind < row->since)
		return false;
	if (access->write ? !row->can_write : !row->can_read)
		return false;
	return is_permitted(pmu,
			    access->write ? row->user_write : row->user_read);
}
