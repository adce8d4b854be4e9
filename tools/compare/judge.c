// SPDX-License-Identifier: MIT
/* From values to intervals, verdicts and conditions. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "lib/engine/engine.h"
#include "lib/events/text.h"
#include "tools/child.h"
#include "tools/print.h"

#define LEVEL 0.95
/* So that four runs of each, of which the clearest p is 2/70, can tell. */
#define MOST_OF_IT  0.75
#define NAMES_SHOWN 24

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

	if (pair.paired && pair.a && pair.b)
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
	return c->emulated && c->lost < ENGINE_LOST_LEAST && !event->unit[0] &&
	       event->cell[0].summary.constant &&
	       event->cell[command].summary.constant;
}

/* Each comparison's part of the 5 in 100. */
static double level_of_each(const struct compare *c)
{
	return (1 - LEVEL) / (double)(c->commands - 1);
}

/* Of some events only mean and deviation: these have a part of the level. */
static bool has_summaries(const struct compare *c)
{
	for (size_t i = 0; i < c->events; i++)
		for (size_t k = 0; k < c->commands; k++) {
			const struct compare_cell *cell = &c->event[i].cell[k];

			if (cell->summary.n && !cell->value)
				return true;
		}
	return false;
}

size_t compare_runs_least(const struct compare *c)
{
	return stats_runs_least(level_of_each(c) *
				(has_summaries(c) ? MOST_OF_IT : 1));
}

/* In turns: rounds in which both have a number. */
static size_t both_known(const struct compare_event *event, size_t command,
			 size_t rounds)
{
	const double *a = event->cell[0].value, *b = event->cell[command].value;
	size_t n = 0;

	for (size_t i = 0; i < rounds; i++)
		n += !isnan(a[i]) && !isnan(b[i]);
	return n;
}

static bool lacks_runs(const struct compare *c,
		       const struct compare_event *event, size_t command)
{
	const struct compare_cell *a = &event->cell[0];
	const struct compare_cell *b = &event->cell[command];
	size_t rounds = c->command[command].runs;
	size_t in_turns = stats_rounds_least(level_of_each(c)), least;

	least = b->exact || !b->value ? 2 : compare_runs_least(c);
	if (!c->paired)
		return a->summary.n < least || b->summary.n < least;
	if (!b->exact && rounds >= in_turns)
		least = in_turns;
	return both_known(event, command, rounds) < least;
}

bool compare_is_own_rss(const struct compare *c,
			const struct compare_event *event, size_t command)
{
	return !strcmp(event->name, "max_rss") && c->command[0].own_rss &&
	       c->command[command].own_rss;
}

static void decide(const struct compare *c, struct compare_event *event,
		   size_t command)
{
	struct compare_cell *cell = &event->cell[command];
	const struct stats_change *change = &cell->change;

	cell->exact = is_exact(c, event, command);
	cell->verdict = COMPARE_NO_DIFFERENCE;
	if (lacks_runs(c, event, command) ||
	    compare_is_own_rss(c, event, command))
		cell->verdict = COMPARE_UNKNOWN;
	else if (!cell->exact && !(cell->p <= 1 - LEVEL))
		return;
	else if (change->difference_high < 0)
		cell->verdict = COMPARE_LESS;
	else if (change->difference_low > 0)
		cell->verdict = COMPARE_MORE;
}

static bool has_values(const struct compare_event *event, size_t command)
{
	return event->cell[0].value && event->cell[command].value;
}

/* Without single runs: Welch's test. */
static void test_summaries(struct compare *c, size_t command)
{
	for (size_t i = 0; i < c->events; i++) {
		struct compare_event *event = &c->event[i];

		if (is_known(event, command) && !has_values(event, command))
			event->cell[command].p =
				stats_welch(&event->cell[0].summary,
					    &event->cell[command].summary);
	}
}

static int test_values(struct compare *c, size_t command, size_t *tested)
{
	struct stats_pair *pair = calloc(c->events + 1, sizeof(*pair));
	double *p = calloc(c->events + 1, sizeof(*p));
	size_t *which = calloc(c->events + 1, sizeof(*which));
	size_t n = 0;
	int error = -ENOMEM;

	for (size_t i = 0; which && i < c->events; i++)
		if (is_known(&c->event[i], command) &&
		    has_values(&c->event[i], command))
			which[n++] = i;
	for (size_t i = 0; pair && i < n; i++)
		pair[i] = pair_of(c, &c->event[which[i]], command);
	if (pair && p && which)
		error = stats_family(pair, n, level_of_each(c), p);
	for (size_t i = 0; !error && i < n; i++)
		c->event[which[i]].cell[command].p = p[i];
	free(pair);
	free(p);
	free(which);
	*tested = n;
	return error;
}

/*
 * The 5 in 100 are shared out: among the commands; of one, between the events
 * whose runs are known, which the permutations take together, and each of the
 * others (Bonferroni). Which part of it an event's p has to keep within.
 */
static double part_of(bool has_runs, size_t with_runs, size_t known)
{
	double together = fmax((double)with_runs / (double)known, MOST_OF_IT);

	if (!with_runs)
		together = 0;
	if (with_runs == known)
		together = 1;
	return has_runs ? together
			: (1 - together) / (double)(known - with_runs);
}

static int test_all(struct compare *c, size_t command)
{
	double others = (double)(c->commands - 1);
	size_t known = 0, with_runs;
	int error;

	for (size_t i = 0; i < c->events; i++) {
		c->event[i].cell[command].p = 1;
		known += is_known(&c->event[i], command);
	}
	test_summaries(c, command);
	error = test_values(c, command, &with_runs);
	for (size_t i = 0; !error && i < c->events; i++) {
		struct compare_event *event = &c->event[i];
		double *p = &event->cell[command].p;

		if (is_known(event, command))
			*p = fmin(1, *p * others /
					     part_of(has_values(event, command),
						     with_runs, known));
	}
	return error;
}

static int judge_command(struct compare *c, size_t command)
{
	int error = test_all(c, command);

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

			if (cell->value && !error)
				error = stats_summarize(cell->value,
							c->command[k].runs,
							&cell->summary);
		}
	for (size_t k = 1; !error && k < c->commands; k++)
		error = judge_command(c, k);
	return error;
}

/* "cortex-a7/cycles/" for "cycles", which unlike cores have one each of. */
static bool is_of_a_core(const char *name, const char *event)
{
	const char *base = strchr(name, '/');
	size_t length = base ? strcspn(base + 1, "/") : 0;

	return base && base[length + 1] &&
	       upmu_name_is(base + 1, length, event);
}

/* What -e was given may be called otherwise: PMU/cycles/, cycles:hk. */
static void hint_names(const struct compare *c, const char *event)
{
	size_t n = c->events < NAMES_SHOWN ? c->events : NAMES_SHOWN;

	fputs("hint: ", stderr);
	if (!c->of_files)
		fprintf(stderr, "-e %s, or ", event);
	fputs("as the report calls it:", stderr);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : " ", stderr);
		plain_write(stderr, c->event[i].name);
	}
	fputs(n < c->events ? ", ...\n" : "\n", stderr);
}

static void hint_events(const struct compare *c, const char *event)
{
	size_t n = 0;

	for (size_t i = 0; i < c->events; i++)
		if (is_of_a_core(c->event[i].name, event))
			fprintf(stderr, "%s%s",
				n++ ? ", "
				    : "hint: each kind of core has its own: ",
				c->event[i].name);
	if (n)
		fputc('\n', stderr);
	else
		hint_names(c, event);
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
			hint_events(c, one->event);
		return EXIT_USAGE;
	}
	return 0;
}

int compare_check_names(const struct compare *c)
{
	if (c->options->names <= c->commands)
		return 0;
	fprintf(stderr,
		"upmu compare: %zu names for %zu command%s\n"
		"hint: upmu compare -n a -n b -- A -- B\n",
		c->options->names, c->commands, c->commands == 1 ? "" : "s");
	return EXIT_USAGE;
}

/* What is at the limit is not put beyond it by rounding: 1.01 - 1 > 0.01. */
static double rounding_at(const struct compare_condition *condition)
{
	return 1e-12 * (fabs(condition->limit) + 100 * condition->percent);
}

/* Each condition's part, of each command, of what may hold by chance. */
static double level_of_asked(const struct compare *c)
{
	return (1 - LEVEL) /
	       (double)(c->options->conditions * (c->commands - 1));
}

/*
 * Two programs that each count one of two numbers differ by the same in n
 * rounds with a chance of 1 in 4^n, and no interval can know: it has no width.
 */
size_t compare_asked_least(const struct compare *c)
{
	return (size_t)ceil(-log2(level_of_asked(c) / 2) / 2);
}

static bool is_asked_too_early(const struct compare *c,
			       const struct compare_event *event,
			       size_t command)
{
	const struct compare_cell *a = &event->cell[0];
	const struct compare_cell *b = &event->cell[command];
	size_t least = compare_asked_least(c);

	if (b->exact)
		return false;
	if (c->paired)
		return both_known(event, command, c->command[command].runs) <
		       least;
	return a->summary.n < least || b->summary.n < least;
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
	double off = rounding_at(condition), limit = condition->limit;
	struct stats_change change;

	*low = *high = NAN;
	if (!event || !is_known(event, command) ||
	    is_asked_too_early(c, event, command))
		return COMPARE_UNDECIDED;
	compare_cells(c, event, command, 1 - level_of_asked(c), &change);
	*low = condition->percent ? compare_percent(change.ratio_low)
				  : change.difference_low;
	*high = condition->percent ? compare_percent(change.ratio_high)
				   : change.difference_high;
	if (isnan(*low) || isnan(*high))
		return COMPARE_UNDECIDED;
	if (condition->above ? *low > limit + off : *high < limit - off)
		return COMPARE_HOLDS;
	if (condition->above ? *high <= limit + off : *low >= limit - off)
		return COMPARE_FAILS_NOT;
	return COMPARE_UNDECIDED;
}
