// SPDX-License-Identifier: MIT
/* What upmu exec says of an instruction that a program died of; what it takes.
 */
#include "fake_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/exec/trace.h"

int cmd_exec(int argc, char **argv); /* tools/main.c has its own */

/* What the trace will have seen. */
static struct trace seen;

void trace_start(struct trace *trace, const struct child *child)
{
	(void)child;
	*trace = seen;
}

void trace_wait(struct trace *trace, struct child *child)
{
	(void)trace;
	child_wait(child);
}

static char said[4096];
static int status;

/* In a process of its own: it ends as its program does. */
static void run(char **words)
{
	int ends[2], n = 0;
	size_t all = 0;
	ssize_t got;
	pid_t pid;

	while (words[n])
		n++;
	assert_int_equal(pipe(ends), 0);
	fake_boot("pi2");
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		exit(cmd_exec(n, words));
	}
	close(ends[1]);
	memset(said, 0, sizeof(said));
	while ((got = read(ends[0], said + all, sizeof(said) - 1 - all)) > 0)
		all += (size_t)got;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static char upmu_exec[] = "upmu exec", raw[] = "--raw", shell[] = "sh",
	    c[] = "-c", dies[] = "kill -ILL $$", tells[] = "exit 132",
	    end[] = "--";

static void assert_told(enum instruction_set set, uint32_t code, bool all,
			const char *wanted)
{
	char *words[] = { upmu_exec, shell, c, dies, NULL };
	char *raw_words[] = { upmu_exec, raw, shell, c, dies, NULL };
	char text[512];

	seen = (struct trace){ .set = set, .code = code, .address = 0x10400 };
	run(all ? raw_words : words);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGILL);
	snprintf(text, sizeof(text), "upmu exec: the program died of %s",
		 wanted);
	assert_string_equal(said, text);
}

static void an_instruction_is_told_with_what_would_serve_it(void **state)
{
	(void)state;
	assert_told(SET_ARM, 0xee193f3d, false,
		    "'mrc p15, 0, r3, c9, c13, 1' at 0x10400: it reads "
		    "PMXEVTYPER, which is open to programs that have all "
		    "counters\nhint: upmu exec --raw\n");
	assert_told(SET_THUMB, 0xee093f1c, false,
		    "'mcr p15, 0, r3, c9, c12, 0' at 0x10400: it writes PMCR, "
		    "which is open to programs that have all counters\n"
		    "hint: upmu exec --raw\n");
	assert_told(SET_ARM, 0xee093f1c, true,
		    "'mcr p15, 0, r3, c9, c12, 0' at 0x10400: it writes PMCR, "
		    "which this kernel keeps closed\nhint: upmu check\n");
}

static void what_reads_cycles_lost_what_was_opened_to_it(void **state)
{
	static const char lost[] =
		", which was opened to it: a program that changes its "
		"privileges when it is executed (set-user-ID) loses that\n";
	static const struct {
		enum instruction_set set;
		uint32_t code;
		const char *text;
	} reads[] = {
		{ SET_ARM, 0xee190f1d,
		  "'mrc p15, 0, r0, c9, c13, 0' at 0x10400: it reads PMCCNTR" },
		{ SET_ARM, 0xee1f0f3c,
		  "'mrc p15, 0, r0, c15, c12, 1' at 0x10400: it reads CCNT" },
		{ SET_A64, 0xd53b9d00,
		  "'mrs x0, PMCCNTR_EL0' at 0x10400: it reads PMCCNTR_EL0" },
	};
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", reads[i].text, lost);
		assert_told(reads[i].set, reads[i].code, false, text);
		assert_told(reads[i].set, reads[i].code, true, text);
	}
	assert_told(SET_ARM, 0xee090f1d, false,
		    "'mcr p15, 0, r0, c9, c13, 0' at 0x10400: it writes "
		    "PMCCNTR, which is open to programs that have all "
		    "counters\nhint: upmu exec --raw\n");
	assert_told(SET_ARM, 0xee1f0f1c, false,
		    "'mrc p15, 0, r0, c15, c12, 0' at 0x10400: it reads PMNC, "
		    "which is open to programs that have all counters\n"
		    "hint: upmu exec --raw\n");
}

static void what_no_setting_opens_has_no_hint(void **state)
{
	(void)state;
	for (int all = 0; all < 2; all++) {
		assert_told(SET_A64, 0xd5189e25, all,
			    "'msr PMINTENSET_EL1, x5' at 0x10400: it writes "
			    "PMINTENSET_EL1, no setting opens that to "
			    "programs\n");
		assert_told(SET_ARM, 0xe7f000f0, all,
			    "'0xe7f000f0' at 0x10400: it is none of the PMU's "
			    "registers\n");
	}
}

static const char unseen[] =
	" executed an instruction that it may not; one that sets counters up "
	"itself wants all of them\nhint: upmu exec --raw\n";

static void what_was_not_seen_may_have_been_any(void **state)
{
	char *words[] = { upmu_exec, end, shell, c, dies, NULL };
	char *by_shell[] = { upmu_exec, end, shell, c, tells, NULL };
	char *all[] = { upmu_exec, raw, end, shell, c, tells, NULL };
	char text[256];

	(void)state;
	seen = (struct trace){ .set = SET_UNKNOWN };
	run(words);
	snprintf(text, sizeof(text), "upmu exec: the program%s", unseen);
	assert_string_equal(said, text);
	/* A shell tells the signal of what it started by its status. */
	run(by_shell);
	assert_int_equal(WEXITSTATUS(status), 132);
	snprintf(text, sizeof(text), "upmu exec: what the program started%s",
		 unseen);
	assert_string_equal(said, text);
	run(all);
	assert_int_equal(WEXITSTATUS(status), 132);
	assert_string_equal(said, "upmu exec: what the program started "
				  "executed an instruction that it may not\n");
}

static void what_somebody_sent_is_no_instruction(void **state)
{
	char *words[] = { upmu_exec, end, shell, c, dies, NULL };

	(void)state;
	seen = (struct trace){ .set = SET_ARM, .was_sent = true };
	run(words);
	assert_string_equal(said, "");
	assert_int_equal(WTERMSIG(status), SIGILL);
}

static void without_a_command_nothing_is_run(void **state)
{
	static char help[] = "--help", odd[] = "--odd", h[] = "-h";
	char *none[] = { upmu_exec, NULL },
	     *only_raw[] = { upmu_exec, raw, NULL };
	char *helps[][3] = { { upmu_exec, help, NULL },
			     { upmu_exec, h, NULL } };
	char *wrong[] = { upmu_exec, odd, shell, NULL };

	(void)state;
	run(none);
	assert_int_equal(WEXITSTATUS(status), EXIT_USAGE);
	assert_non_null(strstr(said, "no command to run\nhint: "));
	run(only_raw);
	assert_int_equal(WEXITSTATUS(status), EXIT_USAGE);
	run(wrong);
	assert_int_equal(WEXITSTATUS(status), EXIT_USAGE);
	assert_non_null(strstr(said, "hint: upmu exec --help\n"));
	for (int i = 0; i < 2; i++) {
		run(helps[i]);
		assert_int_equal(status, 0);
		assert_ptr_equal(strstr(said, "usage: upmu exec"), said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_instruction_is_told_with_what_would_serve_it),
		cmocka_unit_test(what_reads_cycles_lost_what_was_opened_to_it),
		cmocka_unit_test(what_no_setting_opens_has_no_hint),
		cmocka_unit_test(what_was_not_seen_may_have_been_any),
		cmocka_unit_test(what_somebody_sent_is_no_instruction),
		cmocka_unit_test(without_a_command_nothing_is_run),
	};

	return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
