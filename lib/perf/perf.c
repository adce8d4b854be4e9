// SPDX-License-Identifier: MIT
#include "lib/perf/perf.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "lib/events/generic.h"
#include "lib/explain.h"
#include "lib/sys.h"

/*
 * arm64's driver (Linux 5.17) and upmu.ko read two bits of config1: bit 1
 * asks for the hardware index in the mmap page, bit 0 for a 64-bit counter.
 */
#define CONFIG1_LONG	  1
#define CONFIG1_USER_READ 2

/* Each pause is twice as long as the one before: 0.8 s in all. */
#define BIRTH_PAUSE_NS 50000L
#define BIRTH_PAUSES   14

void upmu_perf_attr(struct perf_event_attr *attr,
		    const struct upmu_perf_event *event, uint32_t flags)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = event->type;
	attr->config = event->config;
	attr->config1 = event->config1;
	attr->config2 = event->config2;
	attr->read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (flags & UPMU_PERF_GROUP_READ)
		attr->read_format |= PERF_FORMAT_GROUP;
	attr->inherit = !!(flags & UPMU_PERF_INHERIT);
	attr->enable_on_exec = !!(flags & UPMU_PERF_ENABLE_ON_EXEC);
	attr->disabled =
		!!(flags & (UPMU_PERF_DISABLED | UPMU_PERF_ENABLE_ON_EXEC));
	attr->pinned = !!(flags & UPMU_PERF_PINNED);
	attr->exclude_user = event->exclude_user;
	/* Of neither mode an event would stay 0: perf is to refuse it. */
	attr->exclude_kernel =
		event->exclude_kernel ||
		(!event->exclude_user && (flags & UPMU_PERF_EXCLUDE_KERNEL));
	/* Only where :h asks for it is the hypervisor in what the kernel is
	 * not: perf counts as unprivileged what excludes both. */
	attr->exclude_hv = event->exclude_hv ||
			   (attr->exclude_kernel && !event->exclude_kernel);
	if ((flags & UPMU_PERF_USER_READ) && event->is_cpu)
		attr->config1 |= CONFIG1_USER_READ;
	if ((flags & UPMU_PERF_LONG) && event->is_cpu)
		attr->config1 |= CONFIG1_LONG;
}

bool upmu_perf_is_of_the_kernel(const struct upmu_perf_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		event->config == UPMU_SW_CGROUP_SWITCHES);
}

static bool is_a_clock(const struct upmu_perf_event *event)
{
	return event->config == PERF_COUNT_SW_CPU_CLOCK ||
	       event->config == PERF_COUNT_SW_TASK_CLOCK;
}

int upmu_perf_check_modes(const struct upmu_perf_event *event,
			  const struct perf_event_attr *attr)
{
	if (event->type == PERF_TYPE_SOFTWARE && attr->exclude_user &&
	    attr->exclude_kernel && !is_a_clock(event))
		return upmu_explain_set(-EOPNOTSUPP,
					"'%s' would stay 0: what the kernel "
					"counts is of no hypervisor",
					event->name);
	if (!attr->exclude_kernel || !upmu_perf_is_of_the_kernel(event))
		return 0;
	upmu_explain_set(-EOPNOTSUPP,
			 "perf counts no '%s' in user mode: they happen in "
			 "the kernel",
			 event->name);
	upmu_explain_hint(event->exclude_kernel
				  ? "leave out :u"
				  : "sudo sysctl kernel.perf_event_paranoid=1");
	return -EOPNOTSUPP;
}

int upmu_perf_open(const struct upmu_perf_event *event,
		   const struct upmu_perf_target *target)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	struct perf_event_attr attr;
	int fd, ret;

	if (target->flags & UPMU_PERF_CGROUP)
		flags |= PERF_FLAG_PID_CGROUP;
	upmu_perf_attr(&attr, event, target->flags);
	fd = upmu_sys_perf_event_open(&attr, target->pid, target->cpu,
				      target->group_fd, flags);
	if (fd < 0)
		return upmu_perf_explain(fd, event, target, &attr);
	ret = upmu_perf_check_modes(event, &attr);
	if (!ret)
		return fd;
	upmu_sys_close(fd);
	return ret;
}

int upmu_perf_open_cycles(uint32_t flags, int cpu)
{
	static const struct upmu_perf_event cycles = {
		.name = "cycles",
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.is_cpu = true,
	};
	struct upmu_perf_target self = { .cpu = cpu, .group_fd = -1 };
	int fd;

	self.flags = flags | UPMU_PERF_EXCLUDE_KERNEL;
	fd = upmu_perf_open(&cycles, &self);
	/* Whoever may not count user mode alone may not count more. */
	if (fd >= 0 || fd == -EACCES)
		return fd;
	/* A core without mode filters; else this tells the better reason. */
	self.flags = flags;
	return upmu_perf_open(&cycles, &self);
}

int upmu_perf_read(int fd, struct upmu_value *value)
{
	uint64_t raw[3];
	ssize_t n = upmu_sys_read(fd, raw, sizeof(raw));

	if (n < 0)
		return (int)n;
	/* A pinned event that lost its place, or a group's read format. */
	if (n != sizeof(raw))
		return -EIO;
	value->count = raw[0];
	value->enabled_ns = raw[1];
	value->running_ns = raw[2];
	return 0;
}

/* Whole: a program may have a timer whose signals come more often. */
static void pause_for(long ns)
{
	struct timespec rest = { .tv_nsec = ns };

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
}

/*
 * While a thread with inherited events is being born its group is not whole,
 * and Linux refuses to add it up: -ECHILD (since 6.6 and the stable kernels of
 * then, "perf: Disallow mis-matched inherited group reads"). That is soon over,
 * but the one who forks may need our CPU for it.
 */
static ssize_t read_when_whole(int fd, void *raw, size_t size)
{
	ssize_t got = upmu_sys_read(fd, raw, size);

	for (int i = 0; got == -ECHILD && i < BIRTH_PAUSES; i++) {
		pause_for(BIRTH_PAUSE_NS << i);
		got = upmu_sys_read(fd, raw, size);
	}
	return got;
}

int upmu_perf_read_group(int fd, struct upmu_value *values, size_t n)
{
	uint64_t raw[3 + UPMU_PERF_GROUP_MAX];
	ssize_t got;

	if (n > UPMU_PERF_GROUP_MAX)
		return -EINVAL;
	got = read_when_whole(fd, raw, (3 + n) * sizeof(*raw));
	if (got < 0)
		return got == -ENOSPC ? -EINVAL : (int)got;
	if (!got)
		return -EIO;
	if (raw[0] != n)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		values[i] = (struct upmu_value){ raw[3 + i], raw[1], raw[2] };
	return 0;
}

int upmu_perf_read_first(int fd, struct upmu_value *value)
{
	uint64_t raw[3 + UPMU_PERF_GROUP_MAX];
	ssize_t got = read_when_whole(fd, raw, sizeof(raw));

	if (got < 0)
		return (int)got;
	if ((size_t)got < 4 * sizeof(*raw))
		return -EIO;
	*value = (struct upmu_value){ raw[3], raw[1], raw[2] };
	return 0;
}

int upmu_perf_enable(int fd)
{
	return upmu_sys_ioctl(fd, PERF_EVENT_IOC_ENABLE, NULL);
}

int upmu_perf_disable(int fd)
{
	return upmu_sys_ioctl(fd, PERF_EVENT_IOC_DISABLE, NULL);
}
