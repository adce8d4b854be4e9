// SPDX-License-Identifier: MIT
/* The report for people. */
#include <inttypes.h>
#include <string.h>

#include "stat.h"

/* Thousands separated by commas, whatever the locale. */
static const char *grouped(char *out, uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *p = out;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
	return out;
}

static void write_count(FILE *out, const struct stat_event *event,
			const struct stat_count *count)
{
	char text[32];

	if (count->state != STAT_COUNTED)
		fprintf(out, "%20s  %s\n", stat_state_text(count->state),
			event->name);
	else
		fprintf(out, "%20s  %s%s%s\n", grouped(text, count->raw),
			event->name, event->unit[0] ? " " : "", event->unit);
}

static const struct stat_count *find(const struct stat_report *report,
				     const char *name)
{
	for (size_t i = 0; i < report->events->n; i++)
		if (!strcmp(report->events->event[i].name, name))
			return &report->count[i];
	return NULL;
}

static void write_cpi(FILE *out, const struct stat_report *report)
{
	const struct stat_count *cycles = find(report, "cycles");
	const struct stat_count *instructions = find(report, "instructions");

	if (!cycles || !instructions || cycles->state != STAT_COUNTED ||
	    instructions->state != STAT_COUNTED || !instructions->raw)
		return;
	fprintf(out, "%20.3f  CPI (cycles per instruction)\n",
		(double)cycles->raw / instructions->raw);
}

int stat_write_text(FILE *out, const struct stat_report *report)
{
	fputs("\nupmu stat:", out);
	for (char **word = report->options->command; word && *word; word++)
		fprintf(out, " %s", *word);
	fputs("\n\n", out);
	for (size_t i = 0; i < report->events->n; i++)
		write_count(out, &report->events->event[i], &report->count[i]);
	write_cpi(out, report);
	if (report->events->reason[0])
		fprintf(out, "\n%s\n", report->events->reason);
	fprintf(out, "\n%20.6f  s elapsed\n", report->elapsed_s);
	if (report->has_usage)
		fprintf(out, "%20.6f  s user\n%20.6f  s sys\n", report->user_s,
			report->sys_s);
	fputs("\n", out);
	return ferror(out) ? -1 : 0;
}
