// SPDX-License-Identifier: MIT
/* Reports on regions: where they go, and what is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "regions.h"
#include "tests/unit/source_model.h"

static char link_target[sizeof(report_path) + 8];

/* As a server that forks its workers: each calls as often as its number. */
static void report_from_workers(void)
{
	pid_t workers[2];

	setenv("UPMU_REPORT", report_path, 1);
	call(region_of("parent"));
	for (int i = 0; i < 2; i++) {
		workers[i] = fork();
		if (workers[i])
			continue;
		for (int k = 0; k < 10 + i; k++)
			call(region_of("worker"));
		exit(0);
	}
	for (int i = 0; i < 2; i++) {
		char path[sizeof(report_path) + 16], text[4096] = "";
		char wanted[32];
		FILE *file;
		int status;

		CHECK(waitpid(workers[i], &status, 0) == workers[i]);
		CHECK(!status);
		name_of(path, workers[i]);
		file = fopen(path, "r");
		CHECK(file);
		CHECK(fread(text, 1, sizeof(text) - 1, file) > 0);
		fclose(file);
		unlink(path);
		sprintf(wanted, "\"calls\": %d,", 10 + i);
		CHECK(strstr(text, wanted));
		CHECK(!strstr(text, "parent\""));
	}
}

static void report_to_a_name_with_its_number(void)
{
	char wish[sizeof(report_path) + 8];

	sprintf(wish, "%.*s.%%p.json", (int)strlen(report_path) - 5,
		report_path);
	setenv("UPMU_REPORT", wish, 1);
	call(region_of("a \"quoted\\ name\n"));
}

static char folder[sizeof(report_path) + 4];

static void report_into_that_folder(void)
{
	char wish[sizeof(folder) + 16];

	sprintf(wish, "%s/%%p.json", folder);
	setenv("UPMU_REPORT", wish, 1);
	call(region_of("first"));
}

static void report_at_exit(void)
{
	setenv("UPMU_REPORT", report_path, 1);
	upmu_model.running = 50;
	call(region_of("first"));
	call(region_of("first"));
	region_of("never");
}

static void report_without_standard_input(void)
{
	close(STDIN_FILENO);
	report_at_exit();
}

static void report_what_was_missed(void)
{
	struct upmu_region *region = region_of("first");

	report_at_exit();
	upmu_model.error = -EIO;
	CHECK(upmu_region_begin(region) == -EIO);
	CHECK(upmu_region_end(region) == -EINVAL);
	CHECK(upmu_region_begin(region) == -EIO);
	CHECK(upmu_region_end(region) == -EINVAL);
	upmu_model.error = 0;
	call(region);
}

static void report_no_call_that_was_counted(void)
{
	struct upmu_region *region = region_of("first");

	setenv("UPMU_REPORT", report_path, 1);
	upmu_model.error = -EIO;
	CHECK(upmu_region_begin(region) == -EIO);
	CHECK(upmu_region_end(region) == -EINVAL);
}

static void report_what_was_missed_as_text(void)
{
	int fd = open(report_path, O_WRONLY | O_TRUNC);

	report_what_was_missed();
	CHECK(!upmu_regions_report(fd, UPMU_REGION_TEXT));
}

static void report_by_hand(void)
{
	int fd = open(report_path, O_WRONLY | O_TRUNC);

	/* What was written by hand is not written again at exit. */
	unsetenv("UPMU_REPORT");
	call(region_of("first"));
	CHECK(upmu_regions_report(fd, (enum upmu_region_format)7) == -EINVAL);
	CHECK(!upmu_regions_report(fd, UPMU_REGION_TEXT));
	CHECK(upmu_regions_report(-1, UPMU_REGION_TEXT) == -EBADF);
	CHECK(upmu_regions_report(-1, UPMU_REGION_JSON) < 0);
	close(fd);
	CHECK(dup2(open(report_path, O_WRONLY | O_APPEND), STDERR_FILENO) >= 0);
}

/* How much it read, the last byte of it in *@last. */
static void *read_late(void *last)
{
	static const struct timespec moment = { .tv_nsec = 50000000 };
	int fd = *(char *)last;
	char text[512];
	intptr_t size = 0;
	ssize_t n;

	nanosleep(&moment, NULL);
	while ((n = read(fd, text, sizeof(text))) > 0) {
		size += n;
		*(char *)last = text[n - 1];
	}
	return (void *)size;
}

/* A pipe that a shell or a server has left so: standard error may be one. */
static void report_to_one_who_does_not_wait(void)
{
	pthread_t reader;
	char name[16], last;
	void *size;
	int fds[2];

	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		call(region_of(name));
	}
	CHECK(!pipe2(fds, O_NONBLOCK) && fcntl(fds[1], F_SETPIPE_SZ, 4096) > 0);
	CHECK(!fcntl(fds[0], F_SETFL, 0));
	last = (char)fds[0];
	CHECK(!pthread_create(&reader, NULL, read_late, &last));
	CHECK(!upmu_regions_report(fds[1], UPMU_REGION_JSON));
	close(fds[1]);
	CHECK(!pthread_join(reader, &size));
	CHECK((intptr_t)size > 8192 && last == '\n');
}

/* 970809 in 10 calls, the 1 of an empty pair taken off each. */
static void report_a_mean_with_a_tenth(void)
{
	setenv("UPMU_REPORT", report_path, 1);
	upmu_model.step[0] = 1;
	CHECK(!upmu_regions_init("r3", NULL));
	for (int i = 0; i < 10; i++) {
		upmu_model.step[0] = i ? 97082 : 97081;
		call(region_of("tenth"));
	}
}

static void do_nothing(void)
{
	setenv("UPMU_REPORT", report_path, 1);
	region_of("never");
}

static void call_names_of_every_kind(void)
{
	setenv("UPMU_REPORT", report_path, 1);
	call(region_of("gr\xfc\xdf"));				   /* Latin-1 */
	call(region_of("gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80")); /* UTF-8 */
	call(region_of("\xc0\xaf"));	 /* too long a form */
	call(region_of("\xed\xa0\x80")); /* a surrogate */
	call(region_of("cut\xe2\x82"));
}

static json_t *load_report(void)
{
	json_error_t error;
	json_t *root = json_load_file(report_path, 0, &error);

	if (!root)
		fail_msg("%s: %s", report_path, error.text);
	return root;
}

static void the_report_at_exit_is_json_where_the_name_says_so(void **state)
{
	json_t *root, *regions, *event;

	(void)state;
	assert_int_equal(run_in_child(report_at_exit), 0);
	root = load_report();
	assert_string_equal(json_string_value(json_object_get(root, "source")),
			    "model");
	assert_true(json_number_value(json_object_get(root, "running")) == 0.5);
	regions = json_object_get(root, "regions");
	assert_int_equal(json_array_size(regions), 1);
	event = json_array_get(
		json_object_get(json_array_get(regions, 0), "events"), 1);
	assert_string_equal(json_string_value(json_object_get(event, "event")),
			    "instructions");
	assert_int_equal(json_integer_value(json_object_get(event, "overhead")),
			 2000);
	json_decref(root);
}

/* The report's descriptor is 0. */
static void a_daemon_without_standard_input_reports_too(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(report_without_standard_input), 0);
	json_decref(load_report());
}

static const char *report_text(void)
{
	static char text[4096];
	FILE *file = fopen(report_path, "r");

	memset(text, 0, sizeof(text));
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	return text;
}

static void a_mean_in_json_has_no_digits_that_nobody_counted(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(report_a_mean_with_a_tenth), 0);
	assert_non_null(strstr(report_text(), "\"mean\": 97080.9,"));
	assert_non_null(strstr(report_text(), "\"total\": 970809,"));
}

static void calls_that_could_not_be_counted_are_told(void **state)
{
	json_t *root;

	(void)state;
	assert_int_equal(run_in_child(report_what_was_missed), 0);
	root = load_report();
	assert_int_equal(
		json_integer_value(json_object_get(root, "missed_calls")), 2);
	assert_string_equal(
		json_string_value(json_object_get(root, "missed_why")),
		"the model was told to fail");
	json_decref(root);
	assert_int_equal(run_in_child(report_what_was_missed_as_text), 0);
	assert_non_null(
		strstr(report_text(), "and are missing: 2; the first: "));
	assert_non_null(
		strstr(report_text(), "counted in 50.0 % of the time only"));
	assert_int_equal(run_in_child(report_by_hand), 0);
	assert_null(strstr(report_text(), "missing"));
}

static void a_program_of_which_no_call_was_counted_reports_that(void **state)
{
	json_t *root;

	(void)state;
	assert_int_equal(run_in_child(report_no_call_that_was_counted), 0);
	root = load_report();
	assert_int_equal(
		json_integer_value(json_object_get(root, "missed_calls")), 1);
	assert_true(json_number_value(json_object_get(root, "running")) == 1);
	assert_int_equal(json_array_size(json_object_get(root, "regions")), 0);
	json_decref(root);
}

/* The last run's report stands where this process will write its own. */
static void report_over_the_last(void)
{
	const struct timeval long_ago[2] = { { 1000000, 0 }, { 1000000, 0 } };
	char own[sizeof(report_path) + 16];

	name_of(own, getpid());
	CHECK(!rename(report_path, own));
	CHECK(!utimes(own, long_ago));
	report_at_exit();
}

/* A sibling had this process's number before. */
static void report_beside_a_sibling(void)
{
	char own[sizeof(report_path) + 16];

	name_of(own, getpid());
	CHECK(!rename(report_path, own));
	report_at_exit();
}

static void report_through_a_link(void)
{
	char own[sizeof(report_path) + 16];

	name_of(own, getpid());
	CHECK(!rename(report_path, link_target));
	CHECK(!symlink(link_target, own));
	report_at_exit();
}

/* No file of this process may be larger than 10 bytes: a full disk. */
static void report_where_there_is_no_room(void)
{
	const struct rlimit small = { 10, 10 };

	report_over_the_last();
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &small));
	CHECK(dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
}

static bool is_memory_used_up;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return is_memory_used_up ? NULL : __real_malloc(size);
}

static void free_memory(void)
{
	is_memory_used_up = false;
}

static void report_without_memory(void)
{
	int fd = open(report_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	/* Behind the report: gcov, for one, writes its counts by malloc(). */
	CHECK(!atexit(free_memory));
	unsetenv("UPMU_REPORT");
	call(region_of("first"));
	is_memory_used_up = true;
}

static size_t files_beside(void)
{
	char pattern[sizeof(report_path) + 8];
	glob_t found;
	size_t n = 0;

	sprintf(pattern, "%.*s*.tmp", (int)strlen(report_path) - 5,
		report_path);
	if (!glob(pattern, 0, NULL, &found)) {
		n = found.gl_pathc;
		globfree(&found);
	}
	return n;
}

static void a_report_is_replaced_whole_or_not_at_all(void **state)
{
	char before[4096] = "", opened[4096] = "";
	FILE *old;

	(void)state;
	assert_int_equal(run_in_child(report_a_mean_with_a_tenth), 0);
	strcpy(before, report_text());
	old = fopen(report_path, "r");
	assert_int_equal(run_in_child(report_where_there_is_no_room), 0);
	assert_string_equal(report_text(), before);
	/* Who reads one while the next is written has it whole. */
	assert_int_equal(run_in_child(report_over_the_last), 0);
	assert_null(strstr(report_text(), "tenth"));
	assert_true(fread(opened, 1, sizeof(opened) - 1, old) > 0);
	assert_string_equal(opened, before);
	fclose(old);
	assert_int_equal(files_beside(), 0);
}

static void a_report_that_memory_lacks_for_is_told(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(report_without_memory), 0);
	assert_string_equal(report_text(), "libupmu: out of memory\n");
}

static void a_report_goes_through_a_link_that_stays(void **state)
{
	struct stat found;

	(void)state;
	assert_int_equal(run_in_child(report_a_mean_with_a_tenth), 0);
	sprintf(link_target, "%s.target", report_path);
	assert_int_equal(run_in_child(report_through_a_link), 0);
	assert_int_equal(lstat(report_path, &found), 0);
	assert_true(S_ISLNK(found.st_mode));
	assert_non_null(strstr(report_text(), "first"));
	assert_int_equal(rename(link_target, report_path), 0);
	assert_int_equal(files_beside(), 0);
}

static void forked_workers_write_a_report_each(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(report_from_workers), 0);
	assert_non_null(strstr(report_text(), "\"region\": \"parent\""));
	assert_null(strstr(report_text(), "worker"));
}

static void numbers_that_began_anew_replace_no_siblings_report(void **state)
{
	char pattern[sizeof(report_path) + 16];
	glob_t found;

	(void)state;
	assert_int_equal(run_in_child(report_a_mean_with_a_tenth), 0);
	assert_int_equal(run_in_child(report_beside_a_sibling), 0);
	assert_non_null(strstr(report_text(), "tenth"));
	sprintf(pattern, "%.*s.*-*.json", (int)strlen(report_path) - 5,
		report_path);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(rename(found.gl_pathv[0], report_path), 0);
	assert_non_null(strstr(report_text(), "first"));
	globfree(&found);
}

static void the_name_of_a_report_may_have_the_process_number(void **state)
{
	json_t *root, *region;

	(void)state;
	assert_int_equal(run_in_child(report_to_a_name_with_its_number), 0);
	root = load_report();
	region = json_array_get(json_object_get(root, "regions"), 0);
	assert_string_equal(
		json_string_value(json_object_get(region, "region")),
		"a \"quoted\\ name\n");
	json_decref(root);
}

/* As TMPDIR may be, where upmu stat --regions wants its reports. */
static void a_folder_may_be_called_as_the_process_number_is_written(void **s)
{
	char pattern[sizeof(folder) + 16];
	glob_t found;

	(void)s;
	sprintf(folder, "%s.%%p", report_path);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(run_in_child(report_into_that_folder), 0);
	sprintf(pattern, "%s/[0-9]*.json", folder);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(unlink(found.gl_pathv[0]), 0);
	assert_int_equal(rmdir(folder), 0);
	globfree(&found);
}

static void a_name_of_any_bytes_leaves_the_report_json(void **state)
{
	static const char *const names[] = {
		"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80",
		"\xc3\x80\xc2\xaf", "\xc3\xad\xc2\xa0\xc2\x80",
		"cut\xc3\xa2\xc2\x82"
	};
	json_t *root, *regions;

	(void)state;
	assert_int_equal(run_in_child(call_names_of_every_kind), 0);
	root = load_report();
	regions = json_object_get(root, "regions");
	assert_int_equal(json_array_size(regions), 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(
			json_string_value(json_object_get(
				json_array_get(regions, i), "region")),
			names[i]);
	json_decref(root);
}

static void a_report_by_hand_replaces_the_one_at_exit(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(run_in_child(report_by_hand), 0);
	text = report_text();
	assert_non_null(strstr(text, "Regions, source model:"));
	assert_non_null(strstr(text, "first                cycles"));
	assert_null(strstr(strstr(text, "Regions") + 1, "Regions"));
}

static void a_report_is_whole_where_its_reader_is_slow(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(report_to_one_who_does_not_wait), 0);
}

static void a_program_without_calls_writes_no_report(void **state)
{
	char byte;
	int fd;

	(void)state;
	fd = open(report_path, O_RDWR | O_TRUNC);
	assert_int_equal(run_in_child(do_nothing), 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_report_at_exit_is_json_where_the_name_says_so),
		cmocka_unit_test(calls_that_could_not_be_counted_are_told),
		cmocka_unit_test(
			a_program_of_which_no_call_was_counted_reports_that),
		cmocka_unit_test(a_daemon_without_standard_input_reports_too),
		cmocka_unit_test(
			a_mean_in_json_has_no_digits_that_nobody_counted),
		cmocka_unit_test(a_report_is_replaced_whole_or_not_at_all),
		cmocka_unit_test(a_report_that_memory_lacks_for_is_told),
		cmocka_unit_test(a_report_goes_through_a_link_that_stays),
		cmocka_unit_test(forked_workers_write_a_report_each),
		cmocka_unit_test(
			numbers_that_began_anew_replace_no_siblings_report),
		cmocka_unit_test(
			the_name_of_a_report_may_have_the_process_number),
		cmocka_unit_test(
			a_folder_may_be_called_as_the_process_number_is_written),
		cmocka_unit_test(a_name_of_any_bytes_leaves_the_report_json),
		cmocka_unit_test(a_report_by_hand_replaces_the_one_at_exit),
		cmocka_unit_test(a_report_is_whole_where_its_reader_is_slow),
		cmocka_unit_test(a_program_without_calls_writes_no_report),
	};

	return cmocka_run_group_tests_name("report", tests, make_report_file,
					   remove_report_file);
}
