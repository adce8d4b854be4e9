// SPDX-License-Identifier: MIT
/* What the report for people says below its table. */
#include <unistd.h>

#include "stat.h"
#include "tools/print.h"

/* Without a PMU what the kernel counts anyway is all there is. */
void out_write_software(FILE *out, const struct stat_report *report)
{
	const struct stat_options *options = report->options;
	char text[DIGITS_SIZE];

	/* Of the command: with -p and its like that is not what is counted. */
	if (!report->has_usage || report->interval_s > 0 || options->pids ||
	    options->tids || options->cpus || options->all_cpus)
		return;
	for (size_t i = 0; i < report->events->n; i++)
		if (report->count[i].state == ENGINE_COUNTED)
			return;
	fprintf(out, "%20s  page faults\n",
		out_number(text, report, report->page_faults));
	fprintf(out, "%20s  context switches\n",
		out_number(text, report, report->context_switches));
}

void out_write_passes(FILE *out, const struct stat_report *report, size_t sets)
{
	if (report->passes < sets)
		fprintf(out,
			"\n%zu of %zu sets of events had a run, the last one "
			"perhaps not to its end\n",
			report->passes, sets);
	else
		fprintf(out, "\n%zu sets of events, a run for each\n", sets);
}

void out_write_turns(FILE *out, const struct stat_report *report)
{
	const struct stat_options *o = report->options;
	char length[DIGITS_SIZE], share[DIGITS_SIZE];

	if (!report->pace.turns || report->interval_s > 0)
		return;
	if (o->passes) {
		out_write_passes(out, report, report->pace.turns);
		return;
	}
	fprintf(out,
		"\n%zu sets of events took turns: %zu slices of %s ms, "
		"switching took %s %%\n",
		report->pace.turns, report->pace.slices,
		digits_fixed(length, report->pace.slice_ms, 1),
		digits_fixed(share, 100 * report->pace.switching, 2));
	if (report->pace.slices < OUT_SLICES_FEW * report->pace.turns)
		fprintf(out,
			"hint: that is few slices for sure estimates; %s\n",
			o->command && !stat_is_attached(o)
				? "--passes runs the program once for each set"
				: "count for longer, or fewer events");
}

static bool has_modelled_in(const struct stat_report *report, int kind)
{
	for (size_t i = 0; i < report->events->n; i++)
		if (report->events->event[i].modelled &&
		    report->events->event[i].parsed->kind == kind &&
		    !report->events->event[i].hidden &&
		    report->count[i].state == ENGINE_COUNTED)
			return true;
	return false;
}

/* Of unlike cores' rows each has its own kind's. */
static bool has_modelled(const struct stat_report *report, int kind)
{
	for (size_t i = 0; i < stat_parts(report); i++) {
		const struct stat_report part = stat_part(report, i);

		if (has_modelled_in(&part, kind))
			return true;
	}
	return false;
}

static bool has_not_emulated_in(const struct stat_report *report)
{
	for (size_t i = 0; i < report->events->n; i++)
		if (report->count[i].state == ENGINE_NOT_EMULATED &&
		    !report->events->event[i].hidden)
			return true;
	return false;
}

static bool has_not_emulated(const struct stat_report *report)
{
	for (size_t i = 0; i < stat_parts(report); i++) {
		const struct stat_report part = stat_part(report, i);

		if (has_not_emulated_in(&part))
			return true;
	}
	return false;
}

/* What an emulated board's counts are, or why there are none. */
static void write_model(FILE *out, const struct stat_report *report)
{
	const struct upmu_machine *machine = &report->events->machine;
	const char *refused = machine->model.refused;
	bool any = false;

	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_model *model = &machine->kinds[i].model;

		if (!has_modelled(report, (int)i))
			continue;
		fprintf(out,
			"%scache, TLB and branch counts: a model of %s %s "
			"(%s), not silicon\n",
			any ? "" : "\n", model->article, model->title,
			model->geometry);
		any = true;
	}
	if (refused[0] && has_not_emulated(report))
		fprintf(out, "\nnot emulated: %s\n", refused);
}

/*
 * Since Linux commit 4f6fc7821283 (6.16; 6.1.142, 5.15.186) a task's events end
 * before its memory is taken apart: where large processes fork and end that may
 * be half of what they use.
 */
#define UNCOUNTED_ENDS                                                  \
	";\nnewer kernels count no process while they take its memory " \
	"apart at its end\n"

/* Root's events, too, are taken off what is set-uid to another user. */
static void write_uncounted(FILE *out, const struct stat_report *report)
{
	if (!(report->uncounted_s > 0))
		return;
	fprintf(out,
		"\n%.3f s of the program's processor time were not counted: ",
		report->uncounted_s);
	if (geteuid())
		fputs("a program\nthat is set-uid or has file capabilities, or "
		      "that this user may not read,\n"
		      "is counted for root alone" UNCOUNTED_ENDS
		      "hint: sudo upmu stat ...\n",
		      out);
	else
		fputs("a program\nset-uid to another user, or that its user "
		      "may not read, is counted with -a alone" UNCOUNTED_ENDS
		      "hint: upmu stat -a ...\n",
		      out);
}

void out_write_notes(FILE *out, const struct stat_report *report)
{
	out_write_lost(out, report);
	/* Of intervals it is known at the end. */
	if (!(report->interval_s > 0))
		write_uncounted(out, report);
	/* What is the same in all is told once. */
	if (report->intervals > 1 && report->interval_s > 0) {
		out_write_others_again(out, report);
		return;
	}
	out_write_others(out, report);
	if (report->intervals > 1)
		return;
	write_model(out, report);
	if (stat_reason(report)[0])
		fprintf(out, "\nupmu stat: %s\n", stat_reason(report));
	if (stat_is_user_only(report))
		fputs("\nuser mode only: kernel.perf_event_paranoid allows "
		      "this user no more\n",
		      out);
	if (report->source[0])
		fprintf(out, "\n%s", report->source);
}

/* It is known when the program has ended: below the last interval. */
int stat_write_state(FILE *out, const struct stat_report *report)
{
	if (report->interval_s > 0)
		write_uncounted(out, report);
	if (report->notes)
		fprintf(out, "\n%s", report->notes);
	return ferror(out) ? -1 : 0;
}
