// SPDX-License-Identifier: MIT
/* Names of files with %, and which rank of a parallel program this is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/file_name.h"
#include "tools/rank.h"

int __wrap_uname(struct utsname *name);
int __wrap_uname(struct utsname *name)
{
	if (getenv("NO_HOST"))
		return -1;
	*name = (struct utsname){ .nodename = "board" };
	return 0;
}

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
	if (getenv("NO_STREAM"))
		return NULL;
	if (getenv("NO_ROOM"))
		return fopen("/dev/full", "w");
	if (getenv("NO_TEXT"))
		return fopen("/dev/null", "w");
	return __real_open_memstream(text, size);
}

static int no_variables(void **state)
{
	(void)state;
	clearenv();
	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return 0;
}

static void assert_expanded(const char *pattern, const char *wanted)
{
	char *name = file_name_expand(pattern, "test");

	assert_non_null(name);
	assert_string_equal(name, wanted);
	free(name);
}

static void assert_refused(const char *pattern)
{
	char *name = file_name_expand(pattern, "test");

	if (name)
		fail_msg("'%s' is '%s'", pattern, name);
}

static void a_percent_sign_stands_for_what_is_known_only_now(void **state)
{
	char own[32];

	(void)state;
	snprintf(own, sizeof(own), "a%d.b", (int)getpid());
	assert_expanded("", "");
	assert_expanded("plain", "plain");
	assert_expanded("a%p.b", own);
	assert_expanded("%h", "board");
	assert_expanded("100%%%h%%", "100%board%");
	setenv("NO_HOST", "1", 1);
	assert_expanded("on-%h", "on-unknown");
}

static void what_is_no_pattern_is_refused(void **state)
{
	static const char *const bad[] = { "%",	   "a%",    "%x",	"%P",
					   "%q",   "%qA",   "%q{",	"%q{}",
					   "%q{A", "%q A}", "%q{UNSET}" };

	(void)state;
	setenv("A", "1", 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i]);
}

static void a_variable_stands_there_by_its_name(void **state)
{
	char name[300], pattern[310];

	(void)state;
	setenv("A", "one", 1);
	setenv("AB", "two", 1);
	setenv("EMPTY", "", 1);
	assert_expanded("x%q{A}-%q{AB}y", "xone-twoy");
	assert_refused("%q{EMPTY}");
	memset(name, 'N', sizeof(name));
	name[255] = '\0';
	setenv(name, "long", 1);
	snprintf(pattern, sizeof(pattern), "%%q{%s}", name);
	assert_expanded(pattern, "long");
	name[255] = 'N';
	name[256] = '\0';
	setenv(name, "longer", 1);
	snprintf(pattern, sizeof(pattern), "%%q{%s}", name);
	assert_refused(pattern);
}

static void assert_refused_with(const char *pattern, const char *wanted)
{
	char said[512] = "";
	FILE *out = fmemopen(said, sizeof(said), "w"), *usual = stderr;

	assert_non_null(out);
	stderr = out;
	assert_refused(pattern);
	stderr = usual;
	fclose(out);
	assert_string_equal(said, wanted);
}

static void what_is_not_set_is_told_by_its_name(void **state)
{
	(void)state;
	assert_refused_with("%q{UNSET}", "test: '%q{UNSET}': UNSET is not set "
					 "in the environment\n");
}

static void no_memory_is_told(void **state)
{
	(void)state;
	setenv("NO_TEXT", "1", 1);
	assert_refused_with("a", "test: 'a': out of memory\n");
	setenv("NO_ROOM", "1", 1);
	assert_refused_with("a", "test: 'a': out of memory\n");
	setenv("NO_STREAM", "1", 1);
	assert_refused_with("a", "test: 'a': out of memory\n");
	assert_refused_with("", "test: '': out of memory\n");
}

static void the_rank_is_whoever_launched_it(void **state)
{
	(void)state;
	assert_refused("%q{RANK}");
	setenv("SLURM_PROCID", "7", 1);
	assert_expanded("r%q{RANK}", "r7");
	setenv("RANK", "3", 1);
	assert_expanded("r%q{RANK}", "r3");
}

static void assert_rank(int number, int count)
{
	assert_int_equal(rank_number(), number);
	assert_int_equal(rank_count(), count);
}

static void each_launcher_tells_the_rank_in_its_own_way(void **state)
{
	(void)state;
	assert_null(rank_text());
	assert_rank(-1, 0);
	setenv("SLURM_PROCID", "5", 1);
	setenv("SLURM_NTASKS", "6", 1);
	assert_rank(5, 6);
	setenv("PMIX_RANK", "4", 1);
	assert_rank(4, 0);
	setenv("PMI_RANK", "3", 1);
	setenv("PMI_SIZE", "16", 1);
	assert_rank(3, 16);
	setenv("OMPI_COMM_WORLD_RANK", "02", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
	assert_rank(2, 8);
	assert_string_equal(rank_text(), "02");
	setenv("RANK", "0", 1);
	assert_rank(0, 0);
	setenv("WORLD_SIZE", "1", 1);
	assert_rank(0, 1);
}

static void what_is_no_number_is_no_rank(void **state)
{
	static const char *const bad[] = {
		"",   "x",  "1x",	  "-1",
		"1 ", "0,", "2147483648", "99999999999999999999"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("RANK", bad[i], 1);
		assert_rank(-1, 0);
		assert_null(rank_text());
	}
	setenv("RANK", "2147483647", 1);
	setenv("WORLD_SIZE", "0", 1);
	assert_rank(2147483647, 0);
	setenv("WORLD_SIZE", "2147483648", 1);
	assert_rank(2147483647, 0);
	setenv("WORLD_SIZE", "two", 1);
	assert_rank(2147483647, 0);
}

static void a_job_is_named_where_its_launcher_does(void **state)
{
	char job[16] = "";

	(void)state;
	setenv("SLURM_JOB_ID", "12", 1);
	assert_false(rank_job(job, sizeof(job)));
	setenv("SLURM_PROCID", "0", 1);
	assert_true(rank_job(job, sizeof(job)));
	assert_string_equal(job, "12");
	setenv("SLURM_STEP_ID", "3", 1);
	assert_true(rank_job(job, sizeof(job)));
	assert_string_equal(job, "12.3");
	assert_true(rank_job(job, 5));
	assert_false(rank_job(job, 4));
	assert_false(rank_job(job, 2));
	setenv("SLURM_JOB_ID", "", 1);
	assert_true(rank_job(job, sizeof(job)));
	assert_string_equal(job, "3");
	setenv("PMIX_NAMESPACE", "prte-1", 1);
	setenv("PMIX_RANK", "0", 1);
	assert_true(rank_job(job, sizeof(job)));
	assert_string_equal(job, "prte-1");
	setenv("RANK", "0", 1);
	assert_false(rank_job(job, sizeof(job)));
}

int main(void)
{
#define ALONE(name) cmocka_unit_test_setup(name, no_variables)
	const struct CMUnitTest tests[] = {
		ALONE(a_percent_sign_stands_for_what_is_known_only_now),
		ALONE(what_is_no_pattern_is_refused),
		ALONE(a_variable_stands_there_by_its_name),
		ALONE(what_is_not_set_is_told_by_its_name),
		ALONE(no_memory_is_told),
		ALONE(the_rank_is_whoever_launched_it),
		ALONE(each_launcher_tells_the_rank_in_its_own_way),
		ALONE(what_is_no_number_is_no_rank),
		ALONE(a_job_is_named_where_its_launcher_does),
	};

	return cmocka_run_group_tests_name("file_name", tests, NULL, NULL);
}
