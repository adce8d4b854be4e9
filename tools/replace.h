/* SPDX-License-Identifier: MIT */
/**
 * replace.h - a file that is whole, or still what it was
 */
#ifndef UPMU_TOOLS_REPLACE_H
#define UPMU_TOOLS_REPLACE_H

#include <stdio.h>

enum replace_how {
	REPLACE_PLAIN, /* readers never see a part of it */
	REPLACE_SAFE,  /* nor does a loss of power leave one */
};

/**
 * Write @path by @write(file, @what), which returns 0 or -1 with errno set. A
 * temporary file beside it takes its name when all is written; what is no
 * plain file (a link, /dev/stdout, a pipe) is written to. 0, or -1 with errno
 * set: what stood there is as it was.
 */
int replace_file(const char *path, int (*write)(FILE *, const void *),
		 const void *what, enum replace_how how);

/** Could it be? 0, or -1 with errno set; nothing is left behind. */
int replace_try(const char *path);

#endif
