// SPDX-License-Identifier: MIT
/*
 * model_insns retired|spec [COLUMN...] : what single instructions count, in
 * user mode, against what the architecture says. Which event numbers a core
 * has differs; the COLUMNs are those that it lacks. For each snippet it prints
 * "0 NAME", or "1 NAME" and what was counted.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw_event.h"

/* Instructions in a loop, and what each round counts. */
struct snippet {
	const char *name;
	const char *counts; /* "load 1, access ?": what is not named is 0 */
	void (*run)(unsigned long rounds, void *memory);
	unsigned long needs; /* of AT_HWCAP */
};

#ifdef __aarch64__
/* x0 rounds, x1 memory. */
#define CODE(name, body)                                     \
	__asm__(".pushsection .text\n"                       \
		"	.arch	armv8.1-a\n	.balign	64\n"            \
		"	.type	insn_" #name ", %function\n" \
		"insn_" #name ":\n"                          \
		"	str	x30, [sp, #-16]!\n"                    \
		"77:	" body "\n"                          \
		"	subs	x0, x0, #1\n"                         \
		"	b.ne	77b\n"                                \
		"	ldr	x30, [sp], #16\n"                      \
		"	ret\n"                                     \
		".popsection\n");                            \
	extern void insn_##name(unsigned long rounds, void *memory);

#define ROW(name, counts, body) CODE(name, body)
#define LSE(name, counts, body) CODE(name, body)
#include "model_insns_aarch64.h"
#undef ROW
#undef LSE

#define ROW(name, counts, body) { #name, counts, insn_##name, 0 },
#define LSE(name, counts, body) { #name, counts, insn_##name, HWCAP_ATOMICS },

static const struct snippet snippets[] = {
#include "model_insns_aarch64.h"
};
#else
/* Each in ARM and in Thumb-2 state: r0 rounds, r1 memory. */
#define CODE(state, name, body)                                         \
	__asm__(".pushsection .text\n"                                  \
		"	.syntax unified\n	.arch armv7-a\n	.fpu neon\n"        \
		"	.balign 64\n	." #state "\n"                  \
		"	.type " #state "_" #name ", %function\n" #state \
		"_" #name ":\n"                                         \
		"	push	{r4-r12, lr}\n"                                  \
		"77:	" body "\n"                                     \
		"	subs	r0, r0, #1\n"                                    \
		"	bne	77b\n"                                            \
		"	pop	{r4-r12, pc}\n"                                   \
		"	.ltorg\n"                                             \
		".popsection\n");                                       \
	extern void state##_##name(unsigned long rounds, void *memory);

#define ARM(name, counts, body)	  CODE(arm, name, body)
#define THUMB(name, counts, body) CODE(thumb, name, body)
#define BOTH(name, counts, body)  ARM(name, , body) THUMB(name, , body)
#include "model_insns_arm.h"
#undef ARM
#undef THUMB
#undef BOTH

#define ARM(name, counts, body)	  { "arm_" #name, counts, arm_##name, 0 },
#define THUMB(name, counts, body) { "thumb_" #name, counts, thumb_##name, 0 },
#define BOTH(name, counts, body)  ARM(name, counts, ) THUMB(name, counts, )

static const struct snippet snippets[] = {
#include "model_insns_arm.h"
};
#endif

#define SNIPPETS (sizeof(snippets) / sizeof(snippets[0]))
#define FEW	 100
#define ROUNDS	 1000
#define MEMORY	 (1 << 20)

static struct column {
	const char *name;
	unsigned int retired, spec; /* event numbers; 0: that core has none */
	int own;		    /* of the loop around a snippet */
	bool if_named;		    /* only where the snippet tells it */
	bool is_off;
} columns[] = {
	{ "load", 0x06, 0x70, 0, false, false },
	{ "store", 0x07, 0x71, 0, false, false },
	{ "access", 0x13, 0x13, 0, false, false },
	{ "unaligned", 0x0f, 0x6a, 0, false, false },
	{ "pc_write", 0x0c, 0x76, 1, false, false },
	{ "immediate", 0x0d, 0x78, 1, false, false },
	{ "return", 0x0e, 0x79, 0, false, false },
	{ "branch", 0x12, 0x12, 1, false, false },
	{ "data", 0, 0x73, 1, true, false },
	{ "simd", 0, 0x74, 0, true, false },
	{ "float", 0, 0x75, 0, true, false },
	{ "exclusive", 0, 0x6c, 0, true, false },
	{ "acquire", 0, 0x90, 0, true, false },
	{ "release", 0, 0x91, 0, true, false },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static bool is_spec;
static void *memory;

static unsigned int code_of(const struct column *column)
{
	return is_spec ? column->spec : column->retired;
}

static long long count(unsigned int code, const struct snippet *snippet,
		       unsigned long rounds)
{
	int fd = raw_event_open(code);
	long long value;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	snippet->run(rounds, memory);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	value = raw_event_read(fd);
	close(fd);
	return value;
}

/*
 * The number after the column's name; -1: it is not to be looked at. No
 * column's name is the beginning of another's.
 */
static int wanted(const struct column *column, const char *counts)
{
	const char *at = strstr(counts, column->name);

	if (!code_of(column) || column->is_off || (!at && column->if_named))
		return -1;
	if (!at)
		return 0;
	at += strlen(column->name) + 1;
	return *at == '?' ? -1 : atoi(at);
}

static void check(const struct snippet *snippet)
{
	char said[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *column = &columns[i];
		int want = wanted(column, snippet->counts);
		long long few, more, found;

		if (want < 0)
			continue;
		few = count(code_of(column), snippet, FEW);
		more = count(code_of(column), snippet, FEW + ROUNDS);
		/* a process that is moved loads a few more in the C library */
		found = more - few - (long long)column->own * ROUNDS;
		if (llabs(found - (long long)want * ROUNDS) > ROUNDS / 20)
			used += (size_t)snprintf(
				said + used, sizeof(said) - used,
				" %s of %d rounds %lld, want %d", column->name,
				ROUNDS, found, want * ROUNDS);
	}
	printf("%d %s%s\n", used > 0, snippet->name, said);
}

static void leave_out(const char *name)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (!strcmp(columns[i].name, name))
			columns[i].is_off = true;
}

int main(int argc, char **argv)
{
	is_spec = argc > 1 && !strcmp(argv[1], "spec");
	for (int i = 2; i < argc; i++)
		leave_out(argv[i]);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	memset(memory, 0, MEMORY);
	for (size_t i = 0; i < SNIPPETS; i++)
		if ((getauxval(AT_HWCAP) & snippets[i].needs) ==
		    snippets[i].needs)
			check(&snippets[i]);
	return 0;
}
