// SPDX-License-Identifier: GPL-2.0-only
/*
 * cores.c - the cores, as data
 *
 * names: first the core's own, then what a kernel without a driver for it takes
 * in its place. The v7 names stand for ARMv8 cores in AArch32: Debian's 32-bit
 * kernels have no PMUv3 driver, and the registers are those of PMUv2. Which v7
 * core: the one whose generic events have the same numbers.
 *
 * silent_version: ARM1176 (DDI 0301H 3.2.51), Cortex-A8 (DDI 0344K 3.2.42) and
 * Cortex-A9 (DDI 0388I 11) have ID registers that do not tell of a PMU.
 */
#include "cores.h"

#define V3(part, ...)                               \
	{                                           \
		0x41000000 | (part) << 4, false, 0, \
		{                                   \
			__VA_ARGS__                 \
		}                                   \
	}

/* clang-format off */
const struct upmu_known_core upmu_known_cores[] = {
	{ 0x4100b360, true,  0, { "arm,arm1136-pmu" } },
	{ 0x4100b760, true,  1, { "arm,arm1176-pmu" } },
	{ 0x4100b020, true,  0, { "arm,arm11mpcore-pmu" } },
	{ 0x4100c050, false, 0, { "arm,cortex-a5-pmu" } },
	{ 0x4100c070, false, 0, { "arm,cortex-a7-pmu" } },
	{ 0x4100c080, false, 1, { "arm,cortex-a8-pmu" } },
	{ 0x4100c090, false, 1, { "arm,cortex-a9-pmu" } },
	{ 0x4100c0d0, false, 0, { "arm,cortex-a12-pmu" } },
	{ 0x4100c0e0, false, 0, { "arm,cortex-a17-pmu", "arm,cortex-a12-pmu" } },
	{ 0x4100c0f0, false, 0, { "arm,cortex-a15-pmu" } },
	{ 0x420000f0, false, 0, { "arm,cortex-a15-pmu" } }, /* Brahma-B15 */
	V3(0xd01, "arm,armv8-pmuv3", "arm,cortex-a7-pmu"), /* A32 */
	V3(0xd02, "arm,cortex-a34-pmu", "arm,armv8-pmuv3", "arm,cortex-a7-pmu"),
	V3(0xd03, "arm,cortex-a53-pmu", "arm,armv8-pmuv3", "arm,cortex-a7-pmu"),
	V3(0xd04, "arm,cortex-a35-pmu", "arm,armv8-pmuv3", "arm,cortex-a7-pmu"),
	V3(0xd05, "arm,cortex-a55-pmu", "arm,armv8-pmuv3"),
	V3(0xd06, "arm,cortex-a65-pmu", "arm,armv8-pmuv3"),
	V3(0xd07, "arm,cortex-a57-pmu", "arm,armv8-pmuv3", "arm,cortex-a15-pmu"),
	V3(0xd08, "arm,cortex-a72-pmu", "arm,armv8-pmuv3", "arm,cortex-a15-pmu"),
	V3(0xd09, "arm,cortex-a73-pmu", "arm,armv8-pmuv3", "arm,cortex-a17-pmu"),
	V3(0xd0a, "arm,cortex-a75-pmu", "arm,armv8-pmuv3"),
	V3(0xd0b, "arm,cortex-a76-pmu", "arm,armv8-pmuv3"),
	V3(0xd0c, "arm,neoverse-n1-pmu", "arm,armv8-pmuv3"),
	V3(0xd0d, "arm,cortex-a77-pmu", "arm,armv8-pmuv3"),
	V3(0xd41, "arm,cortex-a78-pmu", "arm,armv8-pmuv3"),
	V3(0xd44, "arm,cortex-x1-pmu", "arm,armv8-pmuv3"),
	{},
};

/* clang-format on */
