/* SPDX-License-Identifier: MIT */
#ifndef UPMU_LIB_DEVICE_ACCESS_H
#define UPMU_LIB_DEVICE_ACCESS_H

/**
 * Explain why this user may not open /dev/upmu: whose group the device has,
 * whether the user is in it, and the command that changes what is wrong.
 * Returns -EPERM. Reads /etc/group; a directory service is not asked.
 */
int upmu_explain_device_access(void);

#endif
