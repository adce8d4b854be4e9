// SPDX-License-Identifier: MIT
/* The comparison for people: bars in the terminal, and Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "lib/engine/engine.h"
#include "tools/bars.h"
#include "tools/print.h"

#define BAR_WIDTH      24
#define OUTLIERS_SHOWN 3
/* Percent beyond which digits are no help. */
#define MUCH 1e9

static char letter_of(size_t command)
{
	return (char)('A' + command);
}

/* No "-0". */
static void group(char *out, double value)
{
	digits_grouped(out, fabs(value) <= 0.5 ? 0 : value);
}

/*
 * A value in a unit that suits @like, so that all of an event agree. Units that
 * are not upmu's may be anything: a file told them.
 */
static const char *show(const struct compare_event *event, double value,
			double like, char *out, size_t size)
{
	double seconds = !strcmp(event->unit, "ns") ? 1e-9 : 1;
	double scale = fabs(like) * seconds;
	char number[80];

	if (isnan(value)) {
		snprintf(out, size, "-");
	} else if (strcmp(event->unit, "s") && strcmp(event->unit, "ns")) {
		group(number, value);
		snprintf(out, size, "%s%s%s", number, event->unit[0] ? " " : "",
			 event->unit);
	} else if (scale >= 1e15) {
		snprintf(out, size, "%.4g s", value * seconds);
	} else if (scale >= 1) {
		snprintf(out, size, "%.3f s", value * seconds);
	} else if (scale >= 1e-3) {
		snprintf(out, size, "%.3f ms", 1e3 * value * seconds);
	} else {
		snprintf(out, size, "%.1f us", 1e6 * value * seconds);
	}
	return plain(out);
}

static double largest_mean(const struct compare *c,
			   const struct compare_event *event)
{
	double most = 0;

	for (size_t k = 0; k < c->commands; k++)
		if (event->cell[k].summary.n)
			most = fmax(most, event->cell[k].summary.mean);
	return most;
}

/* How far the mean's interval reaches, in percent of it. */
static const char *show_spread(const struct stats_summary *s, char *out,
			       size_t size)
{
	double down = 100 * (s->mean - s->low) / s->mean;
	double up = 100 * (s->high - s->mean) / s->mean;

	out[0] = 0;
	if (s->constant)
		snprintf(out, size, "each run");
	else if (!isfinite(down) || !isfinite(up) || !(s->mean > 0))
		return out;
	else if (fmax(up, down) >= MUCH)
		snprintf(out, size, "-%.3g +%.3g %%", down, up);
	else if (fabs(up - down) < fmax(0.1 * (up + down), 0.1))
		snprintf(out, size, "+- %.2f %%", (up + down) / 2);
	else
		snprintf(out, size, "-%.1f +%.1f %%", down, up);
	return out;
}

static void write_exact(FILE *out, const struct compare_cell *cell)
{
	char number[80];

	if (cell->change.difference == 0) {
		fputs("exactly the same", out);
		return;
	}
	group(number, cell->change.difference);
	fprintf(out, "exactly %s%s", cell->change.difference > 0 ? "+" : "",
		number);
	if (!isnan(cell->change.ratio))
		fprintf(out, " (%+.4g %%)",
			compare_percent(cell->change.ratio));
}

static void write_percent(FILE *out, double percent)
{
	fprintf(out, fabs(percent) < MUCH ? "%+.2f" : "%+.3g", percent);
}

static void write_change(FILE *out, const struct compare_cell *cell)
{
	const struct stats_change *change = &cell->change;

	if (cell->exact) {
		write_exact(out, cell);
		return;
	}
	if (isnan(compare_percent(change->ratio)))
		return;
	write_percent(out, compare_percent(change->ratio));
	fputs(" %", out);
	if (isnan(compare_percent(change->ratio_high)))
		return;
	fputs(" (", out);
	write_percent(out, compare_percent(change->ratio_low));
	fputs(" to ", out);
	write_percent(out, compare_percent(change->ratio_high));
	fputc(')', out);
}

static void write_verdict(FILE *out, const struct compare_event *event,
			  const struct compare_cell *cell)
{
	static const enum bars_colour colours[] = {
		[COMPARE_LESS] = BARS_GREEN,
		[COMPARE_MORE] = BARS_RED,
		[COMPARE_NO_DIFFERENCE] = BARS_PLAIN,
	};

	if (cell->verdict == COMPARE_UNKNOWN ||
	    (cell->exact && cell->verdict == COMPARE_NO_DIFFERENCE))
		return;
	fprintf(out, "  %s%s%s", bars_colour(out, colours[cell->verdict]),
		compare_verdict_text(event, cell->verdict),
		bars_colour(out, BARS_PLAIN));
}

/* Of these is the mean; the change is of rounds that have both numbers. */
static void write_share(FILE *out, const struct compare *c,
			const struct compare_event *event, size_t k)
{
	const struct compare_cell *cell = &event->cell[k];
	size_t known = 0;

	for (size_t i = 0; cell->value && i < c->command[k].runs; i++)
		known += !isnan(cell->value[i]);
	if (cell->value && known < c->command[k].runs)
		fprintf(out, "     a number in %zu of %zu runs\n", known,
			c->command[k].runs);
}

static void write_outliers(FILE *out, const struct compare *c,
			   const struct compare_event *event, size_t k)
{
	const struct compare_cell *cell = &event->cell[k];
	char text[96];
	int n = 0;

	for (size_t i = 0; cell->value && i < c->command[k].runs; i++) {
		if (!stats_is_outlier(&cell->summary, cell->value[i]))
			continue;
		if (n++ < OUTLIERS_SHOWN)
			fprintf(out, "%s run %zu: %s",
				n == 1 ? "     outliers:" : ",", i + 1,
				show(event, cell->value[i], cell->summary.mean,
				     text, sizeof(text)));
	}
	if (n > OUTLIERS_SHOWN)
		fprintf(out, " and %d more", n - OUTLIERS_SHOWN);
	if (n)
		fputc('\n', out);
}

static void write_cell(FILE *out, const struct compare *c,
		       const struct compare_event *event, size_t k)
{
	const struct compare_cell *cell = &event->cell[k];
	double most = largest_mean(c, event);
	char text[96], spread[40];

	if (!cell->summary.n) {
		fprintf(out, "  %c %18s\n", letter_of(k),
			event->state[0] ? event->state : "-");
		return;
	}
	fprintf(out, "  %c %18s %15s", letter_of(k),
		show(event, cell->summary.mean, most, text, sizeof(text)),
		show_spread(&cell->summary, spread, sizeof(spread)));
	if (!c->options->no_bars) {
		fputs("  ", out);
		bars_draw(out, most > 0 ? cell->summary.mean / most : 0,
			  BAR_WIDTH);
	}
	if (k && event->cell[0].summary.n) {
		fputs("  ", out);
		write_change(out, cell);
		write_verdict(out, event, cell);
	}
	fputc('\n', out);
	write_share(out, c, event, k);
	write_outliers(out, c, event, k);
}

/* What the heading does not say of one command's runs. */
static void write_runs(FILE *out, const struct compare *c,
		       const struct compare_command *command)
{
	if (command->wanted)
		fprintf(out, ", %zu of %zu runs", command->runs,
			command->wanted);
	else if (!c->paired)
		fprintf(out, ", %zu run%s", command->runs,
			command->runs == 1 ? "" : "s");
	if (command->failed)
		fprintf(out, "  (%zu of %zu runs failed)", command->failed,
			command->runs);
}

static void write_rounds(FILE *out, const struct compare *c)
{
	size_t rounds = compare_rounds(c);

	if (c->paired)
		fprintf(out, "%zu run%s of each%s", rounds,
			rounds == 1 ? "" : "s",
			c->commands > 1 ? ", in turns" : "");
	else
		fputs("runs of different times, not in turns", out);
	if (c->interrupted)
		fputs("; interrupted", out);
	if (c->signal)
		fprintf(out, ", %u were wanted", c->options->repeat);
}

static void write_heading(FILE *out, const struct compare *c)
{
	fputs("upmu compare: ", out);
	write_rounds(out, c);
	fputs("\n\n", out);
	for (size_t k = 0; k < c->commands; k++) {
		fprintf(out, "  %c  ", letter_of(k));
		plain_write(out, c->command[k].name);
		write_runs(out, c, &c->command[k]);
		fputc('\n', out);
	}
}

/* Does an interval leave out no change, and the verdict not follow it? */
static bool has_doubt(const struct compare *c)
{
	for (size_t i = 0; i < c->events; i++)
		for (size_t k = 1; k < c->commands; k++) {
			const struct compare_cell *cell = &c->event[i].cell[k];

			if (cell->summary.n &&
			    cell->verdict == COMPARE_NO_DIFFERENCE &&
			    (cell->change.ratio_low > 1 ||
			     cell->change.ratio_high < 1))
				return true;
		}
	return false;
}

static bool has_too_few(const struct compare *c)
{
	for (size_t i = 0; i < c->events; i++)
		for (size_t k = 1; k < c->commands; k++)
			if (c->event[i].cell[0].summary.n &&
			    c->event[i].cell[k].summary.n &&
			    c->event[i].cell[k].verdict == COMPARE_UNKNOWN &&
			    !compare_is_own_rss(c, &c->event[i], k))
				return true;
	return false;
}

/* Events of one name count different things there, at other speeds. */
static void write_cores(FILE *out, const struct compare *c, const char *mark)
{
	const char *first = c->commands ? c->command[0].cores : NULL;

	for (size_t k = 1; first && k < c->commands; k++) {
		const char *cores = c->command[k].cores;

		if (!cores || !strcmp(cores, first))
			continue;
		fprintf(out, "%s%c was counted on ", mark, letter_of(0));
		plain_write(out, first);
		fprintf(out, ", %c on ", letter_of(k));
		plain_write(out, cores);
		fputs(": what differs may be the cores\n", out);
	}
}

static void write_user_only(FILE *out, const struct compare *c,
			    const char *mark)
{
	const char *between = "";
	size_t n = 0;

	for (size_t k = 0; k < c->commands; k++)
		n += c->command[k].user_only;
	if (n && n == c->commands)
		fprintf(out,
			"%suser mode only: kernel.perf_event_paranoid "
			"allows this user no more\n",
			mark);
	if (!n || n == c->commands)
		return;
	fprintf(out, "%suser mode only, as perf_event_paranoid had it: ", mark);
	for (size_t k = 0; k < c->commands; k++) {
		if (!c->command[k].user_only)
			continue;
		fprintf(out, "%s%c", between, letter_of(k));
		between = ", ";
	}
	fputs("; what differs may be the kernel's part\n", out);
}

/* Equal counts of what ran before two programs are no comparison of them. */
static void write_uncounted(FILE *out, const struct compare *c,
			    const char *mark)
{
	for (size_t k = 0; k < c->commands; k++)
		if (c->command[k].uncounted_s > 0)
			fprintf(out,
				"%s%.3f s of %c's processor time in a run were "
				"not counted: of a program that is set-uid, "
				"has file capabilities or may not be read by "
				"its user, or of the ends of its processes; "
				"its events are of the rest\n",
				mark, c->command[k].uncounted_s, letter_of(k));
}

/* A process starts with the memory of its maker. */
static void write_own_rss(FILE *out, const struct compare *c, const char *mark)
{
	size_t n = 0;

	for (size_t k = 0; k < c->commands; k++) {
		if (!c->command[k].own_rss)
			continue;
		fprintf(out, "%s%s%c", n ? "" : mark, n ? ", " : "max_rss of ",
			letter_of(k));
		n++;
	}
	if (n)
		fputs(" is what upmu itself had when it started it: the "
		      "program has less, or just that\n",
		      out);
}

static void write_notes(FILE *out, const struct compare *c, const char *mark)
{
	write_uncounted(out, c, mark);
	write_own_rss(out, c, mark);
	if (has_too_few(c) && compare_rounds(c) >= compare_runs_least(c))
		fprintf(out, "%stoo few runs have a number for a verdict\n",
			mark);
	else if (has_too_few(c))
		fprintf(out,
			"%stoo few runs for a verdict: -r %zu is the "
			"least\n",
			mark, compare_runs_least(c));
	if (has_doubt(c))
		fprintf(out,
			"%san interval without 0 is no verdict yet: one in 20 "
			"is so by chance, and %zu were looked at\n",
			mark, c->events * (c->commands - 1));
	write_cores(out, c, mark);
	if (c->emulated)
		fprintf(out,
			"%son an emulated board: counts are its "
			"emulator's, no times of silicon\n",
			mark);
	if (c->by_registers)
		fprintf(out,
			"%scounted by the registers themselves: everything "
			"that ran on these CPUs is in the numbers\n",
			mark);
	if (c->shares_turns)
		fprintf(out,
			"%ssets of events took turns in each run: what "
			"they counted is estimated\n",
			mark);
	if (c->raw)
		fprintf(out,
			"%sof --no-scale: some counts are of a part of the "
			"time\n",
			mark);
	if (c->lost >= ENGINE_LOST_LEAST)
		fprintf(out,
			"%sothers had the counters in up to %.1f %% of a run's "
			"time%s\n",
			mark, 100 * c->lost,
			c->raw ? "" : ": what came in it is estimated");
	write_user_only(out, c, mark);
	if (c->reason)
		fprintf(out, "%s%s\n", mark, c->reason);
}

static bool is_counted(const struct compare *c,
		       const struct compare_event *event)
{
	for (size_t k = 0; k < c->commands; k++)
		if (event->cell[k].summary.n)
			return true;
	return false;
}

/* Events without any number, a line for each reason. */
static void write_missing(FILE *out, const struct compare *c)
{
	static const char *const states[] = { "<not supported>",
					      "<not counted>", "<not emulated>",
					      "" };

	for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++) {
		int n = 0;

		for (size_t i = 0; i < c->events; i++) {
			if (is_counted(c, &c->event[i]) ||
			    strcmp(c->event[i].state, states[s]))
				continue;
			if (!n++)
				fprintf(out, "%s: ",
					states[s][0] ? states[s]
						     : "<no number>");
			else
				fputs(", ", out);
			plain_write(out, c->event[i].name);
		}
		if (n)
			fputc('\n', out);
	}
}

int compare_write_text(FILE *out, const struct compare *c)
{
	write_heading(out, c);
	for (size_t i = 0; i < c->events; i++) {
		if (!is_counted(c, &c->event[i]))
			continue;
		fprintf(out, "\n%s", bars_colour(out, BARS_BOLD));
		plain_write(out, c->event[i].name);
		fprintf(out, "%s\n", bars_colour(out, BARS_PLAIN));
		for (size_t k = 0; k < c->commands; k++)
			write_cell(out, c, &c->event[i], k);
	}
	fputc('\n', out);
	write_missing(out, c);
	write_notes(out, c, "");
	return ferror(out) ? -1 : 0;
}

/* A cell of a Markdown table: its marks would end it or become others. */
static void write_escaped(FILE *out, const char *text)
{
	for (size_t length; *text; text += length) {
		length = 1;
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '\n')
			fputc(' ', out);
		else if (strchr("|\\`*_[]", *text))
			fprintf(out, "\\%c", *text);
		else
			length = plain_letter(out, text);
	}
}

static void write_row(FILE *out, const struct compare *c,
		      const struct compare_event *event, size_t k)
{
	const struct compare_cell *cell = &event->cell[k];
	double most = largest_mean(c, event);
	char text[96], spread[40];

	fputs("| ", out);
	write_escaped(out, k ? "" : event->name);
	fputs(" | ", out);
	write_escaped(out, c->command[k].name);
	if (!cell->summary.n) {
		fputs(" | ", out);
		write_escaped(out, event->state[0] ? event->state : "-");
		fputs(" | | | |\n", out);
		return;
	}
	fputs(" | ", out);
	write_escaped(
		out, show(event, cell->summary.mean, most, text, sizeof(text)));
	fprintf(out, " | %s | ",
		show_spread(&cell->summary, spread, sizeof(spread)));
	if (k && event->cell[0].summary.n)
		write_change(out, cell);
	fprintf(out, " | %s |\n",
		k ? compare_verdict_text(event, cell->verdict) : "");
}

int compare_write_markdown(FILE *out, const struct compare *c)
{
	fputs("| event | command | mean | 95 % | change (95 %) | verdict |\n"
	      "|---|---|---:|---:|---:|---|\n",
	      out);
	for (size_t i = 0; i < c->events; i++)
		for (size_t k = 0; k < c->commands; k++)
			write_row(out, c, &c->event[i], k);
	fputc('\n', out);
	write_rounds(out, c);
	fputs(".\n", out);
	for (size_t k = 0; k < c->commands; k++) {
		const struct compare_command *command = &c->command[k];

		if (c->paired && !command->wanted && !command->failed)
			continue;
		fputs("- ", out);
		write_escaped(out, command->name);
		write_runs(out, c, command);
		fputc('\n', out);
	}
	write_notes(out, c, "- ");
	return ferror(out) ? -1 : 0;
}
