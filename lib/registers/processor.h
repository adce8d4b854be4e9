/* SPDX-License-Identifier: MIT */
/*
 * processor.h - which PMU registers this machine has, asked at run time
 */
#ifndef UPMU_LIB_PROCESSOR_H
#define UPMU_LIB_PROCESSOR_H

/**
 * 6: ARM1176's c15. 7: CP15 c9, ARMv7 and later in 32-bit programs. 8: AArch64.
 * 0: no ARM processor, or an older one. What the processor is, not what the
 * library was compiled for.
 */
unsigned int upmu_processor_registers(void);

#endif
