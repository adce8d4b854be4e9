/* SPDX-License-Identifier: MIT */
/**
 * kernel.h - which kernel runs here
 */
#ifndef UPMU_TOOLS_KERNEL_H
#define UPMU_TOOLS_KERNEL_H

#include <stdbool.h>

struct kernel {
	char release[128]; /* as uname -r */
	char machine[32];  /* as uname -m */
	bool is_64_bit;	   /* an arm64 kernel */
	bool is_arm;
	bool opens; /* has kernel.perf_user_access */
};

void kernel_read(struct kernel *kernel);

#endif
