/* SPDX-License-Identifier: MIT */
/* out.h - what the report writers share */
#ifndef UPMU_TOOLS_OUT_H
#define UPMU_TOOLS_OUT_H

#include "stat.h"

/* With fewer slices for each set an estimate rests on luck. */
#define OUT_SLICES_FEW 20

/** Thousands parted by commas, whatever the locale; 40 bytes are enough. */
char *out_grouped(char *out, double value);

#endif
