/* SPDX-License-Identifier: MIT */
/*
 * wanted.h - the event list that a set was asked for, ready for perf
 */
#ifndef UPMU_LIB_WANTED_H
#define UPMU_LIB_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/perf/perf.h"
#include "lib/perf/pmus.h"

#define UPMU_EVENTS_MAX 32
#define UPMU_NAME_SIZE	128

struct upmu_wanted_event {
	char name[UPMU_NAME_SIZE];
	const char *unit;
	bool is_cycles;	  /* the cycle counter serves it */
	bool is_hardware; /* a CPU's PMU counts it, not the kernel */
	bool is_instructions;
	bool stays_0; /* on this emulated board */
	unsigned int n_pmus;
	/* One for each PMU: they differ between cores. */
	struct upmu_perf_event perf[UPMU_PMUS_MAX];
	uint64_t anywhere[UPMU_PMUS_MAX]; /* config on any counter */
	uint32_t code[UPMU_PMUS_MAX];	  /* the core's number for the event */
};

/**
 * struct upmu_wanted - parsed; large: on the heap
 * @size: events as written; @pmus: how many kinds of CPU are to count them, at
 *        least 1; @pmus_now: how many of these, the first, must;
 *        @is_emulated: this board's PMU is QEMU's
 */
struct upmu_wanted {
	size_t size;
	size_t pmus;
	size_t pmus_now;
	bool is_emulated;
	bool has_filters; /* each core here can tell the modes apart */
	struct upmu_wanted_event events[UPMU_EVENTS_MAX];
};

/**
 * Parse @list for this machine. Of several kinds of CPU those must count that
 * the counted thread may run on, or the one that has the counted CPU; the
 * others count too where they have all of the events, unless the thread is
 * bound. 0 or, explained, -EINVAL (empty, too long, malformed), -ENOENT (no
 * core here knows it), -EXDEV (not each of them does), -ENOSPC (more events
 * than the core has counters).
 */
int upmu_wanted_parse(struct upmu_wanted *wanted, const char *list,
		      const struct upmu_options *options);

/** 0 or, explained, -EOPNOTSUPP: the board's emulator leaves an event at 0. */
int upmu_wanted_check_emulated(const struct upmu_wanted *wanted);

/** Ask anew at the next parse (tests change the root). */
void upmu_wanted_forget_machine(void);

/** Free what is kept for the next parse (tests count what is left). */
void upmu_wanted_forget_list(void);

#endif
