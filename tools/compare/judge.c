// SPDX-License-Identifier: MIT
/* From values to intervals, verdicts and conditions. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "tools/child.h"

#define LEVEL 0.95

const char *compare_verdict_text(const struct compare_event *event,
				 enum compare_verdict verdict)
{
	switch (verdict) {
	case COMPARE_LESS:
		return event->is_time ? "faster" : "less";
	case COMPARE_MORE:
		return event->is_time ? "slower" : "more";
	case COMPARE_NO_DIFFERENCE:
		return "no difference seen";
	case COMPARE_UNKNOWN:
		break;
	}
	return "";
}

double compare_percent(double ratio)
{
	double percent = 100 * (ratio - 1);

	return isfinite(percent) ? percent : NAN;
}

static bool is_known(const struct compare_event *event, size_t command)
{
	return event->cell[0].summary.n && event->cell[command].summary.n;
}

static struct stats_pair pair_of(const struct compare *c,
				 const struct compare_event *event,
				 size_t command)
{
	return (struct stats_pair){ .a = event->cell[0].value,
				    .b = event->cell[command].value,
				    .n_a = c->command[0].runs,
				    .n_b = c->command[command].runs,
				    .paired = c->paired };
}

static void compare_cells(const struct compare *c,
			  const struct compare_event *event, size_t command,
			  double level, struct stats_change *change)
{
	const struct stats_pair pair = pair_of(c, event, command);

	if (pair.a && pair.b)
		stats_compare(&pair, level, change);
	else
		stats_compare_summaries(&event->cell[0].summary,
					&event->cell[command].summary, level,
					change);
}

/*
 * Emulated and the same each time: no chance is in it. Times may be the same
 * only because they are told in clock ticks.
 */
static bool is_exact(const struct compare *c, const struct compare_event *event,
		     size_t command)
{
	return c->emulated && !event->unit[0] &&
	       event->cell[0].summary.constant &&
	       event->cell[command].summary.constant;
}

static void decide(const struct compare *c, struct compare_event *event,
		   size_t command)
{
	struct compare_cell *cell = &event->cell[command];
	const struct stats_change *change = &cell->change;
	size_t least;

	cell->exact = is_exact(c, event, command);
	least = cell->exact || !cell->value ? 2 : STATS_RUNS_LEAST;
	cell->verdict = COMPARE_NO_DIFFERENCE;
	if (cell->summary.n < least || event->cell[0].summary.n < least)
		cell->verdict = COMPARE_UNKNOWN;
	else if (!cell->exact && !(cell->p <= 1 - LEVEL))
		return;
	else if (change->difference_high < 0)
		cell->verdict = COMPARE_LESS;
	else if (change->difference_low > 0)
		cell->verdict = COMPARE_MORE;
}

/* Without single runs: Welch's test, by Bonferroni over the events. */
static void test_summaries(struct compare *c, size_t command, double family)
{
	for (size_t i = 0; i < c->events; i++) {
		struct compare_event *event = &c->event[i];
		struct compare_cell *cell = &event->cell[command];

		cell->p = 1;
		if (is_known(event, command))
			cell->p = fmin(
				1, family * stats_welch(&event->cell[0].summary,
							&cell->summary));
	}
}

static bool has_values(const struct compare *c, size_t command)
{
	for (size_t i = 0; i < c->events; i++)
		if (is_known(&c->event[i], command) &&
		    !(c->event[i].cell[0].value &&
		      c->event[i].cell[command].value))
			return false;
	return true;
}

static int test_values(struct compare *c, size_t command)
{
	struct stats_pair *pair = calloc(c->events + 1, sizeof(*pair));
	double *p = calloc(c->events + 1, sizeof(*p));
	size_t n = 0;
	int error = -ENOMEM;

	if (pair && p) {
		for (size_t i = 0; i < c->events; i++)
			if (is_known(&c->event[i], command))
				pair[n++] = pair_of(c, &c->event[i], command);
		error = stats_family(pair, n, p);
	}
	n = 0;
	for (size_t i = 0; !error && i < c->events; i++) {
		struct compare_event *event = &c->event[i];

		event->cell[command].p =
			is_known(event, command)
				? fmin(1, p[n++] * (double)(c->commands - 1))
				: 1;
	}
	free(pair);
	free(p);
	return error;
}

static int judge_command(struct compare *c, size_t command)
{
	int error = 0;

	if (has_values(c, command))
		error = test_values(c, command);
	else
		test_summaries(c, command,
			       (double)c->events * (double)(c->commands - 1));
	for (size_t i = 0; !error && i < c->events; i++) {
		struct compare_event *event = &c->event[i];

		if (!is_known(event, command))
			continue;
		compare_cells(c, event, command, LEVEL,
			      &event->cell[command].change);
		decide(c, event, command);
	}
	return error;
}

int compare_judge(struct compare *c)
{
	int error = 0;

	for (size_t i = 0; i < c->events; i++)
		for (size_t k = 0; k < c->commands; k++) {
			struct compare_cell *cell = &c->event[i].cell[k];

			if (cell->value)
				stats_summarize(cell->value, c->command[k].runs,
						&cell->summary);
		}
	for (size_t k = 1; !error && k < c->commands; k++)
		error = judge_command(c, k);
	return error;
}

int compare_check_conditions(const struct compare *c)
{
	for (size_t i = 0; i < c->options->conditions; i++) {
		const struct compare_condition *one = &c->options->condition[i];

		if (compare_find_event(c, one->event) && c->commands > 1)
			continue;
		fprintf(stderr, "upmu compare: --fail-if '%s': %s\n", one->text,
			c->commands > 1 ? "no such event was counted"
					: "there is one command only");
		if (c->commands > 1)
			fprintf(stderr, "hint: -e %s, or one of the report\n",
				one->event);
		return EXIT_USAGE;
	}
	return 0;
}

/*
 * It holds where the whole interval is beyond the limit, so that chance fails
 * no build; asked of several, each gets its part of the 5 in 100.
 */
enum compare_answer compare_ask(const struct compare *c,
				const struct compare_condition *condition,
				size_t command, double *low, double *high)
{
	const struct compare_event *event =
		compare_find_event(c, condition->event);
	double asked =
		(double)c->options->conditions * (double)(c->commands - 1);
	struct stats_change change;

	*low = *high = NAN;
	if (!event || !is_known(event, command))
		return COMPARE_UNDECIDED;
	compare_cells(c, event, command, 1 - (1 - LEVEL) / asked, &change);
	*low = condition->percent ? compare_percent(change.ratio_low)
				  : change.difference_low;
	*high = condition->percent ? compare_percent(change.ratio_high)
				   : change.difference_high;
	if (isnan(*low) || isnan(*high))
		return COMPARE_UNDECIDED;
	if (condition->above ? *low > condition->limit
			     : *high < condition->limit)
		return COMPARE_HOLDS;
	if (condition->above ? *high <= condition->limit
			     : *low >= condition->limit)
		return COMPARE_FAILS_NOT;
	return COMPARE_UNDECIDED;
}
