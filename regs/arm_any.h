/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * arm_any.h - code compiled for ARMv6 or earlier in general, as Raspberry Pi OS
 * compiles all its 32-bit programs: it may find itself on any ARM
 *
 * So both v6.h and v7.h are here, under names of their own, and each function
 * asks once for a program which of the two this processor wants. A program
 * for one alone (and a cycle count in one instruction) is had by
 * -mcpu=arm1176jzf-s, -march=armv7-a or -DUPMU_REGS_ARCH=6 or =7.
 */
#ifndef UPMU_REGS_ARM_ANY_H
#define UPMU_REGS_ARM_ANY_H

#include <sys/auxv.h>

#include "cp15.h"

#define UPMU_ANY_JOIN_(prefix, name) prefix##name
#define UPMU_ANY_JOIN(prefix, name)  UPMU_ANY_JOIN_(prefix, name)
#define UPMU_ANY(name)		     UPMU_ANY_JOIN(UPMU_ANY_PREFIX, name)

#define upmu_regs_cycles32		 UPMU_ANY(cycles32)
#define upmu_regs_cycles64		 UPMU_ANY(cycles64)
#define upmu_regs_cycle_bits		 UPMU_ANY(cycle_bits)
#define upmu_regs_set_cycles		 UPMU_ANY(set_cycles)
#define upmu_regs_control		 UPMU_ANY(control)
#define upmu_regs_write_control		 UPMU_ANY(write_control)
#define upmu_regs_change_control	 UPMU_ANY(change_control)
#define upmu_regs_counters		 UPMU_ANY(counters)
#define upmu_regs_has_selector		 UPMU_ANY(has_selector)
#define upmu_regs_selected		 UPMU_ANY(selected)
#define upmu_regs_select		 UPMU_ANY(select)
#define upmu_regs_counter		 UPMU_ANY(counter)
#define upmu_regs_set_counter		 UPMU_ANY(set_counter)
#define upmu_regs_has_filter		 UPMU_ANY(has_filter)
#define upmu_regs_type			 UPMU_ANY(type)
#define upmu_regs_set_type		 UPMU_ANY(set_type)
#define upmu_regs_has_enables		 UPMU_ANY(has_enables)
#define upmu_regs_enabled		 UPMU_ANY(enabled)
#define upmu_regs_enable		 UPMU_ANY(enable)
#define upmu_regs_disable		 UPMU_ANY(disable)
#define upmu_regs_interrupts		 UPMU_ANY(interrupts)
#define upmu_regs_enable_interrupts	 UPMU_ANY(enable_interrupts)
#define upmu_regs_disable_interrupts	 UPMU_ANY(disable_interrupts)
#define upmu_regs_overflow		 UPMU_ANY(overflow)
#define upmu_regs_clear_overflow	 UPMU_ANY(clear_overflow)
#define upmu_regs_has_overflow_set	 UPMU_ANY(has_overflow_set)
#define upmu_regs_set_overflow		 UPMU_ANY(set_overflow)
#define upmu_regs_has_software_increment UPMU_ANY(has_software_increment)
#define upmu_regs_software_increment	 UPMU_ANY(software_increment)
#define upmu_regs_user_readable		 UPMU_ANY(user_readable)
#define upmu_regs_user_access		 UPMU_ANY(user_access)
#define upmu_regs_set_user_access	 UPMU_ANY(set_user_access)
#define upmu_regs_midr			 UPMU_ANY(midr)
#define upmu_regs_pmu_version		 UPMU_ANY(pmu_version)
#define upmu_regs_event_bits		 UPMU_ANY(event_bits)
#define upmu_regs_isb			 UPMU_ANY(isb)
#define upmu_cp15_pmcr			 UPMU_ANY(cp15_pmcr)
#define upmu_cp15_set_pmcr		 UPMU_ANY(cp15_set_pmcr)
#define upmu_cp15_midr			 UPMU_ANY(cp15_midr)

static inline void upmu_v6_isb(void)
{
	UPMU_V6_ISB();
}

static inline void upmu_v7_isb(void)
{
	UPMU_V7_ISB();
}

#define UPMU_ANY_PREFIX upmu_v6_
#include "v6.h"
#undef UPMU_ANY_PREFIX
#undef UPMU_REGS_NAME
#undef UPMU_REGS_MAX_COUNTERS
#undef UPMU_CONTROL_X
#undef UPMU_CONTROL_SAVED
#undef UPMU_REGS_EVENT_IDLE
#undef UPMU_REGS_EVENT_CYCLES

#define UPMU_ANY_PREFIX upmu_v7_
#include "v7.h"
#undef UPMU_ANY_PREFIX
#undef UPMU_REGS_NAME
/* In these ARM1176 and later differ. */
#undef UPMU_CONTROL_X
#undef UPMU_CONTROL_SAVED
#undef UPMU_REGS_EVENT_IDLE
#undef UPMU_REGS_EVENT_CYCLES

#define UPMU_ANY_PREFIX upmu_any_
#define UPMU_REGS_NAME	"arm"

/* 6 or 7, 0 while nobody has asked; one for the whole program */
__attribute__((weak)) int upmu_arm_registers;

/* The kernel's name of the processor: "v6l", "v7l", "v8l". */
static inline int upmu_arm_is_v6(void)
{
	const char *platform;

	if (__builtin_expect(upmu_arm_registers == 0, 0)) {
		platform = (const char *)getauxval(AT_PLATFORM);
		upmu_arm_registers =
			platform && platform[0] == 'v' && platform[1] >= '7'
				? 7
				: 6;
	}
	return upmu_arm_registers == 6;
}

#define UPMU_CONTROL_X (upmu_arm_is_v6() ? UPMU_V6_EXPORT : 0x10u)

#define UPMU_ANY_GET(result, name)                                             \
	static inline result upmu_any_##name(void)                             \
	{                                                                      \
		return upmu_arm_is_v6() ? upmu_v6_##name() : upmu_v7_##name(); \
	}
#define UPMU_ANY_OF(result, name)                            \
	static inline result upmu_any_##name(unsigned int n) \
	{                                                    \
		return upmu_arm_is_v6() ? upmu_v6_##name(n)  \
					: upmu_v7_##name(n); \
	}
#define UPMU_ANY_PUT(name, operand)                       \
	static inline void upmu_any_##name(operand value) \
	{                                                 \
		if (upmu_arm_is_v6())                     \
			upmu_v6_##name(value);            \
		else                                      \
			upmu_v7_##name(value);            \
	}
#define UPMU_ANY_PUT2(name, first, second)                        \
	static inline void upmu_any_##name(first one, second two) \
	{                                                         \
		if (upmu_arm_is_v6())                             \
			upmu_v6_##name(one, two);                 \
		else                                              \
			upmu_v7_##name(one, two);                 \
	}

/* clang-format off */
UPMU_ANY_GET(uint32_t, cycles32)
UPMU_ANY_GET(uint64_t, cycles64)
UPMU_ANY_GET(unsigned int, cycle_bits)
UPMU_ANY_PUT(set_cycles, uint64_t)
UPMU_ANY_GET(uint32_t, control)
UPMU_ANY_PUT(write_control, uint32_t)
UPMU_ANY_PUT2(change_control, uint32_t, uint32_t)
UPMU_ANY_GET(unsigned int, counters)
UPMU_ANY_GET(int, has_selector)
UPMU_ANY_GET(uint32_t, selected)
UPMU_ANY_PUT(select, unsigned int)
UPMU_ANY_OF(uint64_t, counter)
UPMU_ANY_PUT2(set_counter, unsigned int, uint64_t)
UPMU_ANY_GET(int, has_filter)
UPMU_ANY_OF(uint32_t, type)
UPMU_ANY_PUT2(set_type, unsigned int, uint32_t)
UPMU_ANY_GET(int, has_enables)
UPMU_ANY_GET(uint32_t, enabled)
UPMU_ANY_PUT(enable, uint32_t)
UPMU_ANY_PUT(disable, uint32_t)
UPMU_ANY_GET(uint32_t, interrupts)
UPMU_ANY_PUT(enable_interrupts, uint32_t)
UPMU_ANY_PUT(disable_interrupts, uint32_t)
UPMU_ANY_GET(uint32_t, overflow)
UPMU_ANY_PUT(clear_overflow, uint32_t)
UPMU_ANY_GET(int, has_overflow_set)
UPMU_ANY_PUT(set_overflow, uint32_t)
UPMU_ANY_GET(int, has_software_increment)
UPMU_ANY_PUT(software_increment, uint32_t)
UPMU_ANY_GET(int, user_readable)
UPMU_ANY_GET(uint32_t, user_access)
UPMU_ANY_PUT(set_user_access, uint32_t)
UPMU_ANY_GET(uint32_t, midr)
UPMU_ANY_GET(unsigned int, pmu_version)
UPMU_ANY_OF(uint32_t, event_bits)
/* clang-format on */

static inline void upmu_any_isb(void)
{
	if (upmu_arm_is_v6())
		upmu_v6_isb();
	else
		upmu_v7_isb();
}

#endif
