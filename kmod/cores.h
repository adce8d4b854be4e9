/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cores.h - what has to be known of a core by its kind
 */
#ifndef UPMU_CORES_H
#define UPMU_CORES_H

#include <linux/types.h>

/* MIDR: implementer and part number; DDI 0406C B4.1.105. */
#define UPMU_MIDR_KIND 0xff00fff0u

#define UPMU_CORE_NAMES 3

/**
 * struct upmu_known_core - one kind of core
 * @midr: its MIDR & UPMU_MIDR_KIND; 0 ends the table
 * @is_v6: its PMU has ARMv6's registers
 * @silent_version: of its PMU, where the ID registers do not tell
 * @names: device-tree names of its PMU, the best first
 */
struct upmu_known_core {
	u32 midr;
	bool is_v6;
	u32 silent_version;
	const char *names[UPMU_CORE_NAMES];
};

extern const struct upmu_known_core upmu_known_cores[];

/* NULL: a kind that the table does not have. */
const struct upmu_known_core *upmu_core_known(u32 midr);

#endif
