// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/events/cpuinfo.h"
#include "lib/sys.h"

#define CPUS "/sys/devices/system/cpu"

/* One CPU's lines of /proc/cpuinfo, gathered until the next begins. */
struct reading {
	struct upmu_cpuinfo *info;
	long cpu;	/* -1: before the first "processor" */
	long blocks;	/* "processor" lines seen */
	long with_midr; /* of them, those with identification */
	uint32_t midr;	/* parts of it so far */
	bool has_midr;
	char line[96]; /* the one that is being read */
	size_t length;
};

static int sysfs_midr(unsigned int cpu, uint32_t *midr)
{
	char path[UPMU_PATH_SIZE];
	long value;
	char text[32];
	int ret;

	snprintf(path, sizeof(path), CPUS "/cpu%u/regs/identification/midr_el1",
		 cpu);
	ret = upmu_sys_read_text(path, text, sizeof(text));
	if (ret)
		return ret;
	value = (long)strtoull(text, NULL, 16);
	*midr = (uint32_t)value;
	return 0;
}

static bool is_there(unsigned int cpu)
{
	char path[UPMU_PATH_SIZE];

	snprintf(path, sizeof(path), CPUS "/cpu%u", cpu);
	return upmu_sys_exists(path);
}

static void set_midr(struct upmu_cpuinfo *info, unsigned int cpu, uint32_t midr)
{
	while (info->n <= cpu)
		info->midrs[info->n++] = 0;
	if (!info->midrs[cpu])
		info->midrs[cpu] = midr;
}

static void finish_cpu(struct reading *r)
{
	if (r->has_midr && r->cpu >= 0 && r->cpu < UPMU_CPUS_MAX) {
		r->with_midr++;
		set_midr(r->info, (unsigned int)r->cpu, r->midr);
	}
}

static void start_cpu(struct reading *r, const char *value)
{
	char *end;
	long cpu = strtol(value, &end, 10);

	/* "Processor : ARMv7 Processor rev 3" of old kernels is no number. */
	if (end == value)
		return;
	finish_cpu(r);
	r->cpu = cpu;
	r->blocks++;
	r->midr = 0;
	r->has_midr = false;
}

/* "8", "7", "6TEJ", "AArch64" */
static int architecture(const char *value)
{
	if (!strncmp(value, "AArch64", 7))
		return 8;
	return (int)strtol(value, NULL, 10);
}

static uint32_t number_of(const char *value)
{
	return (uint32_t)strtoul(value, NULL, 0);
}

static void read_line(struct reading *r, const char *line)
{
	const char *value = strchr(line, ':');

	if (!value)
		return;
	value += 1 + (value[1] == ' ');
	if (!strncasecmp(line, "processor", 9))
		start_cpu(r, value);
	if (strncmp(line, "CPU ", 4))
		return;
	line += 4;
	if (!strncmp(line, "implementer", 11)) {
		r->midr |= number_of(value) << 24;
		r->has_midr = true;
	} else if (!strncmp(line, "architecture", 12)) {
		r->info->arch = architecture(value);
	} else if (!strncmp(line, "variant", 7)) {
		r->midr |= (number_of(value) & 0xf) << 20;
	} else if (!strncmp(line, "part", 4)) {
		r->midr |= 0xf << 16 | (number_of(value) & 0xfff) << 4;
	} else if (!strncmp(line, "revision", 8)) {
		r->midr |= number_of(value) & 0xf;
	}
}

/* Kernels before 3.8 wrote the identification once, behind all CPUs. */
static void spread(struct reading *r)
{
	if (r->with_midr != 1 || r->blocks < 2)
		return;
	for (long cpu = 0; cpu < r->blocks && cpu < UPMU_CPUS_MAX; cpu++)
		set_midr(r->info, (unsigned int)cpu, r->midr);
}

/* Of a line or of what @text has of it; returns its length. */
static ssize_t take_part(struct reading *r, const char *text, size_t size)
{
	const char *end = memchr(text, '\n', size);
	size_t length = end ? (size_t)(end - text) : size;
	size_t room = sizeof(r->line) - 1 - r->length;

	/* A long line is "Features"; its end is idle. */
	if (room > length)
		room = length;
	memcpy(r->line + r->length, text, room);
	r->length += room;
	if (!end)
		return (ssize_t)length;
	r->line[r->length] = '\0';
	r->length = 0;
	read_line(r, r->line);
	return (ssize_t)length + 1;
}

/* 0, or the error after which what was read is half the truth. */
static int read_proc(struct upmu_cpuinfo *info)
{
	struct reading r = { .info = info, .cpu = -1 };
	char block[1024];
	ssize_t n;
	int fd;

	fd = upmu_sys_open("/proc/cpuinfo", O_RDONLY);
	if (fd < 0)
		return 0;
	while ((n = upmu_sys_read(fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;)
			at += take_part(&r, block + at, (size_t)(n - at));
	upmu_sys_close(fd);
	if (n < 0)
		return (int)n;
	finish_cpu(&r);
	spread(&r);
	return 0;
}

/* Does it tell of all CPUs? */
static bool read_sysfs(struct upmu_cpuinfo *info)
{
	/* Only 64-bit kernels have the file; looking for it is not cheap. */
	unsigned int most = upmu_sys_is_arm32() ? 0 : UPMU_CPUS_MAX;
	bool all = true;
	unsigned int cpu;
	uint32_t midr;

	info->arch = 0;
	info->n = 0;
	for (cpu = 0; cpu < most; cpu++) {
		if (!sysfs_midr(cpu, &midr)) {
			info->arch = 8;
			set_midr(info, cpu, midr);
			continue;
		}
		/* No kernel has it for some CPUs only, but those offline. */
		if (!cpu || !is_there(cpu))
			break;
		all = false;
	}
	return all && cpu;
}

void upmu_cpuinfo_read(struct upmu_cpuinfo *info)
{
	/* Half a file would be half the truth on a machine of unlike cores. */
	if (!read_sysfs(info) && read_proc(info))
		read_sysfs(info);
}
