// SPDX-License-Identifier: MIT
/* upmu report: pictures of what was counted, in one page. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "report.h"
#include "tools/child.h"
#include "tools/replace.h"

#define DEFAULT_OUTPUT "upmu-report.html"

static const char help[] =
	"usage: upmu report [OPTION...] FILE.json...\n"
	"Make one page, with plots and tables, of what upmu stat -j, upmu "
	"compare -j\nand regions wrote. '-' is standard input.\n\n"
	"  -o, --output FILE            the page (" DEFAULT_OUTPUT
	"); '-': standard output\n"
	"      --help                   print this\n";

static int write_input(FILE *out, const void *input)
{
	return report_write_page(out, input);
}

static int write_page(const char *path, const struct report_input *input)
{
	if (!strcmp(path, "-"))
		return report_write_page(stdout, input) || fflush(stdout);
	return replace_file(path, write_input, input, REPLACE_SAFE);
}

/* A slip (-o *.json, or -o forgotten behind it) that would cost counts. */
static bool is_data(const char *path)
{
	size_t length = strlen(path), tail = strlen(".json");

	return length > tail && !strcmp(path + length - tail, ".json");
}

static int make_page(const char *path, const struct report_input *input)
{
	if (!json_array_size(input->files)) {
		fputs("upmu report: nothing to show; no page was made\n",
		      stderr);
		return EXIT_FAILED;
	}
	if (write_page(path, input)) {
		fprintf(stderr, "upmu report: cannot write '%s': %s\n", path,
			strerror(errno));
		return EXIT_FAILED;
	}
	if (strcmp(path, "-"))
		fprintf(stderr, "upmu report: wrote %s\n", path);
	return input->failed ? 1 : 0;
}

static int parse(int argc, char **argv, const char **output)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "ho:", options, NULL)) >= 0) {
		if (letter == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (letter != 'o') {
			fputs("hint: upmu report --help\n", stderr);
			return EXIT_USAGE;
		}
		*output = optarg;
	}
	if (is_data(*output)) {
		fprintf(stderr,
			"upmu report: -o '%s': a page is no JSON, and what "
			"stands there would be lost\n"
			"hint: -o page.html\n",
			*output);
		return EXIT_USAGE;
	}
	if (optind < argc)
		return -1;
	fputs("upmu report: no files\n"
	      "hint: upmu stat -j -o a.json -- ls; upmu report a.json\n",
	      stderr);
	return EXIT_USAGE;
}

int cmd_report(int argc, char **argv)
{
	struct report_input input = { 0 };
	const char *output = DEFAULT_OUTPUT;
	int status = parse(argc, argv, &output);

	if (status >= 0)
		return status;
	input.files = json_array();
	input.problems = json_array();
	for (int i = optind; i < argc; i++)
		report_read(&input, argv[i]);
	report_name(&input);
	status = make_page(output, &input);
	json_decref(input.files);
	json_decref(input.problems);
	return status;
}
