// SPDX-License-Identifier: MIT
/* The modelled cores: made at the start, at work once somebody counts. */
#include <stdlib.h>

#include "core.h"
#include "cpu.h"
#include "settings.h"

struct cpu cpus[QEMU_CPUS];
static bool on;

const uint64_t (*core_tally(int cpu))[TALLIES]
{
	return (const uint64_t(*)[TALLIES])cpus[cpu].tally;
}

void core_make(void)
{
	for (int i = 0; i < qemu_cpus(); i++) {
		cpus[i].id = i;
		cpus[i].watch = INT64_MAX;
	}
	system_hook();
}

void core_start(void)
{
	if (on)
		return;
	for (int i = 0; i < qemu_cpus(); i++) {
		memory_make(&cpus[i]);
		branch_make(&cpus[i].branches, &settings_core(i)->branches);
	}
	__atomic_store_n(&on, true, __ATOMIC_RELEASE);
	qemu_translate_again();
}

void core_watch_after(int cpu, int64_t blocks)
{
	cpus[cpu].watch = blocks;
}

void core_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *block;
	int cpu;

	(void)id;
	if (!__atomic_load_n(&on, __ATOMIC_ACQUIRE))
		return;
	cpu = qemu_current();
	if (cpu < 0)
		return;
	block = translate_block(cpu, tb);
	for (unsigned i = 0; i < block->n; i++)
		qemu.qemu_plugin_register_vcpu_mem_cb(
			qemu.qemu_plugin_tb_get_insn(tb, i), memory_access,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			&block->insn[i]);
	qemu.qemu_plugin_register_vcpu_tb_exec_cb(
		tb, flow_block, QEMU_PLUGIN_CB_NO_REGS, block);
}
