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

#define IS_V6 (UPMU_REGS_ARCH == UPMU_REGS_V6)
#define IS_V7 (UPMU_REGS_ARCH == UPMU_REGS_V7)
#define IS_V8 (UPMU_REGS_ARCH >= UPMU_REGS_V8_32)

#define N  (IS_V6 ? 2u : 6u)
#define CC UPMU_MASK_CYCLES

int begin(void **state); /* a MODEL_KIND after reset; accesses privileged */
int end(void **state);	 /* nothing undefined, nothing forbidden */
void expect_undefined(unsigned int times);

#endif
