/* SPDX-License-Identifier: MIT */
/*
 * registers.h - between the model's list of registers and what they do
 */
#ifndef TESTS_MODEL_REGISTERS_H
#define TESTS_MODEL_REGISTERS_H

#include "tests/model/pmu.h"

/* PMUSERENR; bit 0 is ARM1176's V too */
#define USER_EN 0x1u
#define USER_SW 0x2u
#define USER_CR 0x4u
#define USER_ER 0x8u

/* Is there such a register here, and may who asks read or write it? */
bool model_is_defined(const struct model_pmu *pmu,
		      const struct model_access *access);

#endif
