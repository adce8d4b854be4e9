// SPDX-License-Identifier: MIT
#include "lib/registers/raw_cpu.h"

#include <errno.h>

#include "lib/explain.h"
#include "lib/registers/processor.h"
#include "regs/regs.h"

#if UPMU_REGS_ARCH == UPMU_REGS_NONE

int upmu_raw_cpu_check(void)
{
	return upmu_explain_set(-EOPNOTSUPP,
				"counters are read by register on ARM "
				"processors only");
}

void upmu_raw_cpu_start(unsigned int n, uint32_t code, unsigned int filter)
{
	(void)n;
	(void)code;
	(void)filter;
}

void upmu_raw_cpu_stop(unsigned int n)
{
	(void)n;
}

uint32_t upmu_raw_cpu_read(unsigned int n)
{
	(void)n;
	return 0;
}

#else

int upmu_raw_cpu_check(void)
{
	if (upmu_processor_registers())
		return 0;
	return upmu_explain_set(-EOPNOTSUPP,
				"this processor's registers are not known");
}

static uint32_t filter_bits(unsigned int filter)
{
#ifdef UPMU_TYPE_P
	return (filter & UPMU_RAW_CPU_NO_KERNEL ? UPMU_TYPE_P : 0) |
	       (filter & UPMU_RAW_CPU_NO_USER ? UPMU_TYPE_U : 0);
#else
	(void)filter;
	return 0;
#endif
}

void upmu_raw_cpu_start(unsigned int n, uint32_t code, unsigned int filter)
{
	uint32_t bits = filter_bits(filter);

	upmu_regs_disable(UINT32_C(1) << n);
	if (n != UPMU_RAW_CPU_CYCLES) {
		upmu_regs_set_type(n, code | bits);
		upmu_regs_set_counter(n, 0);
	} else {
		if (filter & UPMU_RAW_CPU_FILTERS)
			upmu_regs_set_type(n, bits);
		upmu_regs_set_cycles(0);
	}
	upmu_regs_change_control(UPMU_CONTROL_D, UPMU_CONTROL_E);
	/* The type is in force before the first count. */
	upmu_regs_isb();
	upmu_regs_enable(UINT32_C(1) << n);
	upmu_regs_isb();
}

void upmu_raw_cpu_stop(unsigned int n)
{
	upmu_regs_disable(UINT32_C(1) << n);
	upmu_regs_isb();
}

uint32_t upmu_raw_cpu_read(unsigned int n)
{
	return n == UPMU_RAW_CPU_CYCLES ? upmu_regs_cycles32()
					: (uint32_t)upmu_regs_counter(n);
}

#endif
