// SPDX-License-Identifier: MIT
/* Events that the kernel knows by numbers of its own. */
#include <linux/perf_event.h>

#include "lib/events/generic.h"
#include "lib/events/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The header's PERF_COUNT_HW_CACHE_* in names: config is
 * cache | operation << 8 | result << 16.
 */
#define CACHE(cache, operation, result)            \
	(PERF_COUNT_HW_CACHE_##cache |             \
	 PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define READ_ROWS(name, cache)                                             \
	{ name "-loads", PERF_TYPE_HW_CACHE, CACHE(cache, READ, ACCESS) }, \
	{                                                                  \
		name "-load-misses", PERF_TYPE_HW_CACHE,                   \
			CACHE(cache, READ, MISS)                           \
	}
#define WRITE_ROWS(name, cache)                                              \
	{ name "-stores", PERF_TYPE_HW_CACHE, CACHE(cache, WRITE, ACCESS) }, \
	{                                                                    \
		name "-store-misses", PERF_TYPE_HW_CACHE,                    \
			CACHE(cache, WRITE, MISS)                            \
	}
#define PREFETCH_ROWS(name, cache)                           \
	{ name "-prefetches", PERF_TYPE_HW_CACHE,            \
	  CACHE(cache, PREFETCH, ACCESS) },                  \
	{                                                    \
		name "-prefetch-misses", PERF_TYPE_HW_CACHE, \
			CACHE(cache, PREFETCH, MISS)         \
	}

/*
 * The names that Linux perf takes (hw_cache_stat of its tools/perf/util): it
 * has none for stores to the instruction cache, the iTLB and the predictor.
 */
static const struct upmu_generic hardware[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	READ_ROWS("L1-dcache", L1D),
	WRITE_ROWS("L1-dcache", L1D),
	PREFETCH_ROWS("L1-dcache", L1D),
	READ_ROWS("L1-icache", L1I),
	PREFETCH_ROWS("L1-icache", L1I),
	READ_ROWS("LLC", LL),
	WRITE_ROWS("LLC", LL),
	PREFETCH_ROWS("LLC", LL),
	READ_ROWS("dTLB", DTLB),
	WRITE_ROWS("dTLB", DTLB),
	PREFETCH_ROWS("dTLB", DTLB),
	READ_ROWS("iTLB", ITLB),
	READ_ROWS("branch", BPU),
	READ_ROWS("node", NODE),
	WRITE_ROWS("node", NODE),
	PREFETCH_ROWS("node", NODE),
};

static const struct upmu_generic software[] = {
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, UPMU_SW_CGROUP_SWITCHES },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
};

static const struct upmu_generic *find(const struct upmu_generic *table,
				       size_t n, const char *name,
				       size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (upmu_name_is(name, length, table[i].name))
			return &table[i];
	return NULL;
}

const struct upmu_generic *upmu_software_find(const char *name, size_t length)
{
	return find(software, COUNT_OF(software), name, length);
}

const char *upmu_software_text(uint64_t config)
{
	static const char *const texts[] = {
		[PERF_COUNT_SW_CPU_CLOCK] =
			"nanosecond that the CPU's clock went on",
		[PERF_COUNT_SW_TASK_CLOCK] =
			"nanosecond in which the program ran",
		[PERF_COUNT_SW_PAGE_FAULTS] = "page fault, minor or major",
		[PERF_COUNT_SW_CONTEXT_SWITCHES] =
			"switch of a CPU from this program to another",
		[PERF_COUNT_SW_CPU_MIGRATIONS] =
			"move of the program to another CPU",
		[PERF_COUNT_SW_PAGE_FAULTS_MIN] =
			"page fault served without reading a disk",
		[PERF_COUNT_SW_PAGE_FAULTS_MAJ] =
			"page fault that had to read a disk",
		[PERF_COUNT_SW_ALIGNMENT_FAULTS] =
			"unaligned access that the kernel put right",
		[PERF_COUNT_SW_EMULATION_FAULTS] =
			"instruction that the kernel carried out instead",
		[PERF_COUNT_SW_DUMMY] = "nothing: for the records beside it",
		[UPMU_SW_CGROUP_SWITCHES] =
			"switch of a CPU to a program of another cgroup",
	};

	return config < COUNT_OF(texts) ? texts[config] : NULL;
}

const struct upmu_generic *upmu_hardware_find(const char *name, size_t length)
{
	return find(hardware, COUNT_OF(hardware), name, length);
}

const struct upmu_generic *upmu_hardware_at(size_t n)
{
	return n < COUNT_OF(hardware) ? &hardware[n] : NULL;
}

unsigned int upmu_generic_number(const struct upmu_generic *generic)
{
	unsigned int config = (unsigned int)generic->config;

	if (generic->type == PERF_TYPE_HARDWARE)
		return config;
	return UPMU_GENERIC_FIRST_CACHE +
	       (config & 0xff) * PERF_COUNT_HW_CACHE_OP_MAX *
		       PERF_COUNT_HW_CACHE_RESULT_MAX +
	       (config >> 8 & 0xff) * PERF_COUNT_HW_CACHE_RESULT_MAX +
	       (config >> 16 & 0xff);
}

const char *upmu_generic_name(size_t n)
{
	if (n < COUNT_OF(hardware))
		return hardware[n].name;
	n -= COUNT_OF(hardware);
	return n < COUNT_OF(software) ? software[n].name : NULL;
}
