/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * adopt.h - a perf PMU for a machine whose firmware forgot it
 */
#ifndef UPMU_ADOPT_H
#define UPMU_ADOPT_H

#include <linux/types.h>

/*
 * Lets the kernel's own driver bind to this machine's CPU PMU, if the parameter
 * `adopt` says so: "no", "auto" (device-tree name chosen by MIDR), or a
 * device-tree name such as "arm,cortex-a7-pmu". What it registers stays until
 * reboot: perf PMUs cannot be unregistered. What it did, or why it did nothing,
 * is in the kernel log. To be called before looking for perf's PMUs; sleeps.
 *
 * 0: every online CPU has a perf PMU now, or the parameter is "no".
 *   -EINVAL  the parameter is none of the above
 *   -ENODEV  no PMU in the core or guest, no device tree, or no driver in this
 *            kernel that knows the name
 *   -EBUSY   perf has a PMU for some of the CPUs only, the CPUs are not all of
 *            one kind, or another name was adopted since boot
 *   -ENXIO   the kernel's driver refused; its reason is in the log
 *   -ENOMEM
 */
int upmu_adopt_init(void);

/* Is there an adopted PMU, by this load of the module or an earlier one? */
bool upmu_adopt_active(void);

#endif
