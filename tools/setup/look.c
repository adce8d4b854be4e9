// SPDX-License-Identifier: MIT
/* What setup finds on this machine. */
#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "lib/events/events.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"
#include "setup.h"

#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"

/*
 * The highest perf_event_paranoid that lets a user count a process of his
 * own. Cores without privilege filters need 1: there a user must not be
 * asked to leave the kernel out, because perf refuses that (-EINVAL).
 */
#define PARANOID_FILTER	   2
#define PARANOID_NO_FILTER 1

void setup_look_at_sysctls(struct setup *setup)
{
	if (upmu_sys_read_long(PARANOID_FILE, &setup->paranoid))
		setup->paranoid = SETUP_UNTOUCHED;
	if (upmu_sys_read_long(UPMU_USER_ACCESS, &setup->user_access_now))
		setup->user_access_now = SETUP_UNTOUCHED;
}

bool setup_group_exists(void)
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

/*
 * Also of a PMU that the module is yet to register: the core is known by its
 * MIDR. Where no core can be found none is known to lack them.
 */
static bool cores_have_filters(void)
{
	struct upmu_machine machine;

	return upmu_machine_read(&machine) ||
	       upmu_machine_has_filters(&machine);
}

/* What a file with setup's mark has of setup, where no journal tells. */
static void take_marked(struct setup_journal *journal, int file)
{
	char users[SETUP_TEXT_SIZE] = "", text[SETUP_TEXT_SIZE];
	const char *path = setup_paths[file];
	size_t size = sizeof(journal->lines[file]);

	if (setup_file_without(users, path, setup_any_content[file]))
		return;
	/* Longer than setup ever wrote: the rest is the user's. */
	if (!setup_file_without(text, path, users))
		snprintf(journal->lines[file], size, "%.*s", (int)size - 1,
			 text);
}

/* A setup of version 0.1.0 left no journal, but marks. */
static void take_old_marks(struct setup *setup)
{
	struct setup_journal *journal = &setup->journal;

	for (int i = 0; i < SETUP_FILES; i++) {
		if (!setup_file_has(setup_paths[i], SETUP_MARK))
			continue;
		setup->was_set_up = true;
		if (!journal->is_there || journal->is_damaged)
			take_marked(journal, i);
	}
	if (setup_file_has(setup_paths[SETUP_UDEV], SETUP_GROUP_MARK))
		journal->created_group = true;
}

int setup_look(struct setup *setup)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	struct kernel kernel;
	int error = setup_journal_read(&setup->journal);

	if (error)
		return error;
	kernel_read(&kernel);
	setup->is_arm = kernel.is_arm;
	setup->user_access = kernel.opens;
	setup->has_pmu = upmu_pmus_list(pmus) > 0;
	setup->has_group = setup_group_exists();
	setup->paranoid_wanted =
		cores_have_filters() ? PARANOID_FILTER : PARANOID_NO_FILTER;
	setup_look_at_sysctls(setup);
	setup->was_set_up = setup->journal.is_there;
	take_old_marks(setup);
	return 0;
}
