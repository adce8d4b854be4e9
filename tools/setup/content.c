// SPDX-License-Identifier: MIT
/* What setup's files say on this machine, and what says otherwise. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"
#include "setup.h"

const char *const setup_paths[SETUP_FILES] = {
	[SETUP_UDEV] = "/etc/udev/rules.d/60-upmu.rules",
	[SETUP_LOAD] = "/etc/modules-load.d/upmu.conf",
	[SETUP_MODPROBE] = "/etc/modprobe.d/upmu.conf",
	[SETUP_SYSCTLS] = SETUP_SYSCTL,
};

#define RULE	  "KERNEL==\"upmu\", GROUP=\"upmu\", MODE=\"0660\"\n"
#define LOAD	  "upmu\n"
#define ADOPT	  "options upmu adopt=auto\n"
#define OPEN	  SETUP_USER_ACCESS " = 1\n"
#define THE_RULES "60-upmu.rules"
#define THE_CONF  "60-upmu.conf"

const char *const setup_any_content[SETUP_FILES] = {
	[SETUP_UDEV] = RULE,
	[SETUP_LOAD] = LOAD,
	[SETUP_MODPROBE] = ADOPT,
	[SETUP_SYSCTLS] = SETUP_PARANOID " = 1\n" SETUP_PARANOID " = 2\n" OPEN,
};

bool setup_needs_module(const struct setup *setup)
{
	return setup->is_arm && !setup->user_access;
}

/* An adopted PMU stays until reboot, whatever --undo has taken back. */
static bool lacks_pmu(const struct setup *setup)
{
	if (!setup->has_pmu)
		return true;
	/* Of adopt's values those with a comma are names: the user's choice. */
	return upmu_sys_exists("/sys/devices/platform/upmu-pmu") &&
	       !setup_file_has("/sys/module/upmu/parameters/adopt", ",") &&
	       !setup_file_is_foreign(setup_paths[SETUP_MODPROBE]);
}

static bool modprobe_content(const struct setup *setup, char *lines,
			     size_t size)
{
	if (!setup_needs_module(setup) || !lacks_pmu(setup))
		return false;
	snprintf(lines, size, ADOPT);
	return true;
}

/* Also where an --undo that was killed has left but the value itself. */
static bool lowers_paranoid(const struct setup *setup)
{
	if (setup->paranoid > setup->paranoid_wanted)
		return true;
	if (setup_file_is_foreign(SETUP_SYSCTL))
		return false;
	return setup_file_has(SETUP_SYSCTL, SETUP_PARANOID) ||
	       (setup->journal.paranoid > setup->paranoid_wanted &&
		setup_has_our_paranoid(setup));
}

static bool sysctl_content(const struct setup *setup, char *lines, size_t size)
{
	size_t used = 0;

	if (lowers_paranoid(setup))
		used = snprintf(lines, size, SETUP_PARANOID " = %ld\n",
				setup->paranoid_wanted);
	if (setup->user_access)
		used += snprintf(lines + used, size - used, OPEN);
	return used;
}

bool setup_content(const struct setup *setup, enum setup_file file, char *lines,
		   size_t size)
{
	*lines = '\0';
	switch (file) {
	case SETUP_UDEV:
		snprintf(lines, size, RULE);
		return setup_needs_module(setup);
	case SETUP_LOAD:
		snprintf(lines, size, LOAD);
		return setup_needs_module(setup);
	case SETUP_MODPROBE:
		return modprobe_content(setup, lines, size);
	default:
		return sysctl_content(setup, lines, size);
	}
}

/* "kernel/perf_event_paranoid = 3" sets it, too: sysctl.d(5). */
static bool begins(const char *line, const char *key)
{
	for (; *key; line++, key++)
		if (*line != *key && !(*line == '/' && *key == '.'))
			return false;
	return true;
}

/* Only these are read from such folders: no 99-x.conf.dpkg-old. */
static bool ends(const char *name, const char *end)
{
	size_t length = strlen(name), its = strlen(end);

	return length >= its && !strcmp(name + length - its, end);
}

/* Where @text of a file says @key other than ours, name it. */
static void tell_setting(const char *path, const char *key, const char *why)
{
	char text[8192], *rest = text, *line;

	if (upmu_sys_read_text(path, text, sizeof(text)))
		return;
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t-");
		if (begins(line, key))
			printf("note  %s says '%s'\n      (%s)\n", path, line,
			       why);
	}
}

struct overriding {
	const char *folder; /* below /etc, /run, /usr/local/lib and /usr/lib */
	const char *end;    /* of the names that are read */
	const char *ours;   /* which of them is setup's */
	bool all;	    /* whatever their names: else those after ours */
	const char *key, *why;
};

static void tell_folder(const char *top, const struct overriding *one)
{
	char real[UPMU_PATH_SIZE], path[UPMU_PATH_SIZE];
	struct dirent *entry;
	DIR *dir = NULL;

	snprintf(path, sizeof(path), "%s/%s", top, one->folder);
	if (!upmu_sys_path(real, path))
		dir = opendir(real);
	while (dir && (entry = readdir(dir))) {
		int order = strcmp(entry->d_name, one->ours);

		if (!order || (order < 0 && !one->all) ||
		    !ends(entry->d_name, one->end) ||
		    snprintf(path, sizeof(path), "%s/%s/%s", top, one->folder,
			     entry->d_name) >= (int)sizeof(path))
			continue;
		tell_setting(path, one->key, one->why);
	}
	if (dir)
		closedir(dir);
}

void setup_tell_overrides(void)
{
	static const char later[] =
		"read after setup's file: it wins at the next boot";
	static const struct overriding all[] = {
		{ "sysctl.d", ".conf", THE_CONF, false, SETUP_PARANOID, later },
		{ "sysctl.d", ".conf", THE_CONF, false, SETUP_USER_ACCESS,
		  later },
		{ "udev/rules.d", ".rules", THE_RULES, false,
		  "KERNEL==\"upmu\"", "read after setup's file: it wins" },
		{ "modprobe.d", ".conf", "upmu.conf", true, "blacklist upmu",
		  "keeps the module from being loaded by name of a device" },
		{ "modprobe.d", ".conf", "upmu.conf", true, "install upmu",
		  "is run in place of loading the module" },
		{ "modprobe.d", ".conf", "upmu.conf", true, "options upmu",
		  "is put to what setup's file says" },
	};
	static const char *const tops[] = { "/etc", "/run", "/usr/local/lib",
					    "/usr/lib" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (size_t j = 0; j < sizeof(tops) / sizeof(tops[0]); j++)
			tell_folder(tops[j], &all[i]);
	tell_setting("/etc/sysctl.conf", SETUP_PARANOID, later);
	tell_setting("/etc/sysctl.conf", SETUP_USER_ACCESS, later);
}
