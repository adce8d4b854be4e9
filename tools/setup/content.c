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

bool setup_needs_module(const struct setup *setup)
{
	return setup->is_arm && !setup->user_access;
}

static bool modprobe_content(const struct setup *setup, char *lines,
			     size_t size)
{
	/* Once adopted there is a PMU: a setup before this one saw to it. */
	if (!setup_needs_module(setup) ||
	    (setup->has_pmu &&
	     !setup_file_has(setup_paths[SETUP_MODPROBE], SETUP_MARK)))
		return false;
	snprintf(lines, size, "options upmu adopt=auto\n");
	return true;
}

static bool sysctl_content(const struct setup *setup, char *lines, size_t size)
{
	size_t used = 0;

	if (setup->paranoid > setup->paranoid_wanted ||
	    setup_file_has(SETUP_SYSCTL, SETUP_PARANOID))
		used = snprintf(lines, size, SETUP_PARANOID " = %ld\n",
				setup->paranoid_wanted);
	if (setup->user_access)
		used += snprintf(lines + used, size - used,
				 SETUP_USER_ACCESS " = 1\n");
	return used;
}

bool setup_content(const struct setup *setup, enum setup_file file, char *lines,
		   size_t size)
{
	*lines = '\0';
	switch (file) {
	case SETUP_UDEV:
		snprintf(lines, size,
			 "KERNEL==\"upmu\", GROUP=\"upmu\", MODE=\"0660\"\n");
		return setup_needs_module(setup);
	case SETUP_LOAD:
		snprintf(lines, size, "upmu\n");
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
static bool is_read(const char *name)
{
	size_t length = strlen(name);

	return length >= 5 && !strcmp(name + length - 5, ".conf");
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

static void tell_folder(const char *folder, const char *after, const char *key,
			const char *why)
{
	char real[UPMU_PATH_SIZE], path[UPMU_PATH_SIZE];
	struct dirent *entry;
	DIR *dir;

	if (upmu_sys_path(real, folder))
		return;
	dir = opendir(real);
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, after) <= 0 ||
		    !is_read(entry->d_name) ||
		    snprintf(path, sizeof(path), "%s/%s", folder,
			     entry->d_name) >= (int)sizeof(path))
			continue;
		tell_setting(path, key, why);
	}
	if (dir)
		closedir(dir);
}

void setup_tell_overrides(void)
{
	static const char *const sysctls[] = { "/etc/sysctl.d", "/run/sysctl.d",
					       "/usr/lib/sysctl.d" };
	const char *later = "read after setup's file: it wins at the next boot";

	for (size_t i = 0; i < sizeof(sysctls) / sizeof(sysctls[0]); i++) {
		tell_folder(sysctls[i], "60-upmu.conf", SETUP_PARANOID, later);
		tell_folder(sysctls[i], "60-upmu.conf", SETUP_USER_ACCESS,
			    later);
	}
	tell_setting("/etc/sysctl.conf", SETUP_PARANOID, later);
	tell_setting("/etc/sysctl.conf", SETUP_USER_ACCESS, later);
	tell_folder("/etc/modprobe.d", "", "blacklist upmu",
		    "keeps the module from being loaded by name of a device");
	tell_folder("/etc/modprobe.d", "", "install upmu",
		    "is run in place of loading the module");
}
