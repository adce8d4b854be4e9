// SPDX-License-Identifier: MIT
/* Lookup in the tables of cores. */
#include <string.h>

#include "lib/events/generic.h"
#include "lib/events/tables.h"
#include "lib/events/text.h"

#define NO_NAME (-1)

const struct upmu_core *upmu_core_at(size_t n)
{
	return n < upmu_core_count ? &upmu_cores[n] : NULL;
}

static bool is_among(const char *names, const char *name, size_t length)
{
	while (*names) {
		size_t n = upmu_span(names, ' ');

		if (n == length && upmu_text_is(name, length, names, n))
			return true;
		names += n + (names[n] == ' ');
	}
	return false;
}

bool upmu_core_is_called(const struct upmu_core *core, const char *name,
			 size_t length)
{
	return upmu_name_is(name, length, core->name) ||
	       is_among(core->also, name, length) ||
	       is_among(core->perf, name, length);
}

const struct upmu_core *upmu_core_by_name(const char *name, size_t length)
{
	for (size_t i = 0; i < upmu_core_count; i++)
		if (upmu_core_is_called(&upmu_cores[i], name, length))
			return &upmu_cores[i];
	return NULL;
}

const struct upmu_core *upmu_core_by_midr(uint64_t midr)
{
	unsigned int implementer = midr >> 24 & 0xff;
	unsigned int part = midr >> 4 & 0xfff;

	for (size_t i = 0; i < upmu_core_midr_count; i++) {
		const struct upmu_core_midr *m = &upmu_core_midrs[i];

		if (m->implementer == implementer && m->part == part)
			return &upmu_cores[m->core];
	}
	return NULL;
}

const struct upmu_core *upmu_core_common(enum upmu_arch arch)
{
	for (size_t i = 0; i < upmu_core_count; i++)
		if (upmu_cores[i].is_common && upmu_cores[i].arch == arch)
			return &upmu_cores[i];
	return NULL;
}

const char *upmu_core_name(const struct upmu_core *core)
{
	return core->name;
}

const char *upmu_core_title(const struct upmu_core *core)
{
	return core->title;
}

const char *upmu_core_also(const struct upmu_core *core)
{
	return core->also;
}

const char *upmu_core_notes(const struct upmu_core *core)
{
	return core->notes;
}

const char *upmu_core_manuals(const struct upmu_core *core)
{
	return core->manuals;
}

enum upmu_arch upmu_core_arch(const struct upmu_core *core)
{
	return core->arch;
}

unsigned int upmu_core_counters(const struct upmu_core *core)
{
	return core->counters;
}

unsigned int upmu_core_counters_most(const struct upmu_core *core)
{
	return core->counters_most;
}

unsigned int upmu_core_filters(const struct upmu_core *core)
{
	return core->filters;
}

bool upmu_core_is_common(const struct upmu_core *core)
{
	return core->is_common;
}

const struct upmu_event_row *upmu_core_row(const struct upmu_core *core,
					   size_t n)
{
	return n < core->n_rows ? &core->rows[n] : NULL;
}

/* The pool of names is sorted: one search serves all cores. */
static int name_number(const char *name, size_t length)
{
	size_t low = 0, high = upmu_names_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const char *at = upmu_names_pool + upmu_names_at[middle];
		int order = upmu_name_order(name, length, at);

		if (!order)
			return (int)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NO_NAME;
}

static const struct upmu_event_row *row_named(const struct upmu_core *core,
					      int number)
{
	size_t low = 0, high = core->n_rows;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct upmu_event_row *row =
			&core->rows[core->by_name[middle]];

		if (row->name == number)
			return row;
		if (row->name > number)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

bool upmu_core_perf_choice(const struct upmu_core *core,
			   const struct upmu_generic *generic, size_t n,
			   struct upmu_perf_choice *out)
{
	unsigned int number = upmu_generic_number(generic);

	for (size_t i = 0; i < core->n_perf_rows; i++) {
		const struct upmu_perf_row *tried = &core->perf_rows[i];

		if (tried->generic != number || n--)
			continue;
		out->row = &core->rows[tried->row];
		out->since = tried->since;
		out->is_own = tried->is_own;
		return true;
	}
	return false;
}

/*
 * Where neither the device tree nor the kernel knows the core (ACPI, QEMU), the
 * driver for any PMUv3 counts it, by the architecture's map alone.
 */
static bool is_tried(const struct upmu_core_kind *kind,
		     const struct upmu_perf_choice *choice)
{
	if (choice->is_own && !strncmp(kind->pmu_name, "armv8_pmuv3", 11))
		return false;
	return !kind->linux || choice->since <= kind->linux;
}

/*
 * A 32-bit kernel may count an ARMv8 core with a driver for ARMv7: the name of
 * the PMU tells the driver. Of what that one tries PMUv3's takes the first
 * that the core has by PMCEID.
 */
const struct upmu_event_row *
upmu_kind_perf_row(const struct upmu_core_kind *kind,
		   const struct upmu_generic *generic)
{
	const struct upmu_core *by = kind->driver ? kind->driver : kind->core;
	const struct upmu_event_row *row, *first = NULL;
	struct upmu_perf_choice choice;

	for (size_t n = 0; upmu_core_perf_choice(by, generic, n, &choice);
	     n++) {
		if (!is_tried(kind, &choice))
			continue;
		row = choice.row;
		if (by != kind->core)
			row = upmu_core_find_code(kind->core,
						  upmu_row_code(row));
		if (row && !upmu_kind_leaves_out(kind, row))
			return row;
		first = first ? first : row;
	}
	return first;
}

const struct upmu_event_row *upmu_core_find_named(const struct upmu_core *core,
						  const char *name,
						  size_t length)
{
	int number = name_number(name, length);

	return number == NO_NAME ? NULL : row_named(core, number);
}

const struct upmu_event_row *upmu_core_find(const struct upmu_core *core,
					    const char *name, size_t length)
{
	int number = name_number(name, length);
	const struct upmu_generic *generic;
	struct upmu_perf_choice choice;

	if (number != NO_NAME)
		return row_named(core, number);
	generic = upmu_hardware_find(name, length);
	return generic && upmu_core_perf_choice(core, generic, 0, &choice)
		       ? choice.row
		       : NULL;
}

size_t upmu_cores_with(const char *name, size_t length,
		       const struct upmu_core **out, size_t n)
{
	int number = name_number(name, length);
	size_t found = 0;

	for (size_t i = 0; number != NO_NAME && i < upmu_core_count; i++) {
		const struct upmu_core *core = &upmu_cores[i];

		if (core->is_common || !row_named(core, number))
			continue;
		if (found < n)
			out[found] = core;
		found++;
	}
	return found;
}

const struct upmu_event_row *upmu_core_find_code(const struct upmu_core *core,
						 unsigned int code)
{
	for (size_t i = 0; i < core->n_rows; i++)
		if (core->rows[i].code == code)
			return &core->rows[i];
	return NULL;
}

const struct upmu_event_row *upmu_core_default(const struct upmu_core *core,
					       enum upmu_default which)
{
	return &core->rows[core->defaults[which]];
}

const char *upmu_default_key(enum upmu_default which)
{
	static const char *const keys[] = {
		[UPMU_DEFAULT_CYCLES] = "cycles",
		[UPMU_DEFAULT_INSTRUCTIONS] = "instructions",
		[UPMU_DEFAULT_STALL] = "stall",
		[UPMU_DEFAULT_L1D] = "l1d",
		[UPMU_DEFAULT_L1D_MISS] = "l1d_miss",
		[UPMU_DEFAULT_DTLB] = "dtlb",
		[UPMU_DEFAULT_TLB] = "tlb",
		[UPMU_DEFAULT_BRANCHES] = "branches",
		[UPMU_DEFAULT_BRANCH_MISSES] = "branch_misses",
	};

	return which < UPMU_DEFAULTS ? keys[which] : NULL;
}

unsigned int upmu_row_code(const struct upmu_event_row *row)
{
	return row->code;
}

const char *upmu_row_name(const struct upmu_event_row *row)
{
	return upmu_names_pool + upmu_names_at[row->name];
}

const char *upmu_row_text(const struct upmu_event_row *row)
{
	return upmu_texts_pool + upmu_texts_at[row->text];
}

const char *upmu_row_caveat(const struct upmu_event_row *row)
{
	const char *text = upmu_row_text(row);

	return text + upmu_span(text, '\0') + 1;
}

const char *upmu_row_source(const struct upmu_event_row *row)
{
	return upmu_sources_pool + upmu_sources_at[row->source];
}

bool upmu_row_is_cycles(const struct upmu_event_row *row)
{
	return upmu_name_is("cpu_cycles", 10, upmu_row_name(row));
}
