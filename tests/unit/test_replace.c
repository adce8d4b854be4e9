// SPDX-License-Identifier: MIT
/* A file that is replaced is whole or what it was, whatever comes. */
#include <glob.h>

#include "replace_here.h"

/* What a user does who has seen enough, while it is half written. */
static int write_and_end(FILE *out, const void *signal)
{
	fputs("one half", out);
	fflush(out);
	raise(*(const int *)signal);
	fputs(" and the other\n", out);
	return 0;
}

static size_t files_like(const char *pattern)
{
	glob_t found;
	size_t n;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	n = found.gl_pathc;
	globfree(&found);
	return n;
}

static void a_signal_waits_until_the_file_is_whole(void **state)
{
	char folder[] = "/tmp/upmu-replace-XXXXXX", text[64] = "";

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		pid_t pid = fork();
		int status;
		FILE *file;

		if (!pid) {
			/* a shell ignores some in what it starts by '&' */
			signal(ending[i], SIG_DFL);
			replace_file("report", write_and_end, &ending[i],
				     REPLACE_PLAIN);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), ending[i]);
		assert_int_equal(files_like("report*"), 1);
		file = fopen("report", "r");
		assert_non_null(file);
		assert_non_null(fgets(text, sizeof(text), file));
		fclose(file);
		assert_string_equal(text, "one half and the other\n");
		unlink("report");
	}
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* ---- which file it is ---- */

static void what_is_no_plain_file_is_none(void **state)
{
	(void)state;
	put("file", "old", 0644);
	assert_int_equal(mkdir("below", 0755), 0);
	assert_int_equal(mkfifo("fifo", 0644), 0);
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(symlink("nothing", "dangling"), 0);
	assert_true(replace_is_plain("file"));
	assert_true(replace_is_plain("new"));
	assert_true(replace_is_plain("link"));
	assert_false(replace_is_plain(""));
	assert_false(replace_is_plain("below"));
	assert_false(replace_is_plain("fifo"));
	assert_false(replace_is_plain("dangling"));
}

/* One that is read from alone will be read to its end from what it was. */
static void a_descriptor_of_a_shell_is_no_file_to_replace(void **state)
{
	static const int ways[] = { O_RDONLY, O_WRONLY, O_RDWR };
	static const int fds[] = { 0, 1, 2, 3, 9, 10 };

	(void)state;
	put("file", "old", 0644);
	put("other", "old", 0644);
	for (size_t i = 0; i < 3 * sizeof(fds) / sizeof(fds[0]); i++) {
		int fd = fds[i / 3], way = ways[i % 3];
		int kept = fcntl(fd, F_DUPFD, 20);
		int one = open("file", way);
		bool plain, other;

		if (one != fd) {
			dup2(one, fd);
			close(one);
		}
		plain = replace_is_plain("file");
		other = replace_is_plain("other");
		close(fd);
		if (kept >= 0) {
			dup2(kept, fd);
			close(kept);
		}
		assert_int_equal(plain, fd == 10 || way == O_RDONLY);
		assert_true(other);
	}
}

static void a_link_stays_and_what_it_names_is_new(void **state)
{
	ino_t before;

	(void)state;
	assert_int_equal(mkdir("below", 0755), 0);
	put("below/file", "old", 0644);
	before = of("below/file").st_ino;
	assert_int_equal(symlink("below/file", "link"), 0);
	assert_int_equal(symlink("later", "dangling"), 0);
	assert_int_equal(replace("link"), 0);
	assert_int_equal(replace("dangling"), 0);
	assert_true(S_ISLNK(of("link").st_mode));
	assert_true(S_ISLNK(of("dangling").st_mode));
	assert_has("below/file", "new");
	assert_int_not_equal(of("below/file").st_ino, before);
	assert_has("later", "new");
	assert_files(4);
}

static void a_fifo_is_written_to(void **state)
{
	char text[8] = "";
	int fd;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0644), 0);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	assert_int_equal(replace("fifo"), 0);
	assert_int_equal(read(fd, text, 7), 3);
	assert_string_equal(text, "new");
	close(fd);
	assert_true(S_ISFIFO(of("fifo").st_mode));
	assert_files(1);
}

/* ---- rights ---- */

static void a_new_file_has_the_rights_of_one(void **state)
{
	(void)state;
	umask(027);
	assert_int_equal(replace("file"), 0);
	assert_has("file", "new");
	assert_int_equal(of("file").st_mode & 07777, 0640);
	assert_int_equal(umask(022), 027);
	assert_files(1);
}

static void a_replaced_file_keeps_its_rights_and_no_set_uid(void **state)
{
	ino_t before;

	(void)state;
	put("file", "old", 0604);
	before = of("file").st_ino;
	assert_int_equal(replace("file"), 0);
	assert_has("file", "new");
	assert_int_equal(of("file").st_mode & 07777, 0604);
	assert_int_not_equal(of("file").st_ino, before);
	assert_int_equal(chmod("file", 06755), 0);
	assert_int_equal(replace("file"), 0);
	assert_int_equal(of("file").st_mode & 07777, 0755);
	assert_files(1);
}

static void a_replaced_file_keeps_its_owner(void **state)
{
	(void)state;
	skip_unless_root();
	put("file", "old", 0644);
	assert_int_equal(chown("file", 1234, 2345), 0);
	assert_int_equal(replace("file"), 0);
	assert_int_equal(of("file").st_uid, 1234);
	assert_int_equal(of("file").st_gid, 2345);
}

static void replace_of_a_group(void)
{
	struct stat there;

	claim(!replace("file"));
	claim(!stat("file", &there));
	claim(there.st_uid == 54321 && there.st_gid == 2345);
	claim((there.st_mode & 07777) == 0666);
}

static void in_a_groups_folder_it_keeps_its_group(void **state)
{
	(void)state;
	skip_unless_root();
	assert_int_equal(chmod(".", 0777), 0);
	put("file", "old", 0666);
	assert_int_equal(chown("file", 0, 2345), 0);
	as_nobody(replace_of_a_group);
	assert_files(1);
}

static void replace_what_is_closed(void)
{
	claim(replace_try("file") == -1 && errno == EACCES);
	claim(replace("file") == -1 && errno == EACCES);
}

static void a_file_that_may_not_be_written_is_not_replaced(void **state)
{
	(void)state;
	skip_unless_root();
	assert_int_equal(chmod(".", 0777), 0);
	put("file", "old", 0444);
	as_nobody(replace_what_is_closed);
	assert_has("file", "old");
	assert_files(1);
}

static void replace_in_a_closed_folder(void)
{
	claim(!replace_try("file"));
	claim(!replace("file"));
	claim(replace_try("other") == -1 && errno == EACCES);
	claim(replace("other") == -1 && errno == EACCES);
	claim(replace_try("closed") == -1 && errno == EACCES);
}

static void in_a_closed_folder_a_file_is_written_over(void **state)
{
	ino_t before;

	(void)state;
	skip_unless_root();
	put("file", "older", 0666);
	put("closed", "old", 0644);
	before = of("file").st_ino;
	assert_int_equal(chmod(".", 0555), 0);
	as_nobody(replace_in_a_closed_folder);
	assert_has("file", "new");
	assert_int_equal(of("file").st_ino, before);
	assert_files(2);
}

static void replace_below_a_closed_folder(void)
{
	struct stat before, now;

	claim(!stat("file", &before));
	claim(!replace("file"));
	claim(!stat("file", &now));
	claim(now.st_ino != before.st_ino);
}

static void folders_above_may_be_closed(void **state)
{
	(void)state;
	skip_unless_root();
	assert_int_equal(mkdir("below", 0777), 0);
	assert_int_equal(chmod("below", 0777), 0);
	put("below/file", "old", 0666);
	assert_int_equal(chdir("below"), 0);
	as_nobody(replace_below_a_closed_folder);
	assert_has("file", "new");
	assert_files(1);
}

/* ---- what fails ---- */

static void a_writer_that_fails_leaves_what_was_there(void **state)
{
	int fd;

	(void)state;
	put("file", "old", 0644);
	for (int how = REPLACE_PLAIN; how <= REPLACE_SAFE; how++) {
		assert_int_equal(replace_file("file", write_half, "new", how),
				 -1);
		assert_int_equal(errno, EPIPE);
		assert_has("file", "old");
		assert_int_equal(replace_file("none", write_half, "new", how),
				 -1);
	}
	assert_int_equal(mkfifo("fifo", 0644), 0);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	assert_int_equal(replace_file("fifo", write_half, "x", REPLACE_PLAIN),
			 -1);
	close(fd);
	assert_files(2);
}

static void only_a_safe_one_waits_for_the_disk(void **state)
{
	(void)state;
	assert_int_equal(replace("file"), 0);
	assert_int_equal(fsyncs, 0);
	assert_int_equal(replace_file("file", write_new, "2", REPLACE_SAFE), 0);
	assert_int_equal(fsyncs, 1);
	assert_has("file", "2");
	fsync_error = EIO;
	assert_int_equal(replace_file("file", write_new, "3", REPLACE_SAFE),
			 -1);
	assert_int_equal(errno, EIO);
	assert_has("file", "2");
	assert_files(1);
}

/* EBUSY: as of a file that is a mount point. */
static void what_cannot_take_the_name_is_written_over_or_told(void **state)
{
	static const int over[] = { EBUSY, EPERM, EACCES, ENAMETOOLONG };
	ino_t before;

	(void)state;
	put("file", "old", 0644);
	before = of("file").st_ino;
	rename_error = ENOSPC;
	assert_int_equal(replace("file"), -1);
	assert_int_equal(errno, ENOSPC);
	assert_has("file", "old");
	assert_files(1);
	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++) {
		put("file", "older", 0644);
		rename_error = over[i];
		assert_int_equal(replace("file"), 0);
		assert_has("file", "new");
		assert_int_equal(of("file").st_ino, before);
		assert_files(1);
	}
}

static void the_longest_name_has_no_place_beside_it(void **state)
{
	char name[258];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	assert_int_equal(replace_try(name), -1);
	assert_int_equal(replace(name), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	name[255] = '\0';
	assert_int_equal(replace_try(name), 0);
	assert_files(0);
	assert_int_equal(replace(name), 0);
	assert_has(name, "new");
	assert_int_equal(replace_try(name), 0);
	assert_has(name, "new");
	assert_files(1);
}

static void a_try_leaves_nothing_and_changes_nothing(void **state)
{
	ino_t before;

	(void)state;
	put("file", "old", 0644);
	before = of("file").st_ino;
	assert_int_equal(mkdir("below", 0755), 0);
	assert_int_equal(mkfifo("fifo", 0644), 0);
	assert_int_equal(replace_try("file"), 0);
	assert_int_equal(replace_try("new"), 0);
	assert_int_equal(replace_try("fifo"), 0);
	assert_int_equal(replace_try(""), -1);
	assert_int_equal(replace_try("below"), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(replace_try("none/file"), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(replace("none/file"), -1);
	assert_has("file", "old");
	assert_int_equal(of("file").st_ino, before);
	assert_files(3);
}

/* ---- more of it ---- */

static void a_write_goes_on_until_all_is_written(void **state)
{
	static const int some[] = { 1, -EINTR, 3, 0, 2 };
	static const int full[] = { 2, -ENOSPC };
	int fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	(void)state;
	writes = some;
	assert_int_equal(replace_write(fd, "abcdef", 6), 6);
	assert_ptr_equal(writes, some + 5);
	assert_has("file", "abcdef");
	writes = full;
	assert_int_equal(replace_write(fd, "gh!", 3), 2);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(replace_write(fd, "", 0), 0);
	assert_ptr_equal(writes, full + 2);
	close(fd);
	assert_has("file", "abcdefgh");
}

static void appended_text_stands_behind_what_is_there(void **state)
{
	(void)state;
	umask(026);
	assert_int_equal(replace_append("file", "one", 3), 0);
	assert_int_equal(replace_append("file", ", two", 5), 0);
	assert_int_equal(replace_append("file", "", 0), 0);
	assert_has("file", "one, two");
	assert_int_equal(of("file").st_mode & 07777, 0640);
	assert_int_equal(mkdir("below", 0755), 0);
	assert_int_equal(replace_append("below", "x", 1), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(replace_append("none/file", "x", 1), -1);
	assert_files(2);
}

static void what_does_not_fit_is_taken_off_again(void **state)
{
	static const int full[] = { 2, -ENOSPC }, nothing[] = { -ENOSPC };

	(void)state;
	put("file", "one", 0644);
	writes = full;
	assert_int_equal(replace_append("file", "two", 3), -1);
	assert_int_equal(errno, ENOSPC);
	assert_has("file", "one");
	writes = nothing;
	assert_int_equal(replace_append("file", "two", 3), -1);
	assert_has("file", "one");
	writes = full;
	by_others = "theirs";
	assert_int_equal(replace_append("file", "two", 3), -1);
	assert_int_equal(errno, ENOSPC);
	/* Two bytes of it are ours, but not the last. */
	assert_has("file", "onetwtheirs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_waits_until_the_file_is_whole),
		IN_A_FOLDER(what_is_no_plain_file_is_none),
		IN_A_FOLDER(a_descriptor_of_a_shell_is_no_file_to_replace),
		IN_A_FOLDER(a_link_stays_and_what_it_names_is_new),
		IN_A_FOLDER(a_fifo_is_written_to),
		IN_A_FOLDER(a_new_file_has_the_rights_of_one),
		IN_A_FOLDER(a_replaced_file_keeps_its_rights_and_no_set_uid),
		IN_A_FOLDER(a_replaced_file_keeps_its_owner),
		IN_A_FOLDER(in_a_groups_folder_it_keeps_its_group),
		IN_A_FOLDER(a_file_that_may_not_be_written_is_not_replaced),
		IN_A_FOLDER(in_a_closed_folder_a_file_is_written_over),
		IN_A_FOLDER(folders_above_may_be_closed),
		IN_A_FOLDER(a_writer_that_fails_leaves_what_was_there),
		IN_A_FOLDER(only_a_safe_one_waits_for_the_disk),
		IN_A_FOLDER(what_cannot_take_the_name_is_written_over_or_told),
		IN_A_FOLDER(the_longest_name_has_no_place_beside_it),
		IN_A_FOLDER(a_try_leaves_nothing_and_changes_nothing),
		IN_A_FOLDER(a_write_goes_on_until_all_is_written),
		IN_A_FOLDER(appended_text_stands_behind_what_is_there),
		IN_A_FOLDER(what_does_not_fit_is_taken_off_again),
	};

	return cmocka_run_group_tests_name("replace", tests, NULL, NULL);
}
