/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between Linux 5.10 and the newest
 *
 * What can be asked at run time (the numbering of counters, say) is probed
 * where it is used; here is what the compiler has to know.
 */
#ifndef UPMU_COMPAT_H
#define UPMU_COMPAT_H

#include <linux/version.h>

/* 5.18: sched_switch tells the state that the previous task leaves in. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
#define UPMU_SWITCH_ARGS                                                       \
	void *data, bool preempt, struct task_struct *prev,                    \
		struct task_struct *next, unsigned int prev_state
#else
#define UPMU_SWITCH_ARGS                                                       \
	void *data, bool preempt, struct task_struct *prev,                    \
		struct task_struct *next
#endif

/* 6.16: sched_process_exit tells whether this was the last thread. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define UPMU_EXIT_ARGS void *data, struct task_struct *task, bool group_dead
#else
#define UPMU_EXIT_ARGS void *data, struct task_struct *task
#endif

/* 5.17: arm64 fills the page's index and grants access by itself. */
#if defined(CONFIG_ARM64) && LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
#define UPMU_PERF_USER_ACCESS 1
#else
#define UPMU_PERF_USER_ACCESS 0
#endif

#endif
