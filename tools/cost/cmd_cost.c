// SPDX-License-Identifier: MIT
/*
 * upmu cost: what one reading costs here, by each source that serves this
 * user, and what an empty region costs.
 */
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "cost.h"
#include "lib/events/events.h"
#include "tools/version.h"

/* Sources whose own counts tell what reading them costs. */
static const char *const counting[] = { "page", "read", "raw", NULL };

#define REGION_UNIT "pairs"

struct row {
	const char *source; /* NULL: the region */
	const char *unit;
	char reason[1024]; /* why there is no cost, or "" */
	struct cost cost;
};

struct report {
	int cpu;
	bool is_user_only; /* the kernel's part could not be counted */
	bool is_emulated;
};

static void say_why(struct row *row, const char *reason)
{
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	row->reason[strcspn(row->reason, "\n")] = '\0';
}

static bool counts_user_only(const struct upmu *set)
{
	return set && strstr(upmu_event_name(set, 0), ":u");
}

/* Such a set counts what reading itself costs. */
static bool measure_by_itself(struct row *row, struct report *report)
{
	const char *const self[] = { row->source, NULL };
	struct upmu *set;
	bool is_one = false;

	for (const char *const *s = counting; *s; s++)
		is_one |= !strcmp(*s, row->source);
	set = is_one ? cost_meter(self) : NULL;
	if (!set)
		return false;
	report->is_user_only |= counts_user_only(set);
	row->cost = cost_measure(set, cost_counts, upmu_counter_at(set, 0));
	upmu_close(set);
	return true;
}

static void measure_set(struct row *row, struct report *report)
{
	struct upmu_options options = { .size = sizeof(options),
					.flags = UPMU_OPEN_ANY_CLOCK,
					.source = row->source };
	struct upmu *set, *meter;

	if (measure_by_itself(row, report))
		return;
	if (upmu_open(&set, "cycles", &options)) {
		say_why(row, upmu_explain());
		return;
	}
	meter = cost_meter(counting);
	report->is_user_only |= counts_user_only(meter);
	row->cost = cost_measure(meter, cost_counts, upmu_counter_at(set, 0));
	upmu_close(meter);
	upmu_close(set);
}

static void measure_source(struct row *row, const struct upmu_verdict *verdict,
			   struct report *report)
{
	*row = (struct row){ .source = verdict->source, .unit = verdict->unit };
	if (verdict->error)
		say_why(row, verdict->reason);
	else
		measure_set(row, report);
}

static void measure_region(struct row *row)
{
	*row = (struct row){ .unit = REGION_UNIT };
	if (cost_region(&row->cost))
		say_why(row, upmu_explain());
}

static void print_figure(double figure)
{
	if (isnan(figure))
		printf(" %14s", "<not counted>");
	else
		printf(" %14.1f", figure);
}

static void print_row(const struct row *row)
{
	printf("%-8s", row->source ? row->source : "region");
	if (row->reason[0]) {
		printf("  no: %s\n", row->reason);
		return;
	}
	print_figure(row->cost.instructions);
	print_figure(row->cost.cycles);
	print_figure(row->cost.ns);
	printf("  %s\n", row->source ? row->unit : "begin and end, two events");
}

static void print_text(struct report *report)
{
	struct upmu_verdict verdict = { .size = sizeof(verdict) };
	struct row row;

	printf("What one reading costs on CPU %d\n", report->cpu);
	printf("%-8s %14s %14s %14s  %s\n", "source", "instructions", "cycles",
	       "ns", "what is read");
	for (size_t i = 0; !upmu_probe(i, &verdict); i++) {
		measure_source(&row, &verdict, report);
		print_row(&row);
	}
	measure_region(&row);
	print_row(&row);
	if (report->is_user_only)
		puts("note: only what runs in user mode is counted: a system "
		     "call costs more than that\n"
		     "hint: sudo upmu cost");
	if (report->is_emulated)
		puts("note: an emulated board: its cycles and ns are not a "
		     "processor's");
}

/* NAN, the figure that could not be had, is null. */
static json_t *figure_json(double figure)
{
	return isnan(figure) ? json_null() : json_real(figure);
}

static json_t *row_json(const struct row *row)
{
	json_t *object = json_object();

	if (row->source)
		json_object_set_new(object, "source", json_string(row->source));
	json_object_set_new(object, "unit", json_string(row->unit));
	if (row->reason[0]) {
		json_object_set_new(object, "reason", json_string(row->reason));
		return object;
	}
	json_object_set_new(object, "instructions",
			    figure_json(row->cost.instructions));
	json_object_set_new(object, "cycles", figure_json(row->cost.cycles));
	json_object_set_new(object, "ns", figure_json(row->cost.ns));
	return object;
}

static void print_json(struct report *report)
{
	json_t *sources = json_array(), *all;
	struct upmu_verdict verdict = { .size = sizeof(verdict) };
	struct row row;

	for (size_t i = 0; !upmu_probe(i, &verdict); i++) {
		measure_source(&row, &verdict, report);
		json_array_append_new(sources, row_json(&row));
	}
	measure_region(&row);
	all = json_pack("{ss, si, si, si, sb, sb, so, so}", "version",
			UPMU_VERSION_TEXT, "cpu", report->cpu, "readings",
			COST_REPEATS, "runs", COST_RUNS, "user_only",
			report->is_user_only, "emulated", report->is_emulated,
			"sources", sources, "region", row_json(&row));
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
	putchar('\n');
	json_decref(all);
}

/* One kind of core, and one CPU's registers: `raw` wants that too. */
static int stay_here(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	return cpu;
}

static const char help[] =
	"usage: upmu cost [-j]\n"
	"What one reading costs on this machine, by each source, and what\n"
	"an empty region costs: the least of some runs of many readings,\n"
	"the loop around them taken off. `taskset -c N upmu cost` asks\n"
	"CPU N.\n\n"
	"  -j, --json  as JSON\n"
	"  --help      this text";

int cmd_cost(int argc, char **argv)
{
	struct report report = { 0 };
	bool json = false;
	int status = json_option(argc, argv, help, &json);

	if (status >= 0)
		return status;
	/* The region report at exit is not this command's. */
	setenv("UPMU_REPORT", "none", 1);
	report.cpu = stay_here();
	report.is_emulated = upmu_machine_is_emulated();
	if (json)
		print_json(&report);
	else
		print_text(&report);
	return 0;
}
