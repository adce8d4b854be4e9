/* SPDX-License-Identifier: MIT */
/* Stand-in for lib/perf.h until the library has it. */
#ifndef UPMU_TOOLS_STAT_PERF_H
#define UPMU_TOOLS_STAT_PERF_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stat.h"

static inline int stat_perf_open(const struct stat_event *event,
				 const struct stat_target *target, int group,
				 bool on_exec, bool inherit)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.disabled = group < 0,
		.enable_on_exec = group < 0 && on_exec,
		.inherit = inherit,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.read_format = PERF_FORMAT_GROUP |
			       PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	long fd = syscall(SYS_perf_event_open, &attr, target->pid, target->cpu,
			  group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

#endif
