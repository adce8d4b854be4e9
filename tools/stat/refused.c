// SPDX-License-Identifier: MIT
/*
 * Options of perf stat that upmu stat knows and does not have: each says what
 * to use instead. docs/perf-stat.md is tested against this and perf's help.
 */
#include <string.h>

#include "stat.h"

static const struct refused {
	const char *name;
	char letter;
	const char *instead;
} refused[] = {
	{ "bpf-attr-map", 0, "BPF is not used; -a or -p count what runs" },
	{ "bpf-counters", 0, "BPF is not used; -a or -p count what runs" },
	{ "bpf-prog", 'b', "BPF is not used; perf stat counts its programs" },
	{ "cgroup", 'G', "--for-each-cgroup NAME,..." },
	{ "cputype", 0, "-e CORE/EVENT/ counts on one kind of core" },
	{ "filter", 0, "it is of tracepoints: perf stat counts them" },
	{ "group", 'g', "-e '{cycles,instructions}'" },
	{ "hybrid-merge", 0, "-j has each kind of core; add them up there" },
	{ "interval-clear", 0, "-I MS --live" },
	{ "iostat", 0, "it is of x86's I/O counters" },
	{ "metric-no-group", 0, "sets take turns under upmu's own control" },
	{ "metric-no-merge", 0, "each event is counted once" },
	{ "metric-no-threshold", 0, "hints need no event of their own" },
	{ "no-csv-summary", 0, "leave --summary out" },
	{ "null", 'n', "-e task-clock" },
	{ "per-cache", 0, "--per-cluster" },
	{ "per-node", 0, "-A, or --per-socket" },
	{ "percore-show-thread", 0, "-A" },
	{ "record-tpebs", 0, "it is of x86's sampled latencies" },
	{ "smi-cost", 0, "it is of x86's system management mode" },
	{ "table", 0, "-r N -j: values has each run" },
	{ "td-level", 0, "-M topdown" },
	{ "topdown", 0, "-M topdown" },
	{ "transaction", 'T', "it is of x86's transactions" },
};

#define REFUSED (sizeof(refused) / sizeof(refused[0]))

const char *stat_refused_at(size_t n, char *letter)
{
	if (n >= REFUSED)
		return NULL;
	*letter = refused[n].letter;
	return refused[n].name;
}

int stat_refuse(const char *name, char letter)
{
	for (size_t i = 0; i < REFUSED; i++) {
		const struct refused *r = &refused[i];

		if (name ? strcmp(r->name, name)
			 : !letter || r->letter != letter)
			continue;
		fprintf(stderr, "upmu stat: there is no --%s\nhint: %s\n",
			r->name, r->instead);
		return -1;
	}
	return -1;
}
