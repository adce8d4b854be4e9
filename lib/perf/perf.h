/* SPDX-License-Identifier: MIT */
/*
 * perf.h - the one place that asks perf for a counter
 *
 * Used by the library's sources and by the commands. Every function returns
 * 0 (or a descriptor) or a negative errno; after an error of
 * upmu_perf_open() upmu_explain() tells the reason, the present value of the
 * setting that refused, and the command that changes it.
 */
#ifndef UPMU_LIB_PERF_H
#define UPMU_LIB_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu.h"

#define UPMU_PERF_GROUP_MAX 64

/** What is to be counted, as perf wants to be told. */
struct upmu_perf_event {
	const char *name; /* for messages; as the user wrote it */
	uint32_t type;	  /* PERF_TYPE_* or the PMU's number in sysfs */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool wants_hv; /* :h asks: what perf counts without is no wish */
	bool is_cpu;   /* of a CPU's PMU: it can be read from user mode */
};

enum upmu_perf_flags {
	UPMU_PERF_INHERIT = 1 << 0,	   /* children of the target too */
	UPMU_PERF_ENABLE_ON_EXEC = 1 << 1, /* implies _DISABLED */
	UPMU_PERF_DISABLED = 1 << 2,	   /* upmu_perf_enable() starts it */
	UPMU_PERF_USER_READ = 1 << 3,	   /* index in the mmap page, config1 */
	UPMU_PERF_PINNED = 1 << 4, /* always on the hardware, or error */
	UPMU_PERF_EXCLUDE_KERNEL = 1 << 5, /* but of events of the kernel */
	UPMU_PERF_GROUP_READ = 1 << 7,	   /* upmu_perf_read_group() */
	UPMU_PERF_LONG = 1 << 8, /* 64 bits, with _USER_READ: only the cycle
				    counter has them on every arm64 core, and
				    the event then runs on no other */
	UPMU_PERF_ANY_COUNTER = 1 << 9, /* of a set: the cycle counter is
					   another's */
	UPMU_PERF_CGROUP = 1 << 10, /* the target's pid is a cgroup's folder */
};

/** Where it is to be counted. */
struct upmu_perf_target {
	pid_t pid;    /* 0 this thread, -1 every process (then cpu >= 0) */
	int cpu;      /* -1 any */
	int group_fd; /* the leader's descriptor, -1 for none */
	uint32_t flags;
};

/** Fill @attr; no system call, no failure. */
void upmu_perf_attr(struct perf_event_attr *attr,
		    const struct upmu_perf_event *event, uint32_t flags);

/** Of user mode alone perf would count none of these, and say 0. */
bool upmu_perf_is_of_the_kernel(const struct upmu_perf_event *event);

/**
 * 0 or, explained, -EOPNOTSUPP: @attr leaves out the kernel, where alone @event
 * happens. perf opens it all the same.
 */
int upmu_perf_check_modes(const struct upmu_perf_event *event,
			  const struct perf_event_attr *attr);

/**
 * Open one event, close-on-exec. Returns a descriptor or
 *   -EACCES     perf_event_paranoid forbids it
 *   -ENODEV     no PMU of this kind (none registered with perf)
 *   -ENOENT     this PMU does not know the event, or not on this CPU
 *   -EOPNOTSUPP the PMU cannot do it (sampling, 64-bit user reads)
 *   -EINVAL     refused: no exclude filter on this core, group too large
 *   -ENOSPC     the group has more events than the PMU has counters
 *   -EMFILE, -ENFILE  out of file descriptors
 *   -ESRCH      no such process or thread
 *   -EBUSY      another user holds the PMU exclusively
 *   -ENOSYS     the kernel has no perf
 */
int upmu_perf_open(const struct upmu_perf_event *event,
		   const struct upmu_perf_target *target);

/**
 * Open cycles on the calling thread, of user mode only where no more is
 * permitted: what a probe counts. @flags: UPMU_PERF_*. @cpu: -1, for which perf
 * of unlike cores takes any one's PMU; or where alone it is to count. Returns
 * as above.
 */
int upmu_perf_open_cycles(uint32_t flags, int cpu);

/** read(2) of one event opened without _GROUP_READ; 0, -errno, or -EIO. */
int upmu_perf_read(int fd, struct upmu_value *value);

/**
 * read(2) of a leader opened with _GROUP_READ: its whole group of @n events,
 * counted at the same time, in the order of opening. -EINVAL where the group
 * has another size.
 */
int upmu_perf_read_group(int fd, struct upmu_value *values, size_t n);

/**
 * The leader's own value, whatever size its group has. Of a CPU that went off,
 * Linux reckons some with it that are gone: the kernel's own events that were
 * opened before a core's.
 */
int upmu_perf_read_first(int fd, struct upmu_value *value);

int upmu_perf_enable(int fd);
int upmu_perf_disable(int fd);

/* ---- why it said no, and what to do (perf_explain.c) ----------------- */

/**
 * Explain @error of opening @event at @target with @attr. Returns the errno
 * that names the cause: perf's -EPERM becomes -EACCES, an -EINVAL that means
 * "more events than counters" becomes -ENOSPC, an -ENOENT without any PMU
 * -ENODEV.
 */
int upmu_perf_explain(int error, const struct upmu_perf_event *event,
		      const struct upmu_perf_target *target,
		      const struct perf_event_attr *attr);

/**
 * Both modes were refused, explained by @first, and then user mode alone with
 * @error, explained now. Where no more than the mode was in the way @first is
 * the reason: explain that, -EACCES. Else returns @error. @has_filters: the
 * core can tell the modes apart.
 */
int upmu_perf_explain_both(int error, const char *first, bool has_filters);

/** 0 or, explained, -EINVAL: there is no such CPU; -ENODEV: it is off. */
int upmu_perf_check_cpu(int cpu);

/** Explain an @error of -EMFILE or -ENFILE, with the limit; returns it. */
int upmu_explain_descriptors(int error, const char *what);

/* ---- a PMU that perf knows may not count (pmu_alive.c) --------------- */

/*
 * Secure firmware can hold it, and QEMU's ARM1176 has none although perf binds:
 * perf then reports what its own bookkeeping makes of zeros (4294967294).
 */

/**
 * Does the cycle counter move as cycles do? Counts a loop the first time,
 * remembers a clear answer for the process. Returns 0 (also where the counter
 * could not be had just now, so that nothing is known) or -ENODEV, explained.
 */
int upmu_pmu_alive(void);

/**
 * Does this board's emulator count instructions? @event is they. Remembered
 * likewise. 0 or, explained, -EOPNOTSUPP.
 */
int upmu_emulator_alive(const struct upmu_perf_event *event);
int upmu_emulator_explain(const char *event);

/** Ask again (tests). */
void upmu_pmu_alive_forget(void);

#endif
