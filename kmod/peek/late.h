/* SPDX-License-Identifier: GPL-2.0-only */
/* late.h - how long interrupts were off (see late.c) */
#ifndef UPMU_PEEK_LATE_H
#define UPMU_PEEK_LATE_H

int late_init(void);
void late_exit(void);

#endif
