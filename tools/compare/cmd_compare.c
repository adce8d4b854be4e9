// SPDX-License-Identifier: MIT
/* upmu compare: is B better than A, and how sure is that? */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "tools/child.h"
#include "tools/print.h"
#include "tools/replace.h"

/* The first that is not *.json, be it "--"; NULL: files of earlier runs. */
static const char *no_report_of(char **words)
{
	for (; *words; words++)
		if (!compare_is_report(*words))
			return *words;
	return NULL;
}

/* A first word that cannot be a program: whoever gave it meant its runs. */
static bool are_meant_as_files(const struct compare_options *o)
{
	return !o->shell && compare_is_report(o->argv[0]) &&
	       access(o->argv[0], X_OK);
}

static int refuse_word(const char *word)
{
	if (!strcmp(word, "--"))
		fputs("upmu compare: earlier runs and commands to run cannot "
		      "be compared at once\n"
		      "hint: save the command's first: upmu compare -j -o "
		      "b.json COMMAND\n",
		      stderr);
	else
		fprintf(stderr,
			"upmu compare: '%s': no file of earlier runs, whose "
			"names end in .json\n"
			"hint: %s\n",
			word,
			*word == '-' ? "options come before the files"
				     : "upmu compare a.json b.json");
	return EXIT_USAGE;
}

static int (*const writers[])(FILE *, const struct compare *) = {
	[COMPARE_TEXT] = compare_write_text,
	[COMPARE_MARKDOWN] = compare_write_markdown,
	[COMPARE_CSV] = compare_write_csv,
	[COMPARE_JSON] = compare_write_json,
};

static int write_to(FILE *out, const void *compare)
{
	const struct compare *c = compare;

	return writers[c->options->format](out, c) || fflush(out) ? -1 : 0;
}

/* Of commands to run: files are as they are. */
static int refuse_options(const struct compare_options *o)
{
	if (!o->of_runs)
		return 0;
	fprintf(stderr,
		"upmu compare: --%s is for commands to run: of earlier runs all "
		"that the files have is compared\n"
		"hint: leave out --%s\n",
		o->of_runs, o->of_runs);
	return EXIT_USAGE;
}

/* What the file does not take goes to standard output: it was long to get. */
static int write_report(const struct compare *c)
{
	const char *path = c->options->output;

	if (path && !replace_file(path, write_to, c, REPLACE_PLAIN))
		return 0;
	if (path)
		fprintf(stderr,
			"upmu compare: cannot write the report to '%s': %s\n",
			path, strerror(errno));
	return write_to(stdout, c) || path ? EXIT_FAILED : 0;
}

/* Before anything runs. */
static int try_output(const struct compare_options *options)
{
	if (!options->output || !replace_try(options->output))
		return 0;
	fprintf(stderr, "upmu compare: cannot write to '%s': %s\n",
		options->output, strerror(errno));
	return EXIT_FAILED;
}

static int take_runs(struct compare *c)
{
	const struct compare_options *o = c->options;
	const char *other = no_report_of(o->argv);
	int status;

	if (other && are_meant_as_files(o))
		return refuse_word(other);
	status = other ? 0 : refuse_options(o);
	if (!status)
		status = try_output(o);
	if (status)
		return status;
	return other ? compare_measure(c) : compare_load(c, o->argv);
}

/* No number at all fails, as a limit that nobody watches would pass. */
static int undecided(const struct compare *c, const struct compare_condition *o,
		     size_t k)
{
	const struct compare_event *event = compare_find_event(c, o->event);

	return event->cell[0].summary.n && event->cell[k].summary.n
		       ? 0
		       : EXIT_FAILED;
}

static bool has_few_runs(const struct compare *c,
			 const struct compare_condition *o, size_t k)
{
	size_t least = compare_asked_least(c);

	return !compare_find_event(c, o->event)->cell[k].exact &&
	       (c->command[0].runs < least || c->command[k].runs < least);
}

static int ask_one(const struct compare *c, const struct compare_condition *o,
		   size_t k)
{
	double low, high;
	enum compare_answer answer = compare_ask(c, o, k, &low, &high);
	const char *unit = o->percent ? " %" : "";

	if (answer == COMPARE_FAILS_NOT)
		return 0;
	if (isnan(low) && has_few_runs(c, o, k)) {
		fprintf(stderr,
			"upmu compare: --fail-if '%s' cannot be told: too few "
			"runs, -r %zu is the least\n",
			o->text, compare_asked_least(c));
		return EXIT_FAILED;
	}
	if (isnan(low)) {
		fprintf(stderr,
			"upmu compare: --fail-if '%s' is not decided: not all "
			"runs have a number, or the first mean may be 0\n",
			o->text);
		return undecided(c, o, k);
	}
	fprintf(stderr, "upmu compare: --fail-if '%s' %s: ", o->text,
		answer == COMPARE_HOLDS ? "holds" : "is not decided");
	plain_write(stderr, c->command[k].name);
	fprintf(stderr, ": %+.3g to %+.3g%s\n", low, high, unit);
	return answer == COMPARE_HOLDS ? COMPARE_CONDITION_HOLDS : 0;
}

/* A condition that holds outweighs one that nothing can be said of. */
static int ask_conditions(const struct compare *c)
{
	int status = 0;

	for (size_t i = 0; i < c->options->conditions; i++)
		for (size_t k = 1; k < c->commands; k++) {
			int one = ask_one(c, &c->options->condition[i], k);

			if (one && status != COMPARE_CONDITION_HOLDS)
				status = one;
		}
	return status;
}

static int report(struct compare *c)
{
	int status;

	if (!compare_rounds(c)) {
		fprintf(stderr, "upmu compare: %s\n",
			c->interrupted
				? "interrupted before each command had run"
				: "a report has no runs");
		return EXIT_FAILED;
	}
	if (compare_judge(c)) {
		fputs("upmu compare: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	status = write_report(c);
	return status ? status : ask_conditions(c);
}

int cmd_compare(int argc, char **argv)
{
	static struct compare_options options;
	static struct compare c;
	int status = EXIT_USAGE;
	bool done;

	if (!compare_options_parse(&options, argc, argv, &done) && !done) {
		c.options = &options;
		status = take_runs(&c);
		if (!status)
			status = report(&c);
	} else if (done) {
		status = 0;
	}
	compare_free(&c);
	free(options.events);
	if (c.signal) {
		signal(c.signal, SIG_DFL);
		return child_end_like(c.signal);
	}
	return status;
}
