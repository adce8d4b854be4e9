// SPDX-License-Identifier: MIT
/*
 * Unlike cores: all CPUs of the emulator are one kind, and each says here who
 * it stands for, before it first ran.
 */
#include "model.h"
#include "identity.h"
#include "qemu.h"

enum { IMPLEMENTER = 0xffu << 24, IDCODE = 0xff << 16, N = 0x1f << 11 };

/* In the field, for the first CPU, and for those that are reset to start. */
static void put(int cpu, uint32_t key, uint32_t mask, uint32_t value)
{
	struct qemu_register *reg = qemu_register(cpu, key);
	void *env = qemu_env(cpu);

	if (!reg || !qemu_has_field(reg))
		return;
	qemu_set_field(env, reg,
		       (qemu_field(env, reg) & ~(uint64_t)mask) | value);
	qemu_set_constant(reg, (qemu_constant(reg) & ~(uint64_t)mask) | value);
}

void identity_put(int cpu, const struct core_shape *core)
{
	uint32_t told = IMPLEMENTER | IDCODE | N;

	if (!core->midr)
		return;
	put(cpu, qemu_cp(15, 0, 0, 0, 0), UINT32_MAX, core->midr);
	put(cpu, qemu_sys(3, 0, 0, 0, 0), UINT32_MAX, core->midr);
	put(cpu, qemu_cp(15, 9, 0, 12, 0), told, core->pmcr & told);
	put(cpu, qemu_sys(3, 3, 9, 12, 0), told, core->pmcr & told);
}
