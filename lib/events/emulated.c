// SPDX-License-Identifier: MIT
/*
 * Does an emulator make up the counts?
 *
 * Not what the machine is called but what its PMU has is asked first: the
 * architecture wants l1d_cache of every PMUv3, QEMU's has none, and a guest
 * on silicon has what the silicon has. 32-bit kernels do not ask the PMU
 * which events it has, so there the board decides.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "lib/events/events.h"
#include "lib/events/sysfs.h"
#include "lib/events/text.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"

#define DEVICES "/sys/bus/event_source/devices"
#define TREE	"/sys/firmware/devicetree/base"

#define CYCLES_OF_V6 0xff

static bool has_event(const char *pmu, const char *event)
{
	char path[UPMU_PATH_SIZE];

	snprintf(path, sizeof(path), DEVICES "/%.100s/events/%s", pmu, event);
	return upmu_sys_exists(path);
}

/* 1: made up, 0: real, -1: the PMU does not tell. */
static int pmu_tells(const char *name)
{
	if (!upmu_pmu_is_pmuv3(name) || !has_event(name, "cpu_cycles"))
		return -1;
	return !has_event(name, "l1d_cache") &&
	       !has_event(name, "l1d_cache_refill");
}

/* A property that lists strings, each with its NUL: does one begin so? */
static bool lists(const char *text, size_t size, const char *start)
{
	size_t at = 0;

	while (at < size && text[at]) {
		if (!strncmp(text + at, start, strlen(start)))
			return true;
		at += upmu_span(text + at, '\0') + 1;
	}
	return false;
}

static bool has_fw_cfg(void)
{
	char path[UPMU_PATH_SIZE];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	if (upmu_sys_path(path, TREE))
		return false;
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = !strncmp(entry->d_name, "fw-cfg@", 7);
	closedir(dir);
	return found;
}

/* A Raspberry Pi's firmware puts its serial number into every tree; none has
 * QEMU's fw-cfg. */
static bool board_is_emulated(void)
{
	char is[512] = { 0 };

	upmu_sys_read_text(TREE "/compatible", is, sizeof(is) - 1);
	if (lists(is, sizeof(is), "linux,dummy-virt"))
		return true;
	if (lists(is, sizeof(is), "raspberrypi,"))
		return !upmu_sys_exists(TREE "/serial-number");
	return has_fw_cfg();
}

/* A board with a model has a PMU that looks like silicon. */
static bool has_model(void)
{
	return upmu_sys_exists(TREE "/upmu-model");
}

bool upmu_machine_is_emulated(void)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	int n = upmu_pmus_list(pmus);

	if (has_model())
		return true;
	for (int i = 0; i < n; i++) {
		int told = pmu_tells(pmus[i].name);

		if (told >= 0)
			return told;
	}
	return board_is_emulated();
}

bool upmu_kinds_are_emulated(const struct upmu_machine *machine)
{
	if (machine->model.is_told)
		return true;
	for (size_t i = 0; i < machine->n_kinds; i++) {
		int told = pmu_tells(machine->kinds[i].pmu_name);

		if (told >= 0)
			return told;
	}
	return board_is_emulated();
}

bool upmu_emulator_counts(const struct upmu_core_kind *kind,
			  const struct upmu_event_row *row)
{
	static const char *const counted[] = { "cpu_cycles", "inst_retired",
					       "sw_incr" };
	const char *name = upmu_row_name(row);

	if (upmu_event_is_modelled(kind, row) || upmu_event_is_exact(kind, row))
		return true;
	/* Of the ARM1176 QEMU has the registers' names, and no PMU. */
	if (upmu_row_code(row) == CYCLES_OF_V6)
		return false;
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (!strcmp(name, counted[i]))
			return true;
	return false;
}
