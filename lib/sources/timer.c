// SPDX-License-Identifier: MIT
/*
 * timer: the architecture's constant-rate tick register, CNTVCT on ARM, the
 * TSC on x86-64. Ticks, not cycles: the rate is not the processor's clock.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/explain.h"
#include "lib/registers/registers.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

#if defined(__x86_64__)
#define TIMER_NAME "TSC"

/* A program may be forbidden the TSC; the kernel tells. */
static int ask_timer(void)
{
	int mode = 0;

	if (!prctl(PR_GET_TSC, &mode) && mode == PR_TSC_SIGSEGV)
		return upmu_explain_set(-EOPNOTSUPP,
					"prctl(PR_SET_TSC) keeps the TSC from "
					"this process");
	return 0;
}

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc"
			 : "=a"(low), "=d"(high)
			 :
			 : "memory");
	return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__) || defined(__arm__)
#define TIMER_NAME "CNTVCT"
#define CLOCKSOURCES \
	"/sys/devices/system/clocksource/clocksource0/available_clocksource"
/* Firmware left the timer's registers unset: the kernel then keeps user mode
 * from the virtual counter (arm_arch_timer.c). */
#define NOT_CONFIGURED \
	"/proc/device-tree/timer/arm,cpu-registers-not-fw-configured"

static int ask_timer(void)
{
	char names[256];

	if (upmu_processor_registers() < 7 ||
	    upmu_sys_read_text(CLOCKSOURCES, names, sizeof(names)) ||
	    !strstr(names, "arch_sys_counter"))
		return upmu_explain_set(-EOPNOTSUPP,
					"this processor has no generic timer, "
					"or the kernel does not use it");
	if (upmu_sys_exists(NOT_CONFIGURED))
		return upmu_explain_set(-EOPNOTSUPP,
					"firmware did not set up the generic "
					"timer for user mode");
	return 0;
}

/* isb by its number: the assembler may be set to ARMv6. The timer is there from
 * ARMv7 on, and a 64-bit kernel may refuse ARMv6's barrier. */
#ifdef __thumb__
#define ISB ".inst.w 0xf3bf8f6f"
#else
#define ISB ".inst 0xf57ff06f"
#endif

/* The barrier keeps the read from running ahead of what is timed. */
static uint64_t ticks(void)
{
#ifdef __aarch64__
	uint64_t value;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0"
			 : "=r"(value)
			 :
			 : "memory");
	return value;
#else
	uint32_t low, high;

	__asm__ volatile(ISB "\n\tmrrc p15, 1, %0, %1, c14"
			 : "=r"(low), "=r"(high)
			 :
			 : "memory");
	return (uint64_t)high << 32 | low;
#endif
}

#else
#define TIMER_NAME "none"

static int ask_timer(void)
{
	return upmu_explain_set(-EOPNOTSUPP,
				"this processor's tick register is not known");
}

static uint64_t ticks(void)
{
	return 0;
}
#endif

static int timer_probe(void)
{
	int ret = ask_timer();

	if (ret)
		return ret;
	return upmu_explain_set(0, TIMER_NAME ", ticks at a constant rate");
}

static int open_timer(struct upmu *set, const struct upmu_wanted *wanted)
{
	int ret = upmu_clock_serves(wanted);

	if (!ret)
		ret = ask_timer();
	if (ret)
		return ret;
	set->opened_ns = upmu_sys_clock_ns();
	set->opened_ticks = ticks();
	return 0;
}

static int timer_count(struct upmu *set, size_t position, uint64_t *out)
{
	(void)position;
	*out = ticks() - set->opened_ticks;
	return 0;
}

static int read_timer(struct upmu *set, struct upmu_value *values)
{
	uint64_t ns = upmu_sys_clock_ns() - set->opened_ns;

	values[0] = (struct upmu_value){ ticks() - set->opened_ticks, ns, ns };
	return 0;
}

const struct upmu_source upmu_source_timer = {
	.name = "timer",
	.unit = "ticks",
	.is_clock = true,
	.probe = timer_probe,
	.open = open_timer,
	.read = read_timer,
	.count = timer_count,
};
