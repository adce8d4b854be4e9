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

#define DOCUMENTS_ANOTHER "of another version of upmu: its format is not 1"

/** What its numbers mean nobody here can know. */
static inline bool documents_is_another(const json_t *report)
{
	static const char *const keys[] = { "upmu_stat", "upmu_compare",
					    "upmu_merge" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *format = json_object_get(report, keys[i]);

		if (json_is_integer(format) && json_integer_value(format) != 1)
			return true;
	}
	return false;
}

#endif
