// SPDX-License-Identifier: MIT
/* The options of "upmu compare": one table for parsing and for --help. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "tools/print.h"

static const char usage[] =
	"usage: upmu compare [OPTION...] [--] A [ARGUMENT...] -- B "
	"[ARGUMENT...] [-- C...]\n"
	"       upmu compare [OPTION...] --shell 'A' 'B'...\n"
	"       upmu compare [OPTION...] A.json B.json...\n"
	"Run programs in turns and say how they differ, and how sure that "
	"is.\n\n";

#define REPEAT 10
#define WARMUP 1

enum kind {
	FLAG,
	TEXT,
	LIST,
	NUMBER,
	NAME,
	CONDITION,
	FORMAT,
	SEPARATOR,
	JSON
};

static const struct row {
	const char *name;
	char letter;
	enum kind kind;
	size_t offset;
	const char *argument;
	const char *help;
	bool of_runs; /* files of earlier runs have no use for it */
} rows[] = {
#define AT(field) offsetof(struct compare_options, field)
	{ "event", 'e', LIST, AT(events), "LIST",
	  "events to count, comma separated; may be repeated", true },
	{ "repeat", 'r', NUMBER, AT(repeat), "N",
	  "run each command N times (10)", true },
	{ "warmup", 'w', NUMBER, AT(warmup), "N",
	  "first run each N times without counting (1)", true },
	{ "fail-if", 0, CONDITION, 0, "'EVENT > +1%'",
	  "status 3 where that is sure; may be repeated", false },
	{ "shell", 0, FLAG, AT(shell), NULL,
	  "each argument is a command of the shell", true },
	{ "name", 'n', NAME, 0, "NAME",
	  "call the next command that; may be repeated", false },
	{ "prepare", 0, TEXT, AT(prepare), "COMMAND",
	  "run COMMAND by the shell before each run", true },
	{ "stdin", 0, TEXT, AT(standard_in), "FILE",
	  "what each run reads (/dev/null)", true },
	{ "stdout", 0, TEXT, AT(standard_out), "FILE",
	  "where each run writes; 'inherit': here (/dev/null)", true },
	{ "ignore-failure", 'i', FLAG, AT(ignore_failure), NULL,
	  "go on where a command fails", true },
	{ "no-bars", 0, FLAG, AT(no_bars), NULL, "text without bars", false },
	{ "format", 0, FORMAT, AT(format), "NAME",
	  "text, markdown, csv or json", false },
	{ "field-separator", 'x', SEPARATOR, AT(separator), "SEP",
	  "CSV with this separator", false },
	{ "json-output", 'j', JSON, AT(format), NULL, "JSON", false },
	{ "output", 'o', TEXT, AT(output), "FILE",
	  "write the report to FILE, not to standard output", false },
#undef AT
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void print_help(void)
{
	fputs(usage, stdout);
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		char left[64], letter[8] = "    ";

		if (r->letter)
			snprintf(letter, sizeof(letter), "-%c, ", r->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, r->name,
			 r->argument ? " " : "",
			 r->argument ? r->argument : "");
		printf("  %-29s %s\n", left, r->help);
	}
	printf("  %-29s %s\n", "    --help", "print this");
}

static int refuse_value(const struct row *row, const char *value,
			const char *wanted)
{
	fprintf(stderr, "upmu compare: --%s: '%s' is not %s\n", row->name,
		value, wanted);
	return -1;
}

static int join(char **list, const char *more)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "",
		     more) < 0) {
		fputs("upmu compare: out of memory\n", stderr);
		return -1;
	}
	free(*list);
	*list = joined;
	return 0;
}

/* No warm-up is a number too; no run is none. */
static int set_number(unsigned int *field, const struct row *row,
		      const char *value)
{
	bool zero = row->letter == 'w';
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || *end || !isdigit((unsigned char)value[0]) ||
	    (!number && !zero) || number > 1000000)
		return refuse_value(row, value,
				    zero ? "a number from 0 to 1000000"
					 : "a number from 1 to 1000000");
	*field = (unsigned int)number;
	return 0;
}

static int set_format(enum compare_format *field, const struct row *row,
		      const char *value)
{
	static const char *const names[] = { "text", "markdown", "csv",
					     "json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], value))
			continue;
		*field = (enum compare_format)i;
		return 0;
	}
	return refuse_value(row, value, "text, markdown, csv or json");
}

/* EVENT > +1%, EVENT < -0.5%, EVENT PLACE > 1000 */
static int add_condition(struct compare_options *o, const struct row *row,
			 const char *value)
{
	static const char wanted[] = "as 'instructions > +1%'";
	struct compare_condition *c = &o->condition[o->conditions];
	const char *from = value + strspn(value, " \t");
	size_t name = strcspn(from, "<>");
	const char *at = from + name;
	char *end;

	while (name && strchr(" \t", from[name - 1]))
		name--;
	if (o->conditions == COMPARE_CONDITIONS_MAX)
		return refuse_value(row, value, "one of at most 16");
	if (!name || name >= sizeof(c->event) || (*at != '<' && *at != '>') ||
	    from[name - 1] == '=')
		return refuse_value(row, value, wanted);
	c->text = value;
	memcpy(c->event, from, name);
	c->event[name] = 0;
	c->above = *at++ == '>';
	c->limit = strtod(at, &end);
	if (end == at || !isfinite(c->limit))
		return refuse_value(row, value, wanted);
	end += strspn(end, " \t");
	c->percent = *end == '%';
	end += c->percent;
	if (end[strspn(end, " \t")])
		return refuse_value(row, value, wanted);
	o->conditions++;
	return 0;
}

static int set_option(struct compare_options *options, const struct row *row,
		      const char *value)
{
	void *field = (char *)options + row->offset;

	switch (row->kind) {
	case FLAG:
		*(bool *)field = true;
		return 0;
	case TEXT:
		*(const char **)field = value;
		return 0;
	case LIST:
		return join(field, value);
	case NUMBER:
		return set_number(field, row, value);
	case NAME:
		if (options->names == COMPARE_COMMANDS_MAX)
			return refuse_value(row, value, "one of at most 16");
		options->name[options->names++] = value;
		return 0;
	case CONDITION:
		return add_condition(options, row, value);
	case FORMAT:
		return set_format(field, row, value);
	case SEPARATOR:
		options->separator = csv_separator(value);
		if (!options->separator)
			return refuse_value(row, value, SEPARATORS);
		options->format = COMPARE_CSV;
		return 0;
	case JSON:
		options->format = COMPARE_JSON;
		return 0;
	}
	return -1;
}

/* getopt's view of the table; returned values are 256 + the row. */
static void make_getopt(struct option *longs, char *shorts)
{
	*shorts++ = '+'; /* the commands' options are their own */
	for (size_t i = 0; i < ROWS; i++) {
		longs[i] =
			(struct option){ rows[i].name, rows[i].argument ? 1 : 0,
					 NULL, 256 + (int)i };
		if (!rows[i].letter)
			continue;
		*shorts++ = rows[i].letter;
		if (rows[i].argument)
			*shorts++ = ':';
	}
	longs[ROWS] = (struct option){ "help", 0, NULL, 'h' };
	longs[ROWS + 1] = (struct option){ 0 };
	*shorts++ = 'h';
	*shorts = 0;
}

static const struct row *find_row(int code)
{
	if (code >= 256)
		return &rows[code - 256];
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter == code)
			return &rows[i];
	return NULL;
}

int compare_options_parse(struct compare_options *options, int argc,
			  char **argv, bool *done)
{
	struct option longs[ROWS + 2];
	char shorts[2 * ROWS + 3];
	const struct row *row;
	int code;

	*options =
		(struct compare_options){ .repeat = REPEAT, .warmup = WARMUP };
	*done = false;
	make_getopt(longs, shorts);
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
		if (code == 'h') {
			print_help();
			*done = true;
			return 0;
		}
		row = find_row(code);
		if (!row) {
			fputs("hint: upmu compare --help\n", stderr);
			return -1;
		}
		if (set_option(options, row, optarg))
			return -1;
		if (row->of_runs)
			options->of_runs = row->name;
	}
	if (options->output && !strcmp(options->output, "-"))
		options->output = NULL;
	options->argv = argv + optind;
	if (options->argv[0])
		return 0;
	fputs("upmu compare: no commands to compare\n"
	      "hint: upmu compare -- ls -l -- ls -a\n",
	      stderr);
	return -1;
}
