/* SPDX-License-Identifier: MIT */
/* Tests of what is read of /proc and /sys: a root of each test's own. */
#ifndef OWN_ROOT_H
#define OWN_ROOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sys.h"

static char folder[64];

static int make_folder(void **s)
{
	const char *above = getenv("TMPDIR");

	(void)s;
	snprintf(folder, sizeof(folder), "%s/upmu-XXXXXX",
		 above && strlen(above) < 40 ? above : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	upmu_sys_set_root(folder);
	return chdir(folder);
}

static int remove_folder(void **s)
{
	char command[sizeof(folder) + 16];

	(void)s;
	upmu_sys_set_root(NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") || system(command);
}

/* "a/b/c": below the root. */
static void put(const char *path, const char *text)
{
	char above[256];
	FILE *file;

	strcpy(above, path);
	for (char *p = above; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(above, 0755);
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#define OWN_ROOT_TEST(name) \
	cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

#endif
