// SPDX-License-Identifier: MIT
/*
 * The PMU's registers and their fields, as data.
 *
 * Sources: ARMv7, PMUv1 and PMUv2: ARM ARM, DDI 0406C, B4.1.112 to B4.1.129 and
 * C12. PMUv3: DDI 0487, the registers by name. ARM1176: TRM, DDI 0301H, 3.2.51
 * to 3.2.54 and the access validation register on 3-132.
 */
#include "fields.h"

#include <stddef.h>
#include <string.h>

static const struct regs_field pmcr[] = {
	{ 31, 24, "IMP", "implementer (0x41: Arm)" },
	{ 23, 16, "IDCODE", "which design, by the implementer's count" },
	{ 15, 11, "N", "event counters" },
	{ 7, 7, "LP", "PMUv3: event counters overflow at 2^64, not 2^32" },
	{ 6, 6, "LC", "PMUv3: the cycle counter overflows at 2^64, not 2^32" },
	{ 5, 5, "DP", "cycles stop where counting is prohibited" },
	{ 4, 4, "X", "export events to a trace unit; has no part in counting" },
	{ 3, 3, "D", "the cycle counter counts each 64th cycle" },
	{ 2, 2, "C", "write 1: the cycle counter becomes 0; reads as 0" },
	{ 1, 1, "P", "write 1: the event counters become 0; reads as 0" },
	{ 0, 0, "E", "the counters that are enabled run" },
	{ 0, 0, NULL, NULL },
};

static const struct regs_field pmuserenr[] = {
	{ 3, 3, "ER", "PMUv3: user mode may read the event counters" },
	{ 2, 2, "CR", "PMUv3: user mode may read the cycle counter" },
	{ 1, 1, "SW", "PMUv3: user mode may write PMSWINC" },
	{ 0, 0, "EN", "user mode may read and write all but PMINTEN*" },
	{ 0, 0, NULL, NULL },
};

static const struct regs_field pmselr[] = {
	{ 4, 0, "SEL", "the counter that PMXEV* mean; 31: the cycle filter" },
	{ 0, 0, NULL, NULL },
};

static const struct regs_field pmxevtyper_v7[] = {
	{ 31, 31, "P", "PMUv2: do not count in privileged modes" },
	{ 30, 30, "U", "PMUv2: do not count in user mode" },
	{ 29, 29, "NSK", "PMUv2: differs from P: not in Non-secure PL1" },
	{ 28, 28, "NSU", "PMUv2: differs from U: not in Non-secure PL0" },
	{ 27, 27, "NSH", "PMUv2: count in Hyp mode too" },
	{ 7, 0, "evtCount", "the event's code; `upmu list` has the names" },
	{ 0, 0, NULL, NULL },
};

static const struct regs_field pmxevtyper_v8[] = {
	{ 31, 31, "P", "do not count at EL1" },
	{ 30, 30, "U", "do not count at EL0" },
	{ 29, 29, "NSK", "differs from P: not at Non-secure EL1" },
	{ 28, 28, "NSU", "differs from U: not at Non-secure EL0" },
	{ 27, 27, "NSH", "count at EL2 too" },
	{ 15, 0, "evtCount", "the event's code; `upmu list` has the names" },
	{ 0, 0, NULL, NULL },
};

#define MASK_REGISTERS(set, clr, ovs, iset, iclr)                             \
	{ "PMCNTENSET", set, "which counters run; write 1: start", NULL },    \
		{ "PMCNTENCLR", clr, "the same; write 1: stop", NULL },       \
		{ "PMOVSR", ovs, "which overflowed; write 1: clear the flag", \
		  NULL },                                                     \
		{ "PMINTENSET", iset, "which interrupt; not in user mode",    \
		  NULL },                                                     \
	{                                                                     \
		"PMINTENCLR", iclr, "the same; write 1: no interrupt", NULL   \
	}

#define COMMON_AARCH32(types)                                                  \
	{ "PMCR", "p15, 0, <Rt>, c9, c12, 0", "control", pmcr },               \
		{ "PMUSERENR", "p15, 0, <Rt>, c9, c14, 0", "permission",       \
		  pmuserenr },                                                 \
		MASK_REGISTERS("p15, 0, <Rt>, c9, c12, 1",                     \
			       "p15, 0, <Rt>, c9, c12, 2",                     \
			       "p15, 0, <Rt>, c9, c12, 3",                     \
			       "p15, 0, <Rt>, c9, c14, 1",                     \
			       "p15, 0, <Rt>, c9, c14, 2"),                    \
		{ "PMSELR", "p15, 0, <Rt>, c9, c12, 5", "selection", pmselr }, \
	{                                                                      \
		"PMXEVTYPER", "p15, 0, <Rt>, c9, c13, 1", "what is counted",   \
			types                                                  \
	}

static const struct regs_register v7[] = {
	COMMON_AARCH32(pmxevtyper_v7),
	{ NULL, NULL, NULL, NULL },
};

static const struct regs_register v8_32[] = {
	COMMON_AARCH32(pmxevtyper_v8),
	{ NULL, NULL, NULL, NULL },
};

static const struct regs_register v8_64[] = {
	{ "PMCR", "PMCR_EL0", "control", pmcr },
	{ "PMUSERENR", "PMUSERENR_EL0", "permission", pmuserenr },
	MASK_REGISTERS("PMCNTENSET_EL0", "PMCNTENCLR_EL0", "PMOVSCLR_EL0",
		       "PMINTENSET_EL1", "PMINTENCLR_EL1"),
	{ "PMSELR", "PMSELR_EL0", "selection", pmselr },
	{ "PMXEVTYPER", "PMXEVTYPER_EL0", "what is counted", pmxevtyper_v8 },
	{ NULL, NULL, NULL, NULL },
};

static const struct regs_field pmnc[] = {
	{ 27, 20, "EvtCount0", "the event of Count Register 0" },
	{ 19, 12, "EvtCount1", "the event of Count Register 1" },
	{ 11, 11, "X", "export events to a trace unit" },
	{ 10, 10, "CCR", "cycles overflowed; write 1: clear the flag" },
	{ 9, 9, "CR1", "Count Register 1 overflowed; write 1: clear" },
	{ 8, 8, "CR0", "Count Register 0 overflowed; write 1: clear" },
	{ 6, 6, "ECC", "interrupt when cycles overflow" },
	{ 5, 5, "EC1", "interrupt when Count Register 1 overflows" },
	{ 4, 4, "EC0", "interrupt when Count Register 0 overflows" },
	{ 3, 3, "D", "the cycle counter counts each 64th cycle" },
	{ 2, 2, "C", "write 1: the cycle counter becomes 0" },
	{ 1, 1, "P", "write 1: both count registers become 0" },
	{ 0, 0, "E", "all three counters run; there is no other switch" },
	{ 0, 0, NULL, NULL },
};

static const struct regs_field validation[] = {
	{ 0, 0, "V", "user mode may read and write all of c15, c12" },
	{ 0, 0, NULL, NULL },
};

static const struct regs_register v6[] = {
	{ "PMCR", "p15, 0, <Rt>, c15, c12, 0", "control and events", pmnc },
	{ "PMUSERENR", "p15, 0, <Rt>, c15, c9, 0",
	  "permission (Access Validation Control)", validation },
	{ NULL, NULL, NULL, NULL },
};

const struct regs_register *regs_of(const char *architecture)
{
	static const struct {
		const char *name;
		const struct regs_register *registers;
	} rows[] = {
		{ "v6", v6 },
		{ "v7", v7 },
		{ "v8-32", v8_32 },
		{ "v8-64", v8_64 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, architecture))
			return rows[i].registers;
	return NULL;
}
