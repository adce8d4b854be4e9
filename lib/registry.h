/* SPDX-License-Identifier: MIT */
/*
 * registry.h - every open set of the process, for the sake of fork()
 *
 * perf's pages are not mapped in a child (VM_DONTCOPY) and the lease is the
 * parent's alone: in the child every counter is turned to its slow path.
 */
#ifndef UPMU_LIB_REGISTRY_H
#define UPMU_LIB_REGISTRY_H

#include "lib/set.h"

void upmu_registry_add(struct upmu *set);
void upmu_registry_remove(struct upmu *set);

/** Has the calling thread an open set that is_wide? */
bool upmu_registry_has_wide(void);

#endif
