// SPDX-License-Identifier: MIT
/*
 * upmu check: what works here, what does not, why, and the command that mends
 * it. It changes nothing.
 */
#include "check.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/command.h"
#include "tools/version.h"

static const char *const verdict_text[] = {
	[CHECK_OK] = "ok",
	[CHECK_NOTE] = "note",
	[CHECK_BAD] = "bad",
};

void check_add(struct check_report *report, const char *subject,
	       enum check_verdict verdict, const char *format, ...)
{
	struct check_finding *finding;
	va_list args;

	if (report->n == CHECK_FINDINGS)
		return;
	finding = &report->finding[report->n++];
	finding->subject = subject;
	finding->verdict = verdict;
	finding->hint[0] = '\0';
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

void check_hint(struct check_report *report, const char *format, ...)
{
	struct check_finding *last = &report->finding[report->n - 1];
	va_list args;

	va_start(args, format);
	vsnprintf(last->hint, sizeof(last->hint), format, args);
	va_end(args);
}

static const struct check_finding *
first_to_mend(const struct check_report *report)
{
	for (size_t i = 0; i < report->n; i++)
		if (report->finding[i].verdict == CHECK_BAD &&
		    report->finding[i].hint[0])
			return &report->finding[i];
	return NULL;
}

static bool is_all_well(const struct check_report *report)
{
	for (size_t i = 0; i < report->n; i++)
		if (report->finding[i].verdict == CHECK_BAD)
			return false;
	return true;
}

static void print_text(const struct check_report *report)
{
	const struct check_finding *next = first_to_mend(report);

	puts("upmu " UPMU_VERSION_TEXT);
	for (size_t i = 0; i < report->n; i++) {
		const struct check_finding *f = &report->finding[i];

		printf("%-5s %-10s %s\n", verdict_text[f->verdict], f->subject,
		       f->text);
		if (f->hint[0])
			printf("%-5s %-10s hint: %s\n", "", "", f->hint);
	}
	if (next)
		printf("next: %s\n", next->hint);
	else if (is_all_well(report))
		puts("next: upmu stat -- COMMAND");
}

static void print_json(const struct check_report *report)
{
	const struct check_finding *next = first_to_mend(report);
	json_t *findings = json_array(), *all;

	for (size_t i = 0; i < report->n; i++) {
		const struct check_finding *f = &report->finding[i];

		json_array_append_new(findings,
				      json_pack("{ss, ss, ss, ss*}", "subject",
						f->subject, "verdict",
						verdict_text[f->verdict],
						"text", f->text, "hint",
						f->hint[0] ? f->hint : NULL));
	}
	all = json_pack("{ss, so, ss*}", "version", UPMU_VERSION_TEXT,
			"findings", findings, "next", next ? next->hint : NULL);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static const char help[] =
	"usage: upmu check [-j]\n"
	"Say what works on this machine, what does not, why, and the\n"
	"command that mends it. Changes nothing. The exit status is 0\n"
	"where nothing is bad, else 1.\n\n"
	"  -j, --json  as JSON\n"
	"  --help      this text";

int cmd_check(int argc, char **argv)
{
	struct check_report report = { .n = 0 };
	bool json = false;
	int status = json_option(argc, argv, help, &json);

	if (status >= 0)
		return status;
	check_system(&report);
	check_pmu(&report);
	if (json)
		print_json(&report);
	else
		print_text(&report);
	return is_all_well(&report) ? 0 : 1;
}
