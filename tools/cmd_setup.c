// SPDX-License-Identifier: MIT
/*
 * upmu setup: make the counters usable after every boot, and undo that.
 *
 * Everything it does is a row of a table: a file that it writes, or a command
 * that it runs. Each is shown before it happens. Each file begins with a mark;
 * --undo removes files that still have it, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "kernel.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"

#define MARK	   "# Written by `upmu setup`; `upmu setup --undo` removes it.\n"
#define GROUP_MARK "# The group upmu was created by it too.\n"

#define UDEV_RULES   "/etc/udev/rules.d/60-upmu.rules"
#define MODULES_LOAD "/etc/modules-load.d/upmu.conf"
#define MODPROBE     "/etc/modprobe.d/upmu.conf"
#define SYSCTL	     "/etc/sysctl.d/60-upmu.conf"

#define PARANOID_SETTING "kernel.perf_event_paranoid"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/*
 * The highest perf_event_paranoid that lets a user count a process of his
 * own. Cores without privilege filters need 1: there a user must not be
 * asked to leave the kernel out, because perf refuses that (-EINVAL).
 */
#define PARANOID_FILTER	   2
#define PARANOID_NO_FILTER 1

struct setup {
	bool undo, yes, dry_run;
	bool is_arm;
	bool user_access; /* the kernel can open the registers itself */
	bool has_pmu;	  /* perf has one without the module's help */
	bool has_group;
	bool group_is_ours; /* this setup, or one before, creates it */
	bool has_rule;	    /* ours, for udev */
	long paranoid, paranoid_wanted;
	char file[512];
};

/* A file of ours: @content fills setup->file, or says that it is not needed. */
struct file_step {
	const char *path;
	bool (*content)(struct setup *setup);
	const char *why;
};

struct command_step {
	const char *const argv[6];
	bool (*wanted)(const struct setup *setup);
	const char *why;
	const char *hint; /* what to type where it fails, or NULL */
};

/* Whether the file is there and has @mark; -EFBIG is certainly not ours. */
static bool has_mark(const char *path, const char *mark)
{
	char text[sizeof(((struct setup *)0)->file)];

	return !upmu_sys_read_text(path, text, sizeof(text)) &&
	       strstr(text, mark);
}

static bool needs_module(const struct setup *setup)
{
	return setup->is_arm && !setup->user_access;
}

static bool lacks_group(const struct setup *setup)
{
	return needs_module(setup) && !setup->has_group;
}

static bool created_group(const struct setup *setup)
{
	return setup->group_is_ours && setup->has_group;
}

/* Also where it is low because a setup before this one saw to it. */
static bool lowers_paranoid(const struct setup *setup)
{
	return setup->paranoid > setup->paranoid_wanted ||
	       has_mark(SYSCTL, PARANOID_SETTING);
}

static bool sets_sysctls(const struct setup *setup)
{
	return setup->user_access || lowers_paranoid(setup);
}

static bool had_rule(const struct setup *setup)
{
	return setup->has_rule;
}

static bool is_loaded(const struct setup *setup)
{
	(void)setup;
	return upmu_sys_exists("/sys/module/upmu");
}

static bool udev_content(struct setup *setup)
{
	snprintf(setup->file, sizeof(setup->file),
		 MARK "%sKERNEL==\"upmu\", GROUP=\"upmu\", MODE=\"0660\"\n",
		 setup->group_is_ours ? GROUP_MARK : "");
	return needs_module(setup);
}

static bool modules_load_content(struct setup *setup)
{
	snprintf(setup->file, sizeof(setup->file), MARK "upmu\n");
	return needs_module(setup);
}

static bool modprobe_content(struct setup *setup)
{
	snprintf(setup->file, sizeof(setup->file),
		 MARK "options upmu adopt=auto\n");
	return needs_module(setup) &&
	       (!setup->has_pmu || has_mark(MODPROBE, MARK));
}

static bool sysctl_content(struct setup *setup)
{
	size_t used = snprintf(setup->file, sizeof(setup->file), MARK);

	if (lowers_paranoid(setup))
		used += snprintf(setup->file + used, sizeof(setup->file) - used,
				 PARANOID_SETTING " = %ld\n",
				 setup->paranoid_wanted);
	if (setup->user_access)
		snprintf(setup->file + used, sizeof(setup->file) - used,
			 "kernel.perf_user_access = 1\n");
	return sets_sysctls(setup);
}

static const struct command_step before[] = {
	{ { "groupadd", "--system", "upmu" },
	  lacks_group,
	  "members of this group may open /dev/upmu",
	  NULL },
};

static const struct file_step files[] = {
	{ UDEV_RULES, udev_content, "gives /dev/upmu to the group upmu" },
	{ MODULES_LOAD, modules_load_content, "loads the module at boot" },
	{ MODPROBE, modprobe_content,
	  "registers the PMU that perf lacks, each time the module is loaded" },
	{ SYSCTL, sysctl_content, "lets users count their own programs" },
};

static const struct command_step after[] = {
	{ { "udevadm", "control", "--reload" },
	  needs_module,
	  "makes udev read its new rule",
	  NULL },
	{ { "modprobe", "upmu" },
	  needs_module,
	  "loads the module now",
	  "upmu check (is the module installed for this kernel?)" },
	{ { "udevadm", "trigger", "--subsystem-match=misc",
	    "--sysname-match=upmu" },
	  needs_module,
	  "gives a /dev/upmu that is there already to the group",
	  NULL },
	{ { "sysctl", "-q", "-p", SYSCTL },
	  sets_sysctls,
	  "sets the sysctls now",
	  NULL },
};

static const struct command_step undo_after[] = {
	{ { "modprobe", "-r", "upmu" },
	  is_loaded,
	  "unloads the module",
	  "lsmod; cat /proc/upmu (who holds it?)" },
	{ { "udevadm", "control", "--reload" },
	  had_rule,
	  "makes udev forget its rule",
	  NULL },
	{ { "groupdel", "upmu" }, created_group, "setup had created it", NULL },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void show_command(const struct command_step *step)
{
	printf("run   ");
	for (const char *const *word = step->argv; *word; word++)
		printf("%s%s", word == step->argv ? "" : " ", *word);
	printf("\n      (%s)\n", step->why);
}

static int run_command(const struct command_step *step)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(step->argv[0], (char *const *)step->argv);
		fprintf(stderr, "upmu setup: cannot run '%s': %s\n",
			step->argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "upmu setup: '%s' failed\n", step->argv[0]);
		if (step->hint)
			fprintf(stderr, "hint: %s\n", step->hint);
		return -EIO;
	}
	return 0;
}

static void show_file(const struct setup *setup, const struct file_step *step)
{
	const char *line = setup->file;

	printf("write %s\n      (%s)\n", step->path, step->why);
	while (*line) {
		size_t length = strcspn(line, "\n");

		printf("      | %.*s\n", (int)length, line);
		line += length + 1;
	}
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0)
			return -errno;
		text += n;
		left -= n;
	}
	return 0;
}

static int write_file(const char *path, const char *text)
{
	char real[UPMU_PATH_SIZE];
	int fd, error;

	error = upmu_sys_path(real, path);
	if (error)
		return error;
	fd = open(real, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	error = write_all(fd, text);
	if (close(fd) < 0 && !error)
		error = -errno;
	return error;
}

static bool is_foreign(const char *path)
{
	return upmu_sys_exists(path) && !has_mark(path, MARK);
}

static bool group_exists(void)
{
	char path[UPMU_PATH_SIZE], line[1024];
	bool found = false;
	FILE *file;

	if (upmu_sys_path(path, "/etc/group"))
		return false;
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, "upmu:", 5);
	if (file)
		fclose(file);
	return found;
}

/* Each known CPU PMU of Linux that has no privilege filter. */
static bool pmu_has_filters(void)
{
	static const char *const without[] = { "armv6_1136", "armv6_1176",
					       "armv7_cortex_a5",
					       "armv7_cortex_a8",
					       "armv7_cortex_a9" };
	char path[128];

	for (size_t i = 0; i < COUNT(without); i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s",
			 without[i]);
		if (upmu_sys_exists(path))
			return false;
	}
	return true;
}

static void look_around(struct setup *setup)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	struct kernel kernel;

	kernel_read(&kernel);
	setup->is_arm = kernel.is_arm;
	setup->user_access = kernel.opens;
	setup->has_pmu = upmu_pmus_list(pmus) > 0;
	setup->has_rule = has_mark(UDEV_RULES, MARK);
	setup->has_group = group_exists();
	setup->group_is_ours =
		!setup->has_group || has_mark(UDEV_RULES, GROUP_MARK);
	setup->paranoid_wanted =
		pmu_has_filters() ? PARANOID_FILTER : PARANOID_NO_FILTER;
	if (upmu_sys_read_long(PARANOID, &setup->paranoid))
		setup->paranoid = setup->paranoid_wanted;
}

static bool confirmed(const struct setup *setup)
{
	char answer[16];

	if (setup->dry_run)
		return false;
	/* UPMU_ROOT: below somebody's own folder. */
	if (geteuid() && !secure_getenv("UPMU_ROOT")) {
		fputs("upmu setup: nothing was done: only root may do this\n"
		      "hint: sudo upmu setup\n",
		      stderr);
		return false;
	}
	if (setup->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fputs("upmu setup: nothing was done: there is no terminal to "
		      "ask on\n"
		      "hint: upmu setup --yes\n",
		      stderr);
		return false;
	}
	fputs("Do this? [y/N] ", stdout);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

/* The functions that show return how many steps there are. */
static int show_commands(const struct setup *setup,
			 const struct command_step *steps, size_t n)
{
	int shown = 0;

	for (size_t i = 0; i < n; i++) {
		if (!steps[i].wanted(setup))
			continue;
		show_command(&steps[i]);
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
			error = run_command(&steps[i]);
	return error;
}

static int complain(const char *what, const char *path, int error)
{
	fprintf(stderr, "upmu setup: cannot %s '%s': %s\n", what, path,
		strerror(-error));
	if (error == -EACCES || error == -EPERM)
		fputs("hint: sudo upmu setup\n", stderr);
	if (error == -EROFS)
		fputs("hint: sudo mount -o remount,rw /\n", stderr);
	return error;
}

/* Show what would be written; refuse to write over somebody else's file. */
static int show_files(struct setup *setup)
{
	int shown = 0;

	for (size_t i = 0; i < COUNT(files); i++) {
		if (!files[i].content(setup))
			continue;
		if (is_foreign(files[i].path))
			return complain("write over", files[i].path, -EEXIST);
		show_file(setup, &files[i]);
		shown++;
	}
	return shown;
}

static int write_files(struct setup *setup)
{
	for (size_t i = 0; i < COUNT(files); i++) {
		int error;

		if (!files[i].content(setup))
			continue;
		error = write_file(files[i].path, setup->file);
		if (error)
			return complain("write", files[i].path, error);
	}
	return 0;
}

static int show_setup(struct setup *setup)
{
	int shown = show_commands(setup, before, COUNT(before));
	int written = show_files(setup);

	if (written < 0)
		return written;
	return shown + written + show_commands(setup, after, COUNT(after));
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
	error = run_commands(setup, before, COUNT(before));
	if (!error)
		error = write_files(setup);
	if (!error)
		error = run_commands(setup, after, COUNT(after));
	if (!error && needs_module(setup))
		puts("Next, for each user: sudo usermod -a -G upmu USER, "
		     "and a new login.");
	return error;
}

static int remove_file(const struct file_step *step)
{
	char real[UPMU_PATH_SIZE];
	int error = upmu_sys_path(real, step->path);

	if (!error && unlink(real) < 0)
		error = -errno;
	return error ? complain("remove", step->path, error) : 0;
}

static int show_removal(const struct file_step *step)
{
	if (is_foreign(step->path)) {
		printf("keep  %s\n      (not written by setup)\n", step->path);
		return 0;
	}
	if (!upmu_sys_exists(step->path))
		return 0;
	printf("remove %s\n", step->path);
	return 1;
}

static int remove_files(void)
{
	for (size_t i = 0; i < COUNT(files); i++) {
		int error = has_mark(files[i].path, MARK)
				    ? remove_file(&files[i])
				    : 0;

		if (error)
			return error;
	}
	return 0;
}

static int do_undo(struct setup *setup)
{
	bool had_sysctls = has_mark(SYSCTL, MARK);
	int error, shown = 0;

	setup->group_is_ours = has_mark(UDEV_RULES, GROUP_MARK);
	for (size_t i = 0; i < COUNT(files); i++)
		shown += show_removal(&files[i]);
	shown += show_commands(setup, undo_after, COUNT(undo_after));
	if (!shown) {
		puts("There is nothing of setup's to undo.");
		return 0;
	}
	if (had_sysctls)
		puts("The sysctls keep their values until the next boot.");
	if (!confirmed(setup))
		return setup->dry_run ? 0 : -ECANCELED;
	error = remove_files();
	if (error)
		return error;
	return run_commands(setup, undo_after, COUNT(undo_after));
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
	int letter;

	while ((letter = getopt_long(argc, argv, "y", options, NULL)) >= 0) {
		switch (letter) {
		case 'u':
			setup.undo = true;
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
			fputs("try upmu setup --help\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr,
			"upmu setup: unexpected '%s'; try upmu setup --help\n",
			argv[optind]);
		return 2;
	}
	look_around(&setup);
	return (setup.undo ? do_undo(&setup) : do_setup(&setup)) ? 1 : 0;
}
