// SPDX-License-Identifier: MIT
/* A file that is replaced is whole or what it was, whatever signal comes. */
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/replace.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* What a user does who has seen enough, while it is half written. */
static int write_and_end(FILE *out, const void *signal)
{
	fputs("one half", out);
	fflush(out);
	raise(*(const int *)signal);
	fputs(" and the other\n", out);
	return 0;
}

static size_t files_like(const char *pattern)
{
	glob_t found;
	size_t n;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	n = found.gl_pathc;
	globfree(&found);
	return n;
}

static void a_signal_waits_until_the_file_is_whole(void **state)
{
	char folder[] = "/tmp/upmu-replace-XXXXXX", text[64] = "";

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		pid_t pid = fork();
		int status;
		FILE *file;

		if (!pid) {
			/* a shell ignores some in what it starts by '&' */
			signal(ending[i], SIG_DFL);
			replace_file("report", write_and_end, &ending[i],
				     REPLACE_PLAIN);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), ending[i]);
		assert_int_equal(files_like("report*"), 1);
		file = fopen("report", "r");
		assert_non_null(file);
		assert_non_null(fgets(text, sizeof(text), file));
		fclose(file);
		assert_string_equal(text, "one half and the other\n");
		unlink("report");
	}
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_waits_until_the_file_is_whole),
	};

	return cmocka_run_group_tests_name("replace", tests, NULL, NULL);
}
