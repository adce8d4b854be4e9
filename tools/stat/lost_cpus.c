// SPDX-License-Identifier: MIT
/* CPUs that went off while they were counted. */
#include <stdio.h>

#include "stat.h"

static bool is_lost(const struct stat_report *report, int cpu)
{
	return cpu >= 0 && cpu < UPMU_CPUS_MAX &&
	       report->lost[cpu / 64] >> cpu % 64 & 1;
}

/* Most often there is none: no need to look at each CPU. */
static bool any_lost(const struct stat_report *report)
{
	for (size_t i = 0; i < UPMU_CPUS_MAX / 64; i++)
		if (report->lost[i])
			return true;
	return false;
}

size_t out_lost_cpus(char *list, const struct stat_report *report)
{
	char *at = list, *end = list + OUT_CPUS_SIZE - sizeof("1023-1024,");
	size_t n = 0;

	*list = 0;
	if (!any_lost(report))
		return 0;
	for (int cpu = 0; cpu < UPMU_CPUS_MAX; cpu++) {
		bool last = !is_lost(report, cpu + 1);

		if (!is_lost(report, cpu))
			continue;
		n++;
		if (at < end && !is_lost(report, cpu - 1))
			at += sprintf(at, "%s%d", at > list ? "," : "", cpu);
		else if (at < end && last)
			at += sprintf(at, "-%d", cpu);
	}
	return n;
}

bool out_name_lost(FILE *out, const struct stat_report *report,
		   const char *before)
{
	char cpus[OUT_CPUS_SIZE];
	size_t n = out_lost_cpus(cpus, report);

	if (n)
		fprintf(out, "%sCPU%s %s went off", before, n > 1 ? "s" : "",
			cpus);
	return n;
}

void out_write_lost(FILE *out, const struct stat_report *report)
{
	if (!out_name_lost(out, report, "\n"))
		return;
	fputs(": what was counted there until then is in the numbers,\n"
	      "nothing since\n",
	      out);
}
