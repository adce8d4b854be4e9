// SPDX-License-Identifier: MIT
/*
 * The page: one file, nothing is fetched. Its policy (CSP) forbids that too,
 * so that a page that was sent to somebody tells nobody that it was opened.
 */
#include <stdlib.h>

#include "report.h"

/* Bytes of the files in page/ and of the charting library: see embed.py. */
#define PAGE(name)                            \
	extern const char upmu_page_##name[]; \
	extern const unsigned long upmu_page_##name##_size

PAGE(style);
PAGE(page);
PAGE(charts);

#define PUT(out, name) fwrite(upmu_page_##name, 1, upmu_page_##name##_size, out)

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\""
	"default-src 'none'; style-src 'unsafe-inline'; "
	"script-src 'unsafe-inline'; img-src data:\">\n"
	"<link rel=\"icon\" href=\"data:,\">\n"
	"<title>upmu report</title>\n<style>\n";

static const char body[] =
	"</style>\n</head>\n<body>\n<h1>upmu report</h1>\n"
	"<noscript>This page draws its figures and tables by a script of its "
	"own; the numbers are in the JSON at its end.</noscript>\n"
	"<main></main>\n<script type=\"application/json\" id=\"data\">\n";

/*
 * JSON in a script element ends at "</script" whatever stands around it: no
 * '<' gets there, nor '>' and '&'. JSON's own escapes mean the same.
 */
static int put_escaped(const char *text, size_t size, void *file)
{
	FILE *out = file;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '<' || text[i] == '>' || text[i] == '&')
			fprintf(out, "\\u%04x", text[i]);
		else
			putc(text[i], out);
	}
	return ferror(out) ? -1 : 0;
}

int report_write_page(FILE *out, const struct report_input *input)
{
	json_t *root = json_pack("{s:O, s:O}", "files", input->files,
				 "problems", input->problems);
	int error;

	fputs(head, out);
	PUT(out, style);
	fputs(body, out);
	error = json_dump_callback(root, put_escaped, out,
				   JSON_COMPACT | JSON_REAL_PRECISION(15) |
					   JSON_ENSURE_ASCII);
	fputs("\n</script>\n<script>\n", out);
	PUT(out, charts);
	fputs("\n</script>\n<script>\n", out);
	PUT(out, page);
	fputs("</script>\n</body>\n</html>\n", out);
	json_decref(root);
	return error || ferror(out) ? -1 : 0;
}
