// SPDX-License-Identifier: MIT
#include "lib/registers/registers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "regs/regs.h"

const char *upmu_registers_architecture(void)
{
#if UPMU_REGS_ARCH == UPMU_REGS_ARM
	return upmu_arm_is_v6() ? "v6" : "v7";
#else
	return UPMU_REGS_NAME;
#endif
}

#if UPMU_REGS_ARCH == UPMU_REGS_NONE

int upmu_registers_read(struct upmu_registers *out)
{
	(void)out;
	return -EOPNOTSUPP;
}

#else

/* Reading a type or a counter moves PMSELR, which is shown as it was. */
static void read_counters(struct upmu_registers *out)
{
	out->selected = upmu_regs_has_selector() ? upmu_regs_selected() : 0;
	out->counters = upmu_regs_counters();
	if (out->counters > UPMU_REGISTERS_COUNTERS)
		out->counters = UPMU_REGISTERS_COUNTERS;
	for (unsigned int n = 0; n < out->counters; n++) {
		out->type[n] = upmu_regs_type(n);
		out->counter[n] = upmu_regs_counter(n);
	}
	if (upmu_regs_has_selector())
		upmu_regs_select(out->selected);
}

int upmu_registers_read(struct upmu_registers *out)
{
	if (upmu_regs_user_readable()) {
		out->user_access = upmu_regs_user_access();
		if (!(out->user_access & UPMU_USER_EN))
			return -EACCES;
	}
	out->has_enables = upmu_regs_has_enables();
	out->control = upmu_regs_control();
	out->enabled = upmu_regs_enabled();
	out->overflow = upmu_regs_overflow();
	out->cycles = upmu_regs_cycles64();
	read_counters(out);
	return 0;
}

#endif

/* AT_PLATFORM is "v6l" to "v8l" for 32-bit programs ("b" for big-endian),
 * whatever the kernel is (Linux, arch/arm/mm/proc-*.S, arch/arm64 compat). */
unsigned int upmu_processor_registers(void)
{
#if defined(__aarch64__)
	return 8;
#elif defined(__arm__)
	const char *platform = (const char *)getauxval(AT_PLATFORM);
	int version = platform && platform[0] == 'v' ? atoi(platform + 1) : 0;

	if (version >= 7)
		return 7;
	return version == 6 ? 6 : 0;
#else
	return 0;
#endif
}
