/* SPDX-License-Identifier: MIT */
/*
 * The kernel of test_pack.c: it refuses groups of more events than the core has
 * counters, and never runs one whose counters somebody else has.
 */
#ifndef UPMU_TESTS_SMALL_KERNEL_H
#define UPMU_TESTS_SMALL_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/sys.h"

#define FDS 1024

static unsigned int counters;  /* of every core, besides that for cycles */
static unsigned int held;      /* of these, by somebody else */
static unsigned int used[FDS]; /* by the group of this leader */
static bool cycles_used[FDS];
static bool cycles_held;   /* that counter, by somebody else */
static int leader_of[FDS]; /* of an open event, plus 1; 0: no event */
static bool takes[FDS];	   /* a counter */
static unsigned int opened;
static pid_t refused; /* no event is opened for this thread, for this reason */
static int refusal;
static unsigned int granted; /* events that it has had before */
static uint64_t lacking;     /* no thread's event of this code is opened */
static bool only_user;	     /* perf_event_paranoid is 2 */

/* ARMv6 and ARMv7 call the cycle counter's event 0xff, ARMv8 0x11. */
static bool is_cycles(const struct perf_event_attr *attr)
{
	return attr->config == 0xff || attr->config == 0x11;
}

#define FEW 100

static bool is_short; /* no event can be opened with a limit of FEW */

static bool is_short_of_descriptors(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	return is_short && limit.rlim_cur == FEW;
}

static int verdict(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	if (only_user && (cpu >= 0 || !attr->exclude_kernel))
		return -EACCES;
	if (pid && lacking && attr->config == lacking)
		return -EINVAL;
	if (is_short_of_descriptors())
		return -EMFILE;
	return pid == refused && !granted ? refusal : 0;
}

int __wrap_upmu_sys_perf_event_open(struct perf_event_attr *attr, pid_t pid,
				    int cpu, int group, unsigned long flags)
{
	int error = verdict(attr, pid, cpu);
	int fd = error ? error : open("/dev/null", O_RDONLY | O_CLOEXEC);
	int leader = group < 0 ? fd : group;

	(void)flags;
	if (error)
		return error;
	granted -= refusal && pid == refused;
	assert_in_range(fd, 0, FDS - 1);
	opened++;
	leader_of[fd] = leader + 1;
	takes[fd] = false;
	if (group < 0) {
		used[fd] = 0;
		cycles_used[fd] = false;
	}
	if (attr->type == PERF_TYPE_SOFTWARE)
		return fd;
	if (is_cycles(attr) && !cycles_used[leader] &&
	    !(cycles_held && attr->config == 0x11)) {
		cycles_used[leader] = true;
		return fd;
	}
	if (used[leader] == counters) {
		upmu_sys_close(fd);
		return -EINVAL;
	}
	used[leader]++;
	takes[fd] = true;
	return fd;
}

int __wrap_upmu_sys_ioctl(int fd, unsigned long request, void *argument)
{
	(void)fd;
	(void)request;
	(void)argument;
	return 0;
}

int __wrap_upmu_sys_close(int fd)
{
	if (fd >= 0 && fd < FDS && leader_of[fd]) {
		used[leader_of[fd] - 1] -= takes[fd];
		leader_of[fd] = 0;
	}
	return close(fd);
}

ssize_t __real_upmu_sys_read(int fd, void *buffer, size_t size);

/* A group runs where nobody has the counters that it wants. */
ssize_t __wrap_upmu_sys_read(int fd, void *buffer, size_t size)
{
	uint64_t *raw = buffer;

	if (fd < 0 || fd >= FDS || !leader_of[fd])
		return __real_upmu_sys_read(fd, buffer, size);
	raw[0] = size / sizeof(*raw) - 3;
	raw[1] = 1000;
	raw[2] =
		used[fd] + held <= counters && !(cycles_held && cycles_used[fd])
			? 1000
			: 0;
	return (ssize_t)size;
}

static int on_cpu[2] = { -1 }; /* at first, and when it is asked again */
static unsigned int asked;

int __real_sched_getcpu(void);
int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
	return on_cpu[0] < 0 ? __real_sched_getcpu() : on_cpu[asked++ > 0];
}

#endif
