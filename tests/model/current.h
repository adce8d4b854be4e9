/* SPDX-License-Identifier: MIT */
/*
 * current.h - the PMU that a test program's regs/ reach, and what every test
 * of it begins and ends with
 */
#ifndef TESTS_MODEL_CURRENT_H
#define TESTS_MODEL_CURRENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "regs/regs.h"
#include "tests/model/pmu.h"

/* Code for any ARM does what the processor wants: here, what is modelled. */
#define IS_ANY (UPMU_REGS_ARCH == UPMU_REGS_ARM)
#define IS_V6  (MODEL_KIND == MODEL_ARM1176)
#define IS_V7  (UPMU_REGS_ARCH == UPMU_REGS_V7 || (IS_ANY && !IS_V6))

#define N  (IS_V6 ? 2u : 6u)
#define CC UPMU_MASK_CYCLES

int begin(void **state); /* a MODEL_KIND after reset; accesses privileged */
int end(void **state);	 /* nothing undefined, nothing forbidden */
void expect_undefined(unsigned int times);

#endif
