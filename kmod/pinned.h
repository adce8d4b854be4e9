/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pinned.h - events of perf that a lease would end for good
 */
#ifndef UPMU_PINNED_H
#define UPMU_PINNED_H

#include "upmu.h"

/*
 * -EBUSY: a pinned event would not get its counter back if perf kept off the
 * counters in @mask. Its owner is in the log and in /proc/upmu. upmu_mutex,
 * cpus_read_lock().
 */
int upmu_pinned_admit(u32 mask);
/* Of the last refusal, if there was one. */
void upmu_pinned_show(struct seq_file *m);

#endif
