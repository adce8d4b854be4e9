/* SPDX-License-Identifier: MIT */
#ifndef MODEL_ARM1176_H
#define MODEL_ARM1176_H

#include "model.h"

/*
 * arm1176_add - give the CPU the registers of its PMU, which QEMU lacks
 * @reason: QEMU_REASON bytes, filled when it returns false
 */
bool arm1176_add(char *reason);

/* Is the event counted, by the model or by the emulator's clock? */
bool arm1176_counts(unsigned event);

#endif
