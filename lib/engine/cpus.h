/* SPDX-License-Identifier: MIT */
/*
 * cpus.h - targets that are CPUs, and may go off
 *
 * perf takes its events off a CPU that goes off, and takes their groups apart;
 * they keep what they counted, and count no more when the CPU is back.
 */
#ifndef UPMU_ENGINE_CPUS_H
#define UPMU_ENGINE_CPUS_H

#include "lib/engine/plan.h"

/** Nothing where the targets are tasks. 0 or -ENOMEM. */
int engine_cpus_init(struct engine_sets *sets,
		     const struct engine_targets *targets);
/** Did it go off, as far as that was seen? */
bool engine_cpu_is_lost(const struct engine_sets *sets, size_t target);
/** Read a set's group on one target, wherever that is. 0 or -errno. */
int engine_cpu_read(const struct engine_sets *sets, size_t set, size_t target,
		    struct upmu_value *value);
/**
 * A single event has no group to come apart: see by its clock, as it was read
 * last. @elapsed_ns: how long events were on, at least, between that and the
 * last look.
 */
void engine_cpus_look(const struct engine_sets *sets, double elapsed_ns);

#endif
