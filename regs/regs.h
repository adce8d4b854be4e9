/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * regs.h - the PMU's registers under one set of names on every architecture
 *
 * Usable in the kernel and in user mode, C11 and C++. The header of one
 * architecture is chosen below by the compiler's macros; each defines the
 * names that follow, and a feature that its PMU lacks is a stub that says so.
 * Code that may meet several asks at run time (arm_any.h).
 *
 * A mask has bit n for event counter n and bit 31 for the cycle counter, on
 * every architecture (on ARM1176 the headers translate).
 *
 *   cycle counter  upmu_regs_cycles32() upmu_regs_cycles64()
 *                  upmu_regs_set_cycles(value) upmu_regs_cycle_bits()
 *   control        upmu_regs_control() upmu_regs_write_control(value)
 *                  upmu_regs_change_control(clear, set) upmu_regs_counters()
 *   selection      upmu_regs_selected() upmu_regs_select(n)
 *   counters       upmu_regs_counter(n) upmu_regs_set_counter(n, value)
 *                  upmu_regs_type(n) upmu_regs_set_type(n, type); type of 31:
 *                  the cycle counter's filter
 *   enables        upmu_regs_enabled() upmu_regs_enable(mask)
 *                  upmu_regs_disable(mask)
 *   interrupts     upmu_regs_interrupts() upmu_regs_enable_interrupts(mask)
 *                  upmu_regs_disable_interrupts(mask)          [privileged]
 *   overflow       upmu_regs_overflow() upmu_regs_clear_overflow(mask)
 *                  upmu_regs_set_overflow(mask)                [privileged]
 *   user access    upmu_regs_user_access() upmu_regs_set_user_access(bits)
 *   identity       upmu_regs_midr() upmu_regs_pmu_version()    [privileged]
 *                  upmu_regs_event_bits(word)
 *   other          upmu_regs_software_increment(mask) upmu_regs_isb()
 *   what is there  upmu_regs_has_selector() upmu_regs_has_enables()
 *                  upmu_regs_has_filter() upmu_regs_has_software_increment()
 *                  upmu_regs_has_overflow_set() upmu_regs_user_readable()
 *   thread         upmu_regs_thread_pointer()                  [user mode]
 *   perf page      upmu_regs_page_count(counter, &count),
 *                  upmu_regs_page_read(page, &lock, &count) where
 *                  UPMU_REGS_HAS_PAGE_COUNT is 1: see page_v7.h
 *
 * Each of the above is one register access (or the few that are named at its
 * definition) and neither waits nor takes a lock: a read-modify-write is safe
 * only where nothing else on this CPU writes the register meanwhile. In user
 * mode an access that is not permitted ends in SIGILL.
 *
 * None orders itself against other instructions: after writes that must have
 * taken effect before the next instruction, call upmu_regs_isb().
 *
 * Manuals: ARM1176JZF-S TRM, DDI 0301H; ARMv7-A/R ARM, DDI 0406C.d; ARMv8-A
 * ARM, DDI 0487.
 *
 * A test runs the same code against a software PMU: -DUPMU_REGS_ARCH names an
 * architecture below, and -DUPMU_REGS_MODEL a header that defines UPMU_MRC,
 * UPMU_MCR, UPMU_MRRC, UPMU_MCRR, UPMU_MRS, UPMU_MSR and UPMU_ISB (for any ARM
 * UPMU_V6_ISB and UPMU_V7_ISB).
 */
#ifndef UPMU_REGS_REGS_H
#define UPMU_REGS_REGS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define UPMU_REGS_NONE	0
#define UPMU_REGS_V6	6
#define UPMU_REGS_V7	7
#define UPMU_REGS_ARM	67 /* compiled for neither: asks at run time */
#define UPMU_REGS_V8_32 832
#define UPMU_REGS_V8_64 864

#ifndef UPMU_REGS_ARCH
#if defined(__aarch64__)
#define UPMU_REGS_ARCH UPMU_REGS_V8_64
#elif defined(__arm__) && __ARM_ARCH >= 8
#define UPMU_REGS_ARCH UPMU_REGS_V8_32
#elif defined(__arm__) && __ARM_ARCH == 7
#define UPMU_REGS_ARCH UPMU_REGS_V7
#elif defined(__arm__) && (defined(__KERNEL__) || defined(__ARM_ARCH_6KZ__) || \
			   defined(__ARM_ARCH_6ZK__))
#define UPMU_REGS_ARCH UPMU_REGS_V6
#elif defined(__arm__)
#define UPMU_REGS_ARCH UPMU_REGS_ARM
#else
#define UPMU_REGS_ARCH UPMU_REGS_NONE
#endif
#endif

/* The cycle counter's bit in every mask. */
#define UPMU_MASK_CYCLES (UINT32_C(1) << 31)

/*
 * PMCR bits at the same place on all of them (DDI 0301H 3.2.51, DDI 0406C
 * B4.1.117, DDI 0487 PMCR_EL0).
 */
#define UPMU_CONTROL_E 0x1u /* all counters on */
#define UPMU_CONTROL_P                                         \
	0x2u /* write 1: event counters := 0; never reads back \
	      */
#define UPMU_CONTROL_C                                                       \
	0x4u		    /* write 1: cycle counter := 0; never reads back \
			     */
#define UPMU_CONTROL_D 0x8u /* cycle counter counts each 64th cycle */

/*
 * User access bits. EN (v7, v8) and V (ARM1176) are bit 0 and include writing;
 * the others are PMUv3's (DDI 0487 PMUSERENR_EL0) and ignored before it.
 */
#define UPMU_USER_EN 0x1u /* everything but the interrupt enables */
#define UPMU_USER_SW 0x2u /* write PMSWINC */
#define UPMU_USER_CR 0x4u /* read the cycle counter */
#define UPMU_USER_ER 0x8u /* read event counters, read and write PMSELR */
#define UPMU_USER_ALL \
	(UPMU_USER_EN | UPMU_USER_SW | UPMU_USER_CR | UPMU_USER_ER)

#ifndef UINT32_C /* the kernel has no such macro */
#define UINT32_C(value) value##u
#endif

#ifdef UPMU_REGS_MODEL
#include UPMU_REGS_MODEL
#endif

#if UPMU_REGS_ARCH == UPMU_REGS_V8_64
#include "v8_64.h"
#elif UPMU_REGS_ARCH == UPMU_REGS_V8_32
#include "v8_32.h"
#elif UPMU_REGS_ARCH == UPMU_REGS_V7
#include "v7.h"
#elif UPMU_REGS_ARCH == UPMU_REGS_V6
#include "v6.h"
#elif UPMU_REGS_ARCH == UPMU_REGS_ARM
#include "arm_any.h"
#else
#include "none.h"
#endif

/*
 * asm goto with outputs: gcc 11, clang 11. Without, count.h does it in C, which
 * -DUPMU_REGS_NO_ASSEMBLY asks for.
 */
#if !defined(UPMU_REGS_MODEL) && !defined(UPMU_REGS_NO_ASSEMBLY) && \
	!defined(__KERNEL__) &&                                     \
	(defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 11)
#if UPMU_REGS_ARCH == UPMU_REGS_V8_64
#include "page_v8_64.h"
#elif UPMU_REGS_ARCH == UPMU_REGS_V7
#include "page_v7.h"
#endif
#endif
#ifndef UPMU_REGS_HAS_PAGE_COUNT
#define UPMU_REGS_HAS_PAGE_COUNT 0
#endif

#endif
