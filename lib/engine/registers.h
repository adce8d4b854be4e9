/* SPDX-License-Identifier: MIT */
/*
 * registers.h - counting without perf, by the registers of each CPU
 */
#ifndef UPMU_ENGINE_REGISTERS_H
#define UPMU_ENGINE_REGISTERS_H

#include "lib/engine/plan.h"

/** Is there no perf PMU, or did UPMU_SOURCE=raw ask for the registers? */
bool engine_registers_wanted(const struct engine_events *events, bool *forced);
/** 0, or a negative errno that upmu_explain() explains. */
int engine_registers_open(struct engine_registers **out,
			  const struct engine_events *events,
			  const struct engine_targets *targets,
			  unsigned int *counters);
void engine_registers_close(struct engine_registers *raw);
int engine_registers_refuses(const struct engine_registers *raw,
			     const struct engine_event *event);
int engine_registers_assign(struct engine_registers *raw,
			    const struct engine_sets *sets);
void engine_registers_switch(const struct engine_sets *sets, int turn, bool on);
int engine_registers_read(const struct engine_sets *sets, size_t set,
			  struct engine_reading *reading);
/** To be called before a 32-bit counter goes round: else there is a gap. */
void engine_registers_fold(const struct engine_sets *sets);
/** Keep the program on the CPUs that are counted. */
void engine_registers_bind(const struct engine_registers *raw, pid_t pid);
size_t engine_registers_cpus(const struct engine_registers *raw);

#endif
