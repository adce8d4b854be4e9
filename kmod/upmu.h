/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * upmu.h - what the files of the module share
 *
 * device    /dev/upmu: the calls
 * lease     what an open descriptor holds: taken, ended
 * mode      what the first lease switches on, and the last one off
 * tell      what becomes of a lease is told
 * process   a process that leases cover; what each context switch asks
 * family    what a holder gives to the processes that it forks
 * table     covered processes, found by their ID and by their memory
 * fork      a covered process forks, executes a program, ends
 * written   processes that wrote registers, and whose leases that concerns
 * access    the permission register of each CPU follows the running process
 * guard     holders that may write are looked after
 * trap      a holder whose permission was taken away tries again
 * counters  each CPU's counters: perf's, or taken for user mode
 * registers the registers of one CPU, saved and put back
 * wrap      the PMU driver's functions, while there are leases
 * pinned    events of perf that a lease would end for good
 * publish   perf's PMUs; their mmap pages carry the counter's index
 * core      which PMU a CPU has
 * cpu       a CPU comes, goes, or loses its registers in idle
 * watch     the scheduler's tracepoints: switch, fork, exec, exit
 * open      a hold without a process: the parameter `open`
 * adopt     a perf PMU where the device tree has none
 * fold      counts beyond 32 bits on a PMU without interrupt
 * state     /proc/upmu
 *
 * Locks, outermost first:
 *   upmu_mutex         taking, ending and opening: who holds what
 *   cpus_read_lock()   perf's PMUs and whether they are wrapped
 *   upmu_lock          raw: covered processes, families, live holds (process.h,
 *                      family.h, lease.h)
 * What belongs to one CPU is changed on that CPU with interrupts off.
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

/* Modes count from 1. */
#define UPMU_MODES (UPMU_MODE_RAW + 1)

/* core.c */

/**
 * struct upmu_core - the PMU of one CPU
 * @midr: main ID register; 0: was never online
 * @version: 0 none, 1 PMUv1 or ARM1176, 2 PMUv2, 3 PMUv3
 * @counters: event counters as PMCR.N tells kernel mode
 *
 * Written on its CPU as that comes up; read by all.
 */
struct upmu_core {
	u32 midr;
	u32 version;
	u32 counters;
};

int upmu_core_init(void);
/*
 * This CPU comes up; interrupts off. Where perf cannot be kept off its PMU it
 * counts as none.
 */
void upmu_core_cpu_up(bool looked_after);
/* NULL: it has no PMU that can be known, or was never online. */
const struct upmu_core *upmu_core_of(int cpu);
/* Each CPU that ever was online has one. */
bool upmu_core_all_known(void);
/* One of them has a PMUv3. */
bool upmu_core_any_v3(void);
/* The register interface: 6, 7 or 8. */
unsigned int upmu_core_arch(void);

/* access.c */

/* What a mode permits: bits of the permission register. */
u32 upmu_access_bits(u32 mode);
/* The permission registers are steered, or not; upmu_mutex, cpus_read_lock() */
void upmu_access_steer_all(bool on);
/* Every CPU looks again at what it runs, before this returns. */
void upmu_access_refresh(void);
/* This CPU does; interrupts off. */
void upmu_access_refresh_here(void *unused);
/* The probe of sched_switch; interrupts off. */
upmu_switch_probe upmu_access_on_switch;
/* This CPU came online, or lost its registers in idle; interrupts off. */
void upmu_access_cpu_up(void *unused);
/*
 * KVM is about to keep this CPU's register for a vCPU, and has put it back;
 * interrupts off. Between the two nothing is written to it. The counter that a
 * holder of RAW selected is selected again afterwards.
 */
void upmu_access_lend(void);
void upmu_access_take_back(void);
/* perf's driver is about to write this CPU's register, and has. */
void upmu_access_yield(void);
void upmu_access_regain(void);
/* What runs here may write: what it wrote is put right. Interrupts off. */
void upmu_access_check(void);
/* The same of one event, in the midst of perf's work on it. */
void upmu_access_check_event(struct perf_event *event);
/* What the module last permitted there. */
u32 upmu_access_granted(int cpu);

/* watch.c */

int upmu_watch_init(void);
void upmu_watch_exit(void);
/* The probes are there from now on, and for a while after; upmu_mutex. */
int upmu_watch_begin(void);
void upmu_watch_end(void);

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
 * @add: the same
 * @driver: the driver's functions when this PMU was found
 * @wrapped: @ops are what perf called before
 * @ops: what the wrappers call
 *
 * @wrapped and @ops change with cpus_read_lock() and upmu_mutex held, and while
 * @wrapped @ops stay as they are for whoever is in a wrapper. The rest is set
 * before upmu_pmu_count shows the entry, and stays.
 */
struct upmu_pmu {
	struct arm_pmu *pmu;
	int cycles_idx;
	int (*event_idx)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	bool wrapped;
	struct upmu_pmu_ops {
		int (*get_event_idx)(struct pmu_hw_events *hw,
				     struct perf_event *event);
		void (*clear_event_idx)(struct pmu_hw_events *hw,
					struct perf_event *event);
		u64 (*read_counter)(struct perf_event *event);
		irqreturn_t (*handle_irq)(struct arm_pmu *pmu);
		void (*start)(struct arm_pmu *pmu);
		void (*stop)(struct arm_pmu *pmu);
	} ops, driver;
};

extern struct upmu_pmu upmu_pmus[UPMU_MAX_PMUS];
extern unsigned int upmu_pmu_count;
extern bool upmu_pmus_open; /* as these, which are all alike */

/* perf's drivers publish the index, and write the permission registers. */
static __always_inline bool upmu_publish_user_access(void)
{
	return READ_ONCE(upmu_pmus_open);
}

static inline struct upmu_pmu *upmu_pmus_end(void)
{
	/* One more may come meanwhile: who sees the count sees the entry. */
	return upmu_pmus + smp_load_acquire(&upmu_pmu_count);
}

#define upmu_for_each_pmu(upmu) \
	for ((upmu) = upmu_pmus; (upmu) < upmu_pmus_end(); (upmu)++)

/* Which PMU perf has for @cpu: an event that never counts, or ERR_PTR(). */
struct perf_event *upmu_perf_ask(u32 type, int cpu);
/* The answer: it has none, or @cpu is off. */
bool upmu_perf_has_none(const struct perf_event *event);
int upmu_publish_init(void);
void upmu_publish_exit(void);
/*
 * A CPU came online, or was when the module is loaded: its PMU may be one not
 * seen before. False: it cannot be looked after. Sleeps.
 */
bool upmu_publish_cpu(unsigned int cpu);
/* NULL: perf has none for this CPU. */
struct upmu_pmu *upmu_publish_of_cpu(unsigned int cpu);
/* The module fills the pages' index. */
bool upmu_publish_active(void);
/* NULL: not a CPU PMU. */
struct upmu_pmu *upmu_publish_find(const struct pmu *pmu);
/* hw_perf_event.idx as a mask: bit n event counter n, bit 31 cycles. */
u32 upmu_publish_mask(const struct upmu_pmu *upmu, int idx);

/* adopt.c */

/*
 * Lets the kernel's own driver bind to this machine's CPU PMU, if the parameter
 * `adopt` says so, before perf's PMUs are looked for. What that registers stays
 * until reboot. What was done, or why nothing was, is in the log. Sleeps.
 */
int upmu_adopt_init(void);
/* Is there an adopted PMU, by this load of the module or an earlier one? */
bool upmu_adopt_active(void);

/* fold.c */

int upmu_fold_init(void);
/* Returns when no timer runs any more and perf is as before. */
void upmu_fold_exit(void);
/* Keeps the counts of a new PMU right, if it has no interrupt. */
void upmu_fold_pmu(const struct upmu_pmu *upmu);
/* This CPU came online, or counts already as the module is loaded. */
void upmu_fold_cpu_online(void);
/* Is there a PMU that is folded? */
bool upmu_fold_active(void);

/* pinned.c */

/*
 * -EBUSY: a pinned event would not get its counter back if perf kept off the
 * counters in @mask. Its owner is in the log and in /proc/upmu. upmu_mutex,
 * cpus_read_lock().
 */
int upmu_pinned_admit(u32 mask);
/* Of the last refusal, if there was one. */
void upmu_pinned_show(struct seq_file *m);

/* trap.c */

int upmu_trap_init(void);
void upmu_trap_exit(void);
/* Leases hold here against all that takes the permission away. */
bool upmu_trap_works(void);

/* open.c */

u32 upmu_open_choice(void);
const char *upmu_open_name(void);
/* The log tells who wrote by it, under no lease; once for each opening. */
void upmu_open_tell(void);
int upmu_open_init(void);
void upmu_open_exit(void);

/* state.c */

/*
 * @comm in plain text of one line: a process names itself, and the log and INFO
 * are to have no line breaks and no escapes from it. The two may be the same.
 */
void upmu_state_name(char name[TASK_COMM_LEN], const char *comm);
int upmu_state_init(void);
void upmu_state_exit(void);

/* device.c */

int upmu_device_init(void);
void upmu_device_exit(void);
bool upmu_raw_group(void);
/* 0, or why @mode can be had by nobody here: -EOPNOTSUPP, -EPERM. */
int upmu_mode_possible(u32 mode);

#endif
