/* SPDX-License-Identifier: MIT */
/**
 * upmu.h - read the processor's performance counters from user mode
 *
 * Words. An event is what is counted, a counter is a register counting one
 * event, a set is a list of events counted at the same time, a source is a
 * way of reading.
 *
 * Errors. A call that can fail returns 0 or a negative errno and leaves its
 * out-parameters as they were; upmu_explain() then tells the calling thread
 * the reason in words. A handle of NULL is a caller's bug (an assertion
 * fails; upmu_region_begin() and _end() have no time for one), except for
 * upmu_close(NULL), which does nothing. A count is never 0
 * for "could not read": it is UPMU_NO_COUNT, also while the set was wanted but
 * had no counter yet, as beside another's RAW lease. Where others take the
 * counters later, counts stand still and only running_ns tells.
 *
 * Threads. A set counts the thread that opened it (but for struct upmu_options,
 * @pid and UPMU_OPEN_CPU), whoever reads it; by the source raw all that runs on
 * that thread's CPU, also while the thread waits or is elsewhere; timer and
 * clock tell the time. Any thread may read any set and gets the opener's
 * counts, the opener itself without a system call where the source is `page`.
 * Different sets may be used by different threads at the same time. One set:
 * upmu_read(), upmu_count_all(), upmu_count() and the questions about it may
 * run in several threads at once; upmu_start(), upmu_stop() and upmu_close()
 * need the caller to keep the others away. When the opener ends, its last
 * counts stay readable until upmu_close(). A thread that is cancelled in
 * upmu_open(), upmu_close() or upmu_probe() ends that call first.
 *
 * Processes. After fork() the child may read and must close its copy of a set
 * like any other; it reads the parent's thread by system calls. What the child
 * itself does is not counted: it opens a set of its own. exec() closes all. A
 * fork waits for other threads to come out of upmu_open() and upmu_close(); in
 * a signal's handler that came upon its own thread there it may wait for ever
 * (POSIX.1-2024 counts _Fork() alone among what a handler may call). Where the
 * library is loaded by dlopen(3), it waits before handlers of pthread_atfork(3)
 * that were set earlier: under a lock that these take no set is to be opened or
 * closed, nor a thread's first region begun.
 * A child made by a bare clone() that copies memory must not touch a set.
 *
 * Descriptors. A set is open descriptors. A program must not close those that
 * it did not open (closefrom(3), close_range(2), as daemons do) while it has a
 * set: open sets afterwards. Closing them takes the lease, and with it the
 * permission to read registers, while perf's pages go on naming a register: on
 * 32-bit kernels, and on arm64 before 5.17, the next upmu_count() or
 * upmu_count_all() ends the program by SIGILL. The source read gives
 * UPMU_NO_COUNT and -EBADF then.
 *
 * Permission. Where kernel.perf_user_access permits the source page (64-bit
 * kernels), setting it to 0 while a set is open does the same: SIGILL.
 *
 * Signals. upmu_count(), upmu_count_all() and upmu_read() may be called from a
 * signal handler; nothing else here may.
 */
#ifndef UPMU_H
#define UPMU_H

#include <stddef.h>
#include <stdint.h>

#include <upmu/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; upmu_version() is the library's. */
#define UPMU_VERSION_MAJOR 0
#define UPMU_VERSION_MINOR 1
#define UPMU_VERSION_PATCH 0

#define UPMU_API __attribute__((visibility("default")))

/** What upmu_count() returns where nothing can be read; upmu_explain(): why. */
#define UPMU_NO_COUNT UINT64_MAX

/* ---- sets ------------------------------------------------------------ */

/** A set: events counted at the same time on the thread that opened it. */
struct upmu;

/**
 * struct upmu_counter - what the inline read needs; its layout is ABI
 * @page: the perf mmap page of the event, or a constant page whose index is 0
 *        where this event cannot be read without the library; never NULL
 * @thread: upmu_thread_key() of the opener: the register of another thread's
 *        CPU is never read
 * @position: of the event in its set
 */
struct upmu_counter {
	const void *page;
	const void *thread;
	size_t position;
};

/**
 * struct upmu_value - a count never travels without the times it was counted in
 * @count: events, raw: not scaled
 * @enabled_ns: how long the set was wanted since it was opened: was started,
 *              and the thread that it counts ran on a CPU; with
 *              UPMU_OPEN_INHERIT that of all threads added up. By raw, timer
 *              and clock, and of a CPU, while the thread waits, too
 * @running_ns: of that, the time on the hardware
 */
struct upmu_value {
	uint64_t count;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

enum upmu_open_flags {
	UPMU_OPEN_USER_ONLY = 1 << 0, /* as if each event had :u; none has :k */
	UPMU_OPEN_STOPPED = 1 << 1,   /* upmu_start() starts it */
	UPMU_OPEN_ANY_CLOCK = 1 << 2, /* timer or clock rather than an error;
					 these cannot be STOPPED */
	UPMU_OPEN_BOUND = 1 << 3,     /* see upmu_open() */
	UPMU_OPEN_INHERIT = 1 << 4,   /* what it starts from now on too */
	UPMU_OPEN_ON_EXEC = 1 << 5,   /* its next exec starts it */
	UPMU_OPEN_CPU = 1 << 6,	      /* all that runs on @cpu */
};

/**
 * struct upmu_options - zero and set what differs
 * @size: sizeof(struct upmu_options); a tail unknown to the library must be 0
 * @flags: enum upmu_open_flags
 * @pid: the thread to count, by its number (a process's is that of its first
 *       thread); 0: the caller
 * @source: a source's name, or NULL for the first that serves the events
 *          (the environment's UPMU_SOURCE= is used where this is NULL)
 * @cpu: of UPMU_OPEN_CPU; else zero
 * @reserved: zero
 */
struct upmu_options {
	size_t size;
	uint32_t flags;
	int32_t pid;
	const char *source;
	uint32_t cpu;
	uint32_t reserved;
};

#define UPMU_OPTIONS_SIZE_1 offsetof(struct upmu_options, cpu)

/**
 * upmu_open - count events on the calling thread, from now on
 * @out: receives the set; upmu_close() frees it
 * @events: "name,name,...": generic names, the core's own, rNN, with :u or :k;
 *          1 to 32 of them, all counted at the same time
 * @options: NULL for all defaults
 *
 * The sources are asked in the order page, read, raw (and timer, clock with
 * UPMU_OPEN_ANY_CLOCK); the first that serves all events is taken. Where
 * perf_event_paranoid permits user mode only, the set counts that, and
 * upmu_event_name() shows ":u".
 *
 * On unlike cores (big.LITTLE) the set counts on each kind of core that has all
 * of its events, also where the thread may not run now: its affinity may be
 * changed later. Then upmu_count() is no longer inline, though without a system
 * call. UPMU_OPEN_BOUND promises that the thread stays on the kinds of core
 * that it may run on now: where that is one kind, upmu_count() stays inline. On
 * a kind of core that is not counted, counts stand still and only running_ns
 * tells.
 *
 * Others than the caller (@pid, UPMU_OPEN_INHERIT, UPMU_OPEN_CPU) are counted
 * by the source read alone. On 64-bit kernels cycles of a CPU take the cycle
 * counter from those of a thread's set that is read by page: open the CPUs'
 * sets first. Of a CPU that goes off counts and times stand from then on, also
 * when it is back. To count a program from its first instruction on, fork, let
 * the child wait, open with INHERIT and ON_EXEC, let it execute; to count a
 * running process, open a set for each folder of /proc/PID/task.
 *
 * Returns 0 or
 *   -EINVAL     the list is empty, malformed or too long; an unknown source,
 *               flag or option; a mode filter that this core does not have; a
 *               @pid together with UPMU_OPEN_CPU; a @cpu that is not there
 *   -ESRCH      no thread with this @pid
 *   -ENOENT     an event that this core does not know
 *   -EXDEV      an event that some CPUs of this machine know and others lack;
 *               raw: the thread may run on more than one CPU
 *   -ENOSPC     the events need more counters than there are
 *   -EACCES     perf_event_paranoid (or a security policy) forbids it
 *   -ENODEV     no PMU: none is registered with perf, or it does not count; a
 *               @cpu that is not online
 *   -ENXIO      source wanted by name: the module upmu is not loaded
 *   -EPERM      source wanted by name: no permission on /dev/upmu or for the
 *               mode that the source needs; page: kernel.perf_event_mlock_kb is
 *               used up
 *   -EPROTO     source wanted by name: the module speaks another ABI
 *   -EBUSY      somebody else holds the counters; raw: another set counts by
 *               the registers of this CPU. By the source read a set is opened
 *               all the same, and counts when they are free
 *   -EMFILE, -ENFILE  out of file descriptors
 *   -ENOMEM     out of memory
 *   -E2BIG, -EFBIG  this machine has more kinds of core, or names of CPUs, than
 *               there is room for
 *   -ENOSYS     the kernel has no perf
 *   -EOPNOTSUPP source wanted by name: not on this machine, or not for these
 *               events; an event that the emulator of this board leaves at 0
 *
 * Cost: some dozens of system calls the first time, then some three for each
 * event. Any thread. Needs one file descriptor for each event, on unlike cores
 * for each on each kind, and one more in the process for the lease; they must
 * stay open: see Descriptors, above.
 */
UPMU_API int upmu_open(struct upmu **out, const char *events,
		       const struct upmu_options *options);

/**
 * upmu_close - stop counting and free the set
 * @set: NULL is a no-op; closing a set twice is as wrong as free() twice
 *
 * Pointers from upmu_counter_at() and upmu_event_name() are dead afterwards.
 * Any thread, also after the opener ended.
 */
UPMU_API void upmu_close(struct upmu *set);

/**
 * upmu_start - (re)start all events of the set at the same time
 * @set: from upmu_open()
 *
 * Counts go on from where they stood; they are never set back to 0: take a
 * difference. A set that runs stays running. One system call for each PMU.
 *
 * Returns 0 or
 *   -EOPNOTSUPP the source cannot be stopped and started (timer, clock)
 *   -EBADF      the program closed the descriptors of the set
 *   -ESTALE     raw: the lease of the set was broken or has ended
 *   -EXDEV      raw: the thread does not run on the CPU of the set
 */
UPMU_API int upmu_start(struct upmu *set);

/**
 * upmu_stop - hold all events of the set
 * @set: from upmu_open()
 *
 * The counts stay readable. Returns 0 or
 *   -EOPNOTSUPP the source cannot be stopped and started (timer, clock)
 *   -EBADF      the program closed the descriptors of the set
 *   -ESTALE     raw: the lease of the set was broken or has ended
 *   -EXDEV      raw: the thread does not run on the CPU of the set
 *   -EOVERFLOW  raw: so long since the last reading that a 32-bit counter may
 *               have gone round unseen; it is stopped all the same, and says
 *               so again until it is started
 */
UPMU_API int upmu_stop(struct upmu *set);

/**
 * upmu_size - how many events the set has
 * @set: from upmu_open()
 *
 * Returns 1 to 32.
 */
UPMU_API size_t upmu_size(const struct upmu *set);

/**
 * upmu_counter_at - what upmu_count() reads
 * @set: from upmu_open()
 * @position: of the event in the list, from 0; beyond it is a caller's bug
 *
 * Returns a pointer that is good until upmu_close(); the set owns it.
 */
UPMU_API const struct upmu_counter *upmu_counter_at(const struct upmu *set,
						    size_t position);

/**
 * upmu_event_name - the name of one event of the set
 * @set: from upmu_open()
 * @position: of the event in the list, from 0; beyond it is a caller's bug
 *
 * Canonical, with ":u" where only user mode is counted for want of permission.
 * Returns a string that is good until upmu_close(); the set owns it.
 */
UPMU_API const char *upmu_event_name(const struct upmu *set, size_t position);

/**
 * upmu_unit - what one count of an event is
 * @set: from upmu_open()
 * @position: of the event in the list, from 0; beyond it is a caller's bug
 *
 * Returns "cycles", "events", "ticks" (source timer) or "ns" (source clock,
 * task-clock), a constant string. A program that opens sets with
 * UPMU_OPEN_ANY_CLOCK must ask: a tick is not a cycle.
 */
UPMU_API const char *upmu_unit(const struct upmu *set, size_t position);

/**
 * upmu_source - which way of reading serves the set
 * @set: from upmu_open()
 *
 * Returns "page", "read", "raw", "timer" or "clock"; constant.
 */
UPMU_API const char *upmu_source(const struct upmu *set);

/* ---- reading --------------------------------------------------------- */

/**
 * upmu_read - counts and times of all events of the set
 * @set: from upmu_open()
 * @values: one for each event, in the order of the list
 * @n: room in @values; upmu_size(set) exactly
 *
 * All values are of one instant. Returns 0 or
 *   -EINVAL    @n is not upmu_size()
 *   -ESTALE    raw: the lease was broken (something took the registers away)
 *              or has ended; the counts since then are not to be trusted
 *   -EXDEV     raw: the thread does not run on the CPU of the set
 *   -EOVERFLOW raw: so long since the last reading that a 32-bit counter may
 *              have gone round unseen
 *   -EIO       perf refuses the numbers; of UPMU_OPEN_INHERIT while something
 *              is being forked, for the end of which up to a second is waited
 *   -EBADF     the program closed the descriptors of the set
 *
 * Cost: a system call for each PMU (source page and read).
 */
UPMU_API int upmu_read(struct upmu *set, struct upmu_value *values, size_t n);

/**
 * upmu_count_all - counts of all events of the set, of one instant
 * @set: from upmu_open()
 * @counts: one for each event, in the order of the list
 * @n: room in @counts; upmu_size(set) exactly
 *
 * Without a system call where the source is `page`, the caller is the opener
 * and the set is on the hardware, on unlike cores too; else as upmu_read().
 *
 * Returns 0 or
 *   -EINVAL    @n is not upmu_size()
 *   -EBUSY     the events had no counter since the set was started: others
 *              count (upmu_explain() names the holder of a RAW lease), or the
 *              thread ran on no kind of core that has them. upmu_read() gives
 *              a running_ns of 0 then
 *   -ESTALE, -EXDEV, -EOVERFLOW, -EIO, -EBADF
 *              as for upmu_read()
 */
UPMU_API int upmu_count_all(const struct upmu *set, uint64_t *counts, size_t n);

/**
 * upmu_count_by_call - upmu_count() for callers without inline functions
 * @counter: from upmu_counter_at()
 *
 * No system call where upmu_count() makes none; at most 30 instructions.
 * Returns the count or UPMU_NO_COUNT.
 */
UPMU_API uint64_t upmu_count_by_call(const struct upmu_counter *counter);

/**
 * upmu_inline_fallback - what upmu_count() calls when the register will not do
 * @counter: from upmu_counter_at()
 *
 * Not for programs: it asks the kernel. With the source raw, whether the lease
 * still holds is asked once a millisecond; upmu_read() asks each time.
 * Returns the count or UPMU_NO_COUNT. Any thread, any time until upmu_close().
 */
UPMU_API uint64_t upmu_inline_fallback(const struct upmu_counter *counter);

/**
 * upmu_scale - extend a count to the whole time that the set was wanted
 * @value: as upmu_read() gave it
 * @estimate: receives count * enabled_ns / running_ns, rounded
 *
 * A separate step because it is a guess: it supposes that the event came as
 * often while the set was off the hardware as while it was on it. No system
 * call.
 *
 * Returns 0 or
 *   -ENODATA   the set was never on the hardware
 *   -EINVAL    running_ns is more than enabled_ns
 *   -EOVERFLOW the estimate has more than 64 bits
 */
UPMU_API int upmu_scale(const struct upmu_value *value, uint64_t *estimate);

/* ---- sources --------------------------------------------------------- */

/**
 * struct upmu_verdict - what became of asking one source
 * @size: set by the caller to sizeof(struct upmu_verdict); no more is filled
 * @source: its name; @unit: "events", or of all that it counts; constant
 * @error: 0 where this source serves this user on this machine now
 * @reason: as upmu_explain() would tell it (also for 0), with hint lines
 */
struct upmu_verdict {
	size_t size;
	const char *source;
	const char *unit;
	int error;
	char reason[1024];
};

#define UPMU_VERDICT_SIZE_1 (offsetof(struct upmu_verdict, reason) + 1024)

/**
 * upmu_probe - ask one source whether it would serve cycles, and why not
 * @position: in the order in which upmu_open() asks, from 0
 * @verdict: filled; a verdict that is an error is no error of this call
 *
 * Asks anew each time; executes no instruction that the kernel has not
 * permitted; leaves nothing open. Any thread.
 *
 * Returns 0 or
 *   -ENOENT there are no more sources
 *   -EINVAL @verdict->size is less than UPMU_VERDICT_SIZE_1
 */
UPMU_API int upmu_probe(size_t position, struct upmu_verdict *verdict);

/* ---- leases ---------------------------------------------------------- */

/**
 * upmu_lease_take - let this process execute the PMU instructions itself
 * @lease: receives a descriptor: poll(2) tells the end of the lease (see
 *         upmu/uapi.h), upmu_lease_release() or the end of the process gives
 *         it back
 * @mode: enum upmu_mode: UPMU_MODE_COUNT, _CYCLES or _RAW
 * @flags: UPMU_LEASE_CHILDREN, UPMU_LEASE_EXEC, or 0
 *
 * For programs that use upmu/raw.h; sets take what they need by themselves.
 * Any thread; the lease is the whole process's.
 *
 * Returns 0 or
 *   -EINVAL     unknown mode or flag; UPMU_LEASE_EXEC without _CHILDREN
 *   -ENXIO      no /dev/upmu: the module upmu is not loaded
 *   -EPERM      no permission on /dev/upmu, or for this mode
 *   -EPROTO     the module speaks another ABI than this library
 *   -EBUSY      another lease or a perf event is in the way; upmu_explain()
 *               names the holder
 *   -EOPNOTSUPP this kernel or core cannot grant the mode
 *   -EMFILE, -ENFILE  out of file descriptors
 *   -EMFILE     64 leases cover this process, or its user has 4,096
 *   -ENOMEM     out of memory
 */
UPMU_API int upmu_lease_take(int *lease, uint32_t mode, uint32_t flags);

/**
 * upmu_lease_check - is the lease still good?
 * @lease: from upmu_lease_take()
 *
 * One system call. Returns 0 or
 *   -ESTALE it was broken (what was counted since is wrong) or has ended
 *   -EBADF  @lease is no lease
 */
UPMU_API int upmu_lease_check(int lease);

/**
 * upmu_lease_release - give the lease back
 * @lease: from upmu_lease_take(); below 0 is a no-op
 *
 * From then on the PMU's instructions are undefined again in this process.
 */
UPMU_API void upmu_lease_release(int lease);

/* ---- words ----------------------------------------------------------- */

/**
 * upmu_explain - why the last failed call of this thread failed
 *
 * One sentence with the present value of the setting that refused, and lines
 * "hint: ..." with the exact command that changes it. Returns a string that is
 * good until this thread's next call; never NULL; "" where nothing failed yet.
 */
UPMU_API const char *upmu_explain(void);

/**
 * upmu_version - the release of the library that runs
 *
 * Returns "0.1.0" or later, a constant string.
 */
UPMU_API const char *upmu_version(void);

#ifdef __cplusplus
}
#endif

/* regions of a program, and measuring a function */
#include <upmu/regions.h>
/* each N events a sample */
#include <upmu/watch.h>
/* upmu_count(), inline */
#include <upmu/count.h>

#endif
