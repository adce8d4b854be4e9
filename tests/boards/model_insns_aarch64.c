// SPDX-License-Identifier: MIT
/* x0 rounds, x1 memory. */
#include <asm/hwcap.h>

#include "model_insns.h"

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

const struct snippet snippets[] = {
#include "model_insns_aarch64.h"
};
const size_t n_snippets = sizeof(snippets) / sizeof(snippets[0]);
