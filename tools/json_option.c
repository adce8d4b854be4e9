// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <stdio.h>

#include "command.h"

int json_option(int argc, char **argv, const char *help, bool *json)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "hj", options, NULL)) >= 0) {
		switch (letter) {
		case 'j':
			*json = true;
			break;
		case 'h':
			puts(help);
			return 0;
		default:
			fprintf(stderr, "hint: %s --help\n", argv[0]);
			return 2;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "%s: unexpected '%s'\n", argv[0], argv[optind]);
	return 2;
}
