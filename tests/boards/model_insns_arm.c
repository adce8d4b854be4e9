// SPDX-License-Identifier: MIT
/* Each in ARM and in Thumb-2 state: r0 rounds, r1 memory. */
#include "model_insns.h"

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

const struct snippet snippets[] = {
#include "model_insns_arm.h"
};
const size_t n_snippets = sizeof(snippets) / sizeof(snippets[0]);
