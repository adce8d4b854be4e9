// SPDX-License-Identifier: MIT
/*
 * The PMU of the ARM1176, which the emulator lacks: one register of control,
 * a counter of cycles and two of events. Source: ARM1176JZF-S TRM, DDI 0301H,
 * 3.2.50 (who may use it) to 3.2.54, table 3-137 (events).
 *
 * As on the BCM2835, nobody hears its interrupts: their enables are kept, and
 * the flags are right whenever somebody looks. The counters are 0 at reset
 * (3.2.52 to 3.2.54); a counter begins to be modelled when it is first touched,
 * so that a kernel that counts cycles only costs nothing.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "qemu.h"

enum {		       /* the control register, table 3-136 */
       E = 1 << 0,     /* all three count */
       P = 1 << 1,     /* write: the event counters become 0 */
       C = 1 << 2,     /* write: the cycle counter becomes 0 */
       D = 1 << 3,     /* the cycle counter counts each 64th cycle */
       FLAGS = 7 << 8, /* write 1 to clear: event counters 0, 1, cycles */
       ZERO = 0xf << 28 | 1 << 7,
};

enum { V = 1 << 0 }; /* the access register: user mode may */

enum { CYCLES = 2, COUNTERS }; /* as the bits of the flags are in order */
enum { EVENT_CYCLES = 0xff, EVENT_INSTRUCTIONS = 0x07 };

static const unsigned type_shift[] = { 20, 12 };

enum what { CONTROL, COUNT, ACCESS };

static struct {
	uint32_t control, access;
	struct {
		uint32_t value;
		uint64_t base; /* its event's total when value was right */
		bool touched;
	} counter[COUNTERS];
} pmu;

/* ---- events ----------------------------------------------------------------
 */

#define END TALLIES

/* A negative one, ~TALLY, is taken off. */
static const struct sum {
	unsigned char event;
	signed char part[8];
} sums[] = {
	{ 0x00, { L1I_REFILLS, END } },
	{ 0x03, { ITLB_REFILLS, END } },
	{ 0x04, { DTLB_READ_REFILLS, DTLB_WRITE_REFILLS, END } },
	{ 0x05, { BRANCHES, END } },
	{ 0x06, { MISPREDICTED, END } },
	{ 0x07, { INSTRUCTIONS, END } },
	{ 0x09,
	  { READS, WRITES, ~MORE_READS, ~MORE_WRITES, ~DEVICE_READS,
	    ~DEVICE_WRITES, END } },
	{ 0x0a, { READS, WRITES, ~MORE_READS, ~MORE_WRITES, END } },
	{ 0x0b, { L1D_READ_REFILLS, L1D_WRITE_REFILLS, END } },
	{ 0x0c, { L1D_WRITE_BACKS, L1D_WRITE_BACKS, END } },
	{ 0x0d, { TAKEN_BRANCHES, END } },
	{ 0x0f, { TLB_REFILLS, END } },
	{ 0x24, { RETURNS, END } },
};

static const struct sum *sum_of(unsigned event)
{
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i].event == event)
			return &sums[i];
	return NULL;
}

bool arm1176_counts(unsigned event)
{
	return event == EVENT_CYCLES || sum_of(event);
}

static uint64_t modelled(unsigned event)
{
	const uint64_t(*tally)[TALLIES] = core_tally(0);
	const struct sum *sum = sum_of(event);
	uint64_t total = 0;

	for (int level = 0; sum && level < MODEL_LEVELS; level++)
		for (int i = 0; sum->part[i] != END; i++)
			total += sum->part[i] < 0 ? -tally[level][~sum->part[i]]
						  : tally[level][sum->part[i]];
	return total;
}

/* ---- what is counted ------------------------------------------------------
 */

static unsigned type(int n)
{
	return n == CYCLES ? EVENT_CYCLES : pmu.control >> type_shift[n] & 0xff;
}

/* What has happened since the board started. */
static uint64_t total(int n)
{
	unsigned event = type(n);

	if (event == EVENT_CYCLES)
		return clock_cycles() >>
		       (n == CYCLES && pmu.control & D ? 6 : 0);
	if (event == EVENT_INSTRUCTIONS && clock_counts_instructions())
		return clock_instructions();
	return modelled(event);
}

/* Brings the counters and their flags up to date. */
static void update(void)
{
	for (int n = 0; n < COUNTERS; n++) {
		uint64_t now = total(n), sum;

		sum = pmu.counter[n].value +
		      (pmu.control & E ? now - pmu.counter[n].base : 0);
		pmu.counter[n].base = now;
		pmu.counter[n].value = (uint32_t)sum;
		if (sum >> 32)
			pmu.control |= 1u << (8 + n);
	}
}

static bool needs_model(unsigned event)
{
	return sum_of(event) &&
	       !(event == EVENT_INSTRUCTIONS && clock_counts_instructions());
}

/* From here on what the counters count has to be known. */
static void touch(int n)
{
	pmu.counter[n].touched = true;
	if (n != CYCLES && pmu.control & E && needs_model(type(n)))
		core_start();
}

/* ---- the registers --------------------------------------------------------
 */

static uint64_t read_any(void *env, const struct qemu_register *reg)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);

	(void)env;
	if (hook->what == ACCESS)
		return pmu.access;
	update();
	if (hook->what == CONTROL)
		return pmu.control;
	touch(hook->number);
	return pmu.counter[hook->number].value;
}

static void write_control(uint32_t value)
{
	uint32_t flags = pmu.control & FLAGS & ~value;

	for (int n = 0; n < COUNTERS; n++)
		if (value & (n == CYCLES ? C : P)) {
			pmu.counter[n].value = 0;
			pmu.counter[n].touched = true;
		}
	pmu.control = (value & ~(uint32_t)(C | P | FLAGS | ZERO)) | flags;
	for (int n = 0; n < COUNTERS; n++) {
		pmu.counter[n].base = total(n);
		if (pmu.counter[n].touched)
			touch(n);
	}
}

static void write_any(void *env, const struct qemu_register *reg,
		      uint64_t value)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);

	(void)env;
	update();
	if (hook->what == ACCESS)
		pmu.access = value & V;
	else if (hook->what == CONTROL)
		write_control((uint32_t)value);
	else
		pmu.counter[hook->number].value = (uint32_t)value;
	if (hook->what == COUNT)
		touch(hook->number);
}

static int may(void *env, const struct qemu_register *reg, bool is_read)
{
	(void)reg;
	(void)is_read;
	return pmu.access & V || qemu_level(qemu_cpu_of(env)) ? QEMU_GRANTED
							      : QEMU_UNDEFINED;
}

static const struct place {
	const char *name;
	unsigned crm, op2;
	enum what what;
	int number;
	int access;
	qemu_check check;
} places[] = {
	{ "PMNC", 12, 0, CONTROL, 0, QEMU_PL0_RW, may },
	{ "CCNT", 12, 1, COUNT, CYCLES, QEMU_PL0_RW, may },
	{ "PMN0", 12, 2, COUNT, 0, QEMU_PL0_RW, may },
	{ "PMN1", 12, 3, COUNT, 1, QEMU_PL0_RW, may },
	{ "SUNAVCR", 9, 0, ACCESS, 0, QEMU_PL1_RW, NULL },
};

bool arm1176_add(char *reason)
{
	if (!clock_find(reason))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct place *p = &places[i];
		uint32_t key = qemu_cp(15, 15, 0, p->crm, p->op2);
		struct qemu_register *now = qemu_register(0, key);

		if (now && strcmp(qemu_name(now), "C15_IMPDEF")) {
			snprintf(reason, QEMU_REASON,
				 "the emulator has a %.40s of its own",
				 qemu_name(now));
			return false;
		}
		qemu_add(0, key, p->name, p->access, p->check, read_any,
			 write_any, p->what, p->number);
	}
	core_watch_after(0, INT64_MAX); /* nobody hears of an overflow */
	return true;
}
