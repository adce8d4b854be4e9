// SPDX-License-Identifier: MIT
/* Options that contradict each other, or the lack of a command. */
#include <string.h>

#include "stat.h"

static int complain(const char *what, const char *hint)
{
	fprintf(stderr, "upmu stat: %s\nhint: %s\n", what, hint);
	return -1;
}

/* A row for each of something, and what it is that there are several of. */
static int check_parts(const struct stat_options *o)
{
	unsigned int parts = o->cgroups != NULL;

	for (int per = 0; per < STAT_PERS; per++)
		parts += o->per[per];
	if (!parts)
		return 0;
	if (parts > 1)
		return complain("-A, --per-... and --for-each-cgroup each "
				"make rows of their own",
				"choose one");
	if (o->per[STAT_PER_THREAD] && !o->pids && !o->tids)
		return complain("--per-thread wants threads that run already",
				"upmu stat --per-thread -p PID");
	if (!o->per[STAT_PER_THREAD] && !stat_counts_cpus(o))
		return complain("-A and --per-... are of CPUs, and none is "
				"counted",
				"-a counts them all");
	if (o->openmetrics)
		return complain("--openmetrics is of the whole",
				"leave out -A, --per-..., --for-each-cgroup");
	if (o->repeat > 1 || o->format == STAT_FORMAT_RPISTAT)
		return complain("-r and rpistat's report are of the whole",
				"leave out -A, --per-..., --for-each-cgroup");
	return 0;
}

/* What goes with -I alone, or never with it. */
static int check_intervals(const struct stat_options *o)
{
	if (!o->interval_ms) {
		if (o->summary || o->interval_count)
			return complain("--summary and --interval-count are "
					"of -I",
					"upmu stat -I 100 --summary -- ls");
		return 0;
	}
	if (o->repeat > 1 || o->passes)
		return complain("-I prints one run", "leave out -r, --passes");
	if (o->format == STAT_FORMAT_RPISTAT)
		return complain("rpistat's report is of a whole run",
				"leave out -I");
	if (o->summary && o->openmetrics)
		return complain("--openmetrics adds up by itself",
				"leave out --summary");
	if (o->summary && (o->plot || o->live))
		return complain("--plot and --live end with a summary of "
				"their own",
				"leave out --summary");
	return 0;
}

static int check_output(const struct stat_options *o)
{
	if ((o->plot || o->live) && o->format != STAT_FORMAT_TEXT)
		return complain("--plot and --live are of the text report",
				"upmu report draws what -j wrote");
	if (o->metric_only && o->format != STAT_FORMAT_TEXT)
		return complain("--metric-only is of the text report",
				"-x and -j have the ratios beside the events");
	if (o->repeat > 1 && o->format == STAT_FORMAT_RPISTAT)
		return complain("rpistat's report is of one run",
				"leave out -r");
	if (o->live && (!o->interval_ms || o->quiet))
		return complain("--live wants -I and no -q",
				"upmu stat -I 200 --live -- ls");
	if (o->openmetrics && o->repeat > 1)
		return complain("--openmetrics has sums, -r a mean",
				"leave one of them out");
	if (o->openmetrics && o->output && !strcmp(o->openmetrics, o->output))
		return complain("--openmetrics and -o name the same file",
				"leave out -o: no report is printed");
	if (o->append && !o->output)
		return complain("--append has no file", "-o FILE --append");
	if (o->log_fd >= 0 && o->output)
		return complain("-o and --log-fd are two places", "choose one");
	return 0;
}

static int check_regions(const struct stat_options *o, bool attached)
{
	if (!o->regions)
		return 0;
	if (attached || !o->command || o->repeat > 1 || o->interval_ms ||
	    o->delay_ms || o->starts_off || o->control || o->openmetrics ||
	    o->plot || o->live || o->metric_only || o->metrics || o->detailed ||
	    o->format == STAT_FORMAT_RPISTAT)
		return complain("--regions is of one run of a command, and "
				"prints no ratios",
				"upmu stat --regions -e cycles -- COMMAND");
	return 0;
}

int stat_options_check(const struct stat_options *o)
{
	bool attached = stat_is_attached(o);

	if (!o->command && !attached)
		return complain("no command to count", "upmu stat -- ls");
	if ((o->pids || o->tids) && stat_counts_cpus(o))
		return complain("-p and -t count tasks, -a and -C count CPUs",
				"choose one");
	if (o->cgroups && o->cpus)
		return complain("--for-each-cgroup counts on every CPU by "
				"itself",
				"leave out -C");
	if (!o->command && (o->repeat > 1 || o->passes))
		return complain("-r and --passes need a command to run again",
				"upmu stat -r 3 -- ls");
	if (o->passes && attached)
		return complain("--passes counts a command alone",
				"leave out -p, -t, -a and -C");
	if (o->all_user && o->all_kernel)
		return complain("--all-user and --all-kernel leave nothing",
				"leave out both");
	if (o->starts_off && !o->control)
		return complain("with -D -1 nothing says when to start",
				"--control fifo:FILE, then: echo enable >FILE");
	if (check_parts(o) || check_intervals(o) || check_regions(o, attached))
		return -1;
	return check_output(o);
}
