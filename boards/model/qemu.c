// SPDX-License-Identifier: MIT
/* QEMU's functions, CPUs and addresses; the rest is in find.c, registers.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

struct qemu qemu;

#define FIRST_V8 2 /* version of the plugin interface of QEMU 8 */

/* ---- symbols ------------------------------------------------------------ */

int qemu_plugin_version QEMU_EXPORT = 1;

/* QEMU reads the version that is wanted right after loading: tell its own. */
__attribute__((constructor)) static void choose_version(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_num_vcpus"))
		qemu_plugin_version = FIRST_V8;
	found.old = qemu_plugin_version < FIRST_V8;
}

bool qemu_functions(const char *broken, char *reason)
{
	static const char *const names[] = {
#define QEMU_NAME(name, result, arguments) #name,
		QEMU_FUNCTIONS(QEMU_NAME)
	};
	void **slots = (void **)&qemu;

	if (!dlsym(RTLD_DEFAULT, "current_cpu") ||
	    (broken && !strcmp(broken, "current_cpu"))) {
		snprintf(reason, QEMU_REASON,
			 "the emulator has no current_cpu");
		return false;
	}

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		slots[i] = dlsym(RTLD_DEFAULT, names[i]);
		if (slots[i] && !(broken && !strcmp(broken, names[i])))
			continue;
		snprintf(reason, QEMU_REASON, "the emulator has no %s()",
			 names[i]);
		return false;
	}
	return true;
}

/* ---- CPUs -------------------------------------------------------------------
 */

int qemu_cpus(void)
{
	return found.n;
}

void *qemu_env(int cpu)
{
	return (char *)found.cpu[cpu] + found.env;
}

int qemu_cpu_of(const void *env)
{
	for (int i = 0; i < found.n; i++)
		if (qemu_env(i) == env)
			return i;
	fprintf(stderr, "model: an access by a CPU that is not known\n");
	abort();
}

int qemu_current(void)
{
	static __thread void **here;

	if (!here)
		here = dlsym(RTLD_DEFAULT, "current_cpu");
	for (int i = 0; here && i < found.n; i++)
		if (found.cpu[i] == *here)
			return i;
	return -1;
}

int qemu_level(int cpu)
{
	return qemu.arm_mmu_idx_to_el(qemu.arm_mmu_idx(qemu_env(cpu)));
}

struct qemu_state qemu_state(int cpu)
{
	void *env = qemu_env(cpu);
	uint64_t pc = 0, base = 0;
	uint32_t flags = 0;
	struct qemu_state state;

	qemu.cpu_get_tb_cpu_state(env, &pc, &base, &flags);
	state.level = (unsigned)qemu_level(cpu);
	state.is_a64 = flags & 1; /* TBFLAG_ANY.AARCH64_STATE */
	state.is_thumb = !state.is_a64 && qemu.cpsr_read(env) & 1 << 5;
	return state;
}

/* regs[] is where the env begins. */
uint32_t qemu_general(int cpu, unsigned number)
{
	return ((uint32_t *)qemu_env(cpu))[number];
}

void qemu_soon(int cpu, qemu_do_work work, int number)
{
	qemu.async_run_on_cpu(found.cpu[cpu], work,
			      (union qemu_work){ .number = number });
}

/* xregs[] is behind regs[16]. */
uint64_t qemu_general64(int cpu, unsigned number)
{
	const uint64_t *xregs = (uint64_t *)((char *)qemu_env(cpu) + 64);

	return number < 31 ? xregs[number] : 0;
}

static qemu_plugin_id_t own_id;

void qemu_on_translation(qemu_on_block see)
{
	qemu.qemu_plugin_register_vcpu_tb_trans_cb(own_id, see);
}

void qemu_is_plugin(qemu_plugin_id_t id)
{
	own_id = id;
}

void qemu_translate_again(void)
{
	qemu.tb_flush(found.cpu[qemu_current() < 0 ? 0 : qemu_current()]);
}

/* ---- addresses
 * --------------------------------------------------------------- */

void qemu_set_ram(uint64_t base)
{
	uint64_t size = 1ull << 40;

	found.ram = qemu.cpu_physical_memory_map(base, &size, false);
	found.ram_base = base;
	found.ram_size = size;
}

const void *qemu_ram(uint64_t phys, size_t size)
{
	uint64_t offset = phys - found.ram_base;

	if (!found.ram || size > found.ram_size ||
	    offset > found.ram_size - size)
		return NULL;
	return found.ram + offset;
}

uint64_t qemu_insn_phys(const struct qemu_plugin_insn *insn)
{
	const char *host = qemu.qemu_plugin_insn_haddr(insn);

	if (!host || host < found.ram ||
	    host - found.ram >= (ptrdiff_t)found.ram_size)
		return QEMU_NO_RAM;
	return found.ram_base + (uint64_t)(host - found.ram);
}

uint64_t qemu_access_phys(qemu_plugin_meminfo_t info, uint64_t virt)
{
	struct qemu_plugin_hwaddr *at = qemu.qemu_plugin_get_hwaddr(info, virt);

	if (!at || qemu.qemu_plugin_hwaddr_is_io(at))
		return QEMU_NO_RAM;
	return qemu.qemu_plugin_hwaddr_phys_addr(at);
}

uint32_t qemu_insn_word(const struct qemu_plugin_insn *insn)
{
	size_t size = qemu.qemu_plugin_insn_size(insn);
	uint32_t word = 0;
	size_t result;

	if (size > sizeof(word))
		size = sizeof(word);
	result = qemu.qemu_plugin_insn_data(insn, &word, size);
	if (found.old) /* returned a pointer then */
		memcpy(&word, (void *)result, size);
	return word;
}
