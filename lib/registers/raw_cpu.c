// SPDX-License-Identifier: MIT
#include "lib/registers/raw_cpu.h"

#include <errno.h>

#include "lib/explain.h"
#include "lib/registers/registers.h"
#include "regs/regs.h"

int upmu_raw_cpu_check_event(const struct upmu_perf_event *event, uint32_t code,
			     uint32_t pmu_version)
{
	if (code == UINT32_MAX)
		return upmu_explain_set(-EOPNOTSUPP,
					"'%s' has no code that a counter could "
					"be set to",
					event->name);
	if ((event->exclude_user || event->exclude_kernel) && pmu_version < 2)
		return upmu_explain_set(-EINVAL,
					"'%s': this core's PMU cannot tell "
					"user from kernel mode",
					event->name);
	return 0;
}

#if UPMU_REGS_ARCH == UPMU_REGS_NONE

int upmu_raw_cpu_check(void)
{
	return upmu_explain_set(-EOPNOTSUPP,
				"counters are read by register on ARM "
				"processors only");
}

void upmu_raw_cpu_set(unsigned int n, const struct upmu_perf_event *event,
		      uint32_t code, uint32_t pmu_version)
{
	(void)n;
	(void)event;
	(void)code;
	(void)pmu_version;
}

void upmu_raw_cpu_start(uint32_t mask)
{
	(void)mask;
}

void upmu_raw_cpu_stop(uint32_t mask)
{
	(void)mask;
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

static uint32_t filter_bits(const struct upmu_perf_event *event)
{
	uint32_t bits = 0;

#ifdef UPMU_TYPE_P
	if (event->exclude_kernel)
		bits |= UPMU_TYPE_P;
	if (event->exclude_user)
		bits |= UPMU_TYPE_U;
	/* perf's default is another: only where :h asks. */
	if (event->wants_hv && !event->exclude_hv)
		bits |= UPMU_TYPE_NSH;
#else
	(void)event;
#endif
	return bits;
}

void upmu_raw_cpu_set(unsigned int n, const struct upmu_perf_event *event,
		      uint32_t code, uint32_t pmu_version)
{
	uint32_t bits = pmu_version >= 2 ? filter_bits(event) : 0;

	upmu_regs_disable(UINT32_C(1) << n);
	if (n != UPMU_RAW_CPU_CYCLES) {
		upmu_regs_set_type(n, code | bits);
		upmu_regs_set_counter(n, 0);
		return;
	}
	if (pmu_version >= 2)
		upmu_regs_set_type(n, bits);
	upmu_regs_set_cycles(0);
}

void upmu_raw_cpu_start(uint32_t mask)
{
	upmu_regs_change_control(UPMU_CONTROL_D, UPMU_CONTROL_E);
	/* The types are in force before the first count. */
	upmu_regs_isb();
	upmu_regs_enable(mask);
	upmu_regs_isb();
}

void upmu_raw_cpu_stop(uint32_t mask)
{
	upmu_regs_disable(mask);
	upmu_regs_isb();
}

uint32_t upmu_raw_cpu_read(unsigned int n)
{
	return n == UPMU_RAW_CPU_CYCLES ? upmu_regs_cycles32()
					: (uint32_t)upmu_regs_counter(n);
}

#endif
