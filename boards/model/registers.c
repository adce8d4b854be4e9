// SPDX-License-Identifier: MIT
/* The emulator's coprocessor and system registers, and ours among them. */
#include "layout.h"

uint32_t qemu_cp(unsigned cp, unsigned crn, unsigned opc1, unsigned crm,
		 unsigned opc2)
{
	return KEY_NS | cp << 16 | crn << 11 | crm << 7 | opc1 << 3 | opc2;
}

uint32_t qemu_cp64(unsigned cp, unsigned opc1, unsigned crm)
{
	return qemu_cp(cp, 0, opc1, crm, 0) | 1 << 15;
}

uint32_t qemu_sys(unsigned op0, unsigned op1, unsigned crn, unsigned crm,
		  unsigned op2)
{
	return KEY_AA64 | 0x13 << 16 | op0 << 14 | op1 << 11 | crn << 7 |
	       crm << 3 | op2;
}

static struct qemu_register *bank(int cpu, uint32_t key, bool secure)
{
	if (key & KEY_AA64 && secure)
		return NULL;
	return qemu.get_arm_cp_reginfo(found.table[cpu],
				       secure ? key & ~(uint32_t)KEY_NS : key);
}

struct qemu_register *qemu_register(int cpu, uint32_t key)
{
	struct qemu_register *reg = bank(cpu, key, false);

	return reg ? reg : bank(cpu, key, true);
}

struct each {
	void (*see)(const char *name, struct qemu_register *reg);
};

static void see_one(void *key, void *value, void *data)
{
	const struct each *each = data;

	(void)key;
	each->see(qemu_name(value), value);
}

void qemu_each_register(int cpu, void (*see)(const char *name,
					     struct qemu_register *reg))
{
	struct each each = { see };

	qemu.g_hash_table_foreach(found.table[cpu], see_one, &each);
}

const char *qemu_name(const struct qemu_register *reg)
{
	return head(reg)->name;
}

bool qemu_has_field(const struct qemu_register *reg)
{
	return tail(reg)->field;
}

static bool is_wide(const struct qemu_register *reg)
{
	return head(reg)->state == STATE_AA64 || head(reg)->type & WIDE;
}

uint64_t qemu_field(void *env, const struct qemu_register *reg)
{
	char *at = (char *)env + tail(reg)->field;

	return is_wide(reg) ? *(uint64_t *)at : *(uint32_t *)at;
}

void qemu_set_field(void *env, const struct qemu_register *reg, uint64_t value)
{
	char *at = (char *)env + tail(reg)->field;

	if (is_wide(reg))
		*(uint64_t *)at = value;
	else
		*(uint32_t *)at = (uint32_t)value;
}

uint64_t qemu_constant(const struct qemu_register *reg)
{
	return tail(reg)->reset;
}

void qemu_set_constant(struct qemu_register *reg, uint64_t value)
{
	tail(reg)->reset = value;
}

/* ---- hooks ----------------------------------------------------------------
 */

#define HOOKS 4096 /* a power of two, far more than are used */
static struct qemu_hook hooks[HOOKS];

static struct qemu_hook *slot(const struct qemu_register *reg)
{
	size_t at = (uintptr_t)reg / 16 * 2654435761u;

	while (hooks[at % HOOKS].reg && hooks[at % HOOKS].reg != reg)
		at++;
	return &hooks[at % HOOKS];
}

const struct qemu_hook *qemu_hook_of(const struct qemu_register *reg)
{
	return slot(reg);
}

void qemu_hook_register(struct qemu_register *reg, qemu_read read,
			qemu_write write, int what, int number)
{
	struct tail *functions = tail(reg);

	*slot(reg) = (struct qemu_hook){
		.reg = reg,
		.read_before = functions->read,
		.write_before = functions->write,
		.is_constant = head(reg)->type & CONSTANT,
		.what = what,
		.number = number,
	};
	if (read) {
		functions->read = read;
		head(reg)->type &= ~CONSTANT;
	}
	if (write)
		functions->write = write;
}

bool qemu_hook(int cpu, uint32_t key, qemu_read read, qemu_write write,
	       int what, int number)
{
	bool any = false;

	for (int secure = 0; secure < 2; secure++) {
		struct qemu_register *reg = bank(cpu, key, secure);

		if (!reg)
			continue;
		qemu_hook_register(reg, read, write, what, number);
		any = true;
	}
	return any;
}

bool qemu_hook_nop(int cpu, uint32_t key, qemu_write write, int what)
{
	bool any = false;

	for (int secure = 0; secure < 2; secure++) {
		struct qemu_register *reg = bank(cpu, key, secure);

		if (!reg || (head(reg)->type & SPECIAL) != NOP)
			continue;
		qemu_hook_register(reg, NULL, write, what, 0);
		/* the other CPUs run: in one step; and blocks stay as they are
		 */
		head(reg)->type = (head(reg)->type & ~SPECIAL) | GOES_ON;
		any = true;
	}
	return any;
}

uint64_t qemu_read_before(void *env, const struct qemu_hook *hook)
{
	if (hook->is_constant)
		return qemu_constant(hook->reg);
	return hook->read_before ? hook->read_before(env, hook->reg)
				 : qemu_field(env, hook->reg);
}

void qemu_write_before(void *env, const struct qemu_hook *hook, uint64_t value)
{
	if (hook->write_before)
		hook->write_before(env, hook->reg, value);
	else
		qemu_set_field(env, hook->reg, value);
}

void qemu_key_fields(struct head *h, uint32_t key)
{
	if (key & KEY_AA64) {
		h->cp = 0x13;
		h->opc0 = key >> 14 & 3;
		h->opc1 = key >> 11 & 7;
		h->crn = key >> 7 & 15;
		h->crm = key >> 3 & 15;
	} else {
		h->cp = key >> 16 & 15;
		h->opc0 = 0;
		h->opc1 = key >> 3 & 15;
		h->crn = key >> 11 & 15;
		h->crm = key >> 7 & 15;
	}
	h->opc2 = key & 7;
}

void qemu_add(int cpu, uint32_t key, const char *name, int access,
	      qemu_check check, qemu_read read, qemu_write write, int what,
	      int number)
{
	for (uint32_t ns = 0; ns < (key & KEY_AA64 ? 1 : 2); ns++) {
		struct qemu_register *reg = qemu.g_malloc0(found.size);
		uint32_t own = key & KEY_AA64
				       ? key
				       : (key & ~(uint32_t)KEY_NS) | ns << 29;

		qemu_key_fields(head(reg), key);
		head(reg)->name = name;
		head(reg)->state = key & KEY_AA64 ? STATE_AA64 : 0;
		head(reg)->type = IO | NO_RAW;
		head(reg)->access = access;
		head(reg)->secure = key & KEY_AA64 ? 0 : ns ? 2 : 1;
		tail(reg)->accessfn = (void *)check;
		qemu.g_hash_table_insert(found.table[cpu],
					 (void *)(uintptr_t)own, reg);
		qemu_hook_register(reg, read, write, what, number);
	}
}
