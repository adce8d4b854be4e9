// SPDX-License-Identifier: MIT
/*
 * What upmu_explain() tells where the program ends. That words are each
 * thread's own, and end with it: test_threads.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "upmu.h"

static const char *to_tell;

/* Of atexit(3), and there before the library's first call. */
static void tell_at_exit(void)
{
	if (to_tell)
		_exit(!strstr(to_tell, "no_such_event") ||
		      !strstr(upmu_explain(), "no_such_event"));
}

static void handlers_of_exit_tell_the_explanation(void **state)
{
	struct upmu *set;
	int status = -1;
	pid_t child = fork();

	(void)state;
	if (!child) {
		upmu_open(&set, "no_such_event", NULL);
		to_tell = upmu_explain();
		exit(2);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_of_exit_tell_the_explanation),
	};

	atexit(tell_at_exit);
	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
