// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "model.h"
#include "qemu.h"

enum { VIRTUAL = 1 }; /* QEMU_CLOCK_VIRTUAL, the board's */

static int64_t (*get_ns)(int clock);
static int64_t (*get_instructions)(void);
static const int *use_icount;

bool clock_find(char *reason)
{
	*(void **)&get_ns = dlsym(RTLD_DEFAULT, "qemu_clock_get_ns");
	*(void **)&get_instructions = dlsym(RTLD_DEFAULT, "icount_get_raw");
	use_icount = dlsym(RTLD_DEFAULT, "use_icount");
	if (get_ns)
		return true;
	snprintf(reason, QEMU_REASON, "the emulator has no %s()",
		 "qemu_clock_get_ns");
	return false;
}

uint64_t clock_cycles(void)
{
	return (uint64_t)get_ns(VIRTUAL);
}

uint64_t clock_instructions(void)
{
	return (uint64_t)get_instructions();
}

bool clock_counts_instructions(void)
{
	return use_icount && *use_icount && get_instructions;
}
