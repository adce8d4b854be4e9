// SPDX-License-Identifier: MIT
/*
 * What other tools call an event. PAPI's presets of one event, as its
 * papi_events.csv (48842c6) has them for ARM cores; those that add up or
 * subtract several events are no event of ours.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/events/generic.h"
#include "names.h"

#define ALTERNATIVES 4

/* The first that a core has is meant. */
static const struct {
	const char *name;
	const char *events[ALTERNATIVES];
} papi[] = {
	{ "PAPI_BR_INS",
	  { "br_retired", "br_exec", "pc_write_spec", "br_pred" } },
	{ "PAPI_BR_MSP",
	  { "br_mis_pred", "br_mispredict", "branch_mispred_nonspec" } },
	{ "PAPI_BRU_IDL", { "br_comp_wait" } },
	{ "PAPI_FDV_INS", { "fp_div_spec" } },
	{ "PAPI_FMA_INS", { "fp_fma_spec" } },
	{ "PAPI_FML_INS", { "fp_mul_spec" } },
	{ "PAPI_FP_INS", { "fp_spec", "vfp_spec" } },
	{ "PAPI_FPU_IDL", { "fl_comp_wait" } },
	{ "PAPI_FSQ_INS", { "fp_sqrt_spec" } },
	{ "PAPI_INT_INS", { "int_spec", "dp_spec" } },
	{ "PAPI_L1_DCA", { "l1d_cache", "dcache_access" } },
	{ "PAPI_L1_DCM", { "l1d_cache_refill", "dcache_miss" } },
	{ "PAPI_L1_DCR", { "l1d_cache_rd" } },
	{ "PAPI_L1_DCW", { "l1d_cache_wr" } },
	{ "PAPI_L1_ICA", { "l1i_cache" } },
	{ "PAPI_L1_ICM", { "l1i_cache_refill", "icache_miss" } },
	{ "PAPI_L1_LDM", { "l1d_cache_refill_rd" } },
	{ "PAPI_L1_STM", { "l1d_cache_refill_wr" } },
	{ "PAPI_L2_DCM", { "l2d_cache_refill" } },
	{ "PAPI_L2_DCR", { "l2d_cache_rd" } },
	{ "PAPI_L2_DCW", { "l2d_cache_wr" } },
	{ "PAPI_L2_LDM", { "l2d_cache_refill_rd" } },
	{ "PAPI_L2_STM", { "l2d_cache_refill_wr" } },
	{ "PAPI_L2_TCA", { "l2d_cache" } },
	{ "PAPI_L2_TCM", { "l2d_cache_refill" } },
	{ "PAPI_L3_DCA", { "l3d_cache" } },
	{ "PAPI_L3_DCM", { "l3d_cache_refill" } },
	{ "PAPI_L3_DCR", { "l3d_cache_rd" } },
	{ "PAPI_L3_LDM", { "ll_cache_miss_rd" } },
	{ "PAPI_LD_INS", { "ld_spec", "ld_retired" } },
	{ "PAPI_LST_INS", { "ldst_spec" } },
	{ "PAPI_LSU_IDL", { "ld_comp_wait" } },
	{ "PAPI_REF_CYC", { "cnt_cycles" } },
	{ "PAPI_RES_STL", { "stall_backend" } },
	{ "PAPI_SR_INS", { "st_spec", "st_retired" } },
	{ "PAPI_STL_ICY", { "stall", "ibuf_stall" } },
	{ "PAPI_TLB_DM", { "l2d_tlb_refill", "l1d_tlb_refill", "dtlb_miss" } },
	{ "PAPI_TLB_IM", { "l1i_tlb_refill", "itlb_miss" } },
	{ "PAPI_TOT_CYC", { "cpu_cycles" } },
	{ "PAPI_TOT_INS", { "inst_retired", "instr_exec", "inst_all" } },
	{ "PAPI_VEC_INS", { "simd_inst_retired", "ase_spec" } },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct upmu_event_row *by_name(const struct upmu_core *core,
					    const char *name)
{
	return upmu_core_find(core, name, strlen(name));
}

static const struct upmu_event_row *preset(const struct upmu_core *core,
					   size_t n)
{
	const struct upmu_event_row *row = NULL;

	for (size_t i = 0; !row && i < ALTERNATIVES && papi[n].events[i]; i++)
		row = by_name(core, papi[n].events[i]);
	return row;
}

/* LIKWID adds the counter, and says _LD and _ST as older manuals do. */
static const struct upmu_event_row *by_likwid(const struct upmu_core *core,
					      const char *name)
{
	const struct upmu_event_row *row;
	char event[64];
	size_t n = strcspn(name, ":");

	if (n >= sizeof(event))
		return NULL;
	memcpy(event, name, n);
	event[n] = '\0';
	row = by_name(core, event);
	if (!row && n > 3 && !strcasecmp(event + n - 3, "_LD"))
		memcpy(event + n - 3, "_rd", 3);
	else if (!row && n > 3 && !strcasecmp(event + n - 3, "_ST"))
		memcpy(event + n - 3, "_wr", 3);
	return row ? row : by_name(core, event);
}

const struct upmu_event_row *list_called(const struct upmu_core *core,
					 const char *name)
{
	const struct upmu_event_row *row = by_likwid(core, name);
	unsigned long code;
	char *end;

	for (size_t i = 0; !row && i < COUNT_OF(papi); i++)
		if (!strcasecmp(name, papi[i].name))
			return preset(core, i);
	if (row || (name[0] != 'r' && name[0] != 'R') || !name[1])
		return row;
	code = strtoul(name + 1, &end, 16);
	return *end ? NULL : upmu_core_find_code(core, (unsigned int)code);
}

static size_t append(char *out, size_t size, size_t used, const char *name)
{
	int n = used < size ? snprintf(out + used, size - used, "%s%s",
				       used ? " " : "", name)
			    : 0;

	return used + (size_t)n;
}

void list_other_names(char *out, size_t size, const struct upmu_core *core,
		      const struct upmu_event_row *row)
{
	const struct upmu_generic *generic;
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; (generic = upmu_hardware_at(i)); i++)
		if (upmu_core_perf_row(core, generic) == row)
			used = append(out, size, used, generic->name);
	for (size_t i = 0; i < COUNT_OF(papi); i++)
		if (preset(core, i) == row)
			used = append(out, size, used, papi[i].name);
}

/* How much of a name says what happened, and not how far it came. */
static size_t base_length(const char *name)
{
	static const char *const tails[] = { "_retired", "_spec", "_rd", "_wr",
					     "_rw" };
	size_t n = strlen(name), i = 0;

	while (i < COUNT_OF(tails)) {
		size_t tail = strlen(tails[i]);

		if (n > tail && !strncmp(name + n - tail, tails[i], tail)) {
			n -= tail;
			i = 0;
		} else {
			i++;
		}
	}
	return n;
}

bool list_is_near(const struct upmu_event_row *row,
		  const struct upmu_event_row *other)
{
	const char *a = upmu_row_name(row), *b = upmu_row_name(other);
	size_t n = base_length(a);

	return row != other && n == base_length(b) && !strncmp(a, b, n);
}

const struct upmu_event_row *list_nearer(const struct upmu_core *core,
					 const struct upmu_generic *generic)
{
	/* By what the name says: loads are reads, branches are executed. */
	static const struct {
		const char *generic, *event;
	} nearer[] = {
		{ "branch-misses", "br_mis_pred_retired" },
		{ "branch-load-misses", "br_mis_pred_retired" },
		{ "branch-instructions", "br_retired" },
		{ "L1-dcache-loads", "l1d_cache_rd" },
		{ "L1-dcache-load-misses", "l1d_cache_refill_rd" },
		{ "L1-dcache-stores", "l1d_cache_wr" },
		{ "L1-dcache-store-misses", "l1d_cache_refill_wr" },
		{ "dTLB-loads", "l1d_tlb_rd" },
		{ "dTLB-load-misses", "l1d_tlb_refill_rd" },
		{ "stalled-cycles-frontend", "stall_frontend" },
		{ "stalled-cycles-backend", "stall_backend" },
	};
	const struct upmu_event_row *row;

	for (size_t i = 0; i < COUNT_OF(nearer); i++) {
		if (upmu_generic_number(upmu_hardware_find(
			    nearer[i].generic, strlen(nearer[i].generic))) !=
		    upmu_generic_number(generic))
			continue;
		row = by_name(core, nearer[i].event);
		return row == upmu_core_perf_row(core, generic) ? NULL : row;
	}
	return NULL;
}
