// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/sys.h"

void kernel_read(struct kernel *kernel)
{
	struct utsname name;

	*kernel = (struct kernel){ 0 };
	uname(&name);
	snprintf(kernel->release, sizeof(kernel->release), "%s", name.release);
	snprintf(kernel->machine, sizeof(kernel->machine), "%.31s",
		 name.machine);
	/* A fixture tree tells its own; the second file is there since 6.1. */
	upmu_sys_read_text("/proc/sys/kernel/osrelease", kernel->release,
			   sizeof(kernel->release));
	upmu_sys_read_text("/proc/sys/kernel/arch", kernel->machine,
			   sizeof(kernel->machine));
	kernel->is_64_bit = !strcmp(kernel->machine, "aarch64") ||
			    !strcmp(kernel->machine, "arm64");
	kernel->is_arm =
		kernel->is_64_bit || !strncmp(kernel->machine, "arm", 3);
	kernel->opens = upmu_sys_exists(UPMU_USER_ACCESS);
}
