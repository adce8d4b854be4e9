/* SPDX-License-Identifier: MIT */
#ifndef UPMU_TOOLS_COMMAND_H
#define UPMU_TOOLS_COMMAND_H

#include <stdbool.h>

/**
 * struct command - one row of the table in main.c, one file cmd_NAME.c each
 * @name: what the user types after "upmu"
 * @run: its main; argv[0] is the subcommand's name
 * @summary: one line for "upmu --help"
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

/**
 * json_option() - the options of a command that knows -j and --help alone
 * @help: what --help prints
 * @json: set where -j is given
 *
 * Return: -1: go on; else the command's exit status.
 */
int json_option(int argc, char **argv, const char *help, bool *json);

#endif
