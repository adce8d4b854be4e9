// SPDX-License-Identifier: MIT
/* upmu merge: what the processes of a parallel program counted, together. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "merge.h"
#include "tools/child.h"
#include "tools/replace.h"

static const char help[] =
	"usage: upmu merge [OPTION...] FILE.json...\n"
	"Sums, means and imbalance of what upmu stat -j counted in each process "
	"of a\nparallel program. '-' is standard input.\n\n"
	"      --per-rank               a line for each rank, too\n"
	"  -j, --json-output            JSON: docs/schema/merge.schema.json\n"
	"  -o, --output FILE            write to FILE, not to standard output\n"
	"      --help                   print this\n";

struct options {
	const char *output;
	bool json, per_rank;
};

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "json-output", no_argument, NULL, 'j' },
		{ "per-rank", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "hjo:", longs, NULL)) >= 0) {
		switch (letter) {
		case 'o':
			options->output = strcmp(optarg, "-") ? optarg : NULL;
			break;
		case 'j':
			options->json = true;
			break;
		case 'r':
			options->per_rank = true;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			fputs("hint: upmu merge --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		return -1;
	fputs("upmu merge: no files\n"
	      "hint: mpirun -n 4 upmu stat -j -o 'rank-%q{RANK}.json' -- "
	      "./program; upmu merge rank-*.json\n",
	      stderr);
	return EXIT_USAGE;
}

static int write_output(const struct merge *m, const struct options *options)
{
	const struct merge_output what = { .merge = m,
					   .per_rank = options->per_rank };
	int (*write)(FILE *, const void *) =
		options->json ? merge_write_json : merge_write_text;

	/* What standard output loses is told by main(). */
	if (!options->output)
		return write(stdout, &what) || fflush(stdout) ? EXIT_FAILED : 0;
	if (!replace_file(options->output, write, &what, REPLACE_SAFE))
		return 0;
	fprintf(stderr, "upmu merge: cannot write '%s': %s\n", options->output,
		strerror(errno));
	return EXIT_FAILED;
}

int cmd_merge(int argc, char **argv)
{
	struct options options = { 0 };
	struct merge m = { 0 };
	int status = parse(argc, argv, &options);

	if (status >= 0)
		return status;
	m.problems = json_array();
	for (int i = optind; i < argc; i++)
		merge_read(&m, argv[i]);
	merge_choose_run(&m);
	if (merge_add_up(&m)) {
		fputs("upmu merge: out of memory\n", stderr);
		status = EXIT_FAILED;
	} else if (!m.ranks) {
		fputs("upmu merge: nothing to merge\n", stderr);
		status = EXIT_FAILED;
	} else {
		status = write_output(&m, &options);
	}
	if (!status && json_array_size(m.problems))
		status = 1;
	merge_free(&m);
	return status;
}
