// SPDX-License-Identifier: MIT
/* What the system is asked: lib/sys.c. */
#include "own_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static void write_file(const char *text)
{
	put("file", text);
}

static void a_text_is_read_whole_without_its_last_newline(void **s)
{
	static const char *const texts[][2] = { { "", "" },
						{ "\n", "" },
						{ "a", "a" },
						{ "a\n", "a" },
						{ "\na", "\na" },
						{ "a\n\n", "a\n" },
						{ "abcdef", "abcdef" } };
	char text[8];

	(void)s;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		memset(text, 'x', sizeof(text));
		write_file(texts[i][0]);
		assert_int_equal(
			upmu_sys_read_text("/file", text, sizeof(text)), 0);
		assert_string_equal(text, texts[i][1]);
	}
}

/* What just fills it may go on: that is not told apart. */
static void a_text_that_does_not_fit_is_refused(void **s)
{
	char text[8];

	(void)s;
	write_file("1234567");
	assert_int_equal(upmu_sys_read_text("/file", text, sizeof(text)), 0);
	assert_string_equal(text, "1234567");
	write_file("12345678");
	assert_int_equal(upmu_sys_read_text("/file", text, sizeof(text)),
			 -EFBIG);
	assert_int_equal(upmu_sys_read_text("/none", text, sizeof(text)),
			 -ENOENT);
	assert_int_equal(upmu_sys_read_text("/", text, sizeof(text)), -EISDIR);
}

static void a_file_of_a_folder_is_read_as_it_is(void **s)
{
	int at = upmu_sys_open_folder("/"), again;
	char text[8];

	(void)s;
	assert_true(at >= 0);
	again = upmu_sys_open_folder_at(at, ".");
	assert_true(again >= 0);
	write_file("12345\n");
	assert_int_equal(upmu_sys_read_text_at(again, "file", text, 8), 0);
	assert_string_equal(text, "12345");
	assert_int_equal(upmu_sys_read_bytes_at(again, "file", text, 8), 6);
	assert_memory_equal(text, "12345\n", 6);
	assert_int_equal(upmu_sys_read_bytes_at(again, "file", text, 4), 4);
	assert_int_equal(upmu_sys_read_bytes_at(again, "none", text, 8),
			 -ENOENT);
	assert_int_equal(upmu_sys_open_folder_at(at, "file"), -ENOTDIR);
	upmu_sys_close(again);
	upmu_sys_close(at);
	assert_int_equal(upmu_sys_close(at), -EBADF);
}

/* A program that is started later has none of them. */
static void what_is_open_is_closed_on_exec(void **s)
{
	int fd[3] = { upmu_sys_open_folder("/") };

	(void)s;
	write_file("");
	fd[1] = upmu_sys_open_folder_at(fd[0], ".");
	fd[2] = upmu_sys_open("/file", O_WRONLY);
	for (size_t i = 0; i < 3; i++) {
		assert_true(fd[i] >= 0);
		assert_int_equal(fcntl(fd[i], F_GETFD), FD_CLOEXEC);
		assert_int_equal(fcntl(fd[i], F_GETFL) & O_ACCMODE,
				 i < 2 ? O_RDONLY : O_WRONLY);
		assert_int_equal(upmu_sys_close(fd[i]), 0);
	}
}

static void a_number_is_the_whole_text(void **s)
{
	static const char *const wrong[] = {
		"", "x", "12x", "1 2", "\n", "99999999999999999999"
	};
	long value = 4711;
	char most[32];

	(void)s;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		write_file(wrong[i]);
		assert_int_equal(upmu_sys_read_long("/file", &value), -EINVAL);
		assert_int_equal(value, 4711);
	}
	assert_int_equal(upmu_sys_read_long("/none", &value), -ENOENT);
	write_file("-12\n");
	assert_int_equal(upmu_sys_read_long("/file", &value), 0);
	assert_int_equal(value, -12);
	write_file("0x11");
	assert_int_equal(upmu_sys_read_long("/file", &value), 0);
	assert_int_equal(value, 17);
	snprintf(most, sizeof(most), "%ld", LONG_MAX);
	write_file(most);
	assert_int_equal(upmu_sys_read_long("/file", &value), 0);
	assert_true(value == LONG_MAX);
}

static void a_path_that_does_not_fit_is_refused(void **s)
{
	size_t room = UPMU_PATH_SIZE - 1 - strlen(folder);
	char path[UPMU_PATH_SIZE + 1], whole[UPMU_PATH_SIZE];

	(void)s;
	memset(path, '/', sizeof(path));
	path[room] = '\0';
	assert_int_equal(upmu_sys_path(whole, path), 0);
	assert_int_equal(strlen(whole), UPMU_PATH_SIZE - 1);
	assert_true(upmu_sys_exists(path));
	path[room] = '/';
	path[room + 1] = '\0';
	assert_int_equal(upmu_sys_path(whole, path), -ENAMETOOLONG);
	assert_int_equal(upmu_sys_open(path, O_RDONLY), -ENAMETOOLONG);
	assert_false(upmu_sys_exists(path));
	assert_false(upmu_sys_exists("/none"));
}

static void the_root_is_the_environments_where_none_is_forced(void **s)
{
	char whole[UPMU_PATH_SIZE];

	(void)s;
	setenv("UPMU_ROOT", "/elsewhere", 1);
	upmu_sys_path(whole, "/sys");
	assert_memory_equal(whole, folder, strlen(folder));
	upmu_sys_set_root(NULL);
	upmu_sys_path(whole, "/sys");
	assert_string_equal(whole, "/elsewhere/sys");
	unsetenv("UPMU_ROOT");
	upmu_sys_path(whole, "/sys");
	assert_string_equal(whole, "/sys");
}

static void the_kernels_release_is_this_machines_without_a_root(void **s)
{
	struct utsname name;
	char text[sizeof(name.release)];

	(void)s;
	assert_int_equal(uname(&name), 0);
	assert_int_equal(upmu_sys_release(text, sizeof(text)), -ENOENT);
	upmu_sys_set_root(NULL);
	assert_int_equal(upmu_sys_release(text, sizeof(text)), 0);
	assert_string_equal(text, name.release);
	assert_int_equal(upmu_sys_release(text, strlen(name.release) + 1), 0);
	assert_int_equal(upmu_sys_release(text, strlen(name.release)), -EFBIG);
}

/* Of one process or two: a lock is the descriptor's. */
static void a_byte_is_locked_by_one_descriptor_at_a_time(void **s)
{
	int one, other;

	(void)s;
	write_file("");
	one = upmu_sys_open("/file", O_RDWR);
	other = upmu_sys_open("/file", O_RDWR);
	assert_int_equal(upmu_sys_lock(one, 7), 0);
	assert_int_equal(upmu_sys_lock(one, 7), 0);
	assert_int_equal(upmu_sys_lock(other, 7), -EBUSY);
	assert_int_equal(upmu_sys_lock(other, 6), 0);
	assert_int_equal(upmu_sys_lock(other, 8), 0);
	upmu_sys_unlock(one, 7);
	assert_int_equal(upmu_sys_lock(other, 7), 0);
	assert_int_equal(upmu_sys_lock(one, 7), -EBUSY);
	upmu_sys_close(other);
	assert_int_equal(upmu_sys_lock(one, 7), 0);
	upmu_sys_close(one);
	assert_int_equal(upmu_sys_lock(one, 7), -EBADF);
}

static void a_file_is_mapped_to_read_or_to_write(void **s)
{
	void *page = NULL, *written = NULL;
	size_t size = upmu_sys_page_size();
	int fd;

	(void)s;
	write_file("a");
	fd = upmu_sys_open("/file", O_RDWR);
	assert_int_equal(upmu_sys_map(fd, size, &page), 0);
	assert_int_equal(upmu_sys_map_writable(fd, size, &written), 0);
	*(char *)written = 'b';
	assert_int_equal(*(char *)page, 'b');
	upmu_sys_unmap(page, size);
	upmu_sys_unmap(written, size);
	page = NULL;
	assert_int_equal(upmu_sys_map(fd, 0, &page), -EINVAL);
	assert_null(page);
	upmu_sys_close(fd);
	assert_int_equal(upmu_sys_map(fd, size, &page), -EBADF);
}

/* So it is where standard input is closed. */
static void descriptor_0_is_one_like_others(void **s)
{
	int input = dup(STDIN_FILENO), at = upmu_sys_open_folder("/");
	char text[8];

	(void)s;
	write_file("a");
	for (int open_at = 0; open_at < 2; open_at++) {
		close(STDIN_FILENO);
		assert_int_equal(open_at ? upmu_sys_open_folder_at(at, ".")
					 : upmu_sys_open("/file", O_RDONLY),
				 STDIN_FILENO);
		assert_int_equal(upmu_sys_close(STDIN_FILENO), 0);
		assert_int_equal(upmu_sys_read_text("/file", text, 8), 0);
		assert_string_equal(text, "a");
		assert_int_equal(upmu_sys_read_bytes_at(at, "file", text, 8),
				 1);
		assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	}
	upmu_sys_close(at);
	if (input >= 0) {
		dup2(input, STDIN_FILENO);
		close(input);
	}
}

/* errno is a former call's. */
static void what_succeeds_is_no_former_calls_failure(void **s)
{
	static const int former[] = { EIO, EINTR };
	char bytes[1024];
	int fd, at, n;

	(void)s;
	write_file("a");
	for (size_t i = 0; i < 2; i++) {
		fd = upmu_sys_open("/file", O_RDONLY);
		at = upmu_sys_open("/", O_RDONLY);
		errno = former[i];
		assert_int_equal(upmu_sys_ioctl(fd, FIONREAD, &n), 0);
		assert_int_equal(upmu_sys_read(fd, bytes, 8), 1);
		assert_int_equal(upmu_sys_read(fd, bytes, 8), 0);
		assert_true(upmu_sys_getdents(at, bytes, sizeof(bytes)) > 0);
		errno = former[i];
		assert_int_equal(upmu_sys_getdents(at, bytes, sizeof(bytes)),
				 0);
		upmu_sys_close(fd);
		upmu_sys_close(at);
	}
	assert_int_equal(upmu_sys_ioctl(fd, FIONREAD, &n), -EBADF);
	assert_int_equal(upmu_sys_read(fd, bytes, 8), -EBADF);
	assert_int_equal(upmu_sys_getdents(at, bytes, 8), -EBADF);
	assert_true(upmu_sys_perf_event_open(NULL, 0, -1, -1, 0) < 0);
}

static int pipe_ends[2];

static void write_late(int number)
{
	(void)number;
	if (write(pipe_ends[1], "a", 1) != 1)
		abort();
}

static void an_interrupted_reading_goes_on(void **s)
{
	const struct sigaction late = { .sa_handler = write_late };
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	char byte = 0;

	(void)s;
	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(sigaction(SIGALRM, &late, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_int_equal(upmu_sys_read(pipe_ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'a');
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

/* perf waits for a thread that executes a program, and a signal ends that. */
static int interruptions;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e);
long __wrap_syscall(long number, long a, long b, long c, long d, long e)
{
	if (number != SYS_perf_event_open || interruptions-- <= 0)
		return __real_syscall(number, a, b, c, d, e);
	errno = EINTR;
	return -1;
}

static void an_interrupted_opening_is_done_again(void **s)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	(void)s;
	interruptions = 3;
	/* Nobody and no CPU is -EINVAL; QEMU's user mode has no such call. */
	assert_int_not_equal(upmu_sys_perf_event_open(&attr, -1, -1, -1, 0),
			     -EINTR);
	assert_int_equal(interruptions, -1);
}

static void a_text_that_comes_in_pieces_is_read_whole(void **s)
{
	char text[8];
	pid_t child;

	(void)s;
	assert_int_equal(mkfifo("file", 0600), 0);
	child = fork();
	if (!child) {
		int fd = open("file", O_WRONLY);

		for (size_t i = 0; i < 3; i++) {
			usleep(20000);
			if (write(fd, "ab", 2) != 2)
				abort();
		}
		_exit(0);
	}
	assert_int_equal(upmu_sys_read_text("/file", text, sizeof(text)), 0);
	assert_string_equal(text, "ababab");
	waitpid(child, NULL, 0);
}

static void a_fixture_is_no_kernel_of_32_bits(void **s)
{
	struct utsname name;

	(void)s;
	assert_false(upmu_sys_is_arm32());
	upmu_sys_set_root(NULL);
	assert_int_equal(uname(&name), 0);
	assert_int_equal(upmu_sys_is_arm32(),
			 !strncmp(name.machine, "armv7", 5) ||
				 !strncmp(name.machine, "armv6", 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_ROOT_TEST(a_text_is_read_whole_without_its_last_newline),
		OWN_ROOT_TEST(a_text_that_does_not_fit_is_refused),
		OWN_ROOT_TEST(a_file_of_a_folder_is_read_as_it_is),
		OWN_ROOT_TEST(what_is_open_is_closed_on_exec),
		OWN_ROOT_TEST(a_number_is_the_whole_text),
		OWN_ROOT_TEST(a_path_that_does_not_fit_is_refused),
		OWN_ROOT_TEST(
			the_root_is_the_environments_where_none_is_forced),
		OWN_ROOT_TEST(
			the_kernels_release_is_this_machines_without_a_root),
		OWN_ROOT_TEST(a_byte_is_locked_by_one_descriptor_at_a_time),
		OWN_ROOT_TEST(a_file_is_mapped_to_read_or_to_write),
		OWN_ROOT_TEST(descriptor_0_is_one_like_others),
		OWN_ROOT_TEST(what_succeeds_is_no_former_calls_failure),
		OWN_ROOT_TEST(an_interrupted_reading_goes_on),
		OWN_ROOT_TEST(an_interrupted_opening_is_done_again),
		OWN_ROOT_TEST(a_text_that_comes_in_pieces_is_read_whole),
		OWN_ROOT_TEST(a_fixture_is_no_kernel_of_32_bits),
	};

	return cmocka_run_group_tests_name("sys", tests, NULL, NULL);
}
