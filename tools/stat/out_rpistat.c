// SPDX-License-Identifier: MIT
/*
 * The report of P. J. Drongowski's rpistat (2013), every line of it, for any
 * core: raw counts, [estimates], and how many slices counted each set. On
 * other cores than the ARM1176 a last block says which event each line is.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "stat.h"
#include "tools/print.h"

#define RULE  "***************************************************************"
#define LABEL "  %-20s"

/* What each line of a block prints. */
enum line_kind {
	COUNT_RAW,    /* the raw count alone */
	COUNT_SCALED, /* raw [estimate] */
	PERIODS,      /* slices that counted the role */
	RATIO,	      /* role over under */
	PERCENT,      /* the same, in percent */
	PTI,	      /* role per thousand of under */
	BLANK,
};

static const struct report_line {
	enum line_kind kind;
	const char *label;
	enum upmu_default role, under;
} lines[] = {
	{ COUNT_RAW, "Cycles:", UPMU_DEFAULT_CYCLES, 0 },
	{ COUNT_SCALED, "Instructions:", UPMU_DEFAULT_INSTRUCTIONS, 0 },
	{ COUNT_SCALED, "IBUF stall cycles:", UPMU_DEFAULT_STALL, 0 },
	{ PERIODS, "Instr periods:", UPMU_DEFAULT_INSTRUCTIONS, 0 },
	{ RATIO, "CPI:", UPMU_DEFAULT_CYCLES, UPMU_DEFAULT_INSTRUCTIONS },
	{ PERCENT, "IBUF stall percent:", UPMU_DEFAULT_STALL,
	  UPMU_DEFAULT_CYCLES },
	{ .kind = BLANK },
	{ COUNT_SCALED, "DC cached accesses:", UPMU_DEFAULT_L1D, 0 },
	{ COUNT_SCALED, "DC misses:", UPMU_DEFAULT_L1D_MISS, 0 },
	{ PERIODS, "DC periods:", UPMU_DEFAULT_L1D, 0 },
	{ PERCENT, "DC miss ratio:", UPMU_DEFAULT_L1D_MISS, UPMU_DEFAULT_L1D },
	{ .kind = BLANK },
	{ COUNT_SCALED, "MicroTLB misses:", UPMU_DEFAULT_DTLB, 0 },
	{ COUNT_SCALED, "Main TLB misses:", UPMU_DEFAULT_TLB, 0 },
	{ PERIODS, "TLB periods:", UPMU_DEFAULT_DTLB, 0 },
	{ PTI, "Micro miss rate:", UPMU_DEFAULT_DTLB,
	  UPMU_DEFAULT_INSTRUCTIONS },
	{ PTI, "Main miss rate:", UPMU_DEFAULT_TLB, UPMU_DEFAULT_INSTRUCTIONS },
	{ .kind = BLANK },
	{ COUNT_SCALED, "Branches:", UPMU_DEFAULT_BRANCHES, 0 },
	{ COUNT_SCALED, "Mispredicted BR:", UPMU_DEFAULT_BRANCH_MISSES, 0 },
	{ PERIODS, "BR periods:", UPMU_DEFAULT_BRANCHES, 0 },
	{ PTI, "Branch rate:", UPMU_DEFAULT_BRANCHES,
	  UPMU_DEFAULT_INSTRUCTIONS },
	{ PERCENT, "Mispredict ratio:", UPMU_DEFAULT_BRANCH_MISSES,
	  UPMU_DEFAULT_BRANCHES },
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

static const struct engine_event *event_of(const struct stat_report *report,
					   enum upmu_default role,
					   const struct engine_count **count)
{
	for (size_t i = 0; i < report->events->n; i++) {
		const struct engine_event *event = &report->events->event[i];

		if (event->role != (int)role || event->lane != 0)
			continue;
		*count = &report->count[i];
		return event;
	}
	*count = NULL;
	return NULL;
}

static const char *missing(const struct engine_count *count)
{
	return count ? stat_state_text(count->state)
		     : stat_state_text(ENGINE_NOT_COUNTED);
}

static bool is_counted(const struct engine_count *count)
{
	return count && count->state == ENGINE_COUNTED;
}

static double value_of(const struct engine_count *count)
{
	return count->estimated ? count->estimate.total : (double)count->raw;
}

static size_t total_periods(const struct stat_report *report)
{
	return report->pace.slices ? report->pace.slices : 1;
}

static void write_count(FILE *out, const struct engine_count *count,
			bool scaled)
{
	char raw[40], estimate[40];

	digits_grouped(raw, (double)count->raw);
	/* rpistat cut what was behind the point. */
	digits_grouped(estimate, floor(value_of(count)));
	if (scaled)
		fprintf(out, "%s [%s]\n", raw, estimate);
	else
		fprintf(out, "%s\n", raw);
}

static void write_ratio(FILE *out, const struct report_line *line, double over,
			double under)
{
	double ratio = over / under;

	if (line->kind == PERCENT)
		fprintf(out, "%.3f %%\n", 100 * ratio);
	else if (line->kind == PTI)
		fprintf(out, "%.3f PTI\n", 1000 * ratio);
	else
		fprintf(out, "%.3f\n", ratio);
}

static void write_line(FILE *out, const struct stat_report *report,
		       const struct report_line *line)
{
	const struct engine_count *count, *under;

	if (line->kind == BLANK) {
		fputc('\n', out);
		return;
	}
	event_of(report, line->role, &count);
	event_of(report, line->under, &under);
	fprintf(out, LABEL, line->label);
	if (!is_counted(count)) {
		fprintf(out, "%s\n", missing(count));
	} else if (line->kind == COUNT_RAW || line->kind == COUNT_SCALED) {
		write_count(out, count, line->kind == COUNT_SCALED);
	} else if (line->kind == PERIODS) {
		fprintf(out, "%zu\n",
			count->estimated ? count->estimate.slices
					 : total_periods(report));
	} else if (!is_counted(under) || value_of(under) <= 0) {
		fprintf(out, "%s\n", missing(under));
	} else {
		write_ratio(out, line, value_of(count), value_of(under));
	}
}

/* No line of the article's: it knew one core. */
static void write_names(FILE *out, const struct stat_report *report)
{
	const struct upmu_machine *machine = &report->events->machine;
	const struct upmu_core *core =
		machine->n_kinds ? machine->kinds[0].core : NULL;

	if (core && !strcmp(upmu_core_name(core), "arm1176"))
		return;
	fprintf(out, "\nEvents on this core%s%s\n", core ? ": " : "",
		core ? upmu_core_title(core) : "");
	for (size_t i = 0; i < LINES; i++) {
		const struct engine_count *count;
		const struct engine_event *event;

		if (lines[i].kind != COUNT_RAW && lines[i].kind != COUNT_SCALED)
			continue;
		event = event_of(report, lines[i].role, &count);
		if (event)
			fprintf(out, LABEL "%s\n", lines[i].label, event->name);
	}
}

/* It has a place for one kind of core. */
static void write_left_out(FILE *out, const struct stat_report *report)
{
	const struct upmu_machine *machine = &report->events->machine;

	for (size_t i = 1; i < report->events->lanes && i < machine->n_kinds;
	     i++)
		fprintf(out,
			"%sWhat ran on %s is not in this report: see "
			"--format text.\n",
			i > 1 ? "" : "\n", upmu_kind_label(&machine->kinds[i]));
}

int stat_write_rpistat(FILE *out, const struct stat_report *report)
{
	const char *program =
		report->options->command ? report->options->command[0] : "";
	char date[32] = "\n";

	ctime_r(&report->when, date);
	fprintf(out, "%s\nrpistat: %s\n%s%s\n\n", RULE, program, date, RULE);
	fprintf(out, "System information\n  Number of processors: %zu\n\n",
		report->cpus);
	fputs("Performance events\n"
	      "  [ ... ] = scaled event count\n"
	      "  PTI     = per thousand instructions\n",
	      out);
	fprintf(out, LABEL "%zu\n\n", "Total periods:", total_periods(report));
	for (size_t i = 0; i < LINES; i++)
		write_line(out, report, &lines[i]);
	write_names(out, report);
	write_left_out(out, report);
	return ferror(out) ? -1 : 0;
}
