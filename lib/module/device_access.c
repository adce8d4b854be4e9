// SPDX-License-Identifier: MIT
#include "lib/module/lease.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/explain.h"
#include "lib/sys.h"
#include "upmu.h"

#define GROUP "upmu"

/* A line of /etc/group: NAME:PASSWORD:NUMBER:MEMBER,MEMBER */
struct group_entry {
	char line[4096];
	const char *name, *members;
	unsigned long gid;
};

static bool split(struct group_entry *entry)
{
	char *rest = entry->line, *gid;

	rest[strcspn(rest, "\n")] = '\0';
	entry->name = strsep(&rest, ":");
	strsep(&rest, ":");
	gid = strsep(&rest, ":");
	entry->members = rest ? rest : "";
	entry->gid = gid ? strtoul(gid, NULL, 10) : 0;
	return gid && *gid;
}

/* By @name, or where that is NULL by @gid. getgrgid() would want the shared
 * libc of the build in every static program. */
static bool find_group(struct group_entry *entry, const char *name,
		       unsigned long gid)
{
	char path[UPMU_PATH_SIZE];
	bool is_found = false;
	FILE *file;

	if (upmu_sys_path(path, "/etc/group"))
		return false;
	file = fopen(path, "re");
	while (file && !is_found &&
	       fgets(entry->line, sizeof(entry->line), file))
		is_found = split(entry) && (name ? !strcmp(entry->name, name)
						 : entry->gid == gid);
	if (file)
		fclose(file);
	return is_found;
}

static bool is_in_list(const char *word, const char *list)
{
	size_t length = strlen(word);

	while (*list) {
		size_t part = strcspn(list, ",");

		if (part == length && !strncmp(list, word, length))
			return true;
		list += part + (list[part] == ',');
	}
	return false;
}

/* Listed now, but this login is from before. */
static bool is_listed(struct group_entry *entry)
{
	const char *user = secure_getenv("USER");

	return user && find_group(entry, GROUP, 0) &&
	       is_in_list(user, entry->members);
}

static void explain_other_group(const struct stat *device,
				struct group_entry *entry)
{
	char number[24];

	snprintf(number, sizeof(number), "%lu", (unsigned long)device->st_gid);
	upmu_explain_set(-EPERM,
			 "no permission on " UPMU_DEVICE
			 ": it belongs to the group %s (mode %04o) and not "
			 "to " GROUP,
			 find_group(entry, NULL, device->st_gid) ? entry->name
								 : number,
			 (unsigned int)device->st_mode & 07777);
	upmu_explain_hint("sudo upmu setup");
}

/* With one line alone: threads may have stacks of 16 KiB. */
int upmu_explain_device_access(void)
{
	char path[UPMU_PATH_SIZE];
	struct group_entry entry;
	struct stat device;

	if (!upmu_sys_path(path, UPMU_DEVICE) && !stat(path, &device) &&
	    !(find_group(&entry, GROUP, 0) && entry.gid == device.st_gid)) {
		explain_other_group(&device, &entry);
		return -EPERM;
	}
	if (is_listed(&entry)) {
		upmu_explain_set(-EPERM,
				 "no permission on " UPMU_DEVICE
				 ": this login is older than the user's place "
				 "in the group " GROUP);
		upmu_explain_hint("log in again, or: newgrp " GROUP);
		return -EPERM;
	}
	upmu_explain_set(-EPERM, "no permission on " UPMU_DEVICE
				 ": this user is not in the group " GROUP);
	upmu_explain_hint("sudo usermod -aG " GROUP " \"$USER\", then log in "
			  "again");
	return -EPERM;
}
