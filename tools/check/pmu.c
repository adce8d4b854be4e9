// SPDX-License-Identifier: MIT
/*
 * The cores, perf's PMU for them, who may use it, who holds it, and what each
 * source says of itself.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "tools/kernel.h"
#include "tools/list/list.h"
#include "lib/events/events.h"
#include "lib/module/lease.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"
#include "upmu.h"

static void check_kind(struct check_report *report,
		       const struct upmu_core_kind *kind)
{
	char cpus[LIST_CPUS_SIZE];

	list_cpus(cpus, kind);
	if (!kind->core)
		return;
	if (upmu_core_is_common(kind->core))
		check_add(report, "cores", CHECK_NOTE,
			  "CPU %s: MIDR 0x%08llx is not known by itself; it "
			  "gets the architecture's common events",
			  cpus, (unsigned long long)kind->midr);
	else
		check_add(report, "cores", CHECK_OK,
			  "CPU %s: %s, %u event counters", cpus,
			  upmu_core_title(kind->core),
			  upmu_core_counters(kind->core));
}

static void check_emulated(struct check_report *report,
			   const struct upmu_machine *machine)
{
	if (!machine->is_emulated)
		return;
	check_add(report, "board", CHECK_NOTE,
		  "emulated: of a core's events it counts cycles, "
		  "software increments and perhaps instructions");
	if (machine->model.refused[0])
		check_add(report, "board", CHECK_NOTE,
			  "its other events are not emulated: %s",
			  machine->model.refused);
	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_model *model = &machine->kinds[i].model;

		if (model->geometry[0])
			check_add(report, "board", CHECK_NOTE,
				  "its other counts are modelled, not silicon: "
				  "a model of %s %s (%s)",
				  model->article, model->title,
				  model->geometry);
	}
}

static void check_cores(struct check_report *report,
			const struct upmu_machine *machine)
{
	for (size_t i = 0; i < machine->n_kinds; i++)
		check_kind(report, &machine->kinds[i]);
	if (machine->n_kinds > 1)
		check_add(report, "cores", CHECK_NOTE,
			  "more than one kind: unlike events are never added "
			  "up, `upmu list` shows each");
	check_emulated(report, machine);
}

/* Is there one, or cannot that be told? */
static bool check_perf_pmu(struct check_report *report)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	int n = upmu_pmus_list(pmus);
	struct kernel kernel;

	kernel_read(&kernel);

	for (int i = 0; i < n; i++)
		check_add(report, "perf PMU", CHECK_OK, "%s%s%s", pmus[i].name,
			  pmus[i].cpus[0] ? " for CPU " : "", pmus[i].cpus);
	if (n > 0)
		return true;
	check_add(report, "perf PMU", CHECK_BAD,
		  "perf has none on this machine%s",
		  kernel.is_arm
			  ? ": the device tree forgot it, or the kernel has no "
			    "driver for this core"
			  : " (a virtual machine may hide it)");
	if (kernel.is_arm)
		check_hint(report, "sudo modprobe -r upmu; sudo modprobe upmu "
				   "adopt=auto");
	return n < 0;
}

/* What each value lets an unprivileged user do: perf_event_open(2). */
static void check_paranoid(struct check_report *report,
			   const struct upmu_machine *machine, bool has_pmu)
{
	static const char *const allows[] = {
		"users may count everything of their own and all CPUs",
		"users may count their own programs, the kernel included",
		"users may count their own programs, in user mode only",
	};
	long paranoid, wanted = upmu_machine_has_filters(machine) ? 2 : 1;

	if (upmu_sys_read_long("/proc/sys/kernel/perf_event_paranoid",
			       &paranoid)) {
		if (!upmu_sys_exists("/proc/sys"))
			return;
		check_add(report, "paranoid", CHECK_BAD,
			  "no kernel.perf_event_paranoid: this kernel was "
			  "built without perf");
		return;
	}
	if (paranoid <= wanted) {
		check_add(report, "paranoid", CHECK_OK,
			  "kernel.perf_event_paranoid is %ld: %s", paranoid,
			  allows[paranoid < 0 ? 0 : paranoid]);
		return;
	}
	if (!has_pmu) {
		check_add(report, "paranoid", CHECK_NOTE,
			  "kernel.perf_event_paranoid is %ld: without a PMU "
			  "that is about software events only",
			  paranoid);
		return;
	}
	check_add(report, "paranoid", geteuid() ? CHECK_BAD : CHECK_NOTE,
		  "kernel.perf_event_paranoid is %ld: only root may count%s",
		  paranoid,
		  paranoid > 2 ? ""
			       : " (this core cannot leave the kernel out, "
				 "as 2 demands of users)");
	check_hint(report, "sudo sysctl kernel.perf_event_paranoid=%ld",
		   wanted);
}

static void check_user_access(struct check_report *report)
{
	long value;

	if (upmu_sys_read_long(UPMU_USER_ACCESS, &value))
		return;
	check_add(report, "access", value ? CHECK_OK : CHECK_BAD,
		  "kernel.perf_user_access is %ld: user mode %s", value,
		  value ? "may read the counters of its events"
			: "may not read counters without a system call");
	if (!value)
		check_hint(report, "sudo sysctl kernel.perf_user_access=1");
}

/* The first line, and the first hint that leads further than to here. */
static void add_words(struct check_report *report, const char *subject,
		      enum check_verdict verdict, const char *prefix,
		      const char *words)
{
	const char *hint = strstr(words, "\nhint: ");
	int length = strcspn(words, "\n");

	check_add(report, subject, verdict, "%s%s%.*s", prefix,
		  *prefix && length ? ": " : "", length, words);
	if (!hint || verdict == CHECK_OK)
		return;
	hint += strlen("\nhint: ");
	length = strcspn(hint, "\n");
	if (strncmp(hint, "upmu check", length))
		check_hint(report, "%.*s", length, hint);
}

static void check_device(struct check_report *report)
{
	static const char *const modes[] = { "?", "COUNT", "CYCLES", "RAW" };
	struct upmu_info info;
	int fd;

	if (!upmu_sys_exists("/sys/module/upmu"))
		return;
	fd = upmu_device_open(&info);
	if (fd < 0) {
		add_words(report, "device", CHECK_BAD, "", upmu_explain());
		return;
	}
	upmu_sys_close(fd);
	check_add(report, "device", CHECK_OK,
		  UPMU_DEVICE " may be opened by this user; ABI %u", info.abi);
	if (info.leases)
		check_add(report, "holder", CHECK_NOTE,
			  "%u lease%s; the oldest is %s's (pid %d), mode %s",
			  info.leases, info.leases == 1 ? "" : "s",
			  info.holder_comm, info.holder_pid,
			  info.holder_mode < 4 ? modes[info.holder_mode] : "?");
	if (info.open)
		check_add(report, "open", CHECK_NOTE,
			  "the module is loaded with open=%s: every process "
			  "may use the registers",
			  info.open == 1 ? "cycles" : "all");
}

/* Each source that others can stand in for is as it is; perf's read(2) can be
 * had wherever events can be counted at all. */
static void check_sources(struct check_report *report)
{
	struct upmu_verdict verdict = { .size = sizeof(verdict) };
	char prefix[64];

	for (size_t i = 0; !upmu_probe(i, &verdict); i++) {
		enum check_verdict how = CHECK_OK;

		if (verdict.error)
			how = strcmp(verdict.source, "read") ? CHECK_NOTE
							     : CHECK_BAD;
		snprintf(prefix, sizeof(prefix), "%-5s %s (%s)", verdict.source,
			 verdict.error ? "no" : "yes", verdict.unit);
		add_words(report, "source", how, prefix, verdict.reason);
	}
}

void check_pmu(struct check_report *report)
{
	struct upmu_machine *machine = calloc(1, sizeof(*machine));
	int error = machine ? upmu_machine_read(machine) : -ENOMEM;
	bool has_pmu;

	if (error)
		check_add(report, "cores", CHECK_NOTE, "cannot be told: %s",
			  upmu_machine_why(error));
	else
		check_cores(report, machine);
	has_pmu = check_perf_pmu(report);
	if (machine)
		check_paranoid(report, machine, has_pmu);
	check_user_access(report);
	check_device(report);
	check_sources(report);
	free(machine);
}
