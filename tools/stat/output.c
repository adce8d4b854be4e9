// SPDX-License-Identifier: MIT
/*
 * Where reports go. In a file each is whole or not there at all, and what a
 * full disk does not take is told on stderr: the program may have run for
 * hours.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stat.h"
#include "tools/replace.h"

static FILE *stream; /* stderr, a terminal, a pipe; NULL: a plain file */
static const char *name;
static bool is_begun; /* the file has the first report, or is added to */
static bool is_lost;

struct piece {
	char *text;
	size_t size;
};

static int cannot_write_to(const char *path)
{
	fprintf(stderr, "upmu stat: cannot write to '%s': %s\n", path,
		strerror(errno));
	return -1;
}

/* Closed by the caller (see main.c): nothing could be read. */
static int open_stderr(void)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL);

	name = "stderr";
	stream = stderr;
	return (flags & O_ACCMODE) == O_RDONLY ? -1 : 0;
}

static int open_descriptor(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	name = "--log-fd";
	stream = own < 0 ? NULL : fdopen(own, "w");
	return stream ? 0 : cannot_write_to(name);
}

/* Tried before the program runs: a report must not be lost afterwards. */
static int open_file(bool append)
{
	is_begun = append;
	if (replace_is_plain(name))
		return replace_try(name) ? cannot_write_to(name) : 0;
	stream = replace_open(name, append ? "ae" : "we");
	return stream ? 0 : cannot_write_to(name);
}

int stat_output_open(const struct stat_options *options)
{
	stream = NULL;
	is_lost = is_begun = false;
	name = options->output;
	if (!name && options->format == STAT_FORMAT_RPISTAT)
		name = "rpistat.txt";
	if (options->log_fd >= 0)
		return open_descriptor(options->log_fd);
	if (name && !strcmp(name, "-")) /* as perf stat */
		return open_stderr();
	return name ? open_file(options->append) : open_stderr();
}

bool stat_output_is_terminal(void)
{
	return stream && isatty(fileno(stream));
}

static int write_piece(FILE *out, const void *what)
{
	const struct piece *piece = what;

	return fwrite(piece->text, 1, piece->size, out) == piece->size ? 0 : -1;
}

static int put_piece(const struct piece *piece)
{
	if (stream)
		return replace_write(fileno(stream), piece->text,
				     piece->size) == piece->size
			       ? 0
			       : -1;
	if (is_begun)
		return replace_append(name, piece->text, piece->size);
	if (replace_file(name, write_piece, piece, REPLACE_PLAIN))
		return -1;
	is_begun = true;
	return 0;
}

int stat_output_lose(void)
{
	if (!is_lost)
		fprintf(stderr,
			"upmu stat: cannot write the report to '%s': %s\n",
			name, strerror(errno));
	is_lost = true;
	return -1;
}

static ssize_t add_to_piece(void *to, const char *text, size_t size)
{
	struct piece *piece = to;
	char *more = realloc(piece->text, piece->size + size);

	if (!more)
		return 0; /* an error of the stream's, ENOMEM */
	memcpy(more + piece->size, text, size);
	piece->text = more;
	piece->size += size;
	return (ssize_t)size;
}

/* open_memstream() would clear 8 KiB first. */
static FILE *open_piece(struct piece *piece)
{
	const cookie_io_functions_t to_memory = { .write = add_to_piece };

	return fopencookie(piece, "w", to_memory);
}

static int put_by_memory(int (*writer)(FILE *, const struct stat_report *),
			 const struct stat_report *report)
{
	struct piece piece = { 0 };
	FILE *out = open_piece(&piece);
	int error;

	if (!out)
		return stat_output_lose();
	error = writer(out, report);
	error = fclose(out) || error;
	if (error) {
		stat_output_lose();
	} else if (put_piece(&piece)) {
		error = stat_output_lose();
		if (stream != stderr)
			write_piece(stderr, &piece);
	}
	free(piece.text);
	return error;
}

int stat_output_put(int (*writer)(FILE *, const struct stat_report *),
		    const struct stat_report *report)
{
	/* Its width and its colours are the writer's to ask for. */
	if (!stat_output_is_terminal())
		return put_by_memory(writer, report);
	return writer(stream, report) || fflush(stream) ? stat_output_lose()
							: 0;
}

bool stat_output_close(void)
{
	if (stream && stream != stderr && fclose(stream))
		stat_output_lose();
	return is_lost;
}
