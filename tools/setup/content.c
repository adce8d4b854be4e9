// SPDX-License-Identifier: MIT
/* What setup's files say on this machine. */
#include <stdio.h>

#include "lib/sys.h"
#include "setup.h"

const char *const setup_paths[SETUP_FILES] = {
	[SETUP_UDEV] = "/etc/udev/rules.d/60-upmu.rules",
	[SETUP_LOAD] = "/etc/modules-load.d/upmu.conf",
	[SETUP_MODPROBE] = "/etc/modprobe.d/upmu.conf",
	[SETUP_SYSCTLS] = SETUP_SYSCTL,
};

#define RULE  "KERNEL==\"upmu\", GROUP=\"upmu\", MODE=\"0660\"\n"
#define LOAD  "upmu\n"
#define ADOPT "options upmu adopt=auto\n"
#define OPEN  SETUP_USER_ACCESS " = 1\n"

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
	if (!setup_needs_module(setup) || !lacks_pmu(setup) ||
	    setup_user_adopts())
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
		return setup_needs_module(setup) && !setup_user_gives_device();
	case SETUP_LOAD:
		snprintf(lines, size, LOAD);
		return setup_needs_module(setup);
	case SETUP_MODPROBE:
		return modprobe_content(setup, lines, size);
	default:
		return sysctl_content(setup, lines, size);
	}
}
