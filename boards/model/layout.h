/* SPDX-License-Identifier: MIT */
/* QEMU's structures, and what was found; for the files behind qemu.h only. */
#ifndef MODEL_LAYOUT_H
#define MODEL_LAYOUT_H

#include "qemu.h"

/* ARMCPRegInfo; QEMU 8 and later have 8 bytes more before @opaque. */
struct head {
	const char *name;
	uint8_t cp, crn, crm, opc0, opc1, opc2;
	int state, type /* CONSTANT ... */, access, secure;
};

struct tail {
	void *opaque;
	uint64_t reset;
	ptrdiff_t field, banked[2];
	void *accessfn;
	qemu_read read;
	qemu_write write;
	void *raw_read, *raw_write, *resetfn, *orig_read, *orig_write;
};

enum {
	SPECIAL = 15,
	NOP = 1,
	CONSTANT = 1 << 4,
	WIDE = 1 << 5,
	GOES_ON = 1 << 6, /* a write of it ends no block */
	IO = 1 << 9,
	NO_RAW = 1 << 10
};
enum { STATE_AA64 = 1 };
enum { KEY_NS = 1 << 29, KEY_AA64 = 1 << 28 };

/* What qemu_find() found out. */
struct qemu_found {
	void *cpu[QEMU_CPUS], *table[QEMU_CPUS];
	int n;
	size_t env, size, tail;
	bool old; /* the interface before version 2 */
	uint64_t ram_base, ram_size;
	char *ram;
};
extern struct qemu_found found;

static inline struct head *head(const struct qemu_register *reg)
{
	return (struct head *)(uintptr_t)reg;
}

static inline struct tail *tail(const struct qemu_register *reg)
{
	return (struct tail *)((uintptr_t)reg + found.tail);
}

/* The fields that a key stands for. */
void qemu_key_fields(struct head *h, uint32_t key);

#endif
