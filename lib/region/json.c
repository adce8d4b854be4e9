// SPDX-License-Identifier: MIT
/*
 * The report on regions as JSON, written by hand: the program that measures
 * itself is not to depend on a library for it.
 */
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/region/region.h"

/* How many bytes follow a first one in UTF-8; -1: it is none (RFC 3629). */
static int bytes_behind(unsigned char first)
{
	if (first < 0x80)
		return 0;
	if (first < 0xc2 || first > 0xf4)
		return -1;
	return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/* Too long a form, a surrogate, beyond the last one. */
static bool is_forbidden(unsigned char first, unsigned char second)
{
	return (first == 0xe0 && second < 0xa0) ||
	       (first == 0xed && second > 0x9f) ||
	       (first == 0xf0 && second < 0x90) ||
	       (first == 0xf4 && second > 0x8f);
}

static bool is_utf8(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	while (*c) {
		int more = bytes_behind(*c);

		if (more < 0 || (more && is_forbidden(c[0], c[1])))
			return false;
		for (c++; more > 0; more--, c++)
			if ((*c & 0xc0) != 0x80)
				return false;
	}
	return true;
}

/* JSON is UTF-8. A name that is not is taken for Latin-1, whose letters have
 * the same numbers: the report is whole, and the name is most likely right. */
static void print_string(FILE *out, const char *text)
{
	unsigned char plain = is_utf8(text) ? 0xff : 0x7f;

	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fputc('\\', out);
		if (c < 0x20 || c > plain)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/*
 * As many digits as each double has for sure, so that 97080.9 is not written as
 * 97080.899999999994; with a point, whatever the program's locale has.
 */
static void print_real(FILE *out, double value)
{
	const char *point = localeconv()->decimal_point;
	char text[40], *at;

	snprintf(text, sizeof(text), "%.15g", value);
	at = strstr(text, point);
	if (at)
		fprintf(out, "%.*s.%s", (int)(at - text), text,
			at + strlen(point));
	else
		fprintf(out, "%s%s", text, strchr(text, 'e') ? "" : ".0");
}

static void print_event(FILE *out, const struct upmu_region_summary *summary,
			size_t region, size_t event)
{
	struct upmu_region_stats stats;

	upmu_region_stats_of(summary, region, event, &stats);
	fprintf(out, "%s\n        {\n          \"event\": ", event ? "," : "");
	print_string(out, summary->event_names[event]);
	fprintf(out,
		",\n          \"unit\": \"%s\",\n"
		"          \"total\": %" PRIu64 ",\n          \"mean\": ",
		summary->units[event], stats.total);
	print_real(out, stats.mean);
	fprintf(out,
		",\n          \"min\": %" PRIu64
		",\n          \"max\": %" PRIu64
		",\n          \"overhead\": %" PRIu64 "\n        }",
		stats.min, stats.max, stats.overhead);
}

static void print_region(FILE *out, const struct upmu_region_summary *summary,
			 size_t region)
{
	fputs("\n    {\n      \"region\": ", out);
	print_string(out, summary->names[region]);
	fprintf(out, ",\n      \"calls\": %" PRIu64 ",\n      \"events\": [",
		summary->cells[region].calls);
	for (size_t event = 0; event < summary->events; event++)
		print_event(out, summary, region, event);
	fputs("\n      ]\n    }", out);
}

void upmu_regions_print_json(FILE *out,
			     const struct upmu_region_summary *summary)
{
	const char *separator = "";

	fputs("{\n  \"source\": ", out);
	if (summary->source)
		print_string(out, summary->source);
	else
		fputs("null", out);
	fputs(",\n  \"running\": ", out);
	print_real(out, summary->running);
	if (summary->missed) {
		fprintf(out, ",\n  \"missed_calls\": %u,\n  \"missed_why\": ",
			summary->missed);
		print_string(out, summary->why);
	}
	fputs(",\n  \"regions\": [", out);
	for (size_t i = 0; i < summary->regions; i++) {
		if (!summary->cells[i].calls)
			continue;
		fputs(separator, out);
		print_region(out, summary, i);
		separator = ",";
	}
	fputs(*separator ? "\n  ]\n}\n" : "]\n}\n", out);
}
