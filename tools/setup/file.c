// SPDX-License-Identifier: MIT
/* The files that setup writes: whole or not at all, the user's lines kept. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys.h"
#include "setup.h"
#include "tools/replace.h"

/* No program reads a name that ends so from one of these folders. */
#define UNFINISHED ".upmu-new"

/* A name is on the disk when its folder is. */
static int sync_folder(const char *path)
{
	char folder[UPMU_PATH_SIZE];
	char *end;
	int fd, error = 0;

	snprintf(folder, sizeof(folder), "%s", path);
	end = strrchr(folder, '/');
	if (end)
		*end = '\0';
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Some file systems cannot: then there is nothing to wait for. */
	if (fsync(fd) < 0 && errno != EINVAL)
		error = -errno;
	close(fd);
	return error;
}

static int paths_of(const char *path, char *real, char *unfinished)
{
	int error = upmu_sys_path(real, path);

	if (error)
		return error;
	if (snprintf(unfinished, UPMU_PATH_SIZE, "%s" UNFINISHED, real) >=
	    UPMU_PATH_SIZE)
		return -ENAMETOOLONG;
	return 0;
}

static int write_unfinished(const char *path, const char *text)
{
	size_t size = strlen(text);
	int fd, error;

	/* Of an interrupted setup, or not a plain file at all. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	error = replace_write(fd, text, size) == size ? 0 : -errno;
	if (!error && fchmod(fd, 0644) < 0) /* whatever the umask is */
		error = -errno;
	if (!error && fsync(fd) < 0)
		error = -errno;
	close(fd); /* fsync() has told what can go wrong */
	return error;
}

int setup_file_write(const char *path, const char *text)
{
	char real[UPMU_PATH_SIZE], unfinished[UPMU_PATH_SIZE];
	int error = paths_of(path, real, unfinished);

	if (error)
		return error;
	error = write_unfinished(unfinished, text);
	if (!error && rename(unfinished, real) < 0)
		error = -errno;
	if (error) {
		unlink(unfinished);
		return error;
	}
	return sync_folder(real);
}

/* On a read-only disk unlink() refuses even what is not there. */
static int remove_if_there(const char *path)
{
	struct stat there;

	if (lstat(path, &there) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (unlink(path) < 0)
		return -errno;
	return sync_folder(path);
}

int setup_file_remove_unfinished(const char *path)
{
	char real[UPMU_PATH_SIZE], unfinished[UPMU_PATH_SIZE];
	int error = paths_of(path, real, unfinished);

	return error ? error : remove_if_there(unfinished);
}

int setup_file_remove(const char *path)
{
	char real[UPMU_PATH_SIZE];
	int error = setup_file_remove_unfinished(path);

	if (!error)
		error = upmu_sys_path(real, path);
	return error ? error : remove_if_there(real);
}

bool setup_file_was_begun(const char *path)
{
	char real[UPMU_PATH_SIZE], unfinished[UPMU_PATH_SIZE];
	struct stat there;

	return !paths_of(path, real, unfinished) &&
	       (!lstat(real, &there) || !lstat(unfinished, &there));
}

static int append(char *text, const char *line)
{
	size_t used = strlen(text), length = strcspn(line, "\n");

	if (used + length + 2 > SETUP_TEXT_SIZE)
		return -EFBIG;
	memcpy(text + used, line, length);
	text[used + length] = '\n';
	text[used + length + 1] = '\0';
	return 0;
}

bool setup_file_is_special(const char *path)
{
	char real[UPMU_PATH_SIZE];
	struct stat there;

	return !upmu_sys_path(real, path) && !stat(real, &there) &&
	       !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
}

int setup_file_read(const char *path, char *text, size_t size)
{
	return setup_file_is_special(path)
		       ? -EINVAL
		       : upmu_sys_read_text(path, text, size);
}

bool setup_file_has(const char *path, const char *text)
{
	char found[SETUP_TEXT_SIZE];

	/* -EFBIG is certainly not ours; the last newline is not read. */
	return !setup_file_read(path, found, sizeof(found)) &&
	       !append(found, "") && strstr(found, text);
}

bool setup_file_is_foreign(const char *path)
{
	char real[UPMU_PATH_SIZE];
	struct stat there;

	return !upmu_sys_path(real, path) && !lstat(real, &there) &&
	       !setup_file_has(path, SETUP_MARK);
}

int setup_lock(void)
{
	int fd = upmu_sys_open("/etc", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return 0; /* told where something is to be written */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		return -EBUSY;
	}
	/* Not closed on exec: groupadd may live on where we are killed. */
	fcntl(fd, F_SETFD, 0);
	return 0;
}

/* How much of a line says what it sets: for "a = 1" that is "a". */
static size_t key_length(const char *line)
{
	size_t length = strcspn(line, "\n");
	const char *equals = memchr(line, '=', length);

	/* KERNEL=="upmu", GROUP="upmu" of udev is one setting as a whole. */
	if (!equals || equals[1] == '=' || memchr(line, '"', length))
		return length;
	length = equals - line;
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	return length;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

static bool is_same(const char *other, const char *line)
{
	size_t length = strcspn(line, "\n");

	return strcspn(other, "\n") == length && !strncmp(other, line, length);
}

/*
 * Before a setting there may be spaces, and a '-', and its name may be written
 * with slashes. A name alone sets nothing; with a '-' before it, it keeps what
 * other lines say from being set.
 */
static bool sets_same(const char *other, const char *line)
{
	size_t blanks = strspn(other, " \t-"), length = key_length(line);
	bool keeps = memchr(other, '-', blanks);

	other += blanks;
	if (key_length(other) != length ||
	    (keeps || strcspn(other, "\n") > length) !=
		    (strcspn(line, "\n") > length))
		return false;
	while (length && (*other == *line || (*other == '/' && *line == '.'))) {
		other++;
		line++;
		length--;
	}
	return !length;
}

/* Whether @text has a line that sets what @line does, or is the same. */
static bool has_line(const char *text, const char *line, bool same)
{
	for (; *text; text = next_line(text))
		if (same ? is_same(text, line) : sets_same(text, line))
			return true;
	return false;
}

void setup_file_record(char *ours, size_t size, const char *path,
		       const char *lines, const char *stale)
{
	char kept[SETUP_TEXT_SIZE];

	/* What cannot be read is told where it is to be merged. */
	if (setup_file_without(kept, path, stale))
		return;
	for (; *lines; lines = next_line(lines))
		if (!has_line(kept, lines, false) &&
		    !has_line(ours, lines, true))
			snprintf(ours + strlen(ours), size - strlen(ours),
				 "%.*s\n", (int)strcspn(lines, "\n"), lines);
}

/* All of @there but lines of @stale whose setting is among @lines. */
static int keep_lines(char *text, const char *there, const char *lines,
		      const char *stale)
{
	int error = 0;

	for (; *there && !error; there = next_line(there))
		if (!has_line(stale, there, true) ||
		    !has_line(lines, there, false))
			error = append(text, there);
	return error;
}

int setup_file_merge(char *text, const char *path, const char *lines,
		     const char *stale)
{
	char there[SETUP_TEXT_SIZE] = "";
	int error = setup_file_read(path, there, sizeof(there));

	if (error && error != -ENOENT)
		return error;
	snprintf(text, SETUP_TEXT_SIZE, "%s", error ? SETUP_MARK : "");
	/* The last newline is not read. */
	error = error ? 0 : append(there, "");
	if (!error)
		error = keep_lines(text, there, lines, stale);
	for (; *lines && !error; lines = next_line(lines))
		if (!has_line(text, lines, false))
			error = append(text, lines);
	return error;
}

int setup_file_without(char *text, const char *path, const char *lines)
{
	char there[SETUP_TEXT_SIZE];
	int error = setup_file_read(path, there, sizeof(there));

	*text = '\0';
	if (error)
		return error == -ENOENT || error == -ENOTDIR ? 0 : error;
	for (const char *line = there; *line && !error; line = next_line(line))
		if (!has_line(SETUP_MARK SETUP_GROUP_MARK, line, true) &&
		    !has_line(lines, line, true))
			error = append(text, line);
	return error;
}
