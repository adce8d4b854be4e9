// SPDX-License-Identifier: MIT
/* The options of "upmu stat": one table for parsing and for --help. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "tools/file_name.h"

static const char usage[] =
	"usage: upmu stat [OPTION...] [--] [COMMAND [ARGUMENT...]]\n"
	"Count what the processor does while COMMAND runs.\n\n";

#define SLICE_MS       4.0
#define SLICE_MS_LEAST 0.1
#define SLICE_MS_MOST  10000.0
#define TIME_MS_MOST   1000000000u

enum option_kind {
	FLAG,
	TEXT,
	FILE_NAME,
	LIST,
	NUMBER,
	TIME_MS,
	SLICE,
	FORMAT,
	SEPARATOR,
	JSON
};

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
	{ "repeat", 'r', NUMBER, AT(repeat), "N",
	  "run COMMAND N times: mean and standard deviation" },
	{ "interval-print", 'I', TIME_MS, AT(interval_ms), "MS",
	  "print what each MS milliseconds (10s, 1min) counted" },
	{ "pid", 'p', TEXT, AT(pids), "PID,...", "count running processes" },
	{ "tid", 't', TEXT, AT(tids), "TID,...", "count running threads" },
	{ "all-cpus", 'a', FLAG, AT(all_cpus), NULL,
	  "count every process on every CPU" },
	{ "cpu", 'C', TEXT, AT(cpus), "LIST",
	  "count every process on these CPUs, as 0-2,4" },
	{ "delay", 'D', TIME_MS, AT(delay_ms), "MS",
	  "start to count after MS milliseconds" },
	{ "timeout", 0, TIME_MS, AT(timeout_ms), "MS",
	  "end COMMAND after MS milliseconds (status 124)" },
	{ "passes", 0, FLAG, AT(passes), NULL,
	  "run COMMAND once for each set of events: no estimates" },
	{ "regions", 0, FLAG, AT(regions), NULL,
	  "the events of each region that COMMAND marks by libupmu" },
	{ "slice", 0, SLICE, AT(slice_ms), "MS",
	  "mean time of a set's turn (4)" },
	{ "no-scale", 0, FLAG, AT(no_scale), NULL,
	  "print what was counted, no estimates" },
	{ "metric-only", 0, FLAG, AT(metric_only), NULL,
	  "print ratios, no counts" },
	{ "format", 0, FORMAT, AT(format), "NAME",
	  "text, rpistat, csv or json" },
	{ "plot", 0, FLAG, AT(plot), NULL,
	  "bars below the report; of -I sparklines at its end" },
	{ "live", 0, FLAG, AT(live), NULL,
	  "-I on a screen that renews itself" },
	{ "field-separator", 'x', SEPARATOR, AT(separator), "SEP",
	  "CSV with this separator" },
	{ "json-output", 'j', JSON, AT(format), NULL, "JSON" },
	{ "output", 'o', FILE_NAME, AT(output), "FILE",
	  "write the report to FILE, not to stderr; %q{RANK}, %h, %p" },
	{ "append", 0, FLAG, AT(append), NULL, "append to FILE of -o" },
	{ "openmetrics", 0, FILE_NAME, AT(openmetrics), "FILE",
	  "keep FILE for Prometheus's node_exporter; no report" },
	{ "quiet", 'q', FLAG, AT(quiet), NULL, "print no report" },
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
		printf("  %-28s %s\n", left, r->help);
	}
	printf("  %-28s %s\n", "    --help", "print this");
}

static int refuse(const struct row *row, const char *value, const char *wanted)
{
	fprintf(stderr, "upmu stat: --%s: '%s' is not %s\n", row->name, value,
		wanted);
	return -1;
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

static int set_number(unsigned int *field, const struct row *row,
		      const char *value)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || *end || value[0] < '0' || value[0] > '9' || !number ||
	    number > 1000000000)
		return refuse(row, value, "a number from 1 to 1000000000");
	*field = (unsigned int)number;
	return 0;
}

/* "250", "250ms", "10s", "1min" */
static int set_time(unsigned int *field, const struct row *row,
		    const char *value)
{
	static const struct {
		const char *name;
		unsigned int ms;
	} units[] = { { "", 1 }, { "ms", 1 }, { "s", 1000 }, { "min", 60000 } };
	size_t digits = strspn(value, "0123456789");
	char number[16];

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(value + digits, units[i].name) ||
		    digits >= sizeof(number))
			continue;
		memcpy(number, value, digits);
		number[digits] = 0;
		if (set_number(field, row, number))
			return -1;
		if (*field > TIME_MS_MOST / units[i].ms)
			break;
		*field *= units[i].ms;
		return 0;
	}
	return refuse(row, value,
		      "a time: 1 to 1000000000 ms, or with a unit, 10s, 1min");
}

/* The name is this process's own: see tools/file_name.h. */
static int set_file(char **field, const struct row *row, const char *value)
{
	char who[64];

	free(*field);
	snprintf(who, sizeof(who), "upmu stat: --%s", row->name);
	*field = file_name_expand(value, who);
	return *field ? 0 : -1;
}

static int set_slice(double *field, const struct row *row, const char *value)
{
	char *end;
	double ms = strtod(value, &end);

	if (end == value || *end || !(ms >= SLICE_MS_LEAST) ||
	    ms > SLICE_MS_MOST)
		return refuse(row, value, "a time from 0.1 to 10000 ms");
	*field = ms;
	return 0;
}

static int set_format(enum stat_format *field, const struct row *row,
		      const char *value)
{
	static const char *const names[] = { "text", "rpistat", "csv", "json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], value))
			continue;
		*field = (enum stat_format)i;
		return 0;
	}
	return refuse(row, value, "text, rpistat, csv or json");
}

static int set_option(struct stat_options *options, const struct row *row,
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
	case FILE_NAME:
		return set_file(field, row, value);
	case LIST:
		return join(field, value);
	case NUMBER:
		return set_number(field, row, value);
	case TIME_MS:
		return set_time(field, row, value);
	case SLICE:
		return set_slice(field, row, value);
	case FORMAT:
		return set_format(field, row, value);
	case SEPARATOR:
		if (!value[0])
			return refuse(row, value, "a separator");
		options->separator = strcmp(value, "\\t") ? value : "\t";
		options->format = STAT_FORMAT_CSV;
		return 0;
	case JSON:
		options->format = STAT_FORMAT_JSON;
		return 0;
	}
	return -1;
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

static int complain(const char *what, const char *hint)
{
	fprintf(stderr, "upmu stat: %s\nhint: %s\n", what, hint);
	return -1;
}

/* Options that contradict each other or the lack of a command. */
static int check(const struct stat_options *o)
{
	bool attached = o->pids || o->tids || o->all_cpus || o->cpus;

	if (!o->command && !attached)
		return complain("no command to count", "upmu stat -- ls");
	if ((o->pids || o->tids) && (o->all_cpus || o->cpus))
		return complain("-p and -t count tasks, -a and -C count CPUs",
				"choose one");
	if (!o->command && (o->repeat > 1 || o->passes))
		return complain("-r and --passes need a command to run again",
				"upmu stat -r 3 -- ls");
	if (o->passes && attached)
		return complain("--passes counts a command alone",
				"leave out -p, -t, -a and -C");
	if (o->interval_ms && (o->repeat > 1 || o->passes))
		return complain("-I prints one run", "leave out -r, --passes");
	if (o->interval_ms && o->format == STAT_FORMAT_RPISTAT)
		return complain("rpistat's report is of a whole run",
				"leave out -I");
	if ((o->plot || o->live) && o->format != STAT_FORMAT_TEXT)
		return complain("--plot and --live are of the text report",
				"upmu report draws what -j wrote");
	if (o->metric_only && o->format != STAT_FORMAT_TEXT)
		return complain("--metric-only is of the text report",
				"-x and -j have the ratios beside the events");
	if (o->live && (!o->interval_ms || o->quiet))
		return complain("--live wants -I and no -q",
				"upmu stat -I 200 --live -- ls");
	if (o->openmetrics && o->repeat > 1)
		return complain("--openmetrics has sums, -r a mean",
				"leave one of them out");
	if (o->regions &&
	    (attached || !o->command || o->repeat > 1 || o->interval_ms ||
	     o->delay_ms || o->openmetrics || o->plot || o->live ||
	     o->metric_only || o->format == STAT_FORMAT_RPISTAT))
		return complain("--regions is of one run of a command, and "
				"prints no ratios",
				"upmu stat --regions -e cycles -- COMMAND");
	if (o->append && !o->output)
		return complain("--append has no file", "-o FILE --append");
	return 0;
}

int stat_options_parse(struct stat_options *options, int argc, char **argv,
		       bool *done)
{
	struct option longs[ROWS + 2];
	char shorts[2 * ROWS + 3];
	const struct row *row;
	int code;

	*options = (struct stat_options){ .repeat = 1, .slice_ms = SLICE_MS };
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
	return check(options);
}

void stat_options_free(struct stat_options *options)
{
	free(options->events);
	free(options->output);
	free(options->openmetrics);
}

int stat_resolve(struct engine_events *events, const char *list)
{
	struct upmu_events_error why;

	if (!engine_events_resolve(events, list, &why))
		return 0;
	fprintf(stderr, "upmu stat: %s\n", why.text);
	if (why.hint[0])
		fprintf(stderr, "hint: %s\n", why.hint);
	return -1;
}
