// SPDX-License-Identifier: MIT
#include "lib/registers/registers.h"

#include <errno.h>

#include "regs/regs.h"

const char *upmu_registers_architecture(void)
{
	return UPMU_REGS_NAME;
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
	out->has_selector = upmu_regs_has_selector();
	out->has_enables = upmu_regs_has_enables();
	out->control = upmu_regs_control();
	out->enabled = upmu_regs_enabled();
	out->overflow = upmu_regs_overflow();
	out->cycles = upmu_regs_cycles64();
	read_counters(out);
	return 0;
}

#endif
