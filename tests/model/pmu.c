// SPDX-License-Identifier: MIT
#include "tests/model/pmu.h"

#include <string.h>

#include "tests/model/registers.h"

#define CONTROL_E  0x1u
#define CONTROL_P  0x2u
#define CONTROL_C  0x4u
#define CONTROL_D  0x8u
#define CONTROL_LC 0x40u
#define CONTROL_LP 0x80u

#define TYPE_P	 (UINT32_C(1) << 31)
#define TYPE_U	 (UINT32_C(1) << 30)
#define TYPE_NSK (UINT32_C(1) << 29)
#define TYPE_NSU (UINT32_C(1) << 28)

void model_init(struct model_pmu *pmu, enum model_kind kind, unsigned int n)
{
	memset(pmu, 0, sizeof(*pmu));
	pmu->kind = kind;
	pmu->n = kind == MODEL_ARM1176 ? 2 : n;
	if (kind == MODEL_ARM1176)
		return;
	/* Unknown after reset; PMCR's writable bits and PMUSERENR are not. */
	pmu->cycles = kind == MODEL_PMUV3 ? 0xbad00000bad0ull : 0xbad0;
	pmu->select = 0x15;
	pmu->enabled = 0x5 & ((1u << n) - 1);
	for (unsigned int i = 0; i < 32; i++)
		pmu->type[i] = kind >= MODEL_PMUV2 ? TYPE_P | 0x42 : 0x42;
	for (unsigned int i = 0; i < n; i++)
		pmu->counter[i] = 0x0bad0000u + i;
}

/* The counters that exist, and the cycle counter: other bits are RAZ/WI. */
static uint32_t implemented(const struct model_pmu *pmu)
{
	return MODEL_CYCLES | ((UINT32_C(1) << pmu->n) - 1);
}

static void add(struct model_pmu *pmu, unsigned int n, uint64_t count)
{
	bool wide = pmu->is_long && (pmu->control & CONTROL_LP);
	uint64_t before = pmu->counter[n];

	pmu->counter[n] += count;
	if (!pmu->is_long)
		pmu->counter[n] = (uint32_t)pmu->counter[n];
	if (wide ? pmu->counter[n] < before
		 : (uint32_t)before + count > UINT32_MAX)
		pmu->flags |= UINT32_C(1) << n;
}

static void add_cycles(struct model_pmu *pmu, uint64_t count)
{
	bool wide = pmu->kind == MODEL_PMUV3 && (pmu->control & CONTROL_LC);
	uint64_t before = pmu->cycles;

	pmu->cycles += count;
	if (wide ? pmu->cycles < before : (uint32_t)before + count > UINT32_MAX)
		pmu->flags |= MODEL_CYCLES;
	if (pmu->kind != MODEL_PMUV3)
		pmu->cycles = (uint32_t)pmu->cycles;
}

/* In Non-secure state, as Linux runs: a pair of equal bits lets it count. */
static bool passes_filter(const struct model_pmu *pmu, uint32_t type,
			  bool privileged)
{
	if (pmu->kind < MODEL_PMUV2)
		return true;
	if (privileged)
		return !(type & TYPE_P) == !(type & TYPE_NSK);
	return !(type & TYPE_U) == !(type & TYPE_NSU);
}

static bool runs(const struct model_pmu *pmu, uint32_t bit)
{
	if (!(pmu->control & CONTROL_E))
		return false;
	return pmu->kind == MODEL_ARM1176 || (pmu->enabled & bit);
}

static uint32_t event_of(const struct model_pmu *pmu, unsigned int n)
{
	return pmu->type[n] & (pmu->kind == MODEL_PMUV3 ? 0xffff : 0xff);
}

void model_happen(struct model_pmu *pmu, uint32_t event, uint64_t count,
		  bool privileged)
{
	for (unsigned int i = 0; i < pmu->n; i++)
		if (runs(pmu, UINT32_C(1) << i) && event_of(pmu, i) == event &&
		    passes_filter(pmu, pmu->type[i], privileged))
			add(pmu, i, count);
}

void model_pass(struct model_pmu *pmu, uint64_t count, bool privileged)
{
	uint64_t ticks = count;

	model_happen(pmu, pmu->kind == MODEL_ARM1176 ? 0xff : 0x11, count,
		     privileged);
	if (!runs(pmu, MODEL_CYCLES) ||
	    !passes_filter(pmu, pmu->kind == MODEL_ARM1176 ? 0 : pmu->type[31],
			   privileged))
		return;
	if ((pmu->control & CONTROL_D) &&
	    !(pmu->kind == MODEL_PMUV3 && (pmu->control & CONTROL_LC))) {
		ticks = (pmu->divider + count) / 64;
		pmu->divider = (unsigned int)((pmu->divider + count) % 64);
	}
	add_cycles(pmu, ticks);
}

bool model_interrupt(const struct model_pmu *pmu)
{
	return (pmu->flags & pmu->interrupts) && (pmu->control & CONTROL_E);
}

static void reset_by(struct model_pmu *pmu, uint32_t control)
{
	if (control & CONTROL_P)
		memset(pmu->counter, 0, sizeof(pmu->counter));
	if (control & CONTROL_C)
		pmu->cycles = 0;
}

/* ---- ARM1176 ----------------------------------------------------------- */

static uint32_t v6_trio(uint32_t mask)
{
	return (mask & 3) | (mask >> 31) << 2;
}

static uint32_t v6_mask(uint32_t trio)
{
	return (trio & 3) | ((trio >> 2) & 1) << 31;
}

static uint32_t v6_read_control(struct model_pmu *pmu)
{
	uint32_t value = pmu->control;

	value |= v6_trio(pmu->interrupts) << 4;
	value |= v6_trio(pmu->flags) << 8;
	value |= pmu->type[1] << 12 | pmu->type[0] << 20;
	/* C and P are unpredictable when read */
	return value | ((pmu->accesses & 1) ? CONTROL_C : CONTROL_P);
}

static void v6_write_control(struct model_pmu *pmu, uint32_t value)
{
	if (value & 0xf0000080u)
		pmu->violations++;
	pmu->control = value & (CONTROL_E | CONTROL_D | 0x800u);
	pmu->interrupts = v6_mask(value >> 4);
	pmu->flags &= ~v6_mask(value >> 8);
	pmu->type[1] = (value >> 12) & 0xff;
	pmu->type[0] = (value >> 20) & 0xff;
	reset_by(pmu, value);
}

static bool v6_access(struct model_pmu *pmu, struct model_access *access)
{
	uint64_t *plain = NULL;

	switch (access->reg) {
	case MODEL_V6_PMCR:
		if (access->write)
			v6_write_control(pmu, (uint32_t)access->value);
		else
			access->value = v6_read_control(pmu);
		return true;
	case MODEL_SUNAVCR:
		if (access->write)
			pmu->user_access = access->value & USER_EN;
		else
			access->value = pmu->user_access;
		return true;
	case MODEL_MIDR:
		access->value = 0x410fb767;
		return true;
	case MODEL_CCNT:
		plain = &pmu->cycles;
		break;
	case MODEL_PMN0:
		plain = &pmu->counter[0];
		break;
	case MODEL_PMN1:
		plain = &pmu->counter[1];
		break;
	default:
		return true; /* MODEL_ISB */
	}
	if (access->write)
		*plain = (uint32_t)access->value;
	else
		access->value = *plain;
	return true;
}

/* ---- PMUv1, PMUv2, PMUv3 ------------------------------------------------ */

static uint32_t control_writable(const struct model_pmu *pmu)
{
	uint32_t bits = CONTROL_E | CONTROL_D | 0x10u | 0x20u;

	if (pmu->kind == MODEL_PMUV3)
		bits |= CONTROL_LC;
	if (pmu->is_long)
		bits |= CONTROL_LP;
	return bits;
}

static uint64_t type_writable(const struct model_pmu *pmu, unsigned int n)
{
	uint32_t filters = pmu->kind >= MODEL_PMUV2 ? 0xf8000000u : 0;

	if (n == 31)
		return filters;
	return filters | (pmu->kind == MODEL_PMUV3 ? 0xffff : 0xff);
}

static void software_increment(struct model_pmu *pmu, uint32_t mask)
{
	for (unsigned int i = 0; i < pmu->n; i++)
		if ((mask & (UINT32_C(1) << i)) && event_of(pmu, i) == 0 &&
		    runs(pmu, UINT32_C(1) << i))
			add(pmu, i, 1);
}

/* Registers of one counter; outside the implemented ones, nothing to rely on */
static bool counter_access(struct model_pmu *pmu, struct model_access *access,
			   unsigned int n, bool is_type)
{
	bool has_filter = is_type && n == 31 && pmu->kind >= MODEL_PMUV2;

	if (n >= pmu->n && !has_filter) {
		pmu->violations++;
		access->value = 0xdeadbeef;
		return access->reg == MODEL_PMXEVCNTR ||
		       access->reg == MODEL_PMXEVTYPER;
	}
	if (is_type && access->write)
		pmu->type[n] =
			(uint32_t)(access->value & type_writable(pmu, n));
	else if (is_type)
		access->value = pmu->type[n];
	else if (access->write)
		pmu->counter[n] =
			pmu->is_long ? access->value : (uint32_t)access->value;
	else
		access->value = pmu->counter[n];
	return true;
}

/* Set and clear registers read the state and write it bit by bit. */
static void bits_access(struct model_pmu *pmu, struct model_access *access,
			uint32_t *state, bool is_set)
{
	uint32_t bits = (uint32_t)access->value & implemented(pmu);

	if (!access->write)
		access->value = *state;
	else if (is_set)
		*state |= bits;
	else
		*state &= ~bits;
}

static uint64_t identity(const struct model_pmu *pmu, enum model_register reg)
{
	static const uint32_t perfmon[] = { 0, 1, 2, 3 };

	if (reg == MODEL_MIDR)
		return pmu->kind == MODEL_PMUV3 ? 0x410fd034 : 0x410fc075;
	if (reg == MODEL_ID_DFR0)
		return perfmon[pmu->kind] << 24 | 0x010505;
	if (reg == MODEL_ID_AA64DFR0)
		return 0x10305006 | 1 << 8;
	return reg == MODEL_PMCEID0 ? MODEL_EVENTS_0 : MODEL_EVENTS_1;
}

static void control_access(struct model_pmu *pmu, struct model_access *access)
{
	if (!access->write) {
		access->value = pmu->control | pmu->n << 11 | 0x41070000;
		return;
	}
	pmu->control = (uint32_t)access->value & control_writable(pmu);
	reset_by(pmu, (uint32_t)access->value);
}

static void user_access(struct model_pmu *pmu, struct model_access *access)
{
	uint32_t bits = pmu->kind == MODEL_PMUV3 ? 0xf : USER_EN;

	if (access->write)
		pmu->user_access = (uint32_t)access->value & bits;
	else
		access->value = pmu->user_access;
}

static bool later_access(struct model_pmu *pmu, struct model_access *access)
{
	switch (access->reg) {
	case MODEL_PMCR:
		control_access(pmu, access);
		return true;
	case MODEL_PMCNTENSET:
	case MODEL_PMCNTENCLR:
		bits_access(pmu, access, &pmu->enabled,
			    access->reg == MODEL_PMCNTENSET);
		return true;
	case MODEL_PMINTENSET:
	case MODEL_PMINTENCLR:
		bits_access(pmu, access, &pmu->interrupts,
			    access->reg == MODEL_PMINTENSET);
		return true;
	case MODEL_PMOVSR:
	case MODEL_PMOVSSET:
		bits_access(pmu, access, &pmu->flags,
			    access->reg == MODEL_PMOVSSET);
		return true;
	case MODEL_PMSWINC:
		software_increment(pmu, (uint32_t)access->value);
		return true;
	case MODEL_PMSELR:
		if (access->write)
			pmu->select = access->value & 0x1f;
		else
			access->value = pmu->select;
		return true;
	case MODEL_PMCCNTR:
		if (access->write)
			pmu->cycles = pmu->kind == MODEL_PMUV3
					      ? access->value
					      : (uint32_t)access->value;
		else
			access->value = pmu->cycles;
		return true;
	case MODEL_PMCCFILTR:
		return counter_access(pmu, access, 31, true);
	case MODEL_PMXEVTYPER:
	case MODEL_PMXEVCNTR:
		return counter_access(pmu, access, pmu->select,
				      access->reg == MODEL_PMXEVTYPER);
	case MODEL_PMEVCNTR:
	case MODEL_PMEVTYPER:
		return counter_access(pmu, access, access->n,
				      access->reg == MODEL_PMEVTYPER);
	case MODEL_PMUSERENR:
		user_access(pmu, access);
		return true;
	default:
		access->value = identity(pmu, access->reg);
		return true;
	}
}

bool model_access(struct model_pmu *pmu, struct model_access *access)
{
	bool done;

	if (pmu->before)
		pmu->before(pmu, access);
	pmu->accesses++;
	done = model_is_defined(pmu, access);
	if (done)
		done = pmu->kind == MODEL_ARM1176 ? v6_access(pmu, access)
						  : later_access(pmu, access);
	if (!done)
		pmu->undefined++;
	return done;
}
