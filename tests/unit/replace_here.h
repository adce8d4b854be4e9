/* SPDX-License-Identifier: MIT */
/* Tests of tools/replace.c: calls that fail, a folder of each test's own. */
#ifndef UPMU_TESTS_REPLACE_HERE_H
#define UPMU_TESTS_REPLACE_HERE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/wrap_fsync.h"
#include "tools/replace.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* ---- calls that fail where a test wants it ---- */

static int rename_error;

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	errno = rename_error;
	return rename_error ? -1 : __real_rename(from, to);
}

/* What each write(2) does: bytes, or an errno as a negative number. */
static const int *writes;
static const char *by_others; /* behind the first */

static void append_theirs(const char *text)
{
	FILE *file = text ? fopen("file", "a") : NULL;

	if (!text)
		return;
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

ssize_t __real_write(int fd, const void *text, size_t size);
ssize_t __wrap_write(int fd, const void *text, size_t size);
ssize_t __wrap_write(int fd, const void *text, size_t size)
{
	int now = writes ? *writes++ : (int)size;
	ssize_t done;

	if (now < 0) {
		errno = -now;
		return -1;
	}
	assert_true((size_t)now <= size);
	done = __real_write(fd, text, (size_t)now);
	append_theirs(by_others);
	by_others = NULL;
	return done;
}

/* ---- a folder of each test's own ---- */

static char folder[64];
static int open_before;

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/upmu-replace-XXXXXX");
	rename_error = fsync_error = fsyncs = 0;
	writes = NULL;
	by_others = NULL;
	open_before = open_descriptors();
	umask(022);
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	char command[sizeof(folder) + 16];
	sigset_t now;

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	sigprocmask(SIG_BLOCK, NULL, &now);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigismember(&now, ending[i]))
			return -1;
	return open_descriptors() != open_before || chdir("/") ||
	       system(command);
}

static void put(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_has(const char *path, const char *wanted)
{
	FILE *file = fopen(path, "r");
	char text[64] = "";

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

static struct stat of(const char *path)
{
	struct stat there;

	assert_int_equal(lstat(path, &there), 0);
	return there;
}

/* Hidden ones too. */
static void assert_files(size_t wanted)
{
	DIR *here = opendir(".");
	size_t n = 0;

	assert_non_null(here);
	while (readdir(here))
		n++;
	closedir(here);
	assert_int_equal(n, wanted + 2);
}

static int write_new(FILE *out, const void *text)
{
	fputs(text, out);
	return 0;
}

static int write_half(FILE *out, const void *text)
{
	fputs(text, out);
	fflush(out);
	errno = EPIPE;
	return -1;
}

static int replace(const char *path)
{
	return replace_file(path, write_new, "new", REPLACE_PLAIN);
}

/* Before anything is closed that only root would open again. */
static void skip_unless_root(void)
{
	if (!geteuid())
		return;
	puts("# only root can be somebody else");
	skip();
}

/* Of nobody, in a process of its own: root may write anywhere. */
static void as_nobody(void (*claims)(void))
{
	static const gid_t groups[] = { 2345 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (setgroups(1, groups) || setgid(54321) || setuid(54321))
			_exit(2);
		claims();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* An assertion of cmocka's ends no other process. */
#define claim(is)                                                   \
	do {                                                        \
		if (!(is)) {                                        \
			fprintf(stderr, "%d: %s\n", __LINE__, #is); \
			_exit(1);                                   \
		}                                                   \
	} while (0)

#define IN_A_FOLDER(name) \
	cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

#endif
