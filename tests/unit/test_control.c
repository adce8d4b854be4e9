// SPDX-License-Identifier: MIT
/* Orders of another program: --control, its lines, ends and answers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/stat/stat.h"

/* ---- calls that fail, or are looked at ---- */

static int read_error;

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size)
{
	if (!read_error)
		return __real_read(fd, to, size);
	errno = read_error;
	return -1;
}

static const struct timespec at_once, *asked_time;
static struct timespec asked;
static nfds_t asked_of;

int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time,
		 const sigset_t *mask)
{
	asked_of = n;
	asked_time = time;
	if (time)
		asked = *time;
	return __real_ppoll(fds, n, &at_once, mask);
}

/* ---- what each test has ---- */

static struct stat_control control;
static int orders[2], answers[2]; /* as pipe(2) has them */
static char said[256];

static int open_pipes(void **state)
{
	char where[64];

	(void)state;
	read_error = 0;
	if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC | O_NONBLOCK))
		return -1;
	snprintf(where, sizeof(where), "fd:%d,%d", orders[0], answers[1]);
	return stat_control_open(&control, where);
}

static int close_pipes(void **state)
{
	(void)state;
	stat_control_close(&control);
	for (int i = 0; i < 2; i++) {
		close(orders[i]);
		close(answers[i]);
	}
	return 0;
}

static void send(const char *text)
{
	size_t length = strlen(text);

	assert_int_equal(write(orders[1], text, length), length);
}

/* What is told on stderr is in said. */
static enum stat_order wait_order(void)
{
	FILE *out = fmemopen(said, sizeof(said), "w"), *usual = stderr;
	enum stat_order order;

	assert_non_null(out);
	memset(said, 0, sizeof(said));
	stderr = out;
	order = stat_control_wait(&control, &at_once);
	stderr = usual;
	fclose(out);
	return order;
}

static void assert_order(enum stat_order wanted)
{
	assert_int_equal(wait_order(), wanted);
	assert_string_equal(said, "");
}

static void assert_answered(const char *wanted)
{
	char text[64] = "";

	stat_control_done(&control);
	if (__real_read(answers[0], text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	assert_string_equal(text, wanted);
}

/* ---- lines ---- */

static void each_order_is_told_and_answered(void **state)
{
	(void)state;
	assert_order(STAT_ORDER_NONE);
	send("enable\n");
	assert_order(STAT_ORDER_ENABLE);
	assert_answered("ack\n");
	send("disable\n");
	assert_order(STAT_ORDER_DISABLE);
	send("ping\n");
	assert_order(STAT_ORDER_PING);
	send("stop\n");
	assert_order(STAT_ORDER_STOP);
	assert_answered("ack\n");
	assert_order(STAT_ORDER_NONE);
}

static void orders_behind_one_another_are_taken_one_by_one(void **state)
{
	(void)state;
	send("\n\nenable\n\nping\nstop");
	assert_order(STAT_ORDER_ENABLE);
	assert_order(STAT_ORDER_PING);
	assert_order(STAT_ORDER_STOP);
	assert_order(STAT_ORDER_NONE);
	send("ena");
	assert_order(STAT_ORDER_NONE);
	send("ble");
	assert_order(STAT_ORDER_ENABLE);
}

static void what_is_no_order_is_told_and_not_answered(void **state)
{
	static const char *const bad[] = { "explode\n", "enabled\n", "Stop\n",
					   " ping\n", "enabl\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[16];

		send(bad[i]);
		assert_int_equal(wait_order(), STAT_ORDER_UNKNOWN);
		snprintf(line, sizeof(line), "'%.*s' is",
			 (int)strlen(bad[i]) - 1, bad[i]);
		assert_non_null(strstr(said, line));
		assert_answered("");
	}
	send("ping\n");
	assert_order(STAT_ORDER_PING);
	assert_answered("ack\n");
}

/* 256 bytes a turn, and of a line its first 63. */
static void a_long_line_takes_no_more_than_its_turns(void **state)
{
	char line[301], first[70];

	(void)state;
	memset(line, 'x', sizeof(line));
	line[300] = '\0';
	send(line);
	assert_order(STAT_ORDER_NONE);
	assert_int_equal(poll(&(struct pollfd){ orders[0], POLLIN, 0 }, 1, 0),
			 1);
	assert_order(STAT_ORDER_NONE);
	send("\n");
	assert_int_equal(wait_order(), STAT_ORDER_UNKNOWN);
	memset(first, 'x', sizeof(first));
	strcpy(first + 63, "' is");
	assert_non_null(strstr(said, first));
	assert_null(strstr(said, line + 300 - 64));
	memset(line, '\n', 256);
	strcpy(line + 256, "ping\n");
	send(line);
	assert_order(STAT_ORDER_NONE);
	assert_order(STAT_ORDER_PING);
}

/* ---- ends ---- */

static void an_end_leaves_the_program_to_itself(void **state)
{
	int kept = orders[0];

	(void)state;
	send("enable\nping");
	close(orders[1]);
	assert_order(STAT_ORDER_ENABLE);
	assert_int_equal(control.fd, kept);
	assert_order(STAT_ORDER_PING);
	assert_int_equal(control.fd, -1);
	/* it was given to us: whoever gave it closes it */
	assert_int_not_equal(fcntl(kept, F_GETFD), -1);
	assert_order(STAT_ORDER_NONE);
}

static void only_an_error_that_lasts_is_an_end(void **state)
{
	static const int passing[] = { EAGAIN, EINTR };

	(void)state;
	send("ping\n");
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		read_error = passing[i];
		assert_order(STAT_ORDER_NONE);
		assert_int_equal(control.fd, orders[0]);
	}
	read_error = EIO;
	assert_order(STAT_ORDER_NONE);
	assert_int_equal(control.fd, -1);
	read_error = 0;
	assert_order(STAT_ORDER_NONE);
}

static void answers_that_nobody_reads_are_no_more_given(void **state)
{
	(void)state;
	send("ping\n");
	assert_order(STAT_ORDER_PING);
	close(answers[0]);
	stat_control_done(&control);
	assert_int_equal(control.answer, -1);
	stat_control_done(&control);
	assert_int_not_equal(fcntl(answers[1], F_GETFD), -1);
}

static void a_full_pipe_gets_no_answer(void **state)
{
	static char much[65536];

	(void)state;
	send("ping\n");
	assert_order(STAT_ORDER_PING);
	while (write(answers[1], much, sizeof(much)) > 0)
		;
	stat_control_done(&control);
	assert_int_equal(control.answer, -1);
}

/* ---- how long it waits ---- */

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void assert_asked(const struct timespec *time, long seconds, long ns)
{
	stat_control_wait(&control, time);
	assert_non_null(asked_time);
	assert_int_equal(asked.tv_sec, seconds);
	assert_int_equal(asked.tv_nsec, ns);
}

static void without_a_descriptor_of_signals_it_looks_for_them(void **state)
{
	const struct timespec second = { .tv_sec = 1 };
	const struct timespec both = { .tv_sec = 1, .tv_nsec = 5 };
	const struct timespec soon = { .tv_nsec = 99999999 };
	const struct timespec later = { .tv_nsec = 200000000 };
	sigset_t mask;
	int before;

	(void)state;
	assert_asked(NULL, 0, 100000000);
	assert_asked(&second, 0, 100000000);
	assert_asked(&both, 0, 100000000);
	assert_asked(&later, 0, 100000000);
	assert_asked(&soon, 0, 99999999);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	stat_control_watch(&control, &mask);
	assert_in_range(control.signals, 0, 1000);
	assert_asked(&second, 1, 0);
	stat_control_wait(&control, NULL);
	assert_null(asked_time);
	assert_int_equal(asked_of, 2);
	before = open_descriptors();
	stat_control_close(&control);
	assert_int_equal(open_descriptors(), before - 1);
}

static void without_orders_no_signal_is_watched(void **state)
{
	sigset_t mask;

	(void)state;
	sigemptyset(&mask);
	assert_int_equal(stat_control_open(&control, NULL), 0);
	stat_control_watch(&control, &mask);
	assert_int_equal(control.fd, -1);
	assert_int_equal(control.answer, -1);
	assert_int_equal(control.signals, -1);
	assert_order(STAT_ORDER_NONE);
	stat_control_done(&control);
}

/* ---- where ---- */

static void a_place_that_is_none_is_refused(void **state)
{
	static const char *const bad[] = {
		"",	      "fd",	  "fd:",
		"fd:,1",      "fd:-1",	  "fd:1x",
		"fd:x",	      "fd:999",	  "0,1",
		"fifo:",      "fd:0,",	  "fd:0,999",
		"fd:0,x",     "FD:0",	  "fifo",
		"fd:1048577", "fd:0,1,1", "fifo:/nonexistent/fifo",
	};
	int before = open_descriptors();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (stat_control_open(&control, bad[i]) != -1)
			fail_msg("'%s'", bad[i]);
		assert_int_equal(open_descriptors(), before);
	}
}

static void a_descriptors_number_is_decimal(void **state)
{
	int high = fcntl(orders[0], F_DUPFD, 19);
	char where[32];

	(void)state;
	snprintf(where, sizeof(where), "fd:%d,%d", high, high);
	assert_int_equal(stat_control_open(&control, where), 0);
	assert_int_equal(control.fd, high);
	assert_int_equal(control.answer, high);
	close(high);
}

static void a_fifo_that_fails_is_closed(void **state)
{
	char path[] = "/tmp/upmu-control-XXXXXX", where[64];
	int before = open_descriptors();

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(where, sizeof(where), "fifo:%s,%s", path, path);
	assert_int_equal(stat_control_open(&control, where), 0);
	assert_int_equal(write(control.fd, "x", 1), 1);
	read_error = EIO;
	assert_order(STAT_ORDER_NONE);
	read_error = 0;
	assert_int_equal(control.fd, -1);
	assert_int_equal(open_descriptors(), before + 1);
	stat_control_close(&control);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(unlink(path), 0);
}

static void fifos_are_opened_and_closed_again(void **state)
{
	char folder[] = "/tmp/upmu-control-XXXXXX";
	int before = open_descriptors();

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkfifo("in", 0600), 0);
	assert_int_equal(mkfifo("out", 0600), 0);
	assert_int_equal(stat_control_open(&control, "fifo:in"), 0);
	assert_int_equal(open_descriptors(), before + 1);
	assert_int_equal(control.answer, -1);
	stat_control_close(&control);
	assert_int_equal(stat_control_open(&control, "fifo:in,none"), -1);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(stat_control_open(&control, "fifo:in,out"), 0);
	assert_int_equal(write(control.fd, "ping\n", 5), 5);
	assert_order(STAT_ORDER_PING);
	stat_control_done(&control);
	stat_control_close(&control);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(control.fd, -1);
	unlink("in");
	unlink("out");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void given_descriptors_stay_open(void **state)
{
	(void)state;
	assert_int_equal(control.fd, orders[0]);
	assert_int_equal(control.answer, answers[1]);
	stat_control_close(&control);
	assert_int_not_equal(fcntl(orders[0], F_GETFD), -1);
	assert_int_not_equal(fcntl(answers[1], F_GETFD), -1);
	assert_int_equal(control.fd, -1);
	assert_int_equal(control.answer, -1);
}

int main(void)
{
#define ON_PIPES(name) \
	cmocka_unit_test_setup_teardown(name, open_pipes, close_pipes)
	const struct CMUnitTest tests[] = {
		ON_PIPES(each_order_is_told_and_answered),
		ON_PIPES(orders_behind_one_another_are_taken_one_by_one),
		ON_PIPES(what_is_no_order_is_told_and_not_answered),
		ON_PIPES(a_long_line_takes_no_more_than_its_turns),
		ON_PIPES(an_end_leaves_the_program_to_itself),
		ON_PIPES(only_an_error_that_lasts_is_an_end),
		ON_PIPES(answers_that_nobody_reads_are_no_more_given),
		ON_PIPES(a_full_pipe_gets_no_answer),
		ON_PIPES(without_a_descriptor_of_signals_it_looks_for_them),
		cmocka_unit_test(without_orders_no_signal_is_watched),
		cmocka_unit_test(a_place_that_is_none_is_refused),
		cmocka_unit_test(fifos_are_opened_and_closed_again),
		ON_PIPES(a_descriptors_number_is_decimal),
		cmocka_unit_test(a_fifo_that_fails_is_closed),
		ON_PIPES(given_descriptors_stay_open),
	};

	signal(SIGPIPE, SIG_DFL);
	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
