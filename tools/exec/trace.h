/* SPDX-License-Identifier: MIT */
/*
 * trace.h - where a program executed what it may not
 *
 * Once it is dead nobody knows. So the program is traced: each of its signals
 * stops it for a moment, a SIGILL is looked at, and all go on as they were.
 */
#ifndef UPMU_TOOLS_TRACE_H
#define UPMU_TOOLS_TRACE_H

#include "tools/child.h"
#include "undefined.h"

/**
 * The last SIGILL that was seen; @set: SET_UNKNOWN: none, or nothing read.
 * @look, unless it is NULL, is called at each and before a thread's end, while
 * the kernel still knows how the program's events are.
 */
struct trace {
	void (*look)(void *data);
	void *data;
	bool is_on, was_sent; /* no instruction: somebody sent the signal */
	unsigned long long address;
	enum instruction_set set;
	uint32_t code;
};

/**
 * Trace a child that waits for child_go(); @look and @data are set. Where it
 * cannot be had (a kernel without ptrace, a policy) the program runs untraced:
 * is_on tells.
 */
void trace_start(struct trace *trace, const struct child *child);

/** child_wait(), and note each SIGILL of the program's threads. */
void trace_wait(struct trace *trace, struct child *child);

#endif
