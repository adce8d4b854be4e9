// SPDX-License-Identifier: MIT
#include "lib/perf/pmus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"

#define DEVICES "/sys/bus/event_source/devices"

/* As getdents64(2) has it. */
struct entry {
	uint64_t inode, next;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* The kernel's own, of no CPU: not worth the time to ask. */
static bool is_of_no_cpu(const char *name)
{
	static const char *const names[] = { "breakpoint", "kprobe", "software",
					     "tracepoint", "uprobe" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* x86 has no "cpus" file where all cores are alike; its PMU is called "cpu". */
static int read_cpus(int folder, struct upmu_pmu *pmu)
{
	int ret = upmu_sys_read_text_at(folder, "cpus", pmu->cpus,
					sizeof(pmu->cpus));

	if (ret != -ENOENT || strcmp(pmu->name, "cpu"))
		return ret;
	pmu->cpus[0] = '\0';
	return 0;
}

static int read_type(int folder, struct upmu_pmu *pmu)
{
	char text[16], *end;
	int ret = upmu_sys_read_text_at(folder, "type", text, sizeof(text));

	if (ret)
		return ret == -EFBIG ? -EINVAL : ret;
	pmu->type = (uint32_t)strtoul(text, &end, 10);
	return end == text || *end ? -EINVAL : 0;
}

static int read_pmu(int devices, const char *name, struct upmu_pmu *pmu)
{
	int folder, ret;

	if (name[0] == '.' || strlen(name) >= sizeof(pmu->name) ||
	    is_of_no_cpu(name))
		return -ENOENT;
	strcpy(pmu->name, name);
	folder = upmu_sys_open_folder_at(devices, name);
	if (folder < 0)
		return folder;
	ret = read_cpus(folder, pmu);
	if (!ret)
		ret = read_type(folder, pmu);
	upmu_sys_close(folder);
	return ret;
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

struct listing {
	int (*take)(void *data, const struct upmu_pmu *pmu);
	void *data;
	int n;
};

/* 0, or what was wanting. */
static int read_some(int devices, const char *entries, size_t size,
		     struct listing *listing)
{
	const struct entry *entry;

	for (size_t at = 0; at < size && listing->n < UPMU_PMUS_MAX;
	     at += entry->size) {
		struct upmu_pmu pmu;
		int ret;

		entry = (const struct entry *)(entries + at);
		ret = read_pmu(devices, entry->name, &pmu);
		/* Without one that has CPUs these would be bare cores. */
		if (upmu_pmus_is_want(ret) || ret == -EFBIG)
			return ret;
		if (ret)
			continue;
		ret = listing->take(listing->data, &pmu);
		if (ret)
			return ret;
		listing->n++;
	}
	return 0;
}

int upmu_pmus_each(int (*take)(void *data, const struct upmu_pmu *pmu),
		   void *data)
{
	_Alignas(struct entry) char entries[1024];
	struct listing listing = { .take = take, .data = data };
	int devices = upmu_sys_open(DEVICES, O_RDONLY | O_DIRECTORY);
	ssize_t size;
	int ret = 0;

	if (devices < 0)
		return devices;
	do {
		size = upmu_sys_getdents(devices, entries, sizeof(entries));
		if (size > 0)
			ret = read_some(devices, entries, (size_t)size,
					&listing);
	} while (size > 0 && !ret);
	upmu_sys_close(devices);
	if (upmu_pmus_is_want((int)size))
		ret = (int)size;
	return ret ? ret : listing.n;
}

static int append(void *data, const struct upmu_pmu *pmu)
{
	struct upmu_pmu **next = data;

	*(*next)++ = *pmu;
	return 0;
}

int upmu_pmus_list(struct upmu_pmu *pmus)
{
	struct upmu_pmu *next = pmus;
	int n = upmu_pmus_each(append, &next);

	if (n > 0)
		qsort(pmus, (size_t)n, sizeof(*pmus), by_type);
	return n;
}
