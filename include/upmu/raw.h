/* SPDX-License-Identifier: MIT */
/**
 * raw.h - the PMU's registers for programs that read or program them alone
 *
 * The same names on ARM1176, ARMv7, ARMv8 in AArch32 and AArch64; C11, C++,
 * ARM and Thumb-2. Thumb-1 has no mrc: compile with -marm.
 *
 * The registers must be open to this process, else an access ends in SIGILL:
 * a RAW lease (upmu exec --raw, /dev/upmu), or upmu.ko's open=all; for reading
 * cycles, a CYCLES lease (upmu exec) or open=cycles; on arm64 reading is opened
 * by an event with kernel.perf_user_access. upmu_raw_access() asks.
 *
 * The registers are those of the CPU that the thread runs on: bind the thread
 * to one CPU. Nothing here is ordered against other instructions but by
 * upmu_raw_isb(), which start, stop, enable and disable end with.
 *
 * The words: a mask has bit n for event counter n and UPMU_RAW_CYCLES_MASK for
 * the cycle counter. A counter counts while it is started and the PMU enabled.
 */
#ifndef UPMU_RAW_H
#define UPMU_RAW_H

#include <errno.h>
#include <stdint.h>

#ifdef __cplusplus /* what is inline here is C, too */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#include "regs/regs.h"

#if UPMU_REGS_MAX_COUNTERS == 0
#error "upmu/raw.h: no PMU registers are known for this architecture"
#else /* what follows would only add to that */

#define UPMU_RAW_CYCLES_MASK UPMU_MASK_CYCLES

#ifdef __cplusplus
extern "C" {
#endif

/**
 * upmu_raw_cycles - the cycle counter's low 32 bits, in one instruction
 *
 * Code compiled for ARMv6 in general (Raspberry Pi OS, 32 bits) runs on later
 * cores too, whose registers are others: it looks at a variable first, here and
 * below. -mcpu=arm1176jzf-s or -march=armv7-a makes it one instruction again.
 */
static inline uint32_t upmu_raw_cycles(void)
{
	return upmu_regs_cycles32();
}

/* One for the whole program, whichever of its files include this. */
__attribute__((weak)) __thread uint64_t upmu_raw_last_cycles;

/**
 * upmu_raw_cycles64 - the cycle counter in 64 bits
 *
 * One instruction where the code is compiled for ARMv8. Where the counter has
 * 32 bits (ARMv6, ARMv7) they are extended from this thread's last call: call
 * it at least once every 2^32 cycles (about 3 s), on one CPU.
 */
static inline uint64_t upmu_raw_cycles64(void)
{
	uint64_t last;

	if (upmu_regs_cycle_bits() == 64)
		return upmu_regs_cycles64();
	last = upmu_raw_last_cycles;
	last += (uint32_t)(upmu_regs_cycles32() - (uint32_t)last);
	upmu_raw_last_cycles = last;
	return last;
}

/** upmu_raw_isb - what was written before has taken effect after it */
static inline void upmu_raw_isb(void)
{
	upmu_regs_isb();
}

/**
 * upmu_raw_access - may this thread read the registers here and now?
 *
 * 1 yes, 0 no, -EOPNOTSUPP where user mode cannot ask (ARM1176). Takes no
 * permission. A permission to read only counts as yes.
 */
static inline int upmu_raw_access(void)
{
	if (!upmu_regs_user_readable())
		return -EOPNOTSUPP;
	return (upmu_regs_user_access() & (UPMU_USER_EN | UPMU_USER_CR)) != 0;
}

/** upmu_raw_counters - how many event counters there are, 0 to 31 */
static inline unsigned int upmu_raw_counters(void)
{
	return upmu_regs_counters();
}

/** upmu_raw_enable - the PMU as a whole (PMCR.E): started counters count */
static inline void upmu_raw_enable(void)
{
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	upmu_regs_isb();
}

/** upmu_raw_disable - all counters stand still */
static inline void upmu_raw_disable(void)
{
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	upmu_regs_isb();
}

/**
 * upmu_raw_start - let the counters of @mask count; 0
 *
 * ARM1176 has no switch for each: all three run while the PMU is enabled.
 */
static inline int upmu_raw_start(uint32_t mask)
{
	upmu_regs_enable(mask);
	upmu_regs_isb();
	return 0;
}

/**
 * upmu_raw_stop - hold the counters of @mask; 0
 *
 * -EOPNOTSUPP on ARM1176, where only upmu_raw_disable() holds them, together.
 */
static inline int upmu_raw_stop(uint32_t mask)
{
	if (!upmu_regs_has_enables())
		return -EOPNOTSUPP;
	upmu_regs_disable(mask);
	upmu_regs_isb();
	return 0;
}

/** upmu_raw_reset_cycles - the cycle counter := 0 */
static inline void upmu_raw_reset_cycles(void)
{
	upmu_regs_change_control(0, UPMU_CONTROL_C);
	upmu_regs_isb();
}

/** upmu_raw_reset_counters - every event counter := 0 */
static inline void upmu_raw_reset_counters(void)
{
	upmu_regs_change_control(0, UPMU_CONTROL_P);
	upmu_regs_isb();
}

/**
 * upmu_raw_divide_by_64 - count each 64th cycle (@on) or each (0)
 *
 * A counter of 64 bits (PMCR.LC), as 64-bit Linux sets it, is not divided.
 */
static inline void upmu_raw_divide_by_64(int on)
{
	upmu_regs_change_control(on ? 0 : UPMU_CONTROL_D,
				 on ? UPMU_CONTROL_D : 0);
	upmu_regs_isb();
}

/**
 * upmu_raw_select - choose counter @n for upmu_raw_selected()
 *
 * The functions below that name a counter do so themselves and need it not; on
 * ARMv7 they leave the selection on that counter.
 */
static inline void upmu_raw_select(unsigned int n)
{
	upmu_regs_select(n);
	upmu_regs_isb();
}

/** upmu_raw_selected - which one is chosen; 0 on ARM1176, which cannot */
static inline unsigned int upmu_raw_selected(void)
{
	return upmu_regs_selected();
}

/**
 * upmu_raw_set_event - counter @n counts event @code
 * @n: below upmu_raw_counters(); 31, where there are filters, the cycle counter
 * @code: the event's number and, from ARMv7's PMUv2 on, filter bits UPMU_TYPE_*
 */
static inline void upmu_raw_set_event(unsigned int n, uint32_t code)
{
	upmu_regs_set_type(n, code);
	upmu_regs_isb();
}

/** upmu_raw_event - what upmu_raw_set_event() wrote */
static inline uint32_t upmu_raw_event(unsigned int n)
{
	return upmu_regs_type(n);
}

/**
 * upmu_raw_counter - the count of event counter @n, below upmu_raw_counters()
 *
 * 32 bits, 64 on PMUv3p5. On ARMv7 right even where an interrupt selects
 * another counter meanwhile.
 */
static inline uint64_t upmu_raw_counter(unsigned int n)
{
	return upmu_regs_counter(n);
}

/** upmu_raw_set_counter - event counter @n := @value */
static inline void upmu_raw_set_counter(unsigned int n, uint64_t value)
{
	upmu_regs_set_counter(n, value);
	upmu_regs_isb();
}

/** upmu_raw_set_cycles - the cycle counter := @value */
static inline void upmu_raw_set_cycles(uint64_t value)
{
	upmu_regs_set_cycles(value);
	upmu_regs_isb();
}

/** upmu_raw_overflow - which counters have passed their greatest value */
static inline uint32_t upmu_raw_overflow(void)
{
	return upmu_regs_overflow();
}

/** upmu_raw_clear_overflow - forget it of the counters of @mask, no others */
static inline void upmu_raw_clear_overflow(uint32_t mask)
{
	upmu_regs_clear_overflow(mask);
	upmu_regs_isb();
}

#ifdef __cplusplus
}
#endif

#endif /* UPMU_REGS_MAX_COUNTERS */

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif
