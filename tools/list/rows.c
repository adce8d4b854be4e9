// SPDX-License-Identifier: MIT
/* Which events are shown, and under which heading. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/events/generic.h"
#include "lib/events/sysfs.h"
#include "lib/sys.h"
#include "list.h"

enum heading {
	CYCLES,
	STALLS,
	BRANCHES,
	L1D,
	L1I,
	L2,
	L3,
	TLBS,
	MEMORY,
	EXCEPTIONS,
	KINDS,
	OTHER,
	PUBLISHED,
};

static const char *const headings[] = {
	[CYCLES] = "Cycles and instructions",
	[STALLS] = "Stalls",
	[BRANCHES] = "Branches",
	[L1D] = "L1 data cache",
	[L1I] = "L1 instruction cache and fetch",
	[L2] = "L2 cache",
	[L3] = "L3 and last-level cache",
	[TLBS] = "Address translation",
	[MEMORY] = "Memory and bus",
	[EXCEPTIONS] = "Exceptions",
	[KINDS] = "Kinds of instructions",
	[OTHER] = "Other",
	[PUBLISHED] = "Published by the kernel, in no table",
};

/* The first that a name contains; '^' ties it to the beginning. */
static const struct {
	const char *part;
	enum heading heading;
} parts[] = {
	{ "^cpu_cycles", CYCLES },
	{ "^inst_", CYCLES },
	{ "^instr_exec", CYCLES },
	{ "^cnt_cycles", CYCLES },
	{ "^op_", CYCLES },
	{ "^sw_incr", CYCLES },
	{ "stall", STALLS },
	{ "_full", STALLS },
	{ "issue_empty", STALLS },
	{ "throttle", STALLS },
	{ "^exc_", EXCEPTIONS },
	{ "_irq", EXCEPTIONS },
	{ "tlb", TLBS },
	{ "^mmu_", TLBS },
	{ "ptw", TLBS },
	{ "_walk", TLBS },
	{ "^br_", BRANCHES },
	{ "br_", BRANCHES },
	{ "mispred", BRANCHES },
	{ "^proc_", BRANCHES },
	{ "pc_write", BRANCHES },
	{ "sw_pc_change", BRANCHES },
	{ "btac", BRANCHES },
	{ "ifu_micro", BRANCHES },
	{ "l1d_", L1D },
	{ "dcache", L1D },
	{ "data_", L1D },
	{ "read_alloc", L1D },
	{ "coherent_line", L1D },
	{ "l1_access", L1D },
	{ "l1_hit", L1D },
	{ "prefetch", L1D },
	{ "l1i_", L1I },
	{ "icache", L1I },
	{ "^ifu_", L1I },
	{ "^ic_", L1I },
	{ "^i_", L1I },
	{ "inst_fetch", L1I },
	{ "decode", L1I },
	{ "l2", L2 },
	{ "^l3", L3 },
	{ "^ll_", L3 },
	{ "bus", MEMORY },
	{ "^mem", MEMORY },
	{ "axi_", MEMORY },
	{ "biu_", MEMORY },
	{ "ext_", MEMORY },
	{ "remote_", MEMORY },
	{ "unaligned", MEMORY },
	{ "_lat", MEMORY },
	{ "snoop", MEMORY },
	{ "wbuf", MEMORY },
	{ "expl_d_access", MEMORY },
	{ "mem_err", MEMORY },
	{ "etm", OTHER },
	{ "pmuext", OTHER },
	{ "trcext", OTHER },
	{ "_spec", KINDS },
	{ "_retired", KINDS },
	{ "_instr", KINDS },
	{ "strex", KINDS },
	{ "java", KINDS },
};

static bool contains(const char *event, const char *part)
{
	if (*part != '^')
		return strstr(event, part);
	return strstr(event, part + 1) == event;
}

static enum heading heading_of(const char *event)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (contains(event, parts[i].part))
			return parts[i].heading;
	return OTHER;
}

const char *list_group(const struct list_event *event)
{
	return headings[event->row ? heading_of(event->name) : PUBLISHED];
}

const char *list_group_at(size_t n)
{
	return n <= PUBLISHED ? headings[n] : NULL;
}

const char *list_event_text(const struct list_event *event)
{
	return event->row ? upmu_row_text(event->row) : "";
}

const char *list_event_caveat(const struct list_event *event)
{
	return event->row ? upmu_row_caveat(event->row) : "";
}

/* A user's word, and the tables' for it. */
static const struct {
	const char *word, *means;
} synonyms[] = {
	{ "miss", "refill" },
	{ "misses", "refill" },
	{ "miss", "predicted wrongly" },
	{ "misses", "predicted wrongly" },
	{ "mispredict", "mis_pred" },
	{ "mispredicts", "mis_pred" },
	{ "mispredicted", "mis_pred" },
	{ "load", "read" },
	{ "loads", "read" },
	{ "store", "write" },
	{ "stores", "write" },
	{ "dcache", "l1d_cache" },
	{ "icache", "l1i_cache" },
	{ "branches", "branch" },
	{ "stalled", "stall" },
};

static bool says(const struct list_event *event, const char *word)
{
	return strcasestr(event->name, word) ||
	       strcasestr(list_event_text(event), word) ||
	       strcasestr(list_event_caveat(event), word);
}

/* By another tool: what PAPI adds up is shown whole. */
static bool is_called(const struct list_core *list,
		      const struct upmu_event_row *row, const char *word)
{
	struct list_meaning meaning;

	list_called(list->core, word, &meaning);
	for (size_t i = 0; i < meaning.n; i++)
		if (meaning.rows[i] == row)
			return true;
	return false;
}

static bool has_word(const struct list_core *list,
		     const struct list_event *event, const char *word)
{
	char code[8];

	if (says(event, word))
		return true;
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (!strcasecmp(word, synonyms[i].word) &&
		    says(event, synonyms[i].means))
			return true;
	snprintf(code, sizeof(code), "0x%02x", event->code & 0xffff);
	if (!strcasecmp(code, word))
		return true;
	return list->core && event->row && is_called(list, event->row, word);
}

/* Every word, wherever it stands. */
static bool matches(const struct list_core *list,
		    const struct list_event *event, char *const *words)
{
	for (; words && *words; words++)
		if (!has_word(list, event, *words))
			return false;
	return true;
}

static void add_listed(struct list_core *out, const struct upmu_event_row *row,
		       const char *name, unsigned int code, char *const *words)
{
	struct list_event event = { .row = row, .code = code };

	snprintf(event.name, sizeof(event.name), "%s", name);
	if (out->n < LIST_EVENTS_MAX && matches(out, &event, words))
		out->events[out->n++] = event;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct list_event *)a)->name,
		      ((const struct list_event *)b)->name);
}

/* What the kernel publishes of this PMU and no row of the table says. */
static void add_published(struct list_core *out, const char *pmu,
			  char *const *words)
{
	char path[UPMU_PATH_SIZE], folder[UPMU_PATH_SIZE];
	size_t first = out->n;
	const struct dirent *entry;
	struct upmu_terms terms;
	DIR *dir;

	snprintf(folder, sizeof(folder),
		 "/sys/bus/event_source/devices/%s/events", pmu);
	dir = upmu_sys_path(path, folder) ? NULL : opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (upmu_sysfs_event(pmu, entry->d_name, length, &terms))
			continue;
		if (!upmu_core_find(out->core, entry->d_name, length) &&
		    !upmu_core_find_code(out->core, (unsigned int)terms.config))
			add_listed(out, NULL, entry->d_name,
				   (unsigned int)terms.config, words);
	}
	closedir(dir);
	qsort(out->events + first, out->n - first, sizeof(out->events[0]),
	      by_name);
}

void list_gather(struct list_core *out, const struct upmu_core *core,
		 const struct upmu_core_kind *kind, char *const *words)
{
	const struct upmu_event_row *row;

	memset(out, 0, sizeof(*out));
	out->core = core;
	out->kind = kind;
	out->is_searched = words;
	out->counters = upmu_core_counters(core);
	for (size_t i = 0; (row = upmu_core_row(core, i)); i++)
		add_listed(out, row, upmu_row_name(row), upmu_row_code(row),
			   words);
	if (kind && upmu_kind_publishes(kind))
		add_published(out, kind->pmu_name, words);
}

struct upmu_core_kind list_kind(const struct list_core *list)
{
	struct upmu_core_kind kind = { .core = list->core,
				       .pmu_type = UPMU_PMU_TYPE_NONE };

	return list->kind ? *list->kind : kind;
}

void list_gather_software(struct list_core *out, char *const *words)
{
	const char *name;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; (name = upmu_generic_name(i)); i++)
		if (upmu_software_find(name, strlen(name)))
			add_listed(out, NULL, name, 0, words);
}
