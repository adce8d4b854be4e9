/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cp15.h - AArch32: how a PMU register is reached (coprocessor 15)
 *
 * The registers are written as their encodings: opc1, CRn, CRm, opc2.
 */
#ifndef UPMU_REGS_CP15_H
#define UPMU_REGS_CP15_H

#ifndef UPMU_REGS_MODEL

#if defined(__thumb__) && !defined(__thumb2__)
#error "upmu: Thumb-1 has no mrc instruction: compile this file with -marm"
#endif

/*
 * volatile and "memory": the compiler moves neither these nor the memory
 * accesses around them, so that what stands between two reads is measured.
 */
#define UPMU_MRC(value, opc1, crn, crm, opc2)                            \
	__asm__ __volatile__("mrc p15, " #opc1 ", %0, c" #crn ", c" #crm \
			     ", " #opc2                                  \
			     : "=r"(value)                               \
			     :                                           \
			     : "memory")
#define UPMU_MCR(value, opc1, crn, crm, opc2)                            \
	__asm__ __volatile__("mcr p15, " #opc1 ", %0, c" #crn ", c" #crm \
			     ", " #opc2                                  \
			     :                                           \
			     : "r"(value)                                \
			     : "memory")
#define UPMU_MRRC(value, opc1, crm)                                  \
	__asm__ __volatile__("mrrc p15, " #opc1 ", %Q0, %R0, c" #crm \
			     : "=r"(value)                           \
			     :                                       \
			     : "memory")
#define UPMU_MCRR(value, opc1, crm)                                  \
	__asm__ __volatile__("mcrr p15, " #opc1 ", %Q0, %R0, c" #crm \
			     :                                       \
			     : "r"(value)                            \
			     : "memory")

/*
 * ARMv6 has no isb instruction: flush the prefetch buffer (DDI 0301H 3.2.22).
 * User mode may. From ARMv8 on that is deprecated, and a 64-bit kernel emulates
 * it slowly or refuses it (abi.cp15_barrier): ARMv7's goes by its number, for
 * an assembler that is set to ARMv6.
 */
#if UPMU_REGS_ARCH == UPMU_REGS_V6
#define UPMU_ISB() UPMU_MCR(0, 0, 7, 5, 4)
#elif UPMU_REGS_ARCH == UPMU_REGS_ARM
#define UPMU_V6_ISB() UPMU_MCR(0, 0, 7, 5, 4)
#ifdef __thumb__
#define UPMU_V7_ISB() __asm__ __volatile__(".inst.w 0xf3bf8f6f" : : : "memory")
#else
#define UPMU_V7_ISB() __asm__ __volatile__(".inst 0xf57ff06f" : : : "memory")
#endif
#else
#define UPMU_ISB() __asm__ __volatile__("isb" : : : "memory")
#endif

#endif

/* One 32-bit register by its name: upmu_cp15_NAME(), upmu_cp15_set_NAME(). */
#define UPMU_CP15_READ(name, opc1, crn, crm, opc2)     \
	static inline uint32_t upmu_cp15_##name(void)  \
	{                                              \
		uint32_t value;                        \
                                                       \
		UPMU_MRC(value, opc1, crn, crm, opc2); \
		return value;                          \
	}
#define UPMU_CP15_WRITE(name, opc1, crn, crm, opc2)             \
	static inline void upmu_cp15_set_##name(uint32_t value) \
	{                                                       \
		UPMU_MCR(value, opc1, crn, crm, opc2);          \
	}
#define UPMU_CP15(name, opc1, crn, crm, opc2)      \
	UPMU_CP15_READ(name, opc1, crn, crm, opc2) \
	UPMU_CP15_WRITE(name, opc1, crn, crm, opc2)

#if UPMU_REGS_ARCH != UPMU_REGS_ARM
static inline void upmu_regs_isb(void)
{
	UPMU_ISB();
}
#endif

#if !defined(__KERNEL__) && !defined(UPMU_REGS_MODEL)
/* TPIDRURO from ARMv6K on; before, the C library's helper. */
static inline uintptr_t upmu_regs_thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}
#endif

#endif
