// SPDX-License-Identifier: MIT
/* Which kinds of core this machine has, and perf's PMU for each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/events/cpuinfo.h"
#include "lib/events/events.h"
#include "lib/events/sysfs.h"
#include "lib/events/text.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"

/* What perf wants for the cycle counter: drivers/perf/arm_v6_pmu.c and
 * arm_v7_pmu.c made up 0xff, arm_pmuv3.c takes the architecture's event. */
#define CYCLES_V6_V7 0xff
#define CYCLES_V8    0x11
#define CYCLES_APPLE 0x02

static bool has_cpu(const uint64_t *cpus, unsigned int cpu)
{
	return cpus[cpu / 64] >> cpu % 64 & 1;
}

static void add_cpu(uint64_t *cpus, unsigned int cpu)
{
	cpus[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* "0-3,8": what cannot be read adds nothing. */
static void parse_cpus(uint64_t *cpus, const char *list)
{
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < UPMU_CPUS_MAX; first++)
			add_cpu(cpus, (unsigned int)first);
		list = *end ? end + 1 : end;
	}
}

/* Cores are of one kind when implementer and part agree. */
static bool same_kind(uint32_t a, uint32_t b)
{
	const uint32_t mask = 0xff00fff0;

	return (a & mask) == (b & mask);
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* @driver: the core that the PMU is called by, or NULL. */
static const struct upmu_core *core_of_pmu(const char *pmu,
					   const struct upmu_core *driver)
{
	if (driver)
		return driver;
	if (upmu_pmu_is_pmuv3(pmu))
		return upmu_core_common(UPMU_ARCH_V8);
	if (starts_with(pmu, "armv7"))
		return upmu_core_common(UPMU_ARCH_V7);
	return NULL;
}

/*
 * The architecture's events are for PMUs of the architecture: others that
 * sit in ARM processors (Apple's) have codes of their own.
 */
static const struct upmu_core *unknown_core(const char *pmu, int arch)
{
	if (pmu[0] && !starts_with(pmu, "armv"))
		return NULL;
	if (arch >= UPMU_ARCH_V8)
		return upmu_core_common(UPMU_ARCH_V8);
	return arch == UPMU_ARCH_V7 ? upmu_core_common(UPMU_ARCH_V7) : NULL;
}

/* One PMU over unlike cores: only what the architecture says is sure. */
static const struct upmu_core *core_of_cpus(const struct upmu_core_kind *kind,
					    const struct upmu_cpuinfo *info)
{
	const struct upmu_core *core = upmu_core_by_midr(kind->midr);

	for (unsigned int cpu = 0; cpu < info->n; cpu++)
		if (has_cpu(kind->cpus, cpu) && info->midrs[cpu] &&
		    !same_kind(info->midrs[cpu], (uint32_t)kind->midr))
			return unknown_core(kind->pmu_name, info->arch);
	/* A guest on Apple's cores has a PMU of the architecture, or none. */
	if (core && upmu_core_arch(core) == UPMU_ARCH_APPLE &&
	    !starts_with(kind->pmu_name, "apple"))
		core = NULL;
	return core ? core : unknown_core(kind->pmu_name, info->arch);
}

static uint32_t cycles_config(const struct upmu_core_kind *kind)
{
	if (starts_with(kind->pmu_name, "armv6") ||
	    starts_with(kind->pmu_name, "armv7"))
		return CYCLES_V6_V7;
	if (!kind->pmu_name[0] && kind->core &&
	    upmu_core_arch(kind->core) == UPMU_ARCH_V6)
		return CYCLES_V6_V7;
	if (kind->core && upmu_core_arch(kind->core) == UPMU_ARCH_APPLE)
		return CYCLES_APPLE;
	return CYCLES_V8;
}

static uint32_t first_midr(const uint64_t *cpus,
			   const struct upmu_cpuinfo *info)
{
	for (unsigned int cpu = 0; cpu < info->n; cpu++)
		if (has_cpu(cpus, cpu) && info->midrs[cpu])
			return info->midrs[cpu];
	return 0;
}

/* Most PMUs go by the name of their own core: no need to ask every table. */
static const struct upmu_core *driver_of(const char *pmu, uint32_t midr)
{
	const struct upmu_core *core = upmu_core_by_midr(midr);
	size_t length = strlen(pmu);

	if (core && upmu_core_is_called(core, pmu, length))
		return core;
	return upmu_core_by_name(pmu, length);
}

static int new_kind(struct upmu_machine *machine, struct upmu_core_kind **out)
{
	if (machine->n_kinds == UPMU_KINDS_MAX)
		return -E2BIG;
	*out = &machine->kinds[machine->n_kinds++];
	memset(*out, 0, sizeof(**out));
	(*out)->pmu_type = UPMU_PMU_TYPE_NONE;
	return 0;
}

/* A PMU is a kind of core where its CPUs have MIDRs or its name is ARM's. */
static int add_pmu(struct upmu_machine *machine, const struct upmu_pmu *pmu,
		   const struct upmu_cpuinfo *info)
{
	const struct upmu_core *driver;
	struct upmu_core_kind *kind;
	uint64_t cpus[UPMU_CPUS_MAX / 64] = { 0 };
	uint32_t midr;
	int ret;

	parse_cpus(cpus, pmu->cpus[0] ? pmu->cpus : "0-1023");
	midr = first_midr(cpus, info);
	driver = driver_of(pmu->name, midr);
	if (!midr && !core_of_pmu(pmu->name, driver))
		return 0;
	ret = new_kind(machine, &kind);
	if (ret)
		return ret;
	memcpy(kind->cpus, cpus, sizeof(cpus));
	kind->midr = midr;
	kind->pmu_type = pmu->type;
	_Static_assert(sizeof(kind->pmu_name) == sizeof(pmu->name),
		       "one length for the names of PMUs");
	memcpy(kind->pmu_name, pmu->name, sizeof(kind->pmu_name));
	kind->driver = driver;
	kind->core = midr ? core_of_cpus(kind, info)
			  : core_of_pmu(pmu->name, driver);
	kind->cycles_config = cycles_config(kind);
	return 0;
}

/* A CPU for which perf has no PMU. */
static int add_bare_cpu(struct upmu_machine *machine, unsigned int cpu,
			const struct upmu_cpuinfo *info)
{
	uint32_t midr = info->midrs[cpu];
	struct upmu_core_kind *kind;
	int ret;

	for (size_t i = 0; i < machine->n_kinds; i++) {
		kind = &machine->kinds[i];
		if (kind->pmu_type != UPMU_PMU_TYPE_NONE ||
		    !same_kind((uint32_t)kind->midr, midr))
			continue;
		add_cpu(kind->cpus, cpu);
		return 0;
	}
	ret = new_kind(machine, &kind);
	if (ret)
		return ret;
	add_cpu(kind->cpus, cpu);
	kind->midr = midr;
	kind->core = core_of_cpus(kind, info);
	kind->cycles_config = cycles_config(kind);
	return 0;
}

const struct upmu_core_kind *
upmu_machine_kind_of_cpu(const struct upmu_machine *machine, unsigned int cpu)
{
	for (size_t i = 0; cpu < UPMU_CPUS_MAX && i < machine->n_kinds; i++)
		if (has_cpu(machine->kinds[i].cpus, cpu))
			return &machine->kinds[i];
	return NULL;
}

bool upmu_machine_has_filters(const struct upmu_machine *machine)
{
	for (size_t i = 0; i < machine->n_kinds; i++)
		if (machine->kinds[i].core &&
		    !upmu_core_filters(machine->kinds[i].core))
			return false;
	return true;
}

const char *upmu_kind_label(const struct upmu_core_kind *kind)
{
	if (kind->core && !upmu_core_is_common(kind->core))
		return upmu_core_name(kind->core);
	if (kind->pmu_name[0])
		return kind->pmu_name;
	return kind->core ? upmu_core_name(kind->core) : "cpu";
}

/* A core without a PMU here goes by all names that kernels and people have. */
static bool is_called(const struct upmu_core_kind *kind, const char *name,
		      size_t length)
{
	if (upmu_name_is(name, length, upmu_kind_label(kind)) ||
	    upmu_name_is(name, length, kind->pmu_name))
		return true;
	return !kind->pmu_name[0] && kind->core &&
	       upmu_core_by_name(name, length) == kind->core;
}

int upmu_machine_kind_named(const struct upmu_machine *machine,
			    const char *name, size_t length)
{
	for (size_t i = 0; i < machine->n_kinds; i++)
		if (is_called(&machine->kinds[i], name, length))
			return (int)i;
	return -1;
}

bool upmu_kind_publishes(const struct upmu_core_kind *kind)
{
	if (!kind->pmu_name[0])
		return false;
	if (starts_with(kind->pmu_name, "armv6") ||
	    starts_with(kind->pmu_name, "armv7"))
		return !kind->core || upmu_core_is_common(kind->core);
	return true;
}

static unsigned int first_cpu(const struct upmu_core_kind *kind)
{
	unsigned int cpu = 0;

	while (cpu < UPMU_CPUS_MAX && !has_cpu(kind->cpus, cpu))
		cpu++;
	return cpu;
}

/* Of two PMUs without a list of CPUs the one that came first. */
static int by_first_cpu(const void *a, const void *b)
{
	const struct upmu_core_kind *one = a, *other = b;
	unsigned int left = first_cpu(a), right = first_cpu(b);

	if (left == right)
		return (one->pmu_type > other->pmu_type) -
		       (one->pmu_type < other->pmu_type);
	return left > right ? 1 : -1;
}

struct finding {
	struct upmu_machine *machine;
	struct upmu_cpuinfo info;
};

static int take_pmu(void *data, const struct upmu_pmu *pmu)
{
	const struct finding *finding = data;

	return add_pmu(finding->machine, pmu, &finding->info);
}

static int find_kinds(struct upmu_machine *machine)
{
	struct finding finding; /* large */
	const struct upmu_cpuinfo *info = &finding.info;
	int ret;

	finding.machine = machine;
	upmu_cpuinfo_read(&finding.info);
	ret = upmu_pmus_each(take_pmu, &finding);
	/* What is found here is remembered: not that nothing could be asked.
	 * Without sysfs, no PMU is known. */
	if (upmu_pmus_is_want(ret) || ret == -E2BIG || ret == -EFBIG)
		return ret;
	ret = 0;
	for (unsigned int cpu = 0; !ret && cpu < info->n; cpu++)
		if (info->midrs[cpu] && !upmu_machine_kind_of_cpu(machine, cpu))
			ret = add_bare_cpu(machine, cpu, info);
	return ret;
}

static unsigned int linux_version(void)
{
	unsigned long major, minor;
	char release[80], *point, *end;

	if (upmu_sys_release(release, sizeof(release)))
		return 0;
	major = strtoul(release, &point, 10);
	minor = *point == '.' ? strtoul(point + 1, &end, 10) : 0;
	if (point == release || *point != '.' || end == point + 1)
		return 0;
	return (unsigned int)UPMU_LINUX(major, minor);
}

#define TEXT_OF(number) #number
#define TEXT(number)	TEXT_OF(number)

const char *upmu_machine_why(int error)
{
	if (error == -E2BIG)
		return "it has more than " TEXT(
			UPMU_KINDS_MAX) " kinds of core";
	if (error == -EFBIG)
		return "sysfs has " TEXT(
			UPMU_PMU_CPUS) " or more characters of a PMU's CPUs";
	return strerror(-error);
}

int upmu_machine_read(struct upmu_machine *machine)
{
	unsigned int linux;
	int ret;

	machine->n_kinds = 0;
	ret = find_kinds(machine);
	if (ret)
		return ret;
	linux = linux_version();
	for (size_t i = 0; i < machine->n_kinds; i++)
		machine->kinds[i].linux = linux;
	qsort(machine->kinds, machine->n_kinds, sizeof(machine->kinds[0]),
	      by_first_cpu);
	upmu_model_read(machine);
	machine->is_emulated = upmu_kinds_are_emulated(machine);
	return 0;
}
