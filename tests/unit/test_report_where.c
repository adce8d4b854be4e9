// SPDX-License-Identifier: MIT
/* Reports on regions that go to what others write to, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "regions.h"

#define BEFORE "what stood there\n"

static char text[4096];

static void read_text(int fd)
{
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
}

/* As a shell's >file, of which something is printed already. */
static void print_into_the_file(int fd, const char *wish)
{
	int file = open(report_path, O_WRONLY | O_TRUNC);

	CHECK(file >= 0 && dup2(file, fd) == fd);
	CHECK(write(fd, BEFORE, strlen(BEFORE)) == (ssize_t)strlen(BEFORE));
	setenv("UPMU_REPORT", wish, 1);
	call(region_of("first"));
}

static void print_to_standard_output(void)
{
	print_into_the_file(STDOUT_FILENO, "/dev/stdout");
}

static void print_to_standard_error(void)
{
	print_into_the_file(STDERR_FILENO, "/dev/stderr");
}

static void print_to_a_descriptor(void)
{
	print_into_the_file(9, "/dev/fd/9");
}

static void print_to_a_descriptor_by_proc(void)
{
	print_into_the_file(9, "/proc/self/fd/9");
}

static void a_report_to_an_open_file_leaves_what_stands_there(void **state)
{
	static void (*const ways[])(void) = { print_to_standard_output,
					      print_to_standard_error,
					      print_to_a_descriptor,
					      print_to_a_descriptor_by_proc };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		assert_int_equal(run_in_child(ways[i]), 0);
		read_text(open(report_path, O_RDONLY));
		assert_memory_equal(text, BEFORE, strlen(BEFORE));
		assert_non_null(strstr(text, "first"));
	}
}

static int ends[2];

/* Of another process: by no descriptor of its own. */
static void report_into_a_pipe_of_the_parent(void)
{
	char wish[64];

	snprintf(wish, sizeof(wish), "/proc/%d/fd/%d", (int)getppid(), ends[1]);
	setenv("UPMU_REPORT", wish, 1);
	call(region_of("first"));
}

/* As root it would make a file beside /dev/null. */
static void a_forked_process_makes_no_file_beside_a_pipe(void **state)
{
	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(run_in_child(report_into_a_pipe_of_the_parent), 0);
	read_text(ends[0]);
	assert_non_null(strstr(text, "first"));
	close(ends[1]);
}

static void report_into_the_named_pipe(void)
{
	setenv("UPMU_REPORT", report_path, 1);
	call(region_of("first"));
}

/* Who reads there ends with the first report: the parent's would hang. */
static void a_forked_process_leaves_a_named_pipe_to_its_parent(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(unlink(report_path), 0);
	assert_int_equal(mkfifo(report_path, 0600), 0);
	fd = open(report_path, O_RDWR | O_NONBLOCK);
	assert_int_equal(run_in_child(report_into_the_named_pipe), 0);
	assert_int_equal(read(fd, text, sizeof(text)), -1);
	close(fd);
	/* not to wait where the pipe is still what has the name */
	read_text(open(report_path, O_RDONLY | O_NONBLOCK));
	assert_non_null(strstr(text, "\"region\": \"first\""));
}

/* SIGSTKSZ is 8 KiB on most; what the kernel stores there is up to 5 KiB. */
#define SMALL_STACK (14 * 1024)
#define GUARD	    (64 * 1024)

static void leave(int number)
{
	(void)number;
	exit(0);
}

static void exit_on_a_small_stack(void)
{
	struct sigaction action = { .sa_handler = leave,
				    .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = SMALL_STACK };
	char *memory = mmap(NULL, GUARD + SMALL_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED && !mprotect(memory, GUARD, PROT_NONE));
	stack.ss_sp = memory + GUARD;
	CHECK(!sigaltstack(&stack, NULL));
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	setenv("UPMU_REPORT", report_path, 1);
	call(region_of("first"));
	raise(SIGUSR1);
}

static void a_signal_handler_on_a_small_stack_exits_with_a_report(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(exit_on_a_small_stack), 0);
	read_text(open(report_path, O_RDONLY));
	assert_non_null(strstr(text, "\"region\": \"first\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_report_to_an_open_file_leaves_what_stands_there),
		cmocka_unit_test(a_forked_process_makes_no_file_beside_a_pipe),
		cmocka_unit_test(
			a_forked_process_leaves_a_named_pipe_to_its_parent),
		cmocka_unit_test(
			a_signal_handler_on_a_small_stack_exits_with_a_report),
	};

	return cmocka_run_group_tests_name(
		"report_where", tests, make_report_file, remove_report_file);
}
