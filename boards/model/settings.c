// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"
#include "settings.h"

static struct {
	uint64_t ram;
	struct core_shape core[QEMU_CPUS];
	int cores;
} settings;

static void read_events(char *text, struct core_shape *core)
{
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
		if (strtoul(word, NULL, 0) < MODEL_CODES)
			core->events[strtoul(word, NULL, 0)] = true;
}

static bool read_cache(const char *text, struct cache_shape *cache)
{
	return sscanf(text, "%u %u %u", &cache->size, &cache->ways,
		      &cache->line) == 3;
}

static bool read_line(char *line)
{
	struct core_shape *core =
		&settings.core[settings.cores ? settings.cores - 1 : 0];
	char word[16];
	int at = 0;

	if (sscanf(line, "%15s %n", word, &at) != 1)
		return true;
	line += at;
	if (!strcmp(word, "ram"))
		settings.ram = strtoull(line, NULL, 0);
	else if (!strcmp(word, "core") && settings.cores < QEMU_CPUS)
		settings.cores++;
	else if (!strcmp(word, "l1i"))
		return read_cache(line, &core->l1i);
	else if (!strcmp(word, "l1d"))
		return read_cache(line, &core->l1d);
	else if (!strcmp(word, "events"))
		read_events(line, core);
	else if (!strcmp(word, "arm1176"))
		core->is_arm1176 = true;
	else if (!strcmp(word, "identity"))
		return sscanf(line, "%x %x", &core->midr, &core->pmcr) == 2;
	else
		return false;
	return true;
}

bool settings_read(const char *path, char *reason)
{
	FILE *in = fopen(path, "r");
	char line[4096];
	bool ok = in;

	while (ok && fgets(line, sizeof(line), in))
		ok = read_line(line);
	if (!ok)
		snprintf(reason, QEMU_REASON, "cannot read '%.60s': %.60s",
			 path, in ? line : strerror(errno));
	if (in)
		fclose(in);
	return ok && settings.cores;
}

uint64_t settings_ram(void)
{
	return settings.ram;
}

const struct core_shape *settings_core(int cpu)
{
	return &settings.core[cpu < settings.cores ? cpu : settings.cores - 1];
}
