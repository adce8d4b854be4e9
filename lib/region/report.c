// SPDX-License-Identifier: MIT
/* The report on regions: text, and where it goes at exit. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/explain.h"
#include "lib/region/region.h"
#include "lib/sys.h"

#define LABEL_SIZE \
	(sizeof(((struct upmu_region_summary *)0)->event_names[0]) + 16)

/* PF_FORKNOEXEC among the flags of /proc/PID/stat. */
#define FORKED_NOT_EXECUTED 0x40u

/* Who has made a report; a child that was forked has made none. */
static atomic_long reported_by;

static long loaded_by;
static time_t loaded_s;

__attribute__((constructor)) static void remember_process(void)
{
	loaded_by = getpid();
	loaded_s = time(NULL);
}

static void print_event(FILE *out, const struct upmu_region_summary *summary,
			size_t region, size_t event)
{
	struct upmu_region_stats stats;
	char name[LABEL_SIZE];

	upmu_region_label(name, sizeof(name), summary->event_names[event],
			  summary->units[event]);
	upmu_region_stats_of(summary, region, event, &stats);
	fprintf(out,
		"%-20s %-20s %10" PRIu64 " %15" PRIu64 " %15.1f %15" PRIu64
		" %15" PRIu64 "\n",
		event ? "" : summary->names[region], name, stats.calls,
		stats.total, stats.mean, stats.min, stats.max);
}

static void print_overhead(FILE *out, const struct upmu_region_summary *summary)
{
	fputs("taken off each call:", out);
	for (size_t i = 0; i < summary->events; i++) {
		char name[LABEL_SIZE];

		upmu_region_label(name, sizeof(name), summary->event_names[i],
				  summary->units[i]);
		fprintf(out, "%s %" PRIu64 " %s", i ? "," : "",
			summary->overhead[i], name);
	}
	fputc('\n', out);
}

static void print_notes(FILE *out, const struct upmu_region_summary *summary)
{
	if (summary->events)
		print_overhead(out, summary);
	if (summary->running < 0.9995)
		fprintf(out,
			"the events were counted in %.1f %% of the time only: "
			"others use the counters too, and what came in the "
			"rest is missing\n",
			100 * summary->running);
	if (summary->missed)
		fprintf(out,
			"calls that could not be counted, and are missing: "
			"%u; the first: %s\n",
			summary->missed, summary->why);
}

static void print_text(FILE *out, const struct upmu_region_summary *summary)
{
	fprintf(out,
		"\nRegions, source %s:\n\n%-20s %-20s %10s %15s %15s %15s "
		"%15s\n",
		summary->source ? summary->source : "none", "region", "event",
		"calls", "total", "mean", "min", "max");
	for (size_t i = 0; i < summary->regions; i++) {
		if (!summary->cells[i].calls)
			continue;
		for (size_t event = 0; event < summary->events; event++)
			print_event(out, summary, i, event);
	}
	fputc('\n', out);
	print_notes(out, summary);
}

/* A pipe that is full and does not wait: somebody else has set it so. */
static bool may_go_on(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	return errno == EINTR ||
	       (errno == EAGAIN && (poll(&room, 1, -1) > 0 || errno == EINTR));
}

static int write_all(int fd, const char *text, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, text + done, size - done);

		if (n < 0 && !may_go_on(fd))
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Into memory first: a report is whole, or there is none of it. */
static int write_report(
	int fd, const struct upmu_region_summary *summary,
	void (*print)(FILE *out, const struct upmu_region_summary *summary))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret = 0;

	if (!out)
		return -ENOMEM;
	print(out, summary);
	if (fclose(out))
		ret = -ENOMEM;
	if (!ret)
		ret = write_all(fd, text, size);
	free(text);
	return ret;
}

int upmu_regions_report(int fd, enum upmu_region_format format)
{
	struct upmu_region_summary *summary;
	int ret;

	if (format != UPMU_REGION_TEXT && format != UPMU_REGION_JSON)
		return upmu_explain_set(-EINVAL, "no report format %d",
					(int)format);
	summary = malloc(sizeof(*summary));
	if (!summary)
		return upmu_explain_set(-ENOMEM, "out of memory");
	upmu_regions_summarize(summary);
	ret = write_report(fd, summary,
			   format == UPMU_REGION_JSON ? upmu_regions_print_json
						      : print_text);
	free(summary);
	if (ret)
		return upmu_explain_set(ret, "cannot write the report: %s",
					strerror(-ret));
	atomic_store(&reported_by, getpid());
	return 0;
}

/* Without memory for an answer there is a report to be missed, maybe. */
static bool was_any_called(void)
{
	struct upmu_region_summary *summary = malloc(sizeof(*summary));
	bool any;

	if (!summary)
		return true;
	upmu_regions_summarize(summary);
	any = summary->missed;
	for (size_t i = 0; i < summary->regions; i++)
		any = any || summary->cells[i].calls;
	free(summary);
	return any;
}

/*
 * Was this process forked by one that ran the same program? A worker may be the
 * first to load us, in a plugin: that it was forked and has executed nothing
 * since is then told by the kernel alone.
 */
static bool is_forked(void)
{
	unsigned int flags = 0;
	char text[512];
	const char *name;

	if (getpid() != loaded_by)
		return true;
	if (upmu_sys_read_text("/proc/self/stat", text, sizeof(text)))
		return false;
	name = strrchr(text, ')');
	if (name)
		sscanf(name, ") %*c %*d %*d %*d %*d %*d %u", &flags);
	return flags & FORKED_NOT_EXECUTED;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

/* Folders before it may be called so, too. */
static const char *last_number(const char *wish)
{
	const char *last = NULL;

	for (const char *at = wish; (at = strstr(at, "%p")); at++)
		last = at;
	return last;
}

/*
 * The number of a descriptor of this very process, or -1. Opened by its name a
 * file would be cut off, and what the program prints would go over the report.
 */
static int own_descriptor(const char *wish)
{
	unsigned int fd;
	int end = 0;

	if (!strcmp(wish, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(wish, "/dev/stderr"))
		return STDERR_FILENO;
	if (sscanf(wish, "/dev/fd/%9u%n", &fd, &end) != 1)
		sscanf(wish, "/proc/self/fd/%9u%n", &fd, &end);
	return end && !wish[end] ? (int)fd : -1;
}

/*
 * Pipes, terminals, /dev/null: a name with a number is of no such thing. But
 * the reader of a named pipe goes with the first that closes it, and the next
 * would wait for another for ever.
 */
static bool is_for_all(const char *wish)
{
	struct stat found, itself;

	if (own_descriptor(wish) >= 0)
		return true;
	return !stat(wish, &found) && !lstat(wish, &itself) &&
	       !S_ISREG(found.st_mode) && !S_ISFIFO(itself.st_mode);
}

/*
 * Where UPMU_REPORT= says, with the process's number for %p. A process that was
 * forked puts its number in by itself, before ".json": its parent's report and
 * its siblings' stay.
 */
static int name_file(char *out, size_t size, const char *wish)
{
	const char *at = last_number(wish);
	const char *rest = at ? at + 2 : wish + strlen(wish);
	const char *dot = "";
	int n;

	if (!at && (!is_forked() || is_for_all(wish))) {
		n = snprintf(out, size, "%s", wish);
	} else {
		if (!at && ends_with(wish, ".json"))
			rest -= strlen(".json");
		if (!at)
			dot = ".";
		n = snprintf(out, size, "%.*s%s%ld%s",
			     (int)((at ? at : rest) - wish), wish, dot,
			     (long)getpid(), rest);
	}
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* A link, a pipe, a terminal, or a file that may not be written stays. */
static bool may_replace(const char *path)
{
	struct stat found;

	if (lstat(path, &found))
		return errno == ENOENT;
	return S_ISREG(found.st_mode) && !access(path, W_OK);
}

/*
 * Other programs may write their report to the same file now: each writes one
 * beside it, and the last to be renamed is the whole report. -1 where none can
 * stand beside it.
 */
static int open_beside(char *beside, size_t size, const char *path)
{
	int n = snprintf(beside, size, "%s.%ld-%" PRIx64 ".tmp", path,
			 (long)getpid(), upmu_sys_clock_ns());

	if (!may_replace(path) || n < 0 || (size_t)n >= size)
		return -1;
	return open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int open_itself(const char *path)
{
	int own = own_descriptor(path);

	if (own >= 0)
		return fcntl(own, F_DUPFD_CLOEXEC, 0);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/*
 * A child's number is put in by itself, so that what stands there is of an
 * earlier run and is replaced: but where numbers began anew since this program
 * was loaded, which may be the last of a second that files still have.
 */
static bool is_of_a_sibling(const char *path)
{
	struct stat found;

	return is_forked() && !stat(path, &found) &&
	       found.st_mtime + 1 >= loaded_s;
}

/*
 * Another process may have had this number: in another container, or before
 * numbers began anew. Its report stays, and ours has the time in its name.
 */
static int put_apart(const char *beside, const char *path)
{
	const char *end = ends_with(path, ".json") ? ".json" : "";
	static char other[PATH_MAX + 32];

	/* Not every libc has renameat2(). */
	if (!syscall(SYS_renameat2, AT_FDCWD, beside, AT_FDCWD, path,
		     RENAME_NOREPLACE))
		return 0;
	/* Not every file system has that (NFS). */
	if (errno != EEXIST)
		return rename(beside, path);
	snprintf(other, sizeof(other), "%.*s-%" PRIx64 "%s",
		 (int)(strlen(path) - strlen(end)), path, upmu_sys_clock_ns(),
		 end);
	return rename(beside, other);
}

static int explain_file(int error, const char *wish)
{
	return upmu_explain_set(error, "cannot write the report to '%s': %s",
				wish, strerror(-error));
}

/* At exit alone. Whoever calls exit(3) may have a small stack, as the handlers
 * of signals have. */
static int report_to_file(const char *wish)
{
	static char path[PATH_MAX], beside[PATH_MAX + 64];
	enum upmu_region_format format =
		ends_with(wish, ".json") ? UPMU_REGION_JSON : UPMU_REGION_TEXT;
	bool is_apart, is_beside;
	int fd, ret;

	ret = name_file(path, sizeof(path), wish);
	if (ret)
		return explain_file(ret, wish);
	fd = open_beside(beside, sizeof(beside), path);
	is_beside = fd >= 0;
	if (!is_beside)
		fd = open_itself(path);
	if (fd < 0)
		return explain_file(-errno, wish);
	ret = upmu_regions_report(fd, format);
	if (close(fd) && !ret)
		ret = explain_file(-errno, wish);
	is_apart = strstr(wish, "%p") || is_of_a_sibling(path);
	if (is_beside && !ret && (is_apart ? put_apart : rename)(beside, path))
		ret = explain_file(-errno, wish);
	if (is_beside && ret)
		unlink(beside);
	return ret;
}

void upmu_regions_at_exit(void)
{
	const char *where = secure_getenv("UPMU_REPORT");
	int ret;

	if (atomic_load(&reported_by) == getpid() || !was_any_called())
		return;
	if (where && !strcmp(where, "none"))
		return;
	ret = where && where[0]
		      ? report_to_file(where)
		      : upmu_regions_report(STDERR_FILENO, UPMU_REGION_TEXT);
	if (ret)
		fprintf(stderr, "libupmu: %s\n", upmu_explain());
}
