// SPDX-License-Identifier: MIT
/*
 * CPUs that went off while they were counted, counters that others had, and
 * what a report without perf is of.
 */
#include <stdio.h>

#include "stat.h"

static bool has_bit(const uint64_t *cpus, int cpu)
{
	return cpu >= 0 && cpu < UPMU_CPUS_MAX &&
	       cpus[cpu / 64] >> cpu % 64 & 1;
}

/* Most often there is none: no need to look at each CPU. */
static bool has_any(const uint64_t *cpus)
{
	for (size_t i = 0; i < UPMU_CPUS_MAX / 64; i++)
		if (cpus[i])
			return true;
	return false;
}

static size_t list_cpus(char *list, const uint64_t *cpus)
{
	char *at = list, *end = list + OUT_CPUS_SIZE - sizeof("1023-1024,");
	size_t n = 0;

	*list = 0;
	if (!has_any(cpus))
		return 0;
	for (int cpu = 0; cpu < UPMU_CPUS_MAX; cpu++) {
		bool last = !has_bit(cpus, cpu + 1);

		if (!has_bit(cpus, cpu))
			continue;
		n++;
		if (at < end && !has_bit(cpus, cpu - 1))
			at += sprintf(at, "%s%d", at > list ? "," : "", cpu);
		else if (at < end && last)
			at += sprintf(at, "-%d", cpu);
	}
	return n;
}

size_t out_lost_cpus(char *list, const struct stat_report *report)
{
	return list_cpus(list, report->lost);
}

size_t out_missed_cpus(char *list, const struct stat_report *report)
{
	return list_cpus(list, report->missed);
}

static bool name_cpus(FILE *out, const uint64_t *cpus, const char *before,
		      const char *what)
{
	char list[OUT_CPUS_SIZE];
	size_t n = list_cpus(list, cpus);

	if (n)
		fprintf(out, "%sCPU%s %s %s", before, n > 1 ? "s" : "", list,
			what);
	return n;
}

bool out_name_lost(FILE *out, const struct stat_report *report,
		   const char *before)
{
	return name_cpus(out, report->lost, before, "went off");
}

bool out_name_missed(FILE *out, const struct stat_report *report,
		     const char *before)
{
	return name_cpus(out, report->missed, before, "came on");
}

void out_write_lost(FILE *out, const struct stat_report *report)
{
	if (out_name_lost(out, report, "\n"))
		fputs(": what was counted there until then is in the numbers,\n"
		      "nothing since\n",
		      out);
	if (out_name_missed(out, report, "\n"))
		fputs(" meanwhile: nothing of what ran there is in the "
		      "numbers\n",
		      out);
}

/*
 * Linux switches a cgroup's events with its tasks, and what that takes is in
 * the time, too: with no other user of perf 0.2 to 6 % on board quad.
 */
static void write_away(FILE *out, const struct stat_report *report)
{
	const struct engine_others *others = &report->others;
	double percent = 100 * others->lost;
	bool is_sum = report->intervals > 1 && !(report->interval_s > 0);
	bool of_most = is_sum || report->runs > 1;

	if (report->options->cgroups)
		fprintf(out,
			"%sa cgroup was without the counters in %.1f %% of its "
			"time: its tasks were being\nswitched, or others had "
			"them\n",
			others->taken ? "" : "\n", percent);
	else
		fprintf(out,
			"%sothers had the counters in %s%.1f %% of %s time\n",
			others->taken ? "" : "\n", of_most ? "up to " : "",
			percent,
			is_sum		   ? "an interval's"
			: report->runs > 1 ? "a run's"
					   : "the");
}

static void write_unseen(FILE *out, const struct stat_report *report)
{
	if (report->others.unseen)
		fputs("\nupmu was kept from looking at the counters for half "
		      "a second: one may have gone\nround unseen, so what it "
		      "counted is left out\n",
		      out);
}

/* What is not counted, or in more sets than need be, has its reason. */
void out_write_others(FILE *out, const struct stat_report *report)
{
	const struct engine_others *others = &report->others;

	write_unseen(out, report);
	if (others->taken == others->counters && others->taken)
		fprintf(out, "\nall %u counters were taken by others\n",
			others->counters);
	else if (others->taken)
		fprintf(out, "\n%u of %u counters were taken by others\n",
			others->taken, others->counters);
	if (others->lost >= ENGINE_LOST_LEAST)
		write_away(out, report);
	if (others->taken ||
	    (others->lost >= ENGINE_LOST_LEAST && !report->options->cgroups))
		fputs("hint: end the other user of perf ('pgrep -a perf' may "
		      "show it), or count fewer events\n",
		      out);
}

/* In a further interval: what others took in it. */
void out_write_others_again(FILE *out, const struct stat_report *report)
{
	struct stat_report again = *report;

	write_unseen(out, report);
	again.others.taken = again.others.counters = 0;
	if (again.others.lost >= ENGINE_LOST_LEAST)
		write_away(out, &again);
}

void out_tell_source(struct stat_report *report, size_t cpus)
{
	const struct upmu_machine *machine = &report->events->machine;
	bool one = cpus == 1;
	const char *kept = one ? "The program was kept on that CPU.\n"
			       : "The program was kept on those CPUs.\n";

	if (!cpus)
		return;
	snprintf(report->source, sizeof(report->source),
		 "%s: counted by the registers themselves. "
		 "Everything that\nran on %s%zu CPU%s meanwhile is in the "
		 "numbers: the kernel, other processes, upmu.\n%s",
		 machine->kinds[0].pmu_type == UPMU_PMU_TYPE_NONE
			 ? "perf has no PMU here"
			 : "UPMU_SOURCE=raw",
		 one ? "" : "these ", cpus, one ? "" : "s",
		 report->options->command ? kept : "");
}
