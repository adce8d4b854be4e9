// SPDX-License-Identifier: MIT
#include "lib/perf/pmus.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"

#define DEVICES "/sys/bus/event_source/devices"

/* x86 has no "cpus" file where all cores are alike; its PMU is called "cpu". */
static int read_cpus(const char *name, char *cpus, size_t size)
{
	char path[UPMU_PATH_SIZE];
	int ret;

	snprintf(path, sizeof(path), DEVICES "/%.100s/cpus", name);
	ret = upmu_sys_read_text(path, cpus, size);
	if (ret == -ENOENT && !strcmp(name, "cpu")) {
		cpus[0] = '\0';
		return 0;
	}
	return ret;
}

static int read_pmu(const char *name, struct upmu_pmu *pmu)
{
	char path[UPMU_PATH_SIZE];
	long type;
	int ret;

	if (name[0] == '.' || strlen(name) >= sizeof(pmu->name))
		return -ENOENT;
	ret = read_cpus(name, pmu->cpus, sizeof(pmu->cpus));
	if (ret)
		return ret;
	snprintf(path, sizeof(path), DEVICES "/%.100s/type", name);
	ret = upmu_sys_read_long(path, &type);
	if (ret)
		return ret;
	strcpy(pmu->name, name);
	pmu->type = (uint32_t)type;
	return 0;
}

static int by_type(const void *a, const void *b)
{
	const struct upmu_pmu *left = a, *right = b;

	return (left->type > right->type) - (left->type < right->type);
}

bool upmu_pmus_is_want(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

int upmu_pmus_list(struct upmu_pmu *pmus)
{
	char path[UPMU_PATH_SIZE];
	struct dirent *entry;
	int n = 0;
	DIR *dir;
	int ret;

	ret = upmu_sys_path(path, DEVICES);
	if (ret)
		return ret;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (n < UPMU_PMUS_MAX && !upmu_pmus_is_want(ret) &&
	       (entry = readdir(dir))) {
		ret = read_pmu(entry->d_name, &pmus[n]);
		n += !ret;
	}
	closedir(dir);
	if (upmu_pmus_is_want(ret))
		return ret;
	qsort(pmus, (size_t)n, sizeof(*pmus), by_type);
	return n;
}
