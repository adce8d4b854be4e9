/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * upmu.h - what the files of the module share
 *
 * core     which PMU a CPU has
 * access   the permission register of each CPU follows the running process
 * lease    who is permitted, since when, until when
 * watch    the scheduler's tracepoints: switch, fork, exec, exit
 * publish  perf's mmap page carries the counter's index
 * adopt    a perf PMU where the device tree has none
 * fold     counts beyond 32 bits on a PMU without interrupt
 * take     the cycle counter, or all, taken from perf and put back (take.h)
 * open     the same as a lease, for every process
 * state    /proc/upmu
 *
 * Locks, outermost first: upmu_mutex (everything that sleeps: taking, ending,
 * opening), cpus_read_lock(), upmu_covers_lock (the set of covered processes).
 */
#ifndef UPMU_KMOD_H
#define UPMU_KMOD_H

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "regs/regs.h"
#include "upmu/uapi.h"
#include "compat.h"

struct arm_pmu;
struct perf_event;
struct pmu;
struct pmu_hw_events;
struct seq_file;

extern struct mutex upmu_mutex;

/* core.c */

/**
 * struct upmu_core - the PMU of one CPU
 * @midr: main ID register
 * @version: 0 none, 1 PMUv1 or ARM1176, 2 PMUv2, 3 PMUv3
 * @counters: event counters as PMCR.N tells kernel mode
 */
struct upmu_core {
	u32 midr;
	u32 version;
	u32 counters;
};

/* Of the CPU that runs this; -ENODEV where no PMU can be known to be there. */
int upmu_core_probe(struct upmu_core *core);
/* Of any online CPU. */
int upmu_core_probe_cpu(int cpu, struct upmu_core *core);
/* The register interface: 6, 7 or 8. */
unsigned int upmu_core_arch(void);

/* access.c */

/* What user mode is permitted: bits of the permission register. */
u32 upmu_access_bits(u32 mode);
/* What a process without a lease is permitted: 0, or what `open` says. */
void upmu_access_default(u32 bits);
/* Begin and end to steer the permission registers; sleep. */
int upmu_access_get(void);
void upmu_access_put(void);
/* Every CPU looks again at what it runs, before this returns. */
void upmu_access_refresh(void);
/* This CPU does; interrupts off. */
void upmu_access_refresh_local(void);
/* The probe of sched_switch; interrupts off. */
upmu_switch_probe upmu_access_on_switch;
/* This CPU came online, or lost its registers in idle; interrupts off. */
void upmu_access_cpu_up(void);
/* Somebody else may have written this CPU's register; interrupts off. */
void upmu_access_reassert(void);

/* lease.c */

int upmu_lease_init(void);
void upmu_lease_exit(void);
/* Fills what INFO tells of all leases. */
void upmu_lease_info(struct upmu_info *info);
/* Wait until all that leases which have ended changed has been put back. */
void upmu_lease_flush(void);
/* Leases of RAW alone, or of any mode. upmu_mutex. */
bool upmu_lease_any(bool raw_only);
/* What was taken from perf was taken back by somebody: tell the holders. */
void upmu_lease_check(void);
void upmu_lease_show(struct seq_file *m);
/* The scheduler's tracepoints tell; no sleep. */
void upmu_lease_forked(struct task_struct *parent, struct task_struct *child);
void upmu_lease_executed(struct task_struct *task, bool privileged);
void upmu_lease_exited(struct task_struct *task);

/* cover.c */

#define UPMU_COVER_BITS 6

/**
 * struct upmu_covers - what every context switch asks
 * @by_mm: the processes covered, by a hash of their memory
 * @otherwise: what a process that is not covered is permitted
 */
struct upmu_covers {
	struct hlist_head by_mm[1 << UPMU_COVER_BITS];
	u32 otherwise;
};

extern struct upmu_covers upmu_covers;

/* Cheap; mm_structs are at least 64 bytes apart. */
static __always_inline struct hlist_head *
upmu_cover_bucket(const struct mm_struct *mm)
{
	unsigned long value = (unsigned long)mm;

	value ^= value >> UPMU_COVER_BITS;
	value >>= 6;
	return &upmu_covers.by_mm[value & ((1 << UPMU_COVER_BITS) - 1)];
}

u32 upmu_cover_search(const struct mm_struct *mm);

/* What @mm's process is permitted. RCU or interrupts off. */
static __always_inline u32 upmu_cover_bits(const struct mm_struct *mm)
{
	if (READ_ONCE(upmu_cover_bucket(mm)->first))
		return upmu_cover_search(mm);
	return READ_ONCE(upmu_covers.otherwise);
}

/* watch.c */

int upmu_watch_init(void);
void upmu_watch_exit(void);
int upmu_watch_get(void);
void upmu_watch_put(void);

/* cpu.c */

int upmu_cpu_init(void);
void upmu_cpu_exit(void);

/* publish.c */

#define UPMU_MAX_PMUS 4

/**
 * struct upmu_pmu - a CPU PMU of perf
 * @pmu: perf's
 * @cycles_idx: number of the cycle counter in this kernel's hw_perf_event.idx
 * @event_idx: what perf called before
 * @wrapped: @ops are what perf called before
 * @ops: the driver's own functions, where they are wrapped
 */
struct upmu_pmu {
	struct arm_pmu *pmu;
	int cycles_idx;
	int (*event_idx)(struct perf_event *event);
	bool wrapped;
	struct upmu_pmu_ops {
		int (*get_event_idx)(struct pmu_hw_events *hw,
				     struct perf_event *event);
		void (*clear_event_idx)(struct pmu_hw_events *hw,
					struct perf_event *event);
		void (*start)(struct arm_pmu *pmu);
		void (*stop)(struct arm_pmu *pmu);
	} ops;
};

extern struct upmu_pmu upmu_pmus[UPMU_MAX_PMUS];
extern unsigned int upmu_pmu_count;

#define upmu_for_each_pmu(upmu) \
	for ((upmu) = upmu_pmus; (upmu) < upmu_pmus + upmu_pmu_count; (upmu)++)

int upmu_publish_init(void);
void upmu_publish_exit(void);
/* A CPU came online: its PMU may be one not seen before. Sleeps. */
void upmu_publish_cpu(unsigned int cpu);
/* NULL: perf has none for this CPU. */
struct upmu_pmu *upmu_publish_of_cpu(unsigned int cpu);
bool upmu_publish_active(void);
/* NULL: not a CPU PMU. */
struct upmu_pmu *upmu_publish_find(const struct pmu *pmu);
/* hw_perf_event.idx as a mask: bit n event counter n, bit 31 cycles. */
u32 upmu_publish_mask(const struct upmu_pmu *upmu, int idx);

/* take.c */

/* Begin and end to keep from perf what @mode needs; sleep. */
int upmu_take_get(u32 mode);
void upmu_take_put(u32 mode);
/* What is taken now: 0, the cycle counter's bit, or all. */
u32 upmu_take_taken(void);
/* Nothing has taken it back. */
bool upmu_take_intact(void);
/* No look at that is under way or to come. */
void upmu_take_exit(void);
/* This CPU goes, comes, or loses its registers in idle; interrupts off. */
void upmu_take_cpu_down(void);
void upmu_take_cpu_up(void);

/* open.c */

u32 upmu_open_mode(void);
const char *upmu_open_name(void);
/* A lease of @mode would be beside what is open to all: -EBUSY. */
int upmu_open_admit(u32 mode);
int upmu_open_init(void);
void upmu_open_exit(void);

/* state.c */

int upmu_state_init(void);
void upmu_state_exit(void);

/* main.c */

bool upmu_raw_group(void);
/* Modes that can be granted here at all, and why the lowest missing cannot. */
u32 upmu_modes(u32 *reason);
/* -EPERM where the kernel is locked down against @mode. */
int upmu_lockdown(u32 mode);

#endif
