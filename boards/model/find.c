// SPDX-License-Identifier: MIT
/* Finds the CPUs and their registers, and checks all that is relied on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"

#define SCAN (96 << 10) /* bytes of a CPU's object that are looked at */

struct qemu_found found;

static const size_t sizes[] = { 136, 144, 152 }; /* 7.2, 8.0, 9.0 */

/* ---- memory that may not be there --------------------------------------- */

static int pipes[2] = { -1, -1 };

/* Copies what is readable; write(2) refuses what is not mapped. */
static bool peek(const void *from, void *to, size_t size)
{
	if (pipes[0] < 0 && pipe(pipes))
		return false;
	return write(pipes[1], from, size) == (ssize_t)size &&
	       read(pipes[0], to, size) == (ssize_t)size;
}

static void *peek_pointer(const char *from)
{
	void *at;

	return peek(from, &at, sizeof(at)) ? at : NULL;
}

/* ---- finding ---------------------------------------------------------------
 */

static const struct known {
	uint32_t key;
	const char *name;
} known[] = {
	/* one of them is there, whatever the core */
	{ KEY_NS | 15 << 16, "MIDR" },
	{ KEY_NS | 15 << 16, "MIDR_EL1" },
	{ KEY_AA64 | 0x13 << 16 | 3 << 14, "MIDR_EL1" },
};

static bool name_is(const struct qemu_register *reg, const char *name)
{
	char text[16] = { 0 };
	const char *at = reg ? peek_pointer((const char *)reg) : NULL;

	return at && peek(at, text, strlen(name) + 1) && !strcmp(text, name);
}

static const struct known *known_in(void *table)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (name_is(qemu.get_arm_cp_reginfo(table, known[i].key),
			    known[i].name))
			return &known[i];
	return NULL;
}

/* A GHashTable whose keys are numbers: g_direct_hash() is in its head. */
static bool is_table(const char *at)
{
	void *words[12];

	if ((uintptr_t)at < 4096 || (uintptr_t)at % 8 ||
	    !peek(at, words, sizeof(words)))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i] == (void *)qemu.g_direct_hash)
			return true;
	return false;
}

static void *table_of(const char *cpu)
{
	for (size_t i = 0; i < SCAN; i += sizeof(void *)) {
		void *at = peek_pointer(cpu + i);

		if (at && is_table(at) && known_in(at))
			return at;
	}
	return NULL;
}

/* The name lies right behind the structure: that tells its size. */
static bool find_layout(const struct qemu_register *reg, bool wrong)
{
	size_t size = (size_t)(head(reg)->name - (const char *)reg);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (size == sizes[i] && !wrong) {
			found.size = size;
			found.tail = size == 136 ? 32 : 40;
			return true;
		}
	return false;
}

static bool in_emulator(void *function)
{
	Dl_info at, own;

	return dladdr(function, &at) &&
	       dladdr((void *)qemu.qemu_get_cpu, &own) &&
	       at.dli_fbase == own.dli_fbase;
}

/* What the layout says has to agree with the key and with the program. */
static bool register_is(int cpu, uint32_t key, const char *name)
{
	struct qemu_register *reg = qemu_register(cpu, key);
	struct head want = { 0 };
	const struct tail *functions;

	if (!reg)
		return false;
	qemu_key_fields(&want, key);
	functions = tail(reg);
	return !strcmp(head(reg)->name, name) && head(reg)->cp == want.cp &&
	       head(reg)->crn == want.crn && head(reg)->crm == want.crm &&
	       head(reg)->opc1 == want.opc1 && head(reg)->opc2 == want.opc2 &&
	       functions->field >= 0 && functions->field < SCAN &&
	       (!functions->read || in_emulator((void *)functions->read)) &&
	       (!functions->write || in_emulator((void *)functions->write)) &&
	       (functions->field || functions->read ||
		head(reg)->type & CONSTANT);
}

/* How many registers hold their reset value, were the env at @env. */
struct score {
	const char *env;
	int right, all;
};

static void score_one(void *key, void *value, void *data)
{
	const struct tail *functions = tail(value);
	struct score *score = data;
	uint32_t here;

	(void)key;
	if (!functions->field || !(uint32_t)functions->reset ||
	    functions->resetfn)
		return;
	score->all++;
	if (peek(score->env + functions->field, &here, sizeof(here)))
		score->right += here == (uint32_t)functions->reset;
}

/*
 * Where the env begins in the CPU's object: the place where MIDR is right,
 * and most (at least three of four) that have a reset value.
 */
static bool find_env(int cpu, const struct known *midr)
{
	const struct tail *functions = tail(qemu_register(cpu, midr->key));
	const char *object = found.cpu[cpu];
	int best = 0;

	if (!functions->reset || !functions->field)
		return false;
	for (size_t at = 0; at < SCAN; at += 16) {
		struct score score = { object + at, 0, 0 };
		uint32_t here;

		if (!peek(object + at + functions->field, &here, sizeof(here)))
			break;
		if (here != (uint32_t)functions->reset)
			continue;
		qemu.g_hash_table_foreach(found.table[cpu], score_one, &score);
		if (score.right * 4 < score.all * 3 || score.right <= best)
			continue;
		best = score.right;
		found.env = at;
	}
	return best;
}

static bool find_cpu(int cpu, const char *wrong, char *reason)
{
	const struct known *midr;

	found.cpu[cpu] = qemu.qemu_get_cpu(cpu);
	found.table[cpu] = wrong && !strcmp(wrong, "table")
				   ? NULL
				   : table_of(found.cpu[cpu]);
	midr = found.table[cpu] ? known_in(found.table[cpu]) : NULL;
	if (!midr) {
		snprintf(reason, QEMU_REASON,
			 "no table of registers found in the emulator");
		return false;
	}
	if (!find_layout(qemu_register(cpu, midr->key),
			 wrong && !strcmp(wrong, "layout")) ||
	    !register_is(cpu, midr->key, midr->name)) {
		snprintf(reason, QEMU_REASON,
			 "the emulator's table of registers is of an unknown "
			 "layout");
		return false;
	}
	if ((wrong && !strcmp(wrong, "env")) || !find_env(cpu, midr)) {
		snprintf(reason, QEMU_REASON,
			 "the registers of a CPU are not where they are "
			 "expected in the emulator");
		return false;
	}
	return true;
}

bool qemu_find(const char *wrong, char *reason)
{
	size_t env = 0;

	if (found.n)
		return true;
	while (found.n < QEMU_CPUS && qemu.qemu_get_cpu(found.n)) {
		if (!find_cpu(found.n, wrong, reason))
			goto refuse;
		if (found.n && found.env != env) {
			snprintf(reason, QEMU_REASON,
				 "the emulator's CPUs differ in layout");
			goto refuse;
		}
		env = found.env;
		found.n++;
	}
	if (found.n)
		return true;
	snprintf(reason, QEMU_REASON, "the emulator shows no CPU");
refuse:
	found.n = 0;
	return false;
}
