// SPDX-License-Identifier: MIT
/* The options of "upmu stat": one table for parsing, --help and completion. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static const char usage[] =
	"usage: upmu stat [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"Count what the processor does while COMMAND runs.\n\n";

enum option_kind { FLAG, TEXT, LIST, COUNT, MILLISECONDS, FORMAT, PRESET };

static const struct row {
	const char *name;
	char letter;
	enum option_kind kind;
	size_t offset;
	const char *argument;
	const char *help;
} rows[] = {
#define AT(field) offsetof(struct stat_options, field)
	{ "event", 'e', LIST, AT(events), "LIST",
	  "events to count, comma separated; may be repeated" },
	{ "output", 'o', TEXT, AT(output), "FILE",
	  "write the report to FILE, not to stderr" },
	{ "append", 0, FLAG, AT(append), NULL, "append to FILE of -o" },
#undef AT
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void print_help(void)
{
	char left[40];

	fputs(usage, stdout);
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];

		snprintf(left, sizeof(left), "%c%c%c --%s%s%s",
			 r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
			 r->letter ? ',' : ' ', r->name, r->argument ? " " : "",
			 r->argument ? r->argument : "");
		printf("  %-26s %s\n", left, r->help);
	}
	puts("      --help                 print this");
}

static int join(char **list, const char *more)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "",
		     more) < 0)
		return -1;
	free(*list);
	*list = joined;
	return 0;
}

static int set_option(struct stat_options *options, const struct row *row,
		      const char *value)
{
	char *field = (char *)options + row->offset;

	switch (row->kind) {
	case FLAG:
		*(bool *)field = true;
		return 0;
	case TEXT:
		*(const char **)field = value;
		return 0;
	case LIST:
		return join((char **)field, value);
	default:
		return -1;
	}
}

/* getopt's view of the table; returned values are 256 + the row. */
static void make_getopt(struct option *longs, char *shorts)
{
	*shorts++ = '+'; /* the command's options are its own */
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

int stat_options_parse(struct stat_options *options, int argc, char **argv,
		       bool *done)
{
	struct option longs[ROWS + 2];
	char shorts[2 * ROWS + 3];
	const struct row *row;
	int code;

	*options = (struct stat_options){ .repeat = 1 };
	*done = false;
	make_getopt(longs, shorts);
	argv[0] = "upmu stat"; /* for getopt's messages */
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
		if (code == 'h') {
			print_help();
			*done = true;
			return 0;
		}
		row = find_row(code);
		if (!row) {
			fputs("hint: upmu stat --help\n", stderr);
			return -1;
		}
		if (set_option(options, row, optarg))
			return -1;
	}
	if (optind < argc)
		options->command = argv + optind;
	return 0;
}

void stat_options_free(struct stat_options *options)
{
	free(options->events);
}
