/* SPDX-License-Identifier: MIT */
/*
 * All that the model knows of the emulator's insides: where its CPUs are, the
 * table of their coprocessor and system registers, how to put functions of
 * ours there, and which of QEMU's functions may be called.
 *
 * Nothing here is an interface that QEMU promises. So each symbol is looked
 * up by name, each layout is compared with what must be in it, and the first
 * thing that does not hold makes the whole model refuse, with the reason
 * (qemu_find()). Known to hold for QEMU 7.2 and 10.0.
 */
#ifndef MODEL_QEMU_H
#define MODEL_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the plugin interface, declared anew (documented by QEMU) ---------- */

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

typedef struct {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
} qemu_info_t;

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_on_block)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_on_run)(unsigned vcpu, void *data);
typedef void (*qemu_on_access)(unsigned vcpu, qemu_plugin_meminfo_t info,
			       uint64_t virt, void *data);

#define QEMU_EXPORT __attribute__((visibility("default")))

/* ---- QEMU's functions, by name ----------------------------------------- */

struct qemu_register; /* ARMCPRegInfo */

union qemu_work { /* run_on_cpu_data */
	int number;
	void *pointer;
};

typedef uint64_t (*qemu_read)(void *env, const struct qemu_register *reg);
typedef void (*qemu_write)(void *env, const struct qemu_register *reg,
			   uint64_t value);

typedef void (*qemu_do_work)(void *cpu, union qemu_work work);
typedef void (*qemu_on_entry)(void *key, void *value, void *data);

/* NAME, RESULT, ARGUMENTS: all of them have to be there. */
/* clang-format off */
#define QEMU_FUNCTIONS(x) \
	x(qemu_plugin_register_vcpu_tb_trans_cb, void, \
	  (qemu_plugin_id_t, qemu_on_block)) \
	x(qemu_plugin_register_vcpu_tb_exec_cb, void, \
	  (struct qemu_plugin_tb *, qemu_on_run, int, void *)) \
	x(qemu_plugin_register_vcpu_mem_cb, void, \
	  (struct qemu_plugin_insn *, qemu_on_access, int, int, void *)) \
	x(qemu_plugin_register_vcpu_insn_exec_cb, void, \
	  (struct qemu_plugin_insn *, qemu_on_run, int, void *)) \
	x(qemu_plugin_tb_n_insns, size_t, \
	  (const struct qemu_plugin_tb *)) \
	x(qemu_plugin_tb_get_insn, struct qemu_plugin_insn *, \
	  (const struct qemu_plugin_tb *, size_t)) \
	x(qemu_plugin_insn_data, size_t, \
	  (const struct qemu_plugin_insn *, void *, size_t)) \
	x(qemu_plugin_insn_size, size_t, \
	  (const struct qemu_plugin_insn *)) \
	x(qemu_plugin_insn_vaddr, uint64_t, \
	  (const struct qemu_plugin_insn *)) \
	x(qemu_plugin_insn_haddr, void *, \
	  (const struct qemu_plugin_insn *)) \
	x(qemu_plugin_mem_size_shift, unsigned, \
	  (qemu_plugin_meminfo_t)) \
	x(qemu_plugin_mem_is_store, bool, \
	  (qemu_plugin_meminfo_t)) \
	x(qemu_plugin_get_hwaddr, struct qemu_plugin_hwaddr *, \
	  (qemu_plugin_meminfo_t, uint64_t)) \
	x(qemu_plugin_hwaddr_is_io, bool, \
	  (const struct qemu_plugin_hwaddr *)) \
	x(qemu_plugin_hwaddr_phys_addr, uint64_t, \
	  (const struct qemu_plugin_hwaddr *)) \
	x(qemu_get_cpu, void *, \
	  (int)) \
	x(get_arm_cp_reginfo, struct qemu_register *, \
	  (void *, uint32_t)) \
	x(arm_mmu_idx, int, \
	  (void *)) \
	x(arm_mmu_idx_to_el, int, \
	  (int)) \
	x(cpu_get_tb_cpu_state, void, \
	  (void *, uint64_t *, uint64_t *, uint32_t *)) \
	x(cpsr_read, uint32_t, \
	  (void *)) \
	x(async_run_on_cpu, void, \
	  (void *, qemu_do_work, union qemu_work)) \
	x(tb_flush, void, \
	  (void *)) \
	x(cpu_physical_memory_map, void *, \
	  (uint64_t, uint64_t *, bool)) \
	x(g_direct_hash, unsigned, \
	  (const void *)) \
	x(g_hash_table_insert, int, \
	  (void *, void *, void *)) \
	x(g_hash_table_foreach, void, \
	  (void *, qemu_on_entry, void *)) \
	x(g_malloc0, void *, \
	  (size_t))
/* clang-format on */

#define QEMU_DECLARE(name, result, arguments) result(*name) arguments;
struct qemu {
	QEMU_FUNCTIONS(QEMU_DECLARE)
};
extern struct qemu qemu;

/* ---- the checks --------------------------------------------------------- */

#define QEMU_REASON 160

/*
 * qemu_functions - look up QEMU's functions. Call it first, once.
 * @broken: a name taken for missing (for tests), or NULL
 * @reason: QEMU_REASON bytes, filled when it returns false
 */
bool qemu_functions(const char *broken, char *reason);

/*
 * qemu_find - find the CPUs and their registers, check all that is relied on.
 * The CPUs have to be there, but need not have run.
 * @wrong: an assumption that shall not hold (for tests), or NULL: "table",
 *         "layout", "env", "registers"
 */
bool qemu_find(const char *wrong, char *reason);

/* ---- CPUs ---------------------------------------------------------------- */

#define QEMU_CPUS 8

int qemu_cpus(void);
void *qemu_env(int cpu);
int qemu_cpu_of(const void *env);
int qemu_current(void); /* the CPU of this thread, or -1 */

struct qemu_state {
	unsigned level; /* exception level */
	bool is_a64, is_thumb;
};
struct qemu_state qemu_state(int cpu); /* of what runs now */
int qemu_level(int cpu);	       /* the same, its level alone */
/* A general register of AArch32, as the mode that it is in has it. */
uint32_t qemu_general(int cpu, unsigned number);
/*
 * One of AArch64; 31: 0. Inside a block the emulator keeps registers elsewhere
 * but right behind an instruction that called one of its functions.
 */
uint64_t qemu_general64(int cpu, unsigned number);

/* Run @work on @cpu soon, between two blocks, QEMU's big lock held. */
void qemu_soon(int cpu, qemu_do_work work, int number);

/*
 * Each block that is translated from now on is shown to @see; NULL: to nobody,
 * and then a plugin costs nothing. qemu_is_plugin() comes first.
 */
void qemu_is_plugin(qemu_plugin_id_t id);
void qemu_on_translation(qemu_on_block see);
/* Translate all anew, so that what is said above sees it. */
void qemu_translate_again(void);

/* ---- registers ----------------------------------------------------------- */

/*
 * The key of a coprocessor register, of one that MRRC reads, or of a system
 * register of AArch64.
 */
uint32_t qemu_cp(unsigned cp, unsigned crn, unsigned opc1, unsigned crm,
		 unsigned opc2);
uint32_t qemu_cp64(unsigned cp, unsigned opc1, unsigned crm);
uint32_t qemu_sys(unsigned op0, unsigned op1, unsigned crn, unsigned crm,
		  unsigned op2);

/* NULL: this CPU has no such register. */
struct qemu_register *qemu_register(int cpu, uint32_t key);
void qemu_each_register(int cpu, void (*see)(const char *name,
					     struct qemu_register *reg));

const char *qemu_name(const struct qemu_register *reg);
/* A register without functions keeps its value in a field of the env. */
bool qemu_has_field(const struct qemu_register *reg);
uint64_t qemu_field(void *env, const struct qemu_register *reg);
void qemu_set_field(void *env, const struct qemu_register *reg, uint64_t value);
/* One that never changes keeps it here; 0 before the machine started. */
uint64_t qemu_constant(const struct qemu_register *reg);
void qemu_set_constant(struct qemu_register *reg, uint64_t value);

/*
 * What the hooked function was given with, and what was there before it. Code
 * that is translated for one CPU runs on all of them: the register that a
 * function is called with may be another CPU's, its env never is.
 */
struct qemu_hook {
	struct qemu_register *reg;
	qemu_read read_before; /* NULL: a field was read */
	qemu_write write_before;
	bool is_constant;
	int what, number;
};

/*
 * qemu_hook - from now on the guest's accesses call @read, @write.
 * NULL leaves that direction alone. Before the register's first use only.
 * Returns false where this CPU has no such register.
 */
bool qemu_hook(int cpu, uint32_t key, qemu_read read, qemu_write write,
	       int what, int number);
/* The same for one that qemu_each_register() shows. */
void qemu_hook_register(struct qemu_register *reg, qemu_read read,
			qemu_write write, int what, int number);
/* The same for one that QEMU takes for no operation; false: it does not. */
bool qemu_hook_nop(int cpu, uint32_t key, qemu_write write, int what);
const struct qemu_hook *qemu_hook_of(const struct qemu_register *reg);
uint64_t qemu_read_before(void *env, const struct qemu_hook *hook);
void qemu_write_before(void *env, const struct qemu_hook *hook, uint64_t value);

enum qemu_access { /* PL*_[RW] of cpregs.h: who may */
		   QEMU_PL1_R = 0xa8,
		   QEMU_PL1_RW = 0xfc,
		   QEMU_PL0_R = 0xaa,
		   QEMU_PL0_RW = 0xff,
};

enum { QEMU_GRANTED = 0, QEMU_UNDEFINED = 2 << 2 }; /* of a qemu_check */
typedef int (*qemu_check)(void *env, const struct qemu_register *reg,
			  bool is_read);

/*
 * qemu_add - a register that this CPU of QEMU's lacks. It has no field:
 * @read and @write serve it, with what qemu_hook_of() tells; @check, or NULL,
 * says at each access whether that is granted. One of the same key goes.
 */
void qemu_add(int cpu, uint32_t key, const char *name, int access,
	      qemu_check check, qemu_read read, qemu_write write, int what,
	      int number);

/* ---- addresses ----------------------------------------------------------- */

#define QEMU_NO_RAM UINT64_MAX /* a device, or the emulator's own memory */

void qemu_set_ram(uint64_t base); /* physical; before the two below */
/* @size bytes of RAM, or NULL. */
const void *qemu_ram(uint64_t phys, size_t size);
/* The physical address of an instruction. */
uint64_t qemu_insn_phys(const struct qemu_plugin_insn *insn);
/* The physical address of an access, inside its callback only. */
uint64_t qemu_access_phys(qemu_plugin_meminfo_t info, uint64_t virt);
uint32_t qemu_insn_word(const struct qemu_plugin_insn *insn);

#endif
