/* SPDX-License-Identifier: MIT */
/*
 * raw_cpu.h - the counters of the CPU that this thread is bound to
 *
 * For `upmu stat` where perf has no PMU: it moves from CPU to CPU. The caller
 * holds a RAW lease (or open=all); without one each call ends in SIGILL.
 * Counter numbers are event counters from 0, or UPMU_RAW_CPU_CYCLES.
 */
#ifndef UPMU_LIB_RAW_CPU_H
#define UPMU_LIB_RAW_CPU_H

#include <stdint.h>

#define UPMU_RAW_CPU_CYCLES 31u

/** 0, or explained -EOPNOTSUPP: no ARM registers, or another kind of them. */
int upmu_raw_cpu_check(void);

enum upmu_raw_cpu_filter {
	UPMU_RAW_CPU_FILTERS = 1 << 0, /* the core has filters (PMUv2 on) */
	UPMU_RAW_CPU_NO_USER = 1 << 1,
	UPMU_RAW_CPU_NO_KERNEL = 1 << 2,
};

/**
 * Set counter @n to 0, to the event @code, and let it run.
 * @filter: of enum upmu_raw_cpu_filter
 */
void upmu_raw_cpu_start(unsigned int n, uint32_t code, unsigned int filter);
void upmu_raw_cpu_stop(unsigned int n);

/** The low 32 bits: all that every core has. */
uint32_t upmu_raw_cpu_read(unsigned int n);

#endif
