// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"
#include "settings.h"
#include "model.h"

static struct {
	uint64_t ram;
	struct core_shape core[QEMU_CPUS];
	int cores;
	uint64_t hidden;  /* CPUs, as bits */
	unsigned perfmon; /* 0: as the emulator has it */
} settings;

static void read_events(char *text, struct core_shape *core)
{
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
		if (strtoul(word, NULL, 0) < MODEL_CODES)
			core->events[strtoul(word, NULL, 0)] = true;
}

static bool read_own(const char *text, struct core_shape *core)
{
	char name[32];
	unsigned code;

	if (sscanf(text, "%x %31s", &code, name) != 2 || code >= MODEL_CODES)
		return false;
	core->own[code] = (uint16_t)event_own(name);
	return core->own[code];
}

/* As many numbers as there are, up to four. */
static bool read_numbers(const char *text, unsigned *number, int n)
{
	unsigned more[4];

	if (sscanf(text, "%u %u %u %u", &more[0], &more[1], &more[2],
		   &more[3]) != n)
		return false;
	memcpy(number, more, sizeof(*number) * (size_t)n);
	return true;
}

/* A word that numbers follow, and where they go. */
static const struct {
	const char *word;
	size_t at;
	int n;
} numbers[] = {
	{ "l1i", offsetof(struct core_shape, l1i), 3 },
	{ "l1d", offsetof(struct core_shape, l1d), 3 },
	{ "l2", offsetof(struct core_shape, l2), 3 },
	{ "itlb", offsetof(struct core_shape, itlb), 1 },
	{ "dtlb", offsetof(struct core_shape, dtlb), 1 },
	{ "tlb", offsetof(struct core_shape, tlb_entries), 2 },
	{ "branches", offsetof(struct core_shape, branches), 4 },
};

static bool read_line(char *line)
{
	struct core_shape *core =
		&settings.core[settings.cores ? settings.cores - 1 : 0];
	char word[16];
	int at = 0;

	if (sscanf(line, "%15s %n", word, &at) != 1)
		return true;
	line += at;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(word, numbers[i].word))
			return read_numbers(
				line,
				(unsigned *)((char *)core + numbers[i].at),
				numbers[i].n);
	if (!strcmp(word, "ram"))
		settings.ram = strtoull(line, NULL, 0);
	else if (!strcmp(word, "hidden"))
		settings.hidden |= 1ull << strtoul(line, NULL, 0) % QEMU_CPUS;
	else if (!strcmp(word, "perfmon"))
		return sscanf(line, "%u", &settings.perfmon) == 1;
	else if (!strcmp(word, "core") && settings.cores < QEMU_CPUS)
		settings.cores++;
	else if (!strcmp(word, "events"))
		read_events(line, core);
	else if (!strcmp(word, "own"))
		return read_own(line, core);
	else if (!strcmp(word, "arm1176"))
		core->is_arm1176 = true;
	else if (!strcmp(word, "read-allocate"))
		core->read_allocate = true;
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

int settings_cores(void)
{
	return settings.cores;
}

const struct core_shape *settings_core(int cpu)
{
	return &settings.core[cpu < settings.cores ? cpu : settings.cores - 1];
}

/*
 * Unlike cores: all CPUs of the emulator are one kind, and each says here who
 * it stands for, before it first ran.
 */

enum { IMPLEMENTER = 0xffu << 24, IDCODE = 0xff << 16, N = 0x1f << 11 };

/* In the field, for the first CPU, and for those that are reset to start. */
static void put(int cpu, uint32_t key, uint32_t mask, uint32_t value)
{
	struct qemu_register *reg = qemu_register(cpu, key);
	void *env = qemu_env(cpu);

	if (!reg || !qemu_has_field(reg))
		return;
	qemu_set_field(env, reg,
		       (qemu_field(env, reg) & ~(uint64_t)mask) | value);
	qemu_set_constant(reg, (qemu_constant(reg) & ~(uint64_t)mask) | value);
}

void identity_put(int cpu, const struct core_shape *core)
{
	uint32_t told = IMPLEMENTER | IDCODE | N;

	if (!core->midr)
		return;
	put(cpu, qemu_cp(15, 0, 0, 0, 0), UINT32_MAX, core->midr);
	put(cpu, qemu_sys(3, 0, 0, 0, 0), UINT32_MAX, core->midr);
	put(cpu, qemu_cp(15, 9, 0, 12, 0), told, core->pmcr & told);
	put(cpu, qemu_sys(3, 3, 9, 12, 0), told, core->pmcr & told);
}

/*
 * Another version of the PMU in ID_DFR0.PerfMon, ID_AA64DFR0.PMUVer, or one
 * that cannot be known: 15. These are constants, which the emulator translates
 * into code for all CPUs.
 */
enum { PERFMON_AT = 24, PMUVER_AT = 8, UNKNOWN = 0xf };

static uint64_t read_version(void *env, const struct qemu_register *reg)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);
	uint64_t value = qemu_read_before(env, hook);

	if (settings.perfmon)
		value = (value & ~((uint64_t)UNKNOWN << hook->number)) |
			(uint64_t)settings.perfmon << hook->number;
	if (settings.hidden >> qemu_cpu_of(env) & 1)
		value |= (uint64_t)UNKNOWN << hook->number;
	return value;
}

void identity_tell(int cpu)
{
	if (!settings.hidden && !settings.perfmon)
		return;
	qemu_hook(cpu, qemu_cp(15, 0, 0, 1, 2), read_version, NULL, 0,
		  PERFMON_AT);
	qemu_hook(cpu, qemu_sys(3, 0, 0, 5, 0), read_version, NULL, 0,
		  PMUVER_AT);
}
