/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trap.h - a holder whose permission was taken away tries again
 */
#ifndef UPMU_TRAP_H
#define UPMU_TRAP_H

#include <linux/types.h>

int upmu_trap_init(void);
void upmu_trap_exit(void);
/* Leases hold here against all that takes the permission away. */
bool upmu_trap_works(void);

#endif
