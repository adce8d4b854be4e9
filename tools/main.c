// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "command.h"
#include "version.h"

/* One row per subcommand: X(name, summary); its main is cmd_NAME(). */
#define COMMANDS(X)                                                   \
	X(stat, "count an unmodified program")                        \
	X(compare, "is B better than A, and how sure is that")        \
	X(report, "a page with plots of what was counted")            \
	X(merge, "sums over the processes of a parallel program")     \
	X(exec, "run a program that reads the registers itself")      \
	X(list, "show the events of this machine or of a core")       \
	X(cost, "what one reading costs here, by each source")        \
	X(regs, "show the PMU's registers, field by field")           \
	X(check, "what works here, what does not, and what mends it") \
	X(setup, "make the counters usable after every boot")

#define DECLARE(name, summary) int cmd_##name(int argc, char **argv);
COMMANDS(DECLARE)

#define ROW(name, summary) { #name, cmd_##name, summary },
static const struct command commands[] = {
	COMMANDS(ROW){ 0 },
};

static void print_usage(FILE *out)
{
	fputs("usage: upmu COMMAND [OPTION...]\n"
	      "Read the processor's own performance counters.\n\n",
	      out);
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fputs("\n  upmu COMMAND --help tells the options of one command.\n",
	      out);
}

static const struct command *find_command(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int unknown(const char *name)
{
	fprintf(stderr, "upmu: unknown command '%s'\nhint: upmu --help\n",
		name);
	return 2;
}

/*
 * Where a standard descriptor is closed, the next file that is opened would
 * take its number, and output its text. Opened the wrong way round, so that
 * using it fails as it did; closed again to a program that upmu executes.
 */
static void keep_standard_descriptors(void)
{
	static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", wrong_way[fd] | O_CLOEXEC);
}

static void take_note(int signal)
{
	(void)signal;
}

/*
 * A file that may not be so long (ulimit -f) is one more that cannot be
 * written. By a handler: what is ignored would be so in the program, too.
 */
static void outlive_limit(void)
{
	struct sigaction action = { .sa_handler = take_note,
				    .sa_flags = SA_RESTART };
	struct sigaction former;

	if (!sigaction(SIGXFSZ, &action, &former) &&
	    former.sa_handler == SIG_IGN)
		sigaction(SIGXFSZ, &former, NULL);
}

static bool is_short;

/* What JSON has no room for is left out of it, and nobody looks. */
static void *take_memory(size_t size)
{
	void *memory = malloc(size);

	is_short = is_short || !memory;
	return memory;
}

/* Output that did not arrive is a failure, whatever the command says. */
static int finish(int status)
{
	if (is_short) {
		fputs("upmu: out of memory: what was written is not whole\n",
		      stderr);
		status = status ? status : EXIT_FAILED;
	}
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "upmu: cannot write to standard output: %s\n",
		errno ? strerror(errno) : "some of it was lost");
	return status ? status : 1;
}

/* "upmu help stat" is "upmu stat --help". */
static int help(int argc, char **argv)
{
	static char option[] = "--help";
	char *words[] = { argc > 2 ? argv[2] : NULL, option, NULL };
	const struct command *command;

	if (argc < 3) {
		print_usage(stdout);
		return 0;
	}
	command = find_command(argv[2]);
	return command ? command->run(2, words) : unknown(argv[2]);
}

static int run(int argc, char **argv)
{
	static char name[32];
	const struct command *command;

	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("upmu " UPMU_VERSION_TEXT);
		return 0;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help"))
		return help(argc, argv);
	command = find_command(argv[1]);
	if (!command)
		return unknown(argv[1]);
	/* what getopt() begins its messages with */
	snprintf(name, sizeof(name), "upmu %s", command->name);
	argv[1] = name;
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	keep_standard_descriptors();
	outlive_limit();
	child_heed_ends();
	json_set_alloc_funcs(take_memory, free);
	return finish(run(argc, argv));
}
