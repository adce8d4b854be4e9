// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

/* With the rights of what stands there, else those of a new file. */
static void set_mode(int fd, const char *path)
{
	struct stat there;
	mode_t mask = umask(0);

	umask(mask);
	fchmod(fd, stat(path, &there) ? 0666 & ~mask : there.st_mode & 0777);
}

static int make_beside(const char *path, char **beside)
{
	if (asprintf(beside, "%s.XXXXXX", path) < 0) {
		*beside = NULL;
		return -1;
	}
	return mkostemp(*beside, O_CLOEXEC);
}

static void drop(const char *beside)
{
	int why = errno;

	unlink(beside);
	errno = why;
}

static int fill(int fd, int (*write)(FILE *, const void *), const void *what,
		enum replace_how how)
{
	FILE *out = fdopen(fd, "w");
	int error;

	if (!out) {
		close(fd);
		return -1;
	}
	error = write(out, what) || fflush(out) ||
		(how == REPLACE_SAFE && fsync(fd));
	return fclose(out) || error ? -1 : 0;
}

static int write_beside(const char *path, int (*write)(FILE *, const void *),
			const void *what, enum replace_how how)
{
	char *beside;
	int fd = make_beside(path, &beside), error = -1;

	if (fd >= 0) {
		set_mode(fd, path);
		error = fill(fd, write, what, how) || rename(beside, path);
		if (error)
			drop(beside);
	}
	free(beside);
	return error ? -1 : 0;
}

/* A link stays one, /dev/stdout not the least. */
static bool is_plain(const char *path)
{
	struct stat there;

	return lstat(path, &there) || S_ISREG(there.st_mode);
}

int replace_file(const char *path, int (*write)(FILE *, const void *),
		 const void *what, enum replace_how how)
{
	FILE *out;
	int error;

	if (is_plain(path))
		return write_beside(path, write, what, how);
	out = fopen(path, "we");
	if (!out)
		return -1;
	error = write(out, what);
	return fclose(out) || error ? -1 : 0;
}

int replace_try(const char *path)
{
	char *beside;
	int fd;

	if (!is_plain(path))
		return access(path, W_OK);
	fd = make_beside(path, &beside);
	if (fd >= 0) {
		close(fd);
		drop(beside);
	}
	free(beside);
	return fd >= 0 ? 0 : -1;
}
