// SPDX-License-Identifier: MIT
/* What other files say about setup's settings: sysctl.d, modprobe.d, udev. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys.h"
#include "setup.h"

/*
 * "kernel/perf_event_paranoid = 3" sets it, too: sysctl.d(5). A space of @key's
 * may be several, or tabs; a name of the line's that goes on is another one,
 * also by a '-', which modprobe takes for '_'.
 */
static bool begins(const char *line, const char *key)
{
	for (; *key; line++, key++) {
		if (*key == ' ' && strspn(line, " \t"))
			line += strspn(line, " \t") - 1;
		else if (*line != *key && !(*line == '/' && *key == '.'))
			return false;
	}
	return !strspn(line, "_-") && !isalnum((unsigned char)*line);
}

/* As modprobe does, comments as well. */
static void join_lines(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == '\n')
			text++;
		else
			*to++ = *text;
	}
	*to = '\0';
}

/* From such folders: no 99-x.conf.dpkg-old, and none that is hidden. */
static bool is_read(const char *name, const char *end)
{
	size_t length = strlen(name), its = strlen(end);

	return *name != '.' && length >= its &&
	       !strcmp(name + length - its, end);
}

struct overriding {
	enum setup_file file; /* of setup's: what it overrides, and where */
	/* Read before setup's own, else after it; of modprobe's any file. */
	bool is_before;
	bool is_in_own;	 /* also in setup's own file; of udev's only there */
	bool is_hidden;	 /* those of the own file's name that are not in /etc */
	const char *key; /* NULL: of rules of udev's */
	const char *why;
	const char *rest; /* what that line has as well, or NULL */
};

static const char *own_name(const struct overriding *one)
{
	return strrchr(setup_paths[one->file], '/') + 1;
}

static bool says(const char *line, const struct overriding *one)
{
	const char *name = line + strspn(line, " \t-"), *end;

	if (!one->key && one->is_in_own)
		return setup_rule_may_give_device(line, false);
	if (!one->key)
		return setup_rule_gives_device(line, one->is_before);
	if (!begins(name, one->key))
		return false;
	if (!one->rest || strstr(name, one->rest))
		return true;
	/* "-kernel.perf_event_paranoid" keeps it from being set. */
	end = name + strlen(one->key);
	return one->file == SETUP_SYSCTLS && *line == '-' &&
	       !end[strspn(end, " \t\r")];
}

/* The lines of a file that say so; named where there is a reason to. */
static int find_in_text(char *text, const char *path,
			const struct overriding *one)
{
	char *rest = text, *line;
	int found = 0;

	if (!one->key)
		setup_drop_rules_comments(text);
	if (!one->key || one->file == SETUP_MODPROBE)
		join_lines(text);
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (!says(line, one))
			continue;
		found++;
		if (one->why)
			printf("note  %s says '%s'\n      (%s)\n", path, line,
			       one->why);
	}
	return found;
}

static int find_setting(const char *path, const struct overriding *one)
{
	char real[UPMU_PATH_SIZE], *text = NULL;
	size_t size = 0;
	int found = 0;
	FILE *file;

	if (upmu_sys_path(real, path) || setup_file_is_special(path))
		return 0;
	file = fopen(real, "re");
	if (!file)
		return 0;
	/* All of it, but where there are null characters: it is read on. */
	while (getdelim(&text, &size, '\0', file) > 0)
		found += find_in_text(text, path, one);
	free(text);
	fclose(file);
	return found;
}

/* Of files of one name that in the first of these is read. */
static const char *const tops[] = { "/etc", "/run", "/usr/local/lib",
				    "/usr/lib", "/lib" };

/* By a file of its name: an empty one, or a link that leads nowhere, does. */
static bool is_replaced(size_t top, const char *folder, const char *name)
{
	char path[UPMU_PATH_SIZE], real[UPMU_PATH_SIZE];
	struct stat there;

	while (top--) {
		if (snprintf(path, sizeof(path), "%s/%s/%s", tops[top], folder,
			     name) < (int)sizeof(path) &&
		    !upmu_sys_path(real, path) && !lstat(real, &there))
			return true;
	}
	return false;
}

/* Whether a file of that name is another than setup's, and may win over it. */
static bool may_win(const char *name, size_t top, const struct overriding *one)
{
	int order = strcmp(name, own_name(one));

	if (one->is_hidden && top && !order)
		return false;
	/* Setup writes none for modprobe where this says what to adopt. */
	if (one->file == SETUP_MODPROBE)
		return order || top || one->is_in_own;
	return one->is_before ? order < 0 : order > 0;
}

static int find_in_folder(size_t top, const struct overriding *one)
{
	const char *own = own_name(one);
	const char *folder = setup_paths[one->file] + strlen("/etc/");
	char real[UPMU_PATH_SIZE], path[UPMU_PATH_SIZE], below[64];
	struct dirent *entry;
	DIR *dir = NULL;
	int found = 0;

	snprintf(below, sizeof(below), "%.*s", (int)(own - 1 - folder), folder);
	snprintf(path, sizeof(path), "%s/%s", tops[top], below);
	if (!upmu_sys_path(real, path))
		dir = opendir(real);
	while (dir && (entry = readdir(dir))) {
		if (!may_win(entry->d_name, top, one) ||
		    !is_read(entry->d_name, strrchr(own, '.')) ||
		    is_replaced(top, below, entry->d_name) ||
		    snprintf(path, sizeof(path), "%s/%s/%s", tops[top], below,
			     entry->d_name) >= (int)sizeof(path))
			continue;
		found += find_setting(path, one);
	}
	if (dir)
		closedir(dir);
	return found;
}

static int find_overriding(const struct overriding *one)
{
	int found = 0;

	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
		found += find_in_folder(i, one);
	return found;
}

/* Of what is in a file with setup's mark, but not from setup. */
static int find_in_own_file(const struct overriding *one)
{
	const char *path = setup_paths[one->file];
	char text[SETUP_TEXT_SIZE];

	if (setup_file_without(text, path, setup_any_content[one->file]))
		return 0;
	return find_in_text(text, path, one);
}

/* Of two settings one would win, also in a file of setup's own name. */
bool setup_user_adopts(void)
{
	const char *path = setup_paths[SETUP_MODPROBE];
	static const struct overriding users = {
		.file = SETUP_MODPROBE,
		.key = "options upmu",
		.rest = "adopt=",
	};

	if (find_overriding(&users))
		return true;
	if (setup_file_is_foreign(path))
		return find_setting(path, &users);
	return find_in_own_file(&users);
}

static bool find_users_rule(const char *why)
{
	struct overriding users = {
		.file = SETUP_UDEV,
		.is_in_own = true,
		.why = why,
	};

	return !setup_file_is_foreign(setup_paths[SETUP_UDEV]) &&
	       find_in_own_file(&users);
}

bool setup_user_gives_device(void)
{
	return find_users_rule(NULL);
}

bool setup_file_gives_to_group(void)
{
	char text[SETUP_TEXT_SIZE], *rest = text, *line;
	const char *group = NULL;

	if (setup_file_without(text, setup_paths[SETUP_UDEV], ""))
		return false;
	setup_drop_rules_comments(text);
	join_lines(text);
	while ((line = strsep(&rest, "\n"))) {
		const char *its = setup_rule_group(line);

		if (its) /* the last one wins */
			group = its;
	}
	return group && !strncmp(group, "upmu\"", strlen("upmu\""));
}

/* What modprobe and udev are told matters wherever the module is loaded. */
static bool is_wanted(const struct setup *setup, const struct overriding *one)
{
	char lines[256];

	if (one->file != SETUP_SYSCTLS)
		return setup_needs_module(setup);
	return setup_content(setup, SETUP_SYSCTLS, lines, sizeof(lines)) &&
	       strstr(lines, one->key);
}

/* Than comments and what setup writes itself, as upmu's package has it. */
static bool says_more(enum setup_file file, const char *path)
{
	char text[SETUP_TEXT_SIZE], *rest = text, *line;

	if (setup_file_without(text, path, setup_any_content[file]))
		return true;
	while ((line = strsep(&rest, "\n")))
		if (!strchr("#;", line[strspn(line, " \t")]))
			return true;
	return false;
}

/* The first is named: it hides the others already. */
static void tell_hidden(enum setup_file file)
{
	const char *its = setup_paths[file] + strlen(tops[0]);
	char path[UPMU_PATH_SIZE];

	for (size_t i = 1; i < sizeof(tops) / sizeof(tops[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", tops[i], its);
		if (!upmu_sys_exists(path))
			continue;
		if (!says_more(file, path))
			return;
		printf("note  %s\n      (is hidden by setup's file of its "
		       "name: not read)\n",
		       path);
		return;
	}
}

#define LATER "read after setup's file: it wins at the next boot"

static const struct overriding told[] = {
	{ .file = SETUP_SYSCTLS,
	  .key = SETUP_PARANOID,
	  .rest = "=",
	  .why = LATER },
	{ .file = SETUP_SYSCTLS,
	  .key = SETUP_USER_ACCESS,
	  .rest = "=",
	  .why = LATER },
	{ .file = SETUP_UDEV,
	  .is_before = true,
	  .why = "allows no change by setup's file: it wins" },
	{ .file = SETUP_UDEV, .why = "read after setup's file: it wins" },
	{ .file = SETUP_MODPROBE,
	  .is_in_own = true,
	  .key = "blacklist upmu",
	  .why = "keeps the module from being loaded by name of a device" },
	{ .file = SETUP_MODPROBE,
	  .is_in_own = true,
	  .key = "install upmu",
	  .why = "is run in place of loading the module" },
	{ .file = SETUP_MODPROBE,
	  .key = "options upmu",
	  .why = "is put to what setup's file says, where there is one" },
};

void setup_tell_overrides(const struct setup *setup)
{
	/* By systemd only where a link in sysctl.d leads there. */
	bool has_conf = !upmu_sys_exists("/run/systemd/system");
	bool hides[SETUP_FILES];
	char lines[256];

	for (int i = 0; i < SETUP_FILES; i++) {
		hides[i] = setup_content(setup, i, lines, sizeof(lines)) ||
			   setup_file_has(setup_paths[i], SETUP_MARK);
		if (hides[i])
			tell_hidden(i);
	}
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		struct overriding one = told[i];

		one.is_hidden = hides[one.file];
		if (!is_wanted(setup, &one))
			continue;
		find_overriding(&one);
		if (has_conf && one.file == SETUP_SYSCTLS)
			find_setting("/etc/sysctl.conf", &one);
	}
	if (setup_needs_module(setup))
		find_users_rule("yours: setup leaves that file as it is");
}
