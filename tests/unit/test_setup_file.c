// SPDX-License-Identifier: MIT
/* The files that upmu setup writes, and the lines in them that are others'. */
#include "own_root.h"

#include <errno.h>
#include <fcntl.h>

#include "tests/unit/wrap_fsync.h"
#include "tools/setup/setup.h"

#define PATH "/etc/60-upmu.conf"

static const char *content(const char *path)
{
	static char text[4096];
	FILE *file = fopen(path, "r");

	if (!file)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static char text[SETUP_TEXT_SIZE];

/* ---- writing ---- */

static void a_file_is_written_whole_with_rights_for_all_to_read(void **state)
{
	struct stat there;

	(void)state;
	fsyncs = 0;
	mkdir("etc", 0755);
	umask(077);
	assert_int_equal(setup_file_write(PATH, "one\n"), 0);
	umask(022);
	assert_string_equal(content("etc/60-upmu.conf"), "one\n");
	assert_int_equal(stat("etc/60-upmu.conf", &there), 0);
	assert_int_equal(there.st_mode & 07777, 0644);
	assert_int_equal(fsyncs, 2); /* the file and its folder */
	put("etc/60-upmu.conf.upmu-new", "of an interrupted one");
	assert_int_equal(setup_file_write(PATH, "two\n"), 0);
	assert_string_equal(content("etc/60-upmu.conf"), "two\n");
	assert_null(content("etc/60-upmu.conf.upmu-new"));
}

static void what_cannot_be_written_leaves_what_was_there(void **state)
{
	char path[5000];

	(void)state;
	assert_int_equal(setup_file_write(PATH, "one\n"), -ENOENT);
	put("etc/60-upmu.conf", "old\n");
	fsync_error = EIO;
	assert_int_equal(setup_file_write(PATH, "one\n"), -EIO);
	fsync_error = 0;
	assert_string_equal(content("etc/60-upmu.conf"), "old\n");
	assert_null(content("etc/60-upmu.conf.upmu-new"));
	mkdir("etc/folder", 0755);
	assert_int_equal(setup_file_write("/etc/folder", "one\n"), -EISDIR);
	assert_null(content("etc/folder.upmu-new"));
	memset(path, '/', sizeof(path));
	strcpy(path + sizeof(path) - 4, "abc");
	assert_int_equal(setup_file_write(path, "one\n"), -ENAMETOOLONG);
}

static void a_disk_that_cannot_be_waited_for_is_no_failure(void **state)
{
	(void)state;
	put("etc/60-upmu.conf", "old\n");
	fsync_error = EINVAL;
	assert_int_equal(setup_file_remove(PATH), 0);
	fsync_error = EIO;
	put("etc/60-upmu.conf", "old\n");
	assert_int_equal(setup_file_remove(PATH), -EIO);
	fsync_error = 0;
	assert_null(content("etc/60-upmu.conf"));
}

static void removing_takes_the_unfinished_too(void **state)
{
	(void)state;
	assert_int_equal(setup_file_remove(PATH), 0); /* no folder */
	put("etc/60-upmu.conf", "old\n");
	put("etc/60-upmu.conf.upmu-new", "half");
	assert_true(setup_file_was_begun(PATH));
	assert_int_equal(setup_file_remove(PATH), 0);
	assert_null(content("etc/60-upmu.conf"));
	assert_null(content("etc/60-upmu.conf.upmu-new"));
	assert_false(setup_file_was_begun(PATH));
	assert_int_equal(setup_file_remove(PATH), 0);
	put("etc/60-upmu.conf.upmu-new", "half");
	assert_true(setup_file_was_begun(PATH));
	assert_int_equal(setup_file_remove(PATH), 0);
	put("etc/60-upmu.conf", "old\n");
	assert_true(setup_file_was_begun(PATH));
	/* a file where a folder should be */
	assert_int_equal(setup_file_remove("/etc/60-upmu.conf/below"), 0);
	mkdir("etc/folder", 0755);
	assert_int_equal(setup_file_remove("/etc/folder"), -EISDIR);
}

static void a_file_without_the_mark_is_somebody_elses(void **state)
{
	(void)state;
	assert_false(setup_file_is_foreign(PATH));
	assert_false(setup_file_has(PATH, "a"));
	put("etc/60-upmu.conf", "a = 1\n");
	assert_true(setup_file_is_foreign(PATH));
	assert_true(setup_file_has(PATH, "a = 1"));
	assert_false(setup_file_has(PATH, "a = 2"));
	put("etc/60-upmu.conf", SETUP_MARK "a = 1\n");
	assert_false(setup_file_is_foreign(PATH));
}

/* ---- lines ---- */

static void assert_merged(const char *there, const char *lines,
			  const char *wanted)
{
	if (there)
		put("etc/60-upmu.conf", there);
	assert_int_equal(setup_file_merge(text, PATH, lines, ""), 0);
	assert_string_equal(text, wanted);
}

static void lines_join_those_that_are_there_once(void **state)
{
	(void)state;
	assert_merged(NULL, "a = 1\nb = 2\n", SETUP_MARK "a = 1\nb = 2\n");
	assert_merged(NULL, "", SETUP_MARK);
	assert_merged("c = 3\n", "a = 1\n", "c = 3\na = 1\n");
	assert_merged("c = 3", "a = 1", "c = 3\na = 1\n");
	assert_merged("a = 2\n", "a = 1\nb = 1\n", "a = 2\nb = 1\n");
	assert_merged("a=2\n", "a = 1\n", "a=2\n");
	assert_merged("a  =2\n", "a = 1\n", "a  =2\n");
	assert_merged("ab = 2\n", "a = 1\n", "ab = 2\na = 1\n");
	assert_merged("a = 2\n", "ab = 1\n", "a = 2\nab = 1\n");
	assert_merged("x\na = 2\ny\n", "a = 1\ny\n", "x\na = 2\ny\n");
	assert_merged("upmu\n", "upmu\n", "upmu\n");
	assert_merged("\n", "upmu\n", "\nupmu\n");
}

static void what_a_setup_before_wrote_gives_way(void **state)
{
	const char *const lines = "a = 1\nb = 1\n";

	(void)state;
	put("etc/60-upmu.conf", "a = 2\nc = 3\n\n");
	assert_int_equal(setup_file_merge(text, PATH, lines, "a = 2\nc = 3\n"),
			 0);
	assert_string_equal(text, "c = 3\n\na = 1\nb = 1\n");
	assert_int_equal(setup_file_merge(text, PATH, lines, "a = 3\n"), 0);
	assert_string_equal(text, "a = 2\nc = 3\n\nb = 1\n");
}

static void only_what_a_merge_adds_is_recorded(void **state)
{
	char ours[64] = "a = 2\n";

	(void)state;
	put("etc/60-upmu.conf", "a = 2\nb = 3\n");
	setup_file_record(ours, sizeof(ours), PATH, "a = 1\nb = 1\n", "");
	assert_string_equal(ours, "a = 2\n");
	setup_file_record(ours, sizeof(ours), PATH, "a = 1\nb = 1\nc = 1\n",
			  ours);
	assert_string_equal(ours, "a = 2\na = 1\nc = 1\n");
	setup_file_record(ours, sizeof(ours), PATH, "a = 1\nc = 1\n", ours);
	assert_string_equal(ours, "a = 2\na = 1\nc = 1\n");
	setup_file_record(ours, sizeof(ours), "/etc", "d = 1\n", ours);
	assert_string_equal(ours, "a = 2\na = 1\nc = 1\n");
}

/* Of udev one setting as a whole, however many = it has. */
static void a_rule_of_udev_is_one_setting(void **state)
{
	(void)state;
	assert_merged("KERNEL==\"upmu\", MODE=\"0660\"\n",
		      "KERNEL==\"upmu\", GROUP=\"upmu\"\n",
		      "KERNEL==\"upmu\", MODE=\"0660\"\n"
		      "KERNEL==\"upmu\", GROUP=\"upmu\"\n");
	assert_merged("options upmu a=\"1\"\n", "options upmu a=\"2\"\n",
		      "options upmu a=\"1\"\noptions upmu a=\"2\"\n");
	assert_merged("a==1\n", "a==2\n", "a==1\na==2\n");
	/* of this line alone: the quotes of the next say nothing */
	assert_merged("a = 2\nb = \"1\"\n", "a = 1\n", "a = 2\nb = \"1\"\n");
}

/* The mark and the end take their places. */
static void lines_that_have_no_room_are_refused(void **state)
{
	static char long_line[SETUP_TEXT_SIZE];
	size_t room = SETUP_TEXT_SIZE - strlen(SETUP_MARK) - 2;

	(void)state;
	memset(long_line, 'x', room);
	assert_int_equal(setup_file_merge(text, PATH, long_line, ""), 0);
	assert_int_equal(strlen(text), SETUP_TEXT_SIZE - 1);
	long_line[room] = 'x';
	assert_int_equal(setup_file_merge(text, PATH, long_line, ""), -EFBIG);
}

static void what_cannot_be_read_is_not_merged(void **state)
{
	(void)state;
	mkdir("etc", 0755);
	mkdir("etc/60-upmu.conf", 0755);
	assert_int_equal(setup_file_merge(text, PATH, "a\n", ""), -EISDIR);
	assert_int_equal(setup_file_without(text, PATH, "a\n"), -EISDIR);
	assert_string_equal(text, "");
}

static void assert_left(const char *there, const char *lines,
			const char *wanted)
{
	put("etc/60-upmu.conf", there);
	assert_int_equal(setup_file_without(text, PATH, lines), 0);
	assert_string_equal(text, wanted);
}

static void the_users_own_lines_are_left(void **state)
{
	(void)state;
	strcpy(text, "before");
	assert_int_equal(setup_file_without(text, PATH, "a\n"), 0);
	assert_string_equal(text, "");
	put("file", "");
	assert_int_equal(setup_file_without(text, "/file/below", "a\n"), 0);
	assert_left(SETUP_MARK "a = 1\nb = 2\n", "a = 1\nb = 2\n", "");
	assert_left(SETUP_MARK SETUP_GROUP_MARK "a = 1\n", "a = 1\n", "");
	assert_left(SETUP_MARK "a = 1\nmine\n", "a = 1\n", "mine\n");
	/* of the same setting, but not what setup wrote */
	assert_left(SETUP_MARK "a = 2\nb = 2", "a = 1\n", "a = 2\nb = 2\n");
	assert_left("# mine\n" SETUP_MARK "a = 1\n", "a = 1", "# mine\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_ROOT_TEST(
			a_file_is_written_whole_with_rights_for_all_to_read),
		OWN_ROOT_TEST(what_cannot_be_written_leaves_what_was_there),
		OWN_ROOT_TEST(a_disk_that_cannot_be_waited_for_is_no_failure),
		OWN_ROOT_TEST(removing_takes_the_unfinished_too),
		OWN_ROOT_TEST(a_file_without_the_mark_is_somebody_elses),
		OWN_ROOT_TEST(lines_join_those_that_are_there_once),
		OWN_ROOT_TEST(what_a_setup_before_wrote_gives_way),
		OWN_ROOT_TEST(only_what_a_merge_adds_is_recorded),
		OWN_ROOT_TEST(a_rule_of_udev_is_one_setting),
		OWN_ROOT_TEST(lines_that_have_no_room_are_refused),
		OWN_ROOT_TEST(what_cannot_be_read_is_not_merged),
		OWN_ROOT_TEST(the_users_own_lines_are_left),
	};

	return cmocka_run_group_tests_name("setup_file", tests, NULL, NULL);
}
