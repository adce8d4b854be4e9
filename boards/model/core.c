// SPDX-License-Identifier: MIT
/* The modelled cores: made at the start, at work once somebody counts. */
#include <stdlib.h>

#include "cpu.h"
#include "settings.h"

struct cpu cpus[QEMU_CPUS];

const uint64_t (*core_tally(int cpu))[TALLIES]
{
	return (const uint64_t(*)[TALLIES])cpus[cpu].tally;
}

void core_make(void)
{
	for (int i = 0; i < qemu_cpus(); i++) {
		cpus[i].id = i;
		cpus[i].watch = INT64_MAX;
		pthread_mutex_init(&cpus[i].notes.lock, NULL);
	}
	system_hook();
}

static void watch_insn(struct qemu_plugin_insn *insn, struct insn *ours)
{
	qemu.qemu_plugin_register_vcpu_mem_cb(insn, memory_access,
					      QEMU_PLUGIN_CB_NO_REGS,
					      QEMU_PLUGIN_MEM_RW, ours);
	if (ours > ours->block->insn && ours[-1].zeroes)
		qemu.qemu_plugin_register_vcpu_insn_exec_cb(
			insn, inside_zeroed, QEMU_PLUGIN_CB_NO_REGS, &ours[-1]);
	if (ours->of_pmu)
		qemu.qemu_plugin_register_vcpu_insn_exec_cb(
			insn, inside_look, QEMU_PLUGIN_CB_NO_REGS, ours);
}

static void core_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *block;
	int cpu = qemu_current();

	(void)id;
	if (cpu < 0)
		return;
	block = translate_block(cpu, tb);
	for (unsigned i = 0; i < block->n; i++)
		watch_insn(qemu.qemu_plugin_tb_get_insn(tb, i),
			   &block->insn[i]);
	qemu.qemu_plugin_register_vcpu_tb_exec_cb(
		tb, flow_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

void core_start(void)
{
	static bool started;
	unsigned page_shift;

	if (__atomic_exchange_n(&started, true, __ATOMIC_SEQ_CST))
		return;
	/* another CPU may still be off */
	page_shift = system_page_shift(qemu_current());
	for (int i = 0; i < qemu_cpus(); i++) {
		memory_make(&cpus[i], page_shift);
		branch_make(&cpus[i].branches, &settings_core(i)->branches);
	}
	snoop_start();
	qemu_on_translation(core_translate);
	qemu_translate_again();
}

void core_watch_after(int cpu, int64_t blocks)
{
	cpus[cpu].watch = blocks;
}
