// SPDX-License-Identifier: MIT
/* Ratios, from events that were really counted, and only from those. */
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>

#include "stat.h"

/* A ratio of two of the nine roles, times a factor. */
static const struct formula {
	const char *key;   /* in CSV and JSON: stable */
	const char *label; /* in the text report */
	const char *unit;
	enum upmu_default over, under;
	double factor;
	enum { ANY, STALLS, NO_STALLS } of; /* what the event over it counts */
} formulas[] = {
	{ "cpi", "CPI", "", UPMU_DEFAULT_CYCLES, UPMU_DEFAULT_INSTRUCTIONS, 1,
	  ANY },
	{ "ipc", "IPC", "", UPMU_DEFAULT_INSTRUCTIONS, UPMU_DEFAULT_CYCLES, 1,
	  ANY },
	{ "stall_percent", "% of cycles stalled", "%", UPMU_DEFAULT_STALL,
	  UPMU_DEFAULT_CYCLES, 100, STALLS },
	/* cores that count no stalls count refills in their place */
	{ "l1i_miss_pti", "PTI", "PTI", UPMU_DEFAULT_STALL,
	  UPMU_DEFAULT_INSTRUCTIONS, 1000, NO_STALLS },
	{ "l1d_pti", "PTI", "PTI", UPMU_DEFAULT_L1D, UPMU_DEFAULT_INSTRUCTIONS,
	  1000, ANY },
	{ "l1d_miss_percent", "% of accesses", "%", UPMU_DEFAULT_L1D_MISS,
	  UPMU_DEFAULT_L1D, 100, ANY },
	{ "l1d_miss_pti", "PTI", "PTI", UPMU_DEFAULT_L1D_MISS,
	  UPMU_DEFAULT_INSTRUCTIONS, 1000, ANY },
	{ "dtlb_miss_pti", "PTI", "PTI", UPMU_DEFAULT_DTLB,
	  UPMU_DEFAULT_INSTRUCTIONS, 1000, ANY },
	{ "tlb_miss_pti", "PTI", "PTI", UPMU_DEFAULT_TLB,
	  UPMU_DEFAULT_INSTRUCTIONS, 1000, ANY },
	{ "branch_pti", "PTI", "PTI", UPMU_DEFAULT_BRANCHES,
	  UPMU_DEFAULT_INSTRUCTIONS, 1000, ANY },
	{ "mispredict_percent", "% of branches", "%",
	  UPMU_DEFAULT_BRANCH_MISSES, UPMU_DEFAULT_BRANCHES, 100, ANY },
};

#define FORMULAS (sizeof(formulas) / sizeof(formulas[0]))

/* By its name, where our tables have it; perf's own stalls are stalls. */
static bool fits(const struct formula *f, const struct upmu_event_row *row)
{
	bool stalls = !row || strstr(upmu_row_name(row), "stall");

	return f->of == ANY || stalls == (f->of == STALLS);
}

const char *stat_formula_at(enum upmu_default role,
			    const struct upmu_event_row *row, size_t n)
{
	for (size_t i = 0; i < FORMULAS; i++) {
		const struct formula *f = &formulas[i];

		if ((f->under == role || (f->over == role && fits(f, row))) &&
		    !n--)
			return f->key;
	}
	return NULL;
}

const char *stat_state_text(enum engine_state state)
{
	static const char *const text[] = {
		[ENGINE_COUNTED] = "",
		[ENGINE_NOT_SUPPORTED] = "<not supported>",
		[ENGINE_NOT_COUNTED] = "<not counted>",
		[ENGINE_NOT_EMULATED] = "<not emulated>",
	};

	return text[state];
}

double stat_value(const struct stat_report *report,
		  const struct engine_count *count)
{
	const struct stat_spread *spread = stat_spread_of(report, count);

	if (spread->n > 1)
		return spread->mean;
	return count->estimated && !report->options->no_scale
		       ? count->estimate.total
		       : (double)count->raw;
}

bool stat_is_unsure(const struct stat_report *report,
		    const struct engine_count *count)
{
	return count->estimated && !report->options->no_scale &&
	       stat_spread_of(report, count)->n < 2 &&
	       !isfinite(count->estimate.high);
}

bool stat_go_together(const struct stat_report *report,
		      const struct engine_count *a,
		      const struct engine_count *b)
{
	return !report->options->no_scale || !(a->estimated || b->estimated) ||
	       a->running_ns == b->running_ns;
}

bool stat_is_idle(const struct stat_report *report,
		  const struct engine_count *count)
{
	return count->state == ENGINE_NOT_COUNTED && count->is_idle &&
	       report->length_s > 0;
}

double stat_share(const struct engine_count *count)
{
	if (!count->enabled_ns)
		return 0;
	return fmin((double)count->running_ns / (double)count->enabled_ns, 1);
}

void stat_spread_add(struct stat_spread *spread, double value)
{
	double off = value - spread->mean;

	/* Welford: no difference of large sums. */
	spread->n++;
	spread->mean += off / (double)spread->n;
	spread->squares += off * (value - spread->mean);
	if (spread->n > 1)
		spread->deviation =
			sqrt(spread->squares / (double)(spread->n - 1));
}

/*
 * Events of user mode alone have no role of the nine; cycles and instructions
 * of one mode make a ratio all the same.
 */
static bool has_role(const struct engine_event *event, enum upmu_default role,
		     int modifiers)
{
	const struct upmu_event *parsed = event->parsed;

	if (!modifiers)
		return event->role == (int)role;
	if (!parsed || parsed->modifiers != modifiers)
		return false;
	return (role == UPMU_DEFAULT_CYCLES && parsed->is_cycles) ||
	       (role == UPMU_DEFAULT_INSTRUCTIONS && parsed->is_instructions);
}

/* The event of a lane that has this role and a number; -1: none. */
static int find(const struct stat_report *report, int lane,
		enum upmu_default role, int modifiers)
{
	for (size_t i = 0; i < report->events->n; i++) {
		const struct engine_event *event = &report->events->event[i];

		if (event->lane == lane && has_role(event, role, modifiers) &&
		    report->count[i].state == ENGINE_COUNTED)
			return (int)i;
	}
	return -1;
}

static size_t add_formula(const struct stat_report *report, int lane,
			  int modifiers, const struct formula *f,
			  struct stat_metric *out)
{
	int over = find(report, lane, f->over, modifiers);
	int under = find(report, lane, f->under, modifiers);
	const struct upmu_event *parsed;
	double divisor;

	if (over < 0 || under < 0)
		return 0;
	parsed = report->events->event[over].parsed;
	if (!fits(f, parsed ? parsed->row : NULL))
		return 0;
	divisor = stat_value(report, &report->count[under]);
	if (!(divisor > 0) || !stat_go_together(report, &report->count[over],
						&report->count[under]))
		return 0;
	*out = (struct stat_metric){
		.key = f->key,
		.label = f->label,
		.unit = f->unit,
		.event = over,
		.value = f->factor * stat_value(report, &report->count[over]) /
			 divisor,
		.unsure = stat_is_unsure(report, &report->count[over]) ||
			  stat_is_unsure(report, &report->count[under]),
	};
	/* CPI stands beside the instructions, as IPC does. */
	if (f->over == UPMU_DEFAULT_CYCLES)
		out->event = under;
	return 1;
}

/* Cycles over the time in which they were counted; of -r, both of all runs. */
static double cycles_per_ns(const struct stat_report *report,
			    const struct engine_count *cycles)
{
	const struct stat_spread *spread = stat_spread_of(report, cycles);

	if (spread->n > 1 && spread->time_ns > 0)
		return spread->mean * (double)spread->n / spread->time_ns;
	return (double)cycles->raw / (double)cycles->running_ns;
}

static size_t add_ghz(const struct stat_report *report, int lane,
		      struct stat_metric *out)
{
	int cycles = find(report, lane, UPMU_DEFAULT_CYCLES, 0);

	/* User cycles over all time would be no frequency. */
	if (cycles < 0 || !report->count[cycles].running_ns ||
	    report->events->user_only || report->options->all_user ||
	    report->options->all_kernel)
		return 0;
	*out = (struct stat_metric){
		.key = "ghz",
		.label = "GHz",
		.unit = "GHz",
		.event = cycles,
		.value = cycles_per_ns(report, &report->count[cycles]),
	};
	return 1;
}

static bool is_clock(const struct upmu_event *event)
{
	/* Of a CPU, cpu-clock goes on while it idles. */
	return event && event->class == UPMU_EVENT_SOFTWARE &&
	       event->config == PERF_COUNT_SW_TASK_CLOCK;
}

/* The time that tasks ran over the time in which that was counted. */
static size_t add_cpus_used(const struct stat_report *report,
			    struct stat_metric *out)
{
	double length =
		report->length.n > 1 ? report->length.mean : report->length_s;
	size_t n = 0;

	for (size_t i = 0; i < report->events->n && length > 0 && !n; i++) {
		const struct engine_count *count = &report->count[i];

		if (!is_clock(report->events->event[i].parsed) ||
		    count->state != ENGINE_COUNTED)
			continue;
		out[n++] = (struct stat_metric){
			.key = "cpus_used",
			.label = "CPUs used",
			.unit = "",
			.event = (int)i,
			.value = stat_value(report, count) / 1e9 / length,
		};
	}
	return n;
}

/* CPI and IPC are the first two, and what modifiers leave. */
static size_t add_modified(const struct stat_report *report, int lane,
			   struct stat_metric *out)
{
	static const int modes[] = { UPMU_EVENT_USER, UPMU_EVENT_KERNEL };
	size_t n = 0;

	for (size_t mode = 0; mode < 2; mode++)
		for (size_t i = 0; i < 2; i++)
			n += add_formula(report, lane, modes[mode],
					 &formulas[i], &out[n]);
	return n;
}

size_t stat_metrics(const struct stat_report *report, struct stat_metric *out,
		    size_t most)
{
	size_t n = add_cpus_used(report, out);

	for (size_t lane = 0; lane < report->events->lanes; lane++) {
		if (n + FORMULAS + 5 + STAT_GROUPS_MOST > most)
			break;
		n += add_ghz(report, (int)lane, &out[n]);
		for (size_t i = 0; i < FORMULAS; i++)
			n += add_formula(report, (int)lane, 0, &formulas[i],
					 &out[n]);
		n += add_modified(report, (int)lane, &out[n]);
		n += stat_groups_add(report, (int)lane, &out[n], most - n);
	}
	return n;
}
