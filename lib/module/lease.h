/* SPDX-License-Identifier: MIT */
/*
 * lease.h - asking upmu.ko
 */
#ifndef UPMU_LIB_LEASE_H
#define UPMU_LIB_LEASE_H

#include <stdbool.h>

#include "upmu.h"

/**
 * Open /dev/upmu and ask for its INFO. Returns a descriptor or, explained,
 * -ENXIO (no module), -EPERM (no permission), -EPROTO (another ABI), -EMFILE,
 * -ENFILE.
 */
int upmu_device_open(struct upmu_info *info);

/** INFO through a descriptor that is open already. */
int upmu_device_info(int fd, struct upmu_info *info);

/** Would @mode be granted to this user now? 0 or as upmu_lease_take(). */
int upmu_lease_would(const struct upmu_info *info, uint32_t mode);

/**
 * As upmu_lease_check() where @is_leased; else: does open=all still hold? 0 or
 * -ESTALE.
 */
int upmu_lease_check_any(int fd, bool is_leased);

/**
 * -EBUSY, explained, of events that were wanted and had no counter until now;
 * by the name of the process whose RAW lease has them all.
 */
int upmu_explain_no_counter(void);

/**
 * The one COUNT lease of this process that all sets on pages share. Each
 * _get that returned 0 wants a _put. A child made by fork() starts with none.
 */
int upmu_count_lease_get(void);
void upmu_count_lease_put(void);

/** In the child after fork(): the parent's lease is not ours. */
void upmu_count_lease_forked(void);

/**
 * Explain why this user may not open /dev/upmu: whose group the device has,
 * whether the user is in it, and the command that changes what is wrong.
 * Returns -EPERM. Reads /etc/group; a directory service is not asked.
 */
int upmu_explain_device_access(void);

#endif
