// SPDX-License-Identifier: MIT
/* System registers that the model reads, or sees written. */
#include <string.h>

#include "cpu.h"

enum what { CONTEXT, TABLE, FLUSH, FLUSH_ALL };

static struct {
	struct qemu_register *vectors[MODEL_LEVELS], *back[MODEL_LEVELS];
	struct qemu_register *syndrome[MODEL_LEVELS];
	struct qemu_register *control32, *vectors32;
	struct qemu_register *translation[2]; /* of a kernel at EL1, EL2 */
	struct qemu_register *hyp;
	struct qemu_register *table, *context;
	struct qemu_register *hyp_table; /* of a kernel at EL2 */
} registers[QEMU_CPUS];

#define HIGH_VECTORS 0xffff0000u
#define SCTLR_V	     (1u << 13)
#define HCR_E2H	     (1ull << 34)

static uint64_t field(int cpu, struct qemu_register *reg)
{
	return reg && qemu_has_field(reg) ? qemu_field(qemu_env(cpu), reg) : 0;
}

uint64_t system_vectors(int cpu, int level)
{
	if (qemu_state(cpu).is_a64)
		return field(cpu, registers[cpu].vectors[level]);
	if (field(cpu, registers[cpu].control32) & SCTLR_V)
		return HIGH_VECTORS;
	return field(cpu, registers[cpu].vectors32);
}

uint64_t system_return(int cpu, int level)
{
	return field(cpu, registers[cpu].back[level]);
}

uint64_t system_syndrome(int cpu, int level)
{
	return field(cpu, registers[cpu].syndrome[level]);
}

/*
 * TCR_ELx.TG0 of the kernel, whatever runs on this CPU now: 4, 64 or 16 KiB.
 * AArch32 has no such register, and pages of 4 KiB.
 */
unsigned system_page_shift(int cpu)
{
	static const unsigned shifts[] = { 12, 16, 14, 12 };
	bool host = field(cpu, registers[cpu].hyp) & HCR_E2H;

	return shifts[field(cpu, registers[cpu].translation[host]) >> 14 & 3];
}

void system_new_space(struct cpu *cpu)
{
	uint64_t space = field(cpu->id, registers[cpu->id].table) ^
			 field(cpu->id, registers[cpu->id].hyp_table) << 1 ^
			 field(cpu->id, registers[cpu->id].context) << 48;

	if (space == cpu->space)
		return;
	cpu->space = space;
	memory_flush(cpu);
}

/* ---- writes
 * ------------------------------------------------------------------ */

static void write_seen(void *env, const struct qemu_register *reg,
		       uint64_t value)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);
	struct cpu *cpu = &cpus[qemu_cpu_of(env)];

	qemu_write_before(env, hook, value);
	cpu->tally[qemu_level(cpu->id)]
		  [hook->what == CONTEXT ? CONTEXT_WRITES : TABLE_WRITES]++;
}

static void write_flush(void *env, const struct qemu_register *reg,
			uint64_t value)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);

	qemu_write_before(env, hook, value);
	if (!cpus[qemu_cpu_of(env)].page_shift) /* nothing runs yet */
		return;
	memory_flush(&cpus[qemu_cpu_of(env)]);
	if (hook->what == FLUSH_ALL)
		snoop_flush_tlbs(&cpus[qemu_cpu_of(env)]);
}

static void see(const char *name, struct qemu_register *reg)
{
	if (strstr(name, "TLBI"))
		qemu_hook_register(reg, NULL, write_flush,
				   strstr(name, "IS") ? FLUSH_ALL : FLUSH, 0);
}

static void hook_writes(int cpu)
{
	qemu_each_register(cpu, see);
	qemu_hook(cpu, qemu_cp(15, 13, 0, 0, 1), NULL, write_seen, CONTEXT, 0);
	qemu_hook(cpu, qemu_sys(3, 0, 13, 0, 1), NULL, write_seen, CONTEXT, 0);
	for (unsigned n = 0; n < 2; n++) {
		qemu_hook(cpu, qemu_cp(15, 2, 0, 0, n), NULL, write_seen, TABLE,
			  0);
		qemu_hook(cpu, qemu_cp64(15, n, 2), NULL, write_seen, TABLE, 0);
		qemu_hook(cpu, qemu_sys(3, 0, 2, 0, n), NULL, write_seen, TABLE,
			  0);
	}
}

static struct qemu_register *first_of(int cpu, uint32_t key, uint32_t other)
{
	struct qemu_register *reg = qemu_register(cpu, key);

	return reg ? reg : qemu_register(cpu, other);
}

void system_hook(void)
{
	/* op1 of the registers of level 1, 2, 3 */
	static const unsigned op1[] = { 0, 0, 4, 6 };

	for (int cpu = 0; cpu < qemu_cpus(); cpu++) {
		for (int el = 1; el < MODEL_LEVELS; el++) {
			registers[cpu].vectors[el] = qemu_register(
				cpu, qemu_sys(3, op1[el], 12, 0, 0));
			registers[cpu].back[el] = qemu_register(
				cpu, qemu_sys(3, op1[el], 4, 0, 1));
			registers[cpu].syndrome[el] = qemu_register(
				cpu, qemu_sys(3, op1[el], 5, 2, 0));
		}
		for (int host = 0; host < 2; host++)
			registers[cpu].translation[host] = qemu_register(
				cpu, qemu_sys(3, host ? 4 : 0, 2, 0, 2));
		registers[cpu].hyp =
			qemu_register(cpu, qemu_sys(3, 4, 1, 1, 0));
		registers[cpu].control32 =
			qemu_register(cpu, qemu_cp(15, 1, 0, 0, 0));
		registers[cpu].vectors32 =
			qemu_register(cpu, qemu_cp(15, 12, 0, 0, 0));
		registers[cpu].table = first_of(cpu, qemu_sys(3, 0, 2, 0, 0),
						qemu_cp(15, 2, 0, 0, 0));
		registers[cpu].context = first_of(cpu, qemu_sys(3, 0, 13, 0, 1),
						  qemu_cp(15, 13, 0, 0, 1));
		registers[cpu].hyp_table =
			qemu_register(cpu, qemu_sys(3, 4, 2, 0, 0));
		walk_find(cpu);
		hook_writes(cpu);
	}
}
