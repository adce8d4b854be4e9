/* SPDX-License-Identifier: MIT */
/*
 * clocks.h - what a source that tells time can stand in for
 */
#ifndef UPMU_LIB_CLOCKS_H
#define UPMU_LIB_CLOCKS_H

#include "lib/sources/source.h"

/** 0 where @wanted is `cycles` of all modes alone, else -EOPNOTSUPP. */
int upmu_clock_serves(const struct upmu_wanted *wanted);

#endif
