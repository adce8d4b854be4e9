// SPDX-License-Identifier: MIT
/* The options of "upmu stat": one table for parsing and for --help. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "tools/file_name.h"
#include "tools/print.h"

static const char usage[] =
	"usage: upmu stat [OPTION...] [--] [COMMAND [ARGUMENT...]]\n"
	"Count what the processor does while COMMAND runs.\n\n";

#define SLICE_MS       4.0
#define SLICE_MS_LEAST 0.1
#define SLICE_MS_MOST  10000.0
#define NUMBER_MOST    1000000000u /* of times, ms */

enum option_kind {
	FLAG,
	TEXT,
	FILE_NAME,
	LIST,
	NUMBER,
	TIME_MS,
	COUNT,	    /* how often it stands there */
	DELAY,	    /* a number, or -1 */
	DESCRIPTOR, /* a number, 0 too */
	SLICE,
	FORMAT,
	SEPARATOR,
	JSON,
	NOTHING, /* what upmu does in any case */
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
	{ "metrics", 'M', LIST, AT(metrics), "GROUP,...",
	  "ratios too: cache, branch, tlb, frontend, memory, topdown, all" },
	{ "detailed", 'd', COUNT, AT(detailed), NULL,
	  "-M cache,memory; twice: -M all" },
	{ "repeat", 'r', NUMBER, AT(repeat), "N",
	  "run COMMAND N times: mean and standard deviation" },
	{ "interval-print", 'I', TIME_MS, AT(interval_ms), "MS",
	  "print what each MS milliseconds (10s, 1min) counted" },
	{ "pid", 'p', LIST, AT(pids), "PID,...", "count running processes" },
	{ "tid", 't', LIST, AT(tids), "TID,...", "count running threads" },
	{ "all-cpus", 'a', FLAG, AT(all_cpus), NULL,
	  "count every process on every CPU" },
	{ "cpu", 'C', LIST, AT(cpus), "LIST",
	  "count every process on these CPUs, as 0-2,4" },
	{ "no-aggr", 'A', FLAG, AT(per[STAT_PER_CPU]), NULL,
	  "a row for each CPU (with -a or -C)" },
	{ "per-core", 0, FLAG, AT(per[STAT_PER_CORE]), NULL,
	  "for each core, where one has several CPUs" },
	{ "per-cluster", 0, FLAG, AT(per[STAT_PER_CLUSTER]), NULL,
	  "for each cluster of cores" },
	{ "per-die", 0, FLAG, AT(per[STAT_PER_DIE]), NULL, "for each die" },
	{ "per-socket", 0, FLAG, AT(per[STAT_PER_SOCKET]), NULL,
	  "for each socket" },
	{ "per-thread", 0, FLAG, AT(per[STAT_PER_THREAD]), NULL,
	  "for each thread of -p or -t" },
	{ "for-each-cgroup", 0, LIST, AT(cgroups), "NAME,...",
	  "for each cgroup, on every CPU" },
	{ "no-inherit", 'i', FLAG, AT(no_inherit), NULL,
	  "leave out what the counted tasks start" },
	{ "all-user", 0, FLAG, AT(all_user), NULL,
	  "count user mode alone, as if each event had :u" },
	{ "all-kernel", 0, FLAG, AT(all_kernel), NULL,
	  "count the kernel alone, as if each event had :k" },
	{ "delay", 'D', DELAY, AT(delay_ms), "MS",
	  "start to count after MS milliseconds; -1: when --control says" },
	{ "control", 0, TEXT, AT(control), "fd:N|fifo:FILE",
	  "enable and disable as lines there say; ,N or ,FILE: answers" },
	{ "interval-count", 0, NUMBER, AT(interval_count), "N",
	  "of -I: only N intervals" },
	{ "summary", 0, FLAG, AT(summary), NULL, "of -I: the whole too" },
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
	{ "log-fd", 0, DESCRIPTOR, AT(log_fd), "N",
	  "write the report to descriptor N" },
	{ "append", 0, FLAG, AT(append), NULL, "append to FILE of -o" },
	{ "openmetrics", 0, FILE_NAME, AT(openmetrics), "FILE",
	  "keep FILE for Prometheus's node_exporter; no report" },
	{ "quiet", 'q', FLAG, AT(quiet), NULL, "print no report" },
	{ "verbose", 'v', FLAG, AT(verbose), NULL,
	  "how each event is asked of perf, and what it gave" },
	{ "no-big-num", 0, FLAG, AT(no_big_num), NULL,
	  "no commas between thousands" },
	{ "pre", 0, TEXT, AT(pre), "COMMAND",
	  "run by the shell before each run" },
	{ "post", 0, TEXT, AT(post), "COMMAND", "and after each run" },
	{ "sync", 'S', FLAG, AT(sync), NULL, "sync(2) before each run" },
	{ "big-num", 'B', NOTHING, 0, NULL, "commas: it does so by itself" },
	{ "scale", 0, NOTHING, 0, NULL, "estimates: it does so by itself" },
	{ "no-merge", 0, NOTHING, 0, NULL,
	  "unlike cores apart: it does so by itself" },
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

static int refuse_setting(const struct row *row, const char *value,
			  const char *wanted)
{
	fprintf(stderr, "upmu stat: --%s: '%s' is not %s\n", row->name, value,
		wanted);
	return -1;
}

static int join(char **list, const char *more)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "",
		     more) < 0) {
		fputs("upmu stat: out of memory\n", stderr);
		return -1;
	}
	free(*list);
	*list = joined;
	return 0;
}

/* 0: it is none from 1 to NUMBER_MOST. */
static unsigned int read_number(const char *value)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || *end || !isdigit((unsigned char)value[0]) ||
	    number > NUMBER_MOST)
		return 0;
	return (unsigned int)number;
}

static int set_number(unsigned int *field, const struct row *row,
		      const char *value)
{
	unsigned int number = read_number(value);

	if (!number)
		return refuse_setting(row, value,
				      "a number from 1 to 1000000000");
	*field = number;
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
	unsigned int ms;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(value + digits, units[i].name) ||
		    digits >= sizeof(number))
			continue;
		memcpy(number, value, digits);
		number[digits] = 0;
		ms = read_number(number);
		if (!ms || ms > NUMBER_MOST / units[i].ms)
			break;
		*field = ms * units[i].ms;
		return 0;
	}
	return refuse_setting(
		row, value,
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

/* -1: not before it is told to. 0 is what perf takes, and is none. */
static int set_delay(struct stat_options *options, const struct row *row,
		     const char *value)
{
	options->delay_ms = 0;
	options->starts_off = !strcmp(value, "-1");
	if (options->starts_off || !strcmp(value, "0"))
		return 0;
	return set_time(&options->delay_ms, row, value);
}

static int set_descriptor(int *field, const struct row *row, const char *value)
{
	unsigned int number = 0;
	int flags;

	if (strcmp(value, "0") && set_number(&number, row, value))
		return -1;
	flags = fcntl((int)number, F_GETFL);
	if (flags < 0)
		return refuse_setting(row, value, "an open descriptor");
	if ((flags & O_ACCMODE) == O_RDONLY)
		return refuse_setting(row, value, "open for writing");
	*field = (int)number;
	return 0;
}

static int set_slice(double *field, const struct row *row, const char *value)
{
	char *end;
	double ms = strtod(value, &end);

	if (end == value || *end || !(ms >= SLICE_MS_LEAST) ||
	    ms > SLICE_MS_MOST)
		return refuse_setting(row, value,
				      "a time from 0.1 to 10000 ms");
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
	return refuse_setting(row, value, "text, rpistat, csv or json");
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
	case COUNT:
		++*(unsigned int *)field;
		return 0;
	case DELAY:
		return set_delay(options, row, value);
	case DESCRIPTOR:
		return set_descriptor(field, row, value);
	case NOTHING:
		return 0;
	case SLICE:
		return set_slice(field, row, value);
	case FORMAT:
		return set_format(field, row, value);
	case SEPARATOR:
		options->separator = csv_separator(value);
		if (!options->separator)
			return refuse_setting(row, value, SEPARATORS);
		options->format = STAT_FORMAT_CSV;
		return 0;
	case JSON:
		options->format = STAT_FORMAT_JSON;
		return 0;
	}
	return -1;
}

#define CODE_REFUSED 1000
#define REFUSED_MOST 40

/*
 * getopt's view of the table: codes are 256 + the row, and of an option that
 * only perf stat has CODE_REFUSED + its row.
 */
static void make_getopt(struct option *longs, char *shorts)
{
	const char *name;
	size_t n = 0;
	char letter;

	*shorts++ = '+'; /* the command's options are its own */
	for (; n < ROWS; n++) {
		longs[n] =
			(struct option){ rows[n].name, rows[n].argument ? 1 : 0,
					 NULL, 256 + (int)n };
		if (!rows[n].letter)
			continue;
		*shorts++ = rows[n].letter;
		if (rows[n].argument)
			*shorts++ = ':';
	}
	for (size_t i = 0; (name = stat_refused_at(i, &letter)); i++) {
		longs[n++] =
			(struct option){ name, 2, NULL, CODE_REFUSED + (int)i };
		if (letter)
			*shorts++ = letter;
	}
	longs[n++] = (struct option){ "help", 0, NULL, 'h' };
	longs[n] = (struct option){ 0 };
	*shorts++ = 'h';
	*shorts = 0;
}

static int refuse_perfs(int code)
{
	char letter;

	if (code >= CODE_REFUSED)
		return stat_refuse(
			stat_refused_at((size_t)code - CODE_REFUSED, &letter),
			0);
	return stat_refuse(NULL, (char)code);
}

static const struct row *find_row(int code)
{
	if (code == '?')
		return NULL;
	if (code >= 256) /* from CODE_REFUSED on, perf's that upmu has not */
		return (size_t)code - 256 < ROWS ? &rows[code - 256] : NULL;
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter == code)
			return &rows[i];
	return NULL;
}

int stat_options_parse(struct stat_options *options, int argc, char **argv,
		       bool *done)
{
	struct option longs[ROWS + REFUSED_MOST + 2];
	char shorts[2 * ROWS + REFUSED_MOST + 3];
	const struct row *row;
	int code;

	*options = (struct stat_options){ .repeat = 1,
					  .slice_ms = SLICE_MS,
					  .log_fd = -1 };
	*done = false;
	make_getopt(longs, shorts);
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
		if (code == 'h') {
			print_help();
			*done = true;
			return 0;
		}
		row = find_row(code);
		if (!row && code != '?')
			return refuse_perfs(code);
		if (!row) {
			fputs("hint: upmu stat --help\n", stderr);
			return -1;
		}
		if (set_option(options, row, optarg))
			return -1;
	}
	if (optind < argc)
		options->command = argv + optind;
	/* perf wants both; what is not of a cgroup is in no row. */
	options->all_cpus = options->all_cpus && !options->cgroups;
	return stat_options_check(options);
}

void stat_options_free(struct stat_options *options)
{
	free(options->events);
	free(options->metrics);
	free(options->pids);
	free(options->tids);
	free(options->cpus);
	free(options->cgroups);
	free(options->output);
	free(options->openmetrics);
}

static int tell(const struct upmu_events_error *why)
{
	fprintf(stderr, "upmu stat: %s\n", why->text);
	if (why->hint[0])
		fprintf(stderr, "hint: %s\n", why->hint);
	return -1;
}

int stat_resolve(struct engine_events *events, const char *list)
{
	struct upmu_events_error why;

	return engine_events_resolve(events, list, &why) ? tell(&why) : 0;
}

/* What the default view has beside the nine, as perf's has. */
static const char *software_of(const struct stat_options *options)
{
	if (options->events)
		return "";
	if (stat_counts_cpus(options))
		return "cpu-clock,context-switches,page-faults";
	return "task-clock,context-switches,page-faults";
}

static int no_metrics(void)
{
	fputs("upmu stat: -M, -d: this machine's core has no event of theirs\n"
	      "hint: upmu list --metrics\n",
	      stderr);
	return -1;
}

/* In one list: its entries stay where the events point. */
static int add_events(struct engine_events *events, const char *software,
		      const struct stat_groups *groups)
{
	struct upmu_events_error why = { .text = "out of memory" };
	char *metrics, *list = NULL;
	int error = -1;

	if (!groups->n) {
		if (software[0] && engine_events_add(events, software, &why))
			return tell(&why);
		return 0;
	}
	metrics = stat_groups_events(groups, &events->machine);
	if (metrics && !metrics[0])
		error = no_metrics();
	else if (!metrics ||
		 asprintf(&list, "%s%s%s", software, software[0] ? "," : "",
			  metrics) < 0 ||
		 engine_events_add(events, list, &why))
		error = tell(&why);
	else
		error = 0;
	free(list);
	free(metrics);
	return error;
}

/* Of what the kernel counts by itself only faults are of a mode. */
static bool has_mode(const struct engine_event *event)
{
	const struct upmu_perf_event *perf = &event->perf;

	if (perf->type != PERF_TYPE_SOFTWARE)
		return event->lane != ENGINE_NO_LANE;
	return perf->config == PERF_COUNT_SW_PAGE_FAULTS ||
	       perf->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       perf->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ||
	       perf->config == PERF_COUNT_SW_ALIGNMENT_FAULTS ||
	       perf->config == PERF_COUNT_SW_EMULATION_FAULTS;
}

/* As if each event that has a mode had :u or :k. */
static int restrict_modes(struct engine_events *events,
			  const struct stat_options *options)
{
	if (!options->all_user && !options->all_kernel)
		return 0;
	for (size_t i = 0; i < events->n; i++) {
		struct engine_event *event = &events->event[i];

		if (!has_mode(event))
			continue;
		event->perf.exclude_kernel |= options->all_user;
		event->perf.exclude_hv |= options->all_user;
		event->perf.exclude_user |= options->all_kernel;
		if (!event->perf.exclude_kernel || !event->perf.exclude_user)
			continue;
		fprintf(stderr, "upmu stat: '%s' and %s leave nothing\n",
			event->name,
			options->all_user ? "--all-user" : "--all-kernel");
		return -1;
	}
	return 0;
}

int stat_resolve_all(struct engine_events *events,
		     const struct stat_options *options,
		     const struct stat_groups *groups)
{
	if (stat_resolve(events, options->events) ||
	    add_events(events, software_of(options), groups))
		return -1;
	return restrict_modes(events, options);
}
