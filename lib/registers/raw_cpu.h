/* SPDX-License-Identifier: MIT */
/*
 * raw_cpu.h - the counters of the CPU that this thread is bound to
 *
 * The one place where the library programs the registers: for the source raw,
 * and for lib/engine where perf has no PMU. The caller holds a RAW lease (or
 * open=all); without one each call that touches them ends in SIGILL. Counter
 * numbers are event counters from 0, or UPMU_RAW_CPU_CYCLES; masks have the
 * same bits.
 */
#ifndef UPMU_LIB_RAW_CPU_H
#define UPMU_LIB_RAW_CPU_H

#include <stdint.h>

#include "lib/perf/perf.h"

#define UPMU_RAW_CPU_CYCLES 31u

/** 0, or explained -EOPNOTSUPP: no ARM registers, or another kind of them. */
int upmu_raw_cpu_check(void);

/**
 * Can a counter be set to this event? @code: the core's; UINT32_MAX: none.
 * 0 or, explained, -EOPNOTSUPP (no code), -EINVAL (a mode filter, which the
 * core does not have).
 */
int upmu_raw_cpu_check_event(const struct upmu_perf_event *event, uint32_t code,
			     uint32_t pmu_version);

/** Set counter @n, which stands, to the event and to 0. */
void upmu_raw_cpu_set(unsigned int n, const struct upmu_perf_event *event,
		      uint32_t code, uint32_t pmu_version);

/** From the caller's next instruction on. */
void upmu_raw_cpu_start(uint32_t mask);
void upmu_raw_cpu_stop(uint32_t mask);

/** The low 32 bits: all that every core has. */
uint32_t upmu_raw_cpu_read(unsigned int n);

#endif
