/* SPDX-License-Identifier: MIT */
/**
 * replace.h - a file that is whole, or still what it was
 */
#ifndef UPMU_TOOLS_REPLACE_H
#define UPMU_TOOLS_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

enum replace_how {
	REPLACE_PLAIN, /* readers never see a part of it */
	REPLACE_SAFE,  /* nor does a loss of power leave one */
};

/**
 * Write @path by @write(file, @what), which returns 0 or -1 with errno set. A
 * temporary file beside it takes its name when all is written, and a link's
 * file that of the file; what is no plain file (/dev/stdout, a pipe), or can
 * have none beside it, is written to. 0, or -1 with errno set: what stood there
 * is as it was.
 */
int replace_file(const char *path, int (*write)(FILE *, const void *),
		 const void *what, enum replace_how how);

/** Could it be? 0, or -1 with errno set; nothing is left behind. */
int replace_try(const char *path);

/** Is it a file of its own, or none yet? */
bool replace_is_plain(const char *path);

/** As fopen(3); what standard output or error goes to is added to. */
FILE *replace_open(const char *path, const char *mode);

/** All of @text at the end of @path, or nothing. 0, or -1 with errno set. */
int replace_append(const char *path, const char *text, size_t size);

/** Returns how much of @text was written; errno tells what kept the rest. */
size_t replace_write(int fd, const char *text, size_t size);

#endif
