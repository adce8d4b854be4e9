/* SPDX-License-Identifier: MIT */
#ifndef UPMU_DOCUMENTS_H
#define UPMU_DOCUMENTS_H

#include <jansson.h>
#include <stdbool.h>

/**
 * struct documents_reader - who takes what a file of JSON holds
 * @take: called for each document, which stays the caller's; false: no more
 * @complain: called once where the file cannot be read, or not to its end
 * @argument: what both get first
 */
struct documents_reader {
	bool (*take)(void *argument, const char *name, json_t *document);
	void (*complain)(void *argument, const char *name, const char *why);
	void *argument;
};

/**
 * documents_read - each document of a file, as -I and --append leave them
 * @path: "-" is the standard input, and called so
 */
void documents_read(const char *path, const struct documents_reader *reader);

#endif
