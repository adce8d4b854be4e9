// SPDX-License-Identifier: MIT
/*
 * --control: lines of another program start and stop the counting, as with
 * perf stat: "enable", "disable", "ping", "stop". Each that was carried out is
 * answered by "ack" where there is a second descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "stat.h"

/* Bytes that are read before anything else is looked at. */
#define PART 256

/* Where no descriptor tells of signals (EMFILE), they are looked for. */
#define LOOK_NS 100000000

static int refuse_control(const char *where, const char *why)
{
	fprintf(stderr,
		"upmu stat: --control '%s': %s\n"
		"hint: --control fd:3,4 or --control fifo:orders,answers\n",
		where, why);
	return -1;
}

static int read_descriptor(const char *text, size_t length)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end != text + length || end == text || number < 0 ||
	    number > 1 << 20 || fcntl((int)number, F_GETFD) < 0)
		return -1;
	return (int)number;
}

/* Read and write: an end of its own, so that the other's is no end of file. */
static int open_fifo(const char *text, size_t length)
{
	char path[4096];

	if (length >= sizeof(path))
		return -1;
	snprintf(path, sizeof(path), "%.*s", (int)length, text);
	return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static int open_one(const char *text, size_t length, bool is_fifo)
{
	return is_fifo ? open_fifo(text, length)
		       : read_descriptor(text, length);
}

int stat_control_open(struct stat_control *control, const char *where)
{
	size_t length;
	bool is_fifo;
	const char *at;

	*control =
		(struct stat_control){ .fd = -1, .answer = -1, .signals = -1 };
	if (!where)
		return 0;
	is_fifo = !strncmp(where, "fifo:", 5);
	if (!is_fifo && strncmp(where, "fd:", 3))
		return refuse_control(where, "neither fd: nor fifo:");
	at = where + (is_fifo ? 5 : 3);
	length = strcspn(at, ",");
	control->opened = is_fifo;
	control->fd = open_one(at, length, is_fifo);
	if (control->fd < 0)
		return refuse_control(where, is_fifo ? strerror(errno)
						     : "no open descriptor");
	if (!at[length])
		return 0;
	at += length + 1;
	control->answer = open_one(at, strlen(at), is_fifo);
	if (control->answer >= 0)
		return 0;
	stat_control_close(control);
	return refuse_control(where, "the answers have no place");
}

void stat_control_watch(struct stat_control *control, const sigset_t *mask)
{
	if (control->fd >= 0)
		control->signals = signalfd(-1, mask, SFD_CLOEXEC);
}

static enum stat_order order_of(struct stat_control *control)
{
	static const char *const words[] = {
		[STAT_ORDER_ENABLE] = "enable",
		[STAT_ORDER_DISABLE] = "disable",
		[STAT_ORDER_PING] = "ping",
		[STAT_ORDER_STOP] = "stop",
	};

	control->line[control->n] = 0;
	for (int order = STAT_ORDER_ENABLE; order <= STAT_ORDER_STOP; order++)
		if (!strcmp(control->line, words[order]))
			return (enum stat_order)order;
	return STAT_ORDER_UNKNOWN;
}

static enum stat_order understand(struct stat_control *control)
{
	enum stat_order order = order_of(control);

	control->n = 0;
	if (order != STAT_ORDER_UNKNOWN)
		return order;
	fprintf(stderr,
		"upmu stat: --control: '%s' is not enable, disable, ping or "
		"stop\n",
		control->line);
	return STAT_ORDER_UNKNOWN;
}

static bool has_more(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* An end of file, of a pipe whose writer has gone, leaves the program to
 * itself, and so does an error, which would come again and again. */
static void take_end(struct stat_control *control, ssize_t got)
{
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (control->opened)
		close(control->fd);
	control->fd = -1;
}

/*
 * Byte by byte: a second order may stand behind the first. What has no end is
 * read in parts, so that it takes upmu from nothing else.
 */
static enum stat_order read_order(struct stat_control *control)
{
	char byte;

	for (size_t i = 0; i < PART; i++) {
		ssize_t got = read(control->fd, &byte, 1);

		if (got != 1)
			take_end(control, got);
		else if (byte == '\n' && control->n)
			return understand(control);
		else if (byte != '\n' && control->n + 1 < sizeof(control->line))
			control->line[control->n++] = byte;
		if (got == 1 && has_more(control->fd))
			continue;
		/* perf takes an order without the end of its line, too. */
		return order_of(control) == STAT_ORDER_UNKNOWN
			       ? STAT_ORDER_NONE
			       : understand(control);
	}
	return STAT_ORDER_NONE;
}

static const struct timespec *until_look(const struct stat_control *control,
					 const struct timespec *time)
{
	static const struct timespec look = { .tv_nsec = LOOK_NS };
	bool is_sooner = time && !time->tv_sec && time->tv_nsec < look.tv_nsec;

	return control->signals >= 0 || is_sooner ? time : &look;
}

enum stat_order stat_control_wait(struct stat_control *control,
				  const struct timespec *time)
{
	struct pollfd wait[] = {
		{ .fd = control->fd, .events = POLLIN },
		{ .fd = control->signals, .events = POLLIN },
	};
	enum stat_order order;

	if (control->fd < 0 ||
	    ppoll(wait, 2, until_look(control, time), NULL) <= 0 ||
	    !wait[0].revents)
		return STAT_ORDER_NONE;
	order = read_order(control);
	control->obeyed = order != STAT_ORDER_UNKNOWN;
	return order;
}

/* Where nobody reads answers upmu must neither wait nor end by SIGPIPE. */
static bool is_heard(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && p.revents == POLLOUT;
}

void stat_control_done(struct stat_control *control)
{
	if (control->answer < 0 || !control->obeyed)
		return;
	if (is_heard(control->answer) &&
	    write(control->answer, "ack\n", 4) == 4)
		return;
	if (control->opened)
		close(control->answer);
	control->answer = -1;
}

void stat_control_close(struct stat_control *control)
{
	if (control->signals >= 0)
		close(control->signals);
	if (control->opened && control->fd >= 0)
		close(control->fd);
	if (control->opened && control->answer >= 0)
		close(control->answer);
	control->fd = control->answer = control->signals = -1;
}
