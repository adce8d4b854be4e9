/* SPDX-License-Identifier: MIT */
/*
 * options.h - option structs of callers older or newer than the library
 */
#ifndef UPMU_LIB_OPTIONS_H
#define UPMU_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "upmu.h"

/**
 * Copy a struct that starts with its size into @out (@size bytes, zeroed
 * first). What @out has no room for must be zero, -EINVAL else; so must a size
 * below @least, that of the first release. NULL copies nothing.
 */
int upmu_options_fit(void *out, size_t size, const void *options, size_t least);

/** What stands in a struct's first field: too little, or by mistake there? */
bool upmu_is_no_size(size_t size, size_t least);

/**
 * Give @full (@size bytes) to a caller whose @result, older or newer, starts
 * with its own size, which stays. 0, or -EINVAL where that is below @least.
 */
int upmu_result_give(void *result, const void *full, size_t size, size_t least);

/** As upmu_options_fit(), and check the values; NULL gives the defaults. */
int upmu_options_copy(struct upmu_options *out,
		      const struct upmu_options *options);

/** Is another counted than the calling thread alone? */
bool upmu_options_name_others(const struct upmu_options *options);

/** 0, or -EINVAL where others are counted, or nothing: "@what count the calling
 * thread". */
int upmu_options_check_own(const struct upmu_options *options,
			   const char *what);

#endif
