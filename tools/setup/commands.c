// SPDX-License-Identifier: MIT
/* The commands that setup runs: shown, or run and judged by their end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setup.h"

#define NO_SBIN                                              \
	"hint: PATH has to name /usr/sbin, as with sudo or " \
	"'su -'; plain 'su' keeps the user's\n"

void setup_show_command(const struct command_step *step)
{
	printf("run   ");
	for (const char *const *word = step->argv; *word; word++)
		printf("%s%s", word == step->argv ? "" : " ", *word);
	printf("\n      (%s)\n", step->why);
}

int setup_run_command(const struct command_step *step)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		execvp(step->argv[0], (char *const *)step->argv);
		if (errno == ENOENT && step->may_lack)
			_exit(0);
		fprintf(stderr, "upmu setup: cannot run '%s': %s\n%s",
			step->argv[0], strerror(errno),
			errno == ENOENT ? NO_SBIN : "");
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		int error = -errno;

		fprintf(stderr, "upmu setup: cannot run '%s': %s\n",
			step->argv[0], strerror(-error));
		return error;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "upmu setup: '%s' failed\n", step->argv[0]);
		if (step->hint)
			fprintf(stderr, "hint: %s\n", step->hint);
		return -EIO;
	}
	return 0;
}

/* Set a sysctl now, or only show that it would be set. */
static int sysctl(const char *name, long value, const char *why, bool show)
{
	char word[64];
	const struct command_step step = {
		.argv = { "sysctl", "-q", "-w", word },
		.why = why,
	};

	snprintf(word, sizeof(word), "%s=%ld", name, value);
	if (!show)
		return setup_run_command(&step);
	setup_show_command(&step);
	return 1;
}

int setup_set_sysctls(const struct setup *setup, bool show)
{
	const char *why = "sets it now";
	int done = 0;

	/* Never raised: somebody wants more to be open than we need. */
	if (setup->paranoid > setup->paranoid_wanted)
		done = sysctl(SETUP_PARANOID, setup->paranoid_wanted, why,
			      show);
	if (done >= 0 && setup->user_access && setup->user_access_now != 1) {
		int more = sysctl(SETUP_USER_ACCESS, 1, why, show);

		done = more < 0 ? more : done + more;
	}
	return done;
}

/* Also that of a setup before, on another core. Of a damaged journal a line may
 * be the user's. */
bool setup_has_our_paranoid(const struct setup *setup)
{
	char line[64];

	snprintf(line, sizeof(line), SETUP_PARANOID " = %ld\n",
		 setup->paranoid);
	return setup->paranoid == setup->paranoid_wanted ||
	       (!setup->journal.is_damaged &&
		strstr(setup->journal.lines[SETUP_SYSCTLS], line));
}

/* What has our value gets back the one from before. */
int setup_restore_sysctls(const struct setup *setup, bool show)
{
	const struct setup_journal *journal = &setup->journal;
	const char *why = "as it was before setup";
	int done = 0;

	if (journal->paranoid != SETUP_UNTOUCHED &&
	    setup_has_our_paranoid(setup) &&
	    journal->paranoid != setup->paranoid)
		done = sysctl(SETUP_PARANOID, journal->paranoid, why, show);
	if (journal->user_access != SETUP_UNTOUCHED &&
	    setup->user_access_now == 1 && journal->user_access != 1) {
		int more = sysctl(SETUP_USER_ACCESS, journal->user_access, why,
				  show);

		done = more < 0 || done < 0 ? -EIO : done + more;
	}
	return done;
}
