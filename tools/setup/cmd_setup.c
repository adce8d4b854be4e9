// SPDX-License-Identifier: MIT
/*
 * upmu setup: make the counters usable after every boot, and undo that.
 *
 * Each file and each command is shown before it happens. First of all a
 * journal is written of all that is about to be done, and it is removed when
 * all of it is undone: whatever interrupts this, a second setup completes it
 * and --undo takes it back.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "lib/sys.h"
#include "setup.h"

static bool lacks_group(const struct setup *setup)
{
	return setup_needs_module(setup) && !setup->has_group;
}

static bool created_group(const struct setup *setup)
{
	return setup->journal.created_group && setup->has_group;
}

static bool had_rule(const struct setup *setup)
{
	return setup->journal.lines[SETUP_UDEV][0];
}

static bool is_loaded(const struct setup *setup)
{
	(void)setup;
	return upmu_sys_exists("/sys/module/upmu");
}

static const struct command_step before[] = {
	{ { "groupadd", "--system", "upmu" },
	  lacks_group,
	  "members of this group may open /dev/upmu",
	  NULL,
	  false },
};

static const char *const why_files[SETUP_FILES] = {
	[SETUP_UDEV] = "gives /dev/upmu to the group upmu",
	[SETUP_LOAD] = "loads the module at boot",
	[SETUP_MODPROBE] = "registers the PMU that perf lacks",
	[SETUP_SYSCTLS] = "lets users count their own programs",
};

static const struct command_step after[] = {
	{ { "udevadm", "control", "--reload" },
	  setup_needs_module,
	  "makes udev read its new rule",
	  NULL,
	  false },
	{ { "modprobe", "upmu" },
	  setup_needs_module,
	  "loads the module now",
	  "upmu check (is the module installed for this kernel?)",
	  false },
	{ { "udevadm", "trigger", "--subsystem-match=misc",
	    "--sysname-match=upmu" },
	  setup_needs_module,
	  "gives a /dev/upmu that is there already to the group",
	  NULL,
	  false },
};

static const struct command_step undo_after[] = {
	{ { "modprobe", "-r", "upmu" },
	  is_loaded,
	  "unloads the module",
	  "lsmod; cat /proc/upmu (who holds it?)",
	  false },
	{ { "udevadm", "control", "--reload" },
	  had_rule,
	  "makes udev forget its rule",
	  NULL,
	  true },
	{ { "groupdel", "upmu" },
	  created_group,
	  "setup had created it",
	  NULL,
	  false },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The functions that show return how many steps there are. */
static int show_commands(const struct setup *setup,
			 const struct command_step *steps, size_t n)
{
	int shown = 0;

	for (size_t i = 0; i < n; i++) {
		if (!steps[i].wanted(setup))
			continue;
		setup_show_command(&steps[i]);
		shown++;
	}
	return shown;
}

static int run_commands(const struct setup *setup,
			const struct command_step *steps, size_t n)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++)
		if (steps[i].wanted(setup))
			error = setup_run_command(&steps[i]);
	return error;
}

static void show_text(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		printf("      | %.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

/* For hints, to do the same in another way. */
static const char *asked_for = "upmu setup";

static bool confirmed(const struct setup *setup)
{
	char answer[16];

	if (setup->dry_run)
		return false;
	/* UPMU_ROOT: below somebody's own folder. */
	if (geteuid() && !secure_getenv("UPMU_ROOT")) {
		fprintf(stderr,
			"upmu setup: nothing was done: only root may do this\n"
			"hint: sudo %s\n",
			asked_for);
		return false;
	}
	if (setup->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fprintf(stderr,
			"upmu setup: nothing was done: there is no terminal to "
			"ask on\n"
			"hint: %s --yes\n",
			asked_for);
		return false;
	}
	fputs("Do this? [y/N] ", stdout);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static int complain(const char *what, const char *path, int error)
{
	fprintf(stderr, "upmu setup: cannot %s '%s': %s\n", what, path,
		strerror(-error));
	if (error == -EACCES || error == -EPERM)
		fprintf(stderr, "hint: sudo %s\n", asked_for);
	if (error == -EROFS)
		fputs("hint: sudo mount -o remount,rw /\n", stderr);
	if (error == -ENOENT)
		fprintf(stderr, "hint: sudo mkdir -p %.*s\n",
			(int)(strrchr(path, '/') - path), path);
	return error;
}

/* What a setup before wrote there, on another core, and did not do. */
static const char *stale_lines(const struct setup *setup, int file)
{
	return setup->paranoid > setup->paranoid_wanted
		       ? setup->journal.lines[file]
		       : "";
}

/* Who is not root may be kept out: then it is neither there nor not there. */
static int may_read(const char *path)
{
	char text[SETUP_TEXT_SIZE];
	int error = setup_file_read(path, text, sizeof(text));

	return error == -EACCES ? complain("read", path, error) : 0;
}

/* What a file is to be, and what of that is new to it; says why it fails. */
static int next_text(struct setup *setup, int file, char *lines, size_t size,
		     char *text)
{
	const char *path = setup_paths[file];
	int error = may_read(path); /* what it says is asked for below, too */

	if (error)
		return error;
	if (!setup_content(setup, file, lines, size))
		return 0;
	if (setup_file_is_foreign(path)) {
		complain("write over", path, -EEXIST);
		fputs("hint: see what it says, give it another name (it is not "
		      "setup's)\n",
		      stderr);
		return -EEXIST;
	}
	error = setup_file_merge(text, path, lines, stale_lines(setup, file));
	return error ? complain("read", path, error) : 1;
}

/* Show what would be written; refuse to write over somebody else's file. */
static int show_files(struct setup *setup)
{
	char lines[256], text[SETUP_TEXT_SIZE] = "";
	int shown = 0;

	for (int i = 0; i < SETUP_FILES; i++) {
		int wanted = next_text(setup, i, lines, sizeof(lines), text);

		if (wanted < 0)
			return wanted;
		if (!wanted)
			continue;
		printf("write %s\n      (%s)\n", setup_paths[i], why_files[i]);
		show_text(text);
		shown++;
	}
	return shown;
}

static int write_files(struct setup *setup)
{
	char lines[256], text[SETUP_TEXT_SIZE];

	for (int i = 0; i < SETUP_FILES; i++) {
		int wanted = next_text(setup, i, lines, sizeof(lines), text);

		if (wanted < 0)
			return wanted;
		if (wanted)
			wanted = setup_file_write(setup_paths[i], text);
		if (wanted < 0)
			return complain("write", setup_paths[i], wanted);
	}
	return 0;
}

/* What is about to be done, beside what was done by a setup before. */
static void plan(struct setup *setup)
{
	struct setup_journal *journal = &setup->journal;
	char lines[256];

	journal->created_group |= lacks_group(setup);
	if (journal->paranoid == SETUP_UNTOUCHED &&
	    setup->paranoid > setup->paranoid_wanted)
		journal->paranoid = setup->paranoid;
	if (journal->user_access == SETUP_UNTOUCHED && setup->user_access)
		journal->user_access = setup->user_access_now;
	for (int i = 0; i < SETUP_FILES; i++)
		if (setup_content(setup, i, lines, sizeof(lines)))
			setup_file_record(
				journal->lines[i], sizeof(journal->lines[i]),
				setup_paths[i], lines, stale_lines(setup, i));
}

static void show_journal(void)
{
	printf("write " SETUP_JOURNAL "\n      (what --undo needs to know; it "
	       "removes it)\n");
}

static int show_setup(struct setup *setup)
{
	int shown = show_commands(setup, before, COUNT(before));
	int written = show_files(setup);

	if (written < 0)
		return written;
	shown += written + show_commands(setup, after, COUNT(after)) +
		 setup_set_sysctls(setup, true);
	if (shown)
		show_journal();
	if (written)
		setup_tell_overrides(setup);
	return shown;
}

static int remove_file(struct setup *setup, int file)
{
	const char *path = setup_paths[file];
	char text[SETUP_TEXT_SIZE];
	int error;

	if (setup_file_is_foreign(path)) {
		error = setup_file_remove_unfinished(path);
		return error ? complain("remove", path, error) : 0;
	}
	error = setup_file_without(text, path, setup->journal.lines[file]);
	if (!error && text[strspn(text, "\n")])
		error = setup_file_write(path, text);
	else if (!error)
		error = setup_file_remove(path);
	return error ? complain("remove", path, error) : 0;
}

/*
 * All of it, whatever fails: the journal is left then, and the next --undo
 * has only to do what is left.
 */
static int take_back(struct setup *setup)
{
	int error = 0, failed;

	for (int i = 0; i < SETUP_FILES; i++) {
		failed = remove_file(setup, i);
		error = failed ? failed : error;
	}
	setup->has_group = setup_group_exists();
	for (size_t i = 0; i < COUNT(undo_after); i++) {
		failed = run_commands(setup, &undo_after[i], 1);
		error = failed ? failed : error;
	}
	setup_look_at_sysctls(setup);
	if (setup_restore_sysctls(setup, false) < 0)
		error = -EIO;
	if (!error) {
		error = setup_file_remove(SETUP_JOURNAL);
		if (error)
			complain("remove", SETUP_JOURNAL, error);
	}
	if (error)
		fputs("hint: upmu setup --undo (does what is left)\n", stderr);
	return error;
}

static int carry_out(struct setup *setup)
{
	int error;

	plan(setup);
	error = setup_journal_write(&setup->journal);
	if (error)
		return complain("write", SETUP_JOURNAL, error);
	error = run_commands(setup, before, COUNT(before));
	if (!error)
		error = write_files(setup);
	if (!error)
		error = run_commands(setup, after, COUNT(after));
	if (!error && setup_set_sysctls(setup, false) < 0)
		error = -EIO;
	if (!error)
		return 0;
	if (setup->was_set_up) {
		fputs("hint: upmu setup (does what is left), or "
		      "upmu setup --undo\n",
		      stderr);
		return error;
	}
	if (!take_back(setup))
		fputs("upmu setup: all was taken back\n", stderr);
	return error;
}

static int do_setup(struct setup *setup)
{
	int error = show_setup(setup);

	if (error < 0)
		return error;
	if (!error) {
		puts("Nothing has to be set up on this machine.");
		return 0;
	}
	if (!confirmed(setup))
		return setup->dry_run ? 0 : -ECANCELED;
	error = carry_out(setup);
	if (!error && setup_needs_module(setup) && setup_file_gives_to_group())
		puts("Next, for each user: sudo usermod -a -G upmu USER, "
		     "and a new login.");
	return error;
}

static int show_removal(struct setup *setup, int file)
{
	const char *path = setup_paths[file];
	char text[SETUP_TEXT_SIZE];
	int error = may_read(path);

	if (error || !upmu_sys_exists(path))
		return error;
	if (setup_file_is_foreign(path)) {
		printf("keep  %s\n      (not written by setup)\n", path);
		return 0;
	}
	if (setup_file_without(text, path, setup->journal.lines[file]) ||
	    !text[strspn(text, "\n")]) {
		printf("remove %s\n", path);
		return 1;
	}
	printf("keep  %s\n      (only the lines that are not setup's)\n", path);
	show_text(text);
	return 1;
}

static int show_removals(struct setup *setup)
{
	int shown = 0;

	for (int i = 0; i < SETUP_FILES; i++) {
		int one = show_removal(setup, i);

		if (one < 0)
			return one;
		shown += one;
	}
	return shown;
}

/* Version 0.1.0 wrote none down; a journal that is damaged may lack them. */
static bool lacks_former_sysctls(const struct setup *setup)
{
	const struct setup_journal *journal = &setup->journal;

	return journal->lines[SETUP_SYSCTLS][0] &&
	       journal->paranoid == SETUP_UNTOUCHED &&
	       journal->user_access == SETUP_UNTOUCHED;
}

static int do_undo(struct setup *setup)
{
	/* Version 0.1.0 left none, and its marks go with the first file. */
	bool lacks_journal = setup->was_set_up && !setup->journal.is_there;
	int shown, error;

	if (lacks_journal)
		show_journal();
	shown = show_removals(setup);
	if (shown < 0)
		return shown;
	shown += show_commands(setup, undo_after, COUNT(undo_after)) +
		 setup_restore_sysctls(setup, true);
	if (lacks_former_sysctls(setup))
		puts("keep  what the sysctls are set to now\n      (until the "
		     "next boot: what they were is not known)");
	if (setup_file_was_begun(SETUP_JOURNAL))
		shown += printf("remove " SETUP_JOURNAL "\n");
	if (!shown) {
		puts("There is nothing of setup's to undo.");
		return 0;
	}
	if (!confirmed(setup))
		return setup->dry_run ? 0 : -ECANCELED;
	error = lacks_journal ? setup_journal_write(&setup->journal) : 0;
	return error ? complain("write", SETUP_JOURNAL, error)
		     : take_back(setup);
}

static void print_help(void)
{
	puts("usage: upmu setup [OPTION...]\n"
	     "Make the counters usable after every boot. Each file and each\n"
	     "command is shown before anything is done.\n\n"
	     "  --undo      remove what setup wrote, and nothing else\n"
	     "  --dry-run   show, do nothing\n"
	     "  -y, --yes   do not ask\n"
	     "  --help      this text");
}

int cmd_setup(int argc, char **argv)
{
	static const struct option options[] = {
		{ "undo", no_argument, NULL, 'u' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "yes", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct setup setup = { 0 };
	int letter, error;

	while ((letter = getopt_long(argc, argv, "hy", options, NULL)) >= 0) {
		switch (letter) {
		case 'u':
			setup.undo = true;
			asked_for = "upmu setup --undo";
			break;
		case 'n':
			setup.dry_run = true;
			break;
		case 'y':
			setup.yes = true;
			break;
		case 'h':
			print_help();
			return 0;
		default:
			fputs("hint: upmu setup --help\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr,
			"upmu setup: unexpected '%s'\nhint: upmu setup --help\n",
			argv[optind]);
		return 2;
	}
	if (!setup.dry_run && setup_lock()) {
		fputs("upmu setup: nothing was done: another upmu setup is at "
		      "work\n",
		      stderr);
		return 1;
	}
	error = setup_look(&setup);
	if (error) {
		complain("read", SETUP_JOURNAL, error);
		return 1;
	}
	if (setup.journal.is_damaged)
		fputs("upmu setup: '" SETUP_JOURNAL "' is damaged: setup's "
		      "files are known by their marks; see yourself to the "
		      "group upmu and the sysctls if they are not named\n",
		      stderr);
	return (setup.undo ? do_undo(&setup) : do_setup(&setup)) ? 1 : 0;
}
