/* SPDX-License-Identifier: MIT */
#ifndef MODEL_IDENTITY_H
#define MODEL_IDENTITY_H

#include "settings.h"

/* What the guest reads in MIDR and, of the core, in PMCR. Call it first. */
void identity_put(int cpu, const struct core_shape *core);

#endif
