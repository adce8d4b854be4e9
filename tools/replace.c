// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

/* ---- which file it is ---------------------------------------------------- */

/* What a shell can redirect by a number. */
#define GIVEN_MOST 10

/*
 * Standard output, or what else upmu was given open, by whatever name: others
 * write there, too. Or -1.
 */
static int find_given(const struct stat *there)
{
	struct stat open;

	for (int fd = 0; fd < GIVEN_MOST; fd++)
		if (!fstat(fd, &open) && open.st_dev == there->st_dev &&
		    open.st_ino == there->st_ino &&
		    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
			return fd;
	return -1;
}

/* The plain file that @path is, behind links, so that these stay; or NULL. */
static char *find_file(const char *path)
{
	struct stat there, itself;

	if (!path[0])
		return NULL;
	if (stat(path, &there))
		return lstat(path, &itself) ? strdup(path) : NULL;
	if (!S_ISREG(there.st_mode) || find_given(&there) >= 0)
		return NULL;
	/* Folders above this one may be closed to us: no need to name them. */
	if (!lstat(path, &itself) && !S_ISLNK(itself.st_mode))
		return strdup(path);
	return realpath(path, NULL);
}

bool replace_is_plain(const char *path)
{
	char *file = find_file(path);
	bool plain = file;

	free(file);
	return plain;
}

/* ---- a file beside it, which takes its name ------------------------------ */

/*
 * Whose what stands there is, as far as may be: under sudo it stays its user's,
 * in a group's folder its group's.
 */
static void set_owner(int fd, const struct stat *there)
{
	if (fchown(fd, there->st_uid, there->st_gid) &&
	    fchown(fd, (uid_t)-1, there->st_gid))
		return;
}

/* With the rights of what stands there, else those of a new file. */
static void set_mode(int fd, const char *path)
{
	struct stat there;
	mode_t mask = umask(0);

	umask(mask);
	if (stat(path, &there)) {
		fchmod(fd, 0666 & ~mask);
		return;
	}
	set_owner(fd, &there);
	fchmod(fd, there.st_mode & 0777);
}

/*
 * Who ends upmu meanwhile gets a file that is whole, and nothing is left beside
 * it: the signal comes when that is so.
 */
static void hold_signals(sigset_t *former)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ending, former);
}

static int make_beside(const char *path, char **beside)
{
	*beside = NULL;
	/* A folder's rights alone would let a protected file be replaced. */
	if (access(path, W_OK) && errno != ENOENT)
		return -1;
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
	int fd, error = -1;
	sigset_t former;
	char *beside;

	hold_signals(&former);
	fd = make_beside(path, &beside);
	if (fd >= 0) {
		set_mode(fd, path);
		error = fill(fd, write, what, how) || rename(beside, path);
		if (error)
			drop(beside);
	}
	sigprocmask(SIG_SETMASK, &former, NULL);
	free(beside);
	return error ? -1 : 0;
}

/* ---- where no file can be beside it -------------------------------------- */

/* A folder that is not ours, a name that may not be longer, a mount point. */
static bool has_no_place(int error)
{
	return error == EACCES || error == EPERM || error == ENAMETOOLONG ||
	       error == EBUSY;
}

FILE *replace_open(const char *path, const char *mode)
{
	struct stat there;
	int fd = stat(path, &there) ? -1 : find_given(&there);
	FILE *file;

	if (fd < 0)
		return fopen(path, mode);
	/* At the place where the others are, behind what they wrote. */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static int write_over(const char *path, int (*write)(FILE *, const void *),
		      const void *what)
{
	FILE *out = replace_open(path, "we");
	int error;

	if (!out)
		return -1;
	error = write(out, what);
	return fclose(out) || error ? -1 : 0;
}

static int try_over(const char *path)
{
	struct stat there;
	int fd;

	if (!stat(path, &there) && S_ISDIR(there.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (!access(path, F_OK))
		return access(path, W_OK);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	close(fd);
	return unlink(path);
}

/* ---- all of it ----------------------------------------------------------- */

int replace_file(const char *path, int (*write)(FILE *, const void *),
		 const void *what, enum replace_how how)
{
	char *file = find_file(path);
	int error = -1;

	if (file)
		error = write_beside(file, write, what, how);
	if (!file || (error && has_no_place(errno)))
		error = write_over(path, write, what);
	free(file);
	return error;
}

static int try_beside(const char *path)
{
	sigset_t former;
	char *beside;
	int fd;

	hold_signals(&former);
	fd = make_beside(path, &beside);
	if (fd >= 0) {
		close(fd);
		drop(beside);
	}
	sigprocmask(SIG_SETMASK, &former, NULL);
	free(beside);
	return fd >= 0 ? 0 : -1;
}

int replace_try(const char *path)
{
	char *file = find_file(path);
	int error = -1;

	if (file)
		error = try_beside(file);
	if (!file || (error && has_no_place(errno)))
		error = try_over(path);
	free(file);
	return error;
}

/* ---- more of it ---------------------------------------------------------- */

size_t replace_write(int fd, const char *text, size_t size)
{
	size_t all = 0;
	ssize_t done;

	while (all < size) {
		done = write(fd, text + all, size - all);
		if (done >= 0)
			all += (size_t)done;
		else if (errno != EINTR)
			break;
	}
	return all;
}

/* The last @size bytes, unless somebody wrote behind them. */
static void cut(int fd, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_CUR);
	struct stat now;

	if (size && !fstat(fd, &now) && now.st_size == end &&
	    ftruncate(fd, end - (off_t)size))
		return;
}

int replace_append(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	size_t done;
	int why;

	if (fd < 0)
		return -1;
	done = replace_write(fd, text, size);
	why = errno;
	if (done == size)
		return close(fd);
	cut(fd, done);
	close(fd);
	errno = why;
	return -1;
}
