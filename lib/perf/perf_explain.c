// SPDX-License-Identifier: MIT
#include "lib/perf/perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/explain.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define CPUS	 "/sys/devices/system/cpu"
#define CGROUPS	 "/sys/fs/cgroup"

struct refusal {
	const struct upmu_perf_event *event;
	const struct upmu_perf_target *target;
	const struct perf_event_attr *attr;
};

static bool opens(struct perf_event_attr *attr,
		  const struct upmu_perf_target *target, int group_fd)
{
	int fd = upmu_sys_perf_event_open(attr, target->pid, target->cpu,
					  group_fd, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	upmu_sys_close(fd);
	return true;
}

/* The value of perf_event_paranoid at which @refusal would be let pass. */
static int paranoid_wanted(const struct refusal *refusal)
{
	const struct upmu_perf_target *target = refusal->target;
	bool is_task = target->pid >= 0 && !(target->flags & UPMU_PERF_CGROUP);

	if (!is_task)
		return 0;
	return refusal->attr->exclude_kernel ? 2 : 1;
}

static int explain_no_pmu(void)
{
	upmu_explain_set(-ENODEV,
			 "no CPU PMU is registered with perf on this machine");
	upmu_explain_hint("upmu check");
	return -ENODEV;
}

/* No setting lets anybody count on a PMU that is not there. */
static bool lacks_pmu(const struct refusal *refusal)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];

	return refusal->event->type != PERF_TYPE_SOFTWARE &&
	       upmu_pmus_list(pmus) == 0;
}

static int explain_access(int error, const struct refusal *refusal)
{
	int wanted = paranoid_wanted(refusal);
	long paranoid;

	(void)error;
	if (lacks_pmu(refusal))
		return explain_no_pmu();
	if (upmu_sys_read_long(PARANOID, &paranoid))
		return upmu_explain_set(-EACCES, "this user may not count '%s'",
					refusal->event->name);
	if (paranoid <= wanted) {
		upmu_explain_set(
			-EACCES,
			"perf refuses '%s' although perf_event_paranoid is "
			"%ld: a security policy, or another user's process",
			refusal->event->name, paranoid);
		upmu_explain_hint("run it as root, in a container with "
				  "--cap-add PERFMON, or see dmesg");
		return -EACCES;
	}
	upmu_explain_set(-EACCES,
			 "perf_event_paranoid is %ld: this user may not count "
			 "'%s' (%d or less would do)",
			 paranoid, refusal->event->name, wanted);
	upmu_explain_hint("sudo sysctl kernel.perf_event_paranoid=%d", wanted);
	return -EACCES;
}

static int look_for_cpu(int cpu)
{
	char path[sizeof(CPUS "/cpu/online") + 12];
	long is_online;

	if (cpu < 0 || !upmu_sys_exists(CPUS))
		return 0;
	snprintf(path, sizeof(path), CPUS "/cpu%d", cpu);
	if (!upmu_sys_exists(path))
		return -EINVAL;
	snprintf(path, sizeof(path), CPUS "/cpu%d/online", cpu);
	return !upmu_sys_read_long(path, &is_online) && !is_online ? -ENODEV
								   : 0;
}

static int explain_no_cpu(int error, int cpu)
{
	upmu_explain_set(error, "CPU %d is not there or not online", cpu);
	upmu_explain_hint("cat " CPUS "/online");
	return error;
}

int upmu_perf_check_cpu(int cpu)
{
	int ret = look_for_cpu(cpu);

	return ret ? explain_no_cpu(ret, cpu) : 0;
}

/* Only what is not there wants to be mounted. */
static int explain_no_sysfs(int error, const struct refusal *refusal)
{
	if (error != -ENOENT) {
		upmu_explain_set(error,
				 "it cannot be told which PMUs there are: %s",
				 strerror(-error));
		if (error == -EMFILE)
			upmu_explain_hint("ulimit -n 1024");
		return error;
	}
	upmu_explain_set(-ENODEV,
			 "perf knows no '%s' here, and without /sys it cannot "
			 "be told which PMUs there are",
			 refusal->event->name);
	upmu_explain_hint("sudo mount -t sysfs sysfs /sys");
	return -ENODEV;
}

/*
 * A hierarchy of version 2 has perf once it has any controller; of version 1
 * perf has one of its own.
 */
static void hint_cgroup(void)
{
	if (upmu_sys_exists(CGROUPS "/cgroup.subtree_control"))
		upmu_explain_hint("echo +pids | sudo tee " CGROUPS
				  "/cgroup.subtree_control");
	else if (upmu_sys_exists(CGROUPS "/perf_event/cgroup.procs"))
		upmu_explain_hint("a cgroup of 'ls " CGROUPS "/perf_event'");
	else
		upmu_explain_hint(
			"sudo mkdir -p " CGROUPS "/perf_event && "
			"sudo mount -t cgroup -o perf_event none " CGROUPS
			"/perf_event");
}

/* Below /sys/fs/cgroup, but of a hierarchy that perf has no part in. */
static int explain_cgroup(int error, const struct refusal *refusal)
{
	upmu_explain_set(error,
			 "perf cannot count '%s' in that cgroup: its hierarchy "
			 "has no perf_event",
			 refusal->event->name);
	hint_cgroup();
	return error;
}

static int explain_unknown(int error, const struct refusal *refusal)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	int n;

	if (lacks_pmu(refusal))
		return explain_no_pmu();
	if (look_for_cpu(refusal->target->cpu))
		return explain_no_cpu(error, refusal->target->cpu);
	n = upmu_pmus_list(pmus);
	if (n < 0)
		return explain_no_sysfs(n, refusal);
	upmu_explain_set(error, "the PMU '%s' does not know the event '%s'",
			 n > 0 ? pmus[0].name : "software",
			 refusal->event->name);
	upmu_explain_hint("upmu list");
	return error;
}

static int explain_invalid(int error, const struct refusal *refusal)
{
	struct perf_event_attr attr = *refusal->attr;
	const char *name = refusal->event->name;

	if (look_for_cpu(refusal->target->cpu))
		return explain_no_cpu(error, refusal->target->cpu);
	if (refusal->target->group_fd >= 0 &&
	    opens(&attr, refusal->target, -1)) {
		upmu_explain_set(-ENOSPC,
				 "'%s' does not fit: the events wanted "
				 "together need more counters than the PMU has",
				 name);
		upmu_explain_hint("ask for fewer events in one set");
		return -ENOSPC;
	}
	attr.exclude_user = attr.exclude_kernel = attr.exclude_hv = 0;
	if ((refusal->attr->exclude_user || refusal->attr->exclude_kernel) &&
	    opens(&attr, refusal->target, refusal->target->group_fd))
		return upmu_explain_set(
			-EINVAL,
			"this core's PMU cannot count user or kernel mode "
			"alone: '%s' without :u and :k would do",
			name);
	return upmu_explain_set(error, "perf refuses '%s': %s", name,
				strerror(-error));
}

int upmu_explain_descriptors(int error, const char *what)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	upmu_explain_set(
		error, "out of file descriptors for %s: the limit is %llu %s",
		what, (unsigned long long)limit.rlim_cur,
		error == -EMFILE ? "per process"
				 : "here, and the system has none left");
	upmu_explain_hint("ulimit -n %llu",
			  2 * (unsigned long long)limit.rlim_cur);
	return error;
}

static int explain_descriptors(int error, const struct refusal *refusal)
{
	char event[160];

	snprintf(event, sizeof(event), "'%s'", refusal->event->name);
	return upmu_explain_descriptors(error, event);
}

static int explain_no_process(int error, const struct refusal *refusal)
{
	return upmu_explain_set(error, "no process or thread %ld",
				(long)refusal->target->pid);
}

static int explain_busy(int error, const struct refusal *refusal)
{
	upmu_explain_set(error,
			 "another user holds the PMU: '%s' cannot be had",
			 refusal->event->name);
	upmu_explain_hint("upmu check");
	return error;
}

static int explain_no_perf(int error, const struct refusal *refusal)
{
	(void)refusal;
	upmu_explain_set(error,
			 "this kernel was built without CONFIG_PERF_EVENTS");
	upmu_explain_hint("upmu check");
	return error;
}

static const struct {
	int error;
	int (*explain)(int error, const struct refusal *refusal);
} explanations[] = {
	{ -EACCES, explain_access },	  { -EPERM, explain_access },
	{ -ENOENT, explain_unknown },	  { -EOPNOTSUPP, explain_unknown },
	{ -ENODEV, explain_unknown },	  { -ENXIO, explain_unknown },
	{ -EINVAL, explain_invalid },	  { -ENOSPC, explain_invalid },
	{ -EMFILE, explain_descriptors }, { -ENFILE, explain_descriptors },
	{ -ESRCH, explain_no_process },	  { -EBUSY, explain_busy },
	{ -ENOSYS, explain_no_perf },
};

int upmu_perf_explain(int error, const struct upmu_perf_event *event,
		      const struct upmu_perf_target *target,
		      const struct perf_event_attr *attr)
{
	const struct refusal refusal = { event, target, attr };

	if ((target->flags & UPMU_PERF_CGROUP) &&
	    (error == -ENOENT || error == -EBADF))
		return explain_cgroup(error, &refusal);
	for (size_t i = 0; i < sizeof(explanations) / sizeof(*explanations);
	     i++)
		if (explanations[i].error == error)
			return explanations[i].explain(error, &refusal);
	return upmu_explain_set(error, "perf refuses '%s': %s", event->name,
				strerror(-error));
}

/*
 * Refused in user mode alone, too: what the kernel asks for that is less. But
 * some say so before they look whether the core can tell the modes apart.
 */
int upmu_perf_explain_both(int error, const char *first, bool has_filters)
{
	if (error == -EACCES && has_filters)
		return error;
	/* A core that cannot, an event of the kernel's. */
	if (error != -EACCES && error != -EINVAL && error != -EOPNOTSUPP)
		return error;
	return upmu_explain_set(-EACCES, "%s", first);
}
