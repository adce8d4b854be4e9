/* SPDX-License-Identifier: MIT */
/*
 * registry.h - every open set of the process, for the sake of fork()
 *
 * perf's pages are not mapped in a child (VM_DONTCOPY) and the lease is the
 * parent's alone: in the child every counter is turned to its slow path.
 */
#ifndef UPMU_LIB_REGISTRY_H
#define UPMU_LIB_REGISTRY_H

#include "lib/set/set.h"

/**
 * Around all that opens or closes a set: no fork comes in the middle, and the
 * thread is not cancelled there. Not to be nested. The first returns what the
 * last takes. The second keeps all others out of the middle as well: of a CPU
 * and a thread that are opened at once neither would know of the other.
 */
int upmu_registry_hold_forks(void);
int upmu_registry_hold_all(void);
void upmu_registry_let_forks(int cancel_state);

void upmu_registry_add(struct upmu *set);
void upmu_registry_remove(struct upmu *set);

/**
 * struct upmu_fork_hooks - what else goes around a fork, outermost
 *
 * For one user, who opens and closes sets while it holds a lock of its own:
 * told before anything of the library runs, and never taken back.
 */
struct upmu_fork_hooks {
	void (*before)(void);
	void (*in_parent)(void);
	void (*in_child)(void);
};
void upmu_registry_hook_forks(const struct upmu_fork_hooks *hooks);

/**
 * Does an open set take the cycle counter from one of @who and @cpu (of struct
 * upmu)? Of the same thread or CPU, or of a thread and of a CPU.
 */
bool upmu_registry_takes_cycles(pid_t who, int cpu);

#endif
