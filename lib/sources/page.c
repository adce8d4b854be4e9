// SPDX-License-Identifier: MIT
/*
 * page: perf events whose hardware index is in their mmap page, read from the
 * register. arm64 since Linux 5.17; 32-bit ARM with upmu.ko.
 */
#include <errno.h>

#include "lib/explain.h"
#include "lib/sources/source.h"

static int probe(void)
{
	return upmu_explain_set(-EOPNOTSUPP, "not in this first form");
}

const struct upmu_source upmu_source_page = {
	.name = "page",
	.probe = probe,
};
