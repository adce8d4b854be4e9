/* SPDX-License-Identifier: MIT */
/* Instructions in a loop, and what each round counts, for model_insns.c. */
#ifndef MODEL_INSNS_H
#define MODEL_INSNS_H

#include <stddef.h>

struct snippet {
	const char *name;
	const char *counts; /* "load 1, access ?": what is not named is 0 */
	void (*run)(unsigned long rounds, void *memory);
	unsigned long needs; /* of AT_HWCAP */
};

extern const struct snippet snippets[];
extern const size_t n_snippets;

#endif
