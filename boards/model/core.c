// SPDX-License-Identifier: MIT
/* Ties instructions and their accesses to what they count. */
#include <stdlib.h>

#include "core.h"
#include "model.h"
#include "qemu.h"

struct cpu {
	uint64_t tally[MODEL_LEVELS][TALLIES];
	int64_t watch; /* blocks until pmu_watch() */
};

static struct cpu cpus[QEMU_CPUS];
static bool on;

const uint64_t (*core_tally(int cpu))[TALLIES]
{
	return (const uint64_t(*)[TALLIES])cpus[cpu].tally;
}

void core_start(void)
{
	if (on)
		return;
	on = true;
	qemu_translate_again();
}

void core_watch_after(int cpu, int64_t blocks)
{
	cpus[cpu].watch = blocks;
}

/*
 * QEMU 7.2 calls a callback for reads at writes too when an instruction has
 * one of each kind: so there is one for both.
 */
static void access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t virt,
		   void *data)
{
	bool store = qemu.qemu_plugin_mem_is_store(info);

	(void)virt;
	cpus[vcpu].tally[(uintptr_t)data][store ? WRITES : READS]++;
}

static void block_runs(unsigned vcpu, void *data)
{
	(void)data;
	if (--cpus[vcpu].watch < 0)
		pmu_watch((int)vcpu);
}

void core_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu.qemu_plugin_tb_n_insns(tb);
	uintptr_t level;

	(void)id;
	if (!on)
		return;
	level = (uintptr_t)qemu_level(qemu_current());
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn =
			qemu.qemu_plugin_tb_get_insn(tb, i);

		qemu.qemu_plugin_register_vcpu_mem_cb(
			insn, access, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_MEM_RW, (void *)level);
	}
	qemu.qemu_plugin_register_vcpu_tb_exec_cb(tb, block_runs,
						  QEMU_PLUGIN_CB_NO_REGS, NULL);
}
