/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR MIT) */
/**
 * uapi.h - what upmu.ko and its users agree on
 *
 * Two calls on /dev/upmu: INFO asks, LEASE takes. Both pass a structure whose
 * first word is its size as the caller was compiled; structures only grow at
 * their end. A bit that the module does not know is an error, never ignored.
 * The same structures serve 32-bit programs on a 64-bit kernel.
 *
 * A lease lets one process execute the PMU instructions of its core (a program
 * without one gets SIGILL). It belongs to the process (not to the thread, not
 * to the descriptor) that took it and ends with whichever comes first:
 *   - that process closes a descriptor of the open file it took it with,
 *   - that process ends, whatever ends it,
 *   - that process executes another program.
 * A descriptor that a child inherited, or that was passed to another process,
 * gives that process nothing and keeps nothing alive.
 *
 * Where permission is one bit (ARMv6, ARMv7), it includes writing: a holder can
 * stop, reset and reprogram the counters of its CPU while it runs there. On
 * PMUv3 a COUNT or CYCLES lease permits reading only. upmu(4) says what a
 * holder can do to others.
 *
 * Errors common to all calls:
 * - EFAULT: the structure cannot be read or written
 * - EINVAL: size below that of the first release; an unknown bit or mode; a
 *   reserved field that is not zero
 * - E2BIG: LEASE, a tail that this module does not know is not zero, or size is
 *   above a page's
 * - ENOTTY: an ioctl that this module does not know
 */
#ifndef UPMU_UAPI_H
#define UPMU_UAPI_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#else
#include <asm/types.h>
#include <sys/ioctl.h>
#endif

#define UPMU_DEVICE "/dev/upmu"

/* Text, readable by everybody: who holds what, what each CPU permits now. */
#define UPMU_STATE "/proc/upmu"

/* Grows when fields or bits are added; nothing is ever taken away. */
#define UPMU_ABI 1

/**
 * enum upmu_mode - what a lease is for
 * @UPMU_MODE_COUNT: read the counters that perf runs for this process, through
 *	the index in perf's mmap page (event opened with config1 bit 1 set, as
 *	for arm64's kernel.perf_user_access). perf keeps the PMU.
 * @UPMU_MODE_CYCLES: read PMCCNTR itself. It is taken from perf on every CPU,
 *	counts all privilege levels, runs freely and is never rewritten; perf's
 *	own `cycles` goes to an ordinary counter meanwhile.
 * @UPMU_MODE_RAW: program the whole PMU from user mode. Every counter is taken
 *	from perf on every CPU; the lease starts with the cycle counter running
 *	and all event counters zero. One holder, no other lease beside it; the
 *	registers are put back afterwards.
 */
enum upmu_mode {
	UPMU_MODE_COUNT = 1,
	UPMU_MODE_CYCLES = 2,
	UPMU_MODE_RAW = 3,
};

/**
 * enum upmu_lease_flags
 * @UPMU_LEASE_CHILDREN: processes that a covered process forks from now on are
 *	covered too, and theirs; each until it ends or executes a program. All
 *	of them lose it when the holder's lease ends.
 * @UPMU_LEASE_EXEC: with CHILDREN only. A child stays covered when it executes
 *	a program, unless that changes its privileges (set-user-ID,
 *	set-group-ID, file capabilities). This is how `upmu exec` opens the
 *	registers to an unmodified program: it takes the lease, forks, the
 *	child executes, and it stays as the holder until the child has ended.
 *	The holder's own exec always ends the lease.
 */
enum upmu_lease_flags {
	UPMU_LEASE_CHILDREN = 1 << 0,
	UPMU_LEASE_EXEC = 1 << 1,
};

/* Of one process at a time, those of its parents that cover it included. */
#define UPMU_LEASES_MAX 64

/* Of one user, who may have as many processes as RLIMIT_NPROC says. */
#define UPMU_LEASES_PER_USER 4096

/**
 * struct upmu_lease - argument of UPMU_IOC_LEASE
 * @size: sizeof(struct upmu_lease)
 * @mode: enum upmu_mode
 * @flags: enum upmu_lease_flags
 * @reserved: zero
 *
 * Returns 0, and from then on the calling process has the permission on
 * whatever CPU it runs. May sleep, and interrupts each CPU; so does its end.
 *
 * - EPERM: RAW without CAP_PERFMON while the module's parameter `raw` is
 *   `root`; or the kernel is locked down
 * - EBUSY: for RAW, somebody holds a lease, there is a pinned perf event (of a
 *   task that sleeps, too) or `open` is not `none`; for CYCLES, the pinned perf
 *   events may need the counter (perf would end them for good); for COUNT and
 *   CYCLES, RAW is held or `open` is `all`. INFO names the holder, /proc/upmu
 *   the owner of the pinned event
 * - EALREADY: this open file already carries a lease, live or ended; open the
 *   device again for another one
 * - EOPNOTSUPP: this kernel or core cannot grant that mode; INFO.reason says
 *   why
 * - EMFILE: UPMU_LEASES_MAX cover this process already, inherited ones
 *   included; or this user holds UPMU_LEASES_PER_USER and has not
 *   CAP_SYS_RESOURCE
 * - ENOMEM: no memory
 *
 * poll(2): POLLERR once the lease of this open file is broken (something took
 * the registers away: counts since then are not to be trusted; the module looks
 * each second), POLLHUP once it has ended, POLLPRI once a process that it
 * covers wrote registers (INFO.lease_written). It may be called before LEASE.
 */
struct upmu_lease {
	__u32 size;
	__u32 mode;
	__u32 flags;
	__u32 reserved;
};

/** enum upmu_lease_state - of a descriptor's own lease */
enum upmu_lease_state {
	UPMU_STATE_NONE = 0,   /* none was taken with this open file */
	UPMU_STATE_LIVE = 1,   /* in force */
	UPMU_STATE_BROKEN = 2, /* in force, but do not trust the counts */
	UPMU_STATE_ENDED = 3,  /* over */
};

/**
 * enum upmu_written - what the processes that a COUNT or CYCLES lease covers
 * wrote to, where permission includes writing (ARMv6, ARMv7)
 * @UPMU_WRITTEN_CONTROL: PMCR: counters stopped, divided, exported
 * @UPMU_WRITTEN_ENABLES: counters switched on or off
 * @UPMU_WRITTEN_TYPES: what a counter of perf's counts
 * @UPMU_WRITTEN_COUNTS: a counter set back, or further than any core counts
 *
 * Noticed at the latest when the process leaves its CPU, and put right: the
 * cycle counter runs, perf's counters count what they did. What they would have
 * counted since the process came to that CPU, or perf read them after that, is
 * lost to perf.
 */
enum upmu_written {
	UPMU_WRITTEN_CONTROL = 1 << 0,
	UPMU_WRITTEN_ENABLES = 1 << 1,
	UPMU_WRITTEN_TYPES = 1 << 2,
	UPMU_WRITTEN_COUNTS = 1 << 3,
};

/** enum upmu_info_flags */
enum upmu_info_flags {
	UPMU_INFO_PERF = 1 << 0,      /* perf has a PMU for these CPUs */
	UPMU_INFO_PUBLISHED = 1 << 1, /* this module fills the page index */
	UPMU_INFO_INTERRUPT = 1 << 2, /* the PMU has its interrupt */
	UPMU_INFO_SELECT = 1 << 3,    /* event counters go through PMSELR */
	UPMU_INFO_READ_ONLY = 1 << 4, /* COUNT and CYCLES cannot write */
	UPMU_INFO_RAW_GROUP = 1 << 5, /* raw=group */
	UPMU_INFO_ADOPTED = 1 << 6,   /* this module registered the PMU */
	UPMU_INFO_FOLDED = 1 << 7,    /* counters are folded by a timer */
};

/** enum upmu_reason - why INFO.modes lacks a mode */
enum upmu_reason {
	UPMU_REASON_NONE = 0,
	UPMU_REASON_NO_PMU = 1,	     /* no CPU PMU here, or none to be seen */
	UPMU_REASON_NO_PERF_PMU = 2, /* COUNT: perf has none; see adopt= */
	UPMU_REASON_USER_ACCESS = 3, /* COUNT: set kernel.perf_user_access=1 */
	UPMU_REASON_RAW_UNSAFE = 4,  /* perf or KVM revokes it here */
};

/** enum upmu_open - what every process may do, without a lease */
enum upmu_open_mode {
	UPMU_OPEN_NONE = 0,
	UPMU_OPEN_CYCLES = 1,
	UPMU_OPEN_ALL = 2,
};

/**
 * struct upmu_info - argument of UPMU_IOC_INFO
 * @size: in: bytes that the caller has room for; out: bytes that were filled
 * @abi: UPMU_ABI of the module
 * @arch: register interface: 6 (ARM1176), 7 (CP15 c9), 8 (AArch64)
 * @pmu_version: 1 PMUv1 or ARM1176, 2 PMUv2, 3 PMUv3; 0 unknown
 * @counters: event counters, the cycle counter not among them
 * @counter_bits: width of an event counter
 * @cycle_bits: width of the cycle counter as this kernel runs it
 * @flags: enum upmu_info_flags
 * @modes: bit (1 << mode) for each mode that can be granted here at all
 * @reason: enum upmu_reason for the lowest mode missing from @modes
 * @open: enum upmu_open_mode
 * @leases: live leases
 * @holder_pid: the oldest live lease's process, as the caller's pid namespace
 *	numbers it; 0: none, or not visible there
 * @holder_mode: that lease's mode, 0: none
 * @lease_mode: mode of the lease of this open file, 0: none
 * @lease_state: enum upmu_lease_state of it
 * @holder_comm: that process's name, ends with NUL
 * @pmu: perf's name of the PMU of the CPU that answered, empty: none
 * @lease_written: enum upmu_written, of the lease of this open file
 * @reserved: zero
 *
 * Returns 0. No side effect, no permission beyond the open descriptor. What
 * depends on the core is told of the CPU that answered.
 */
struct upmu_info {
	__u32 size;
	__u32 abi;
	__u32 arch;
	__u32 pmu_version;
	__u32 counters;
	__u32 counter_bits;
	__u32 cycle_bits;
	__u32 flags;
	__u32 modes;
	__u32 reason;
	__u32 open;
	__u32 leases;
	__s32 holder_pid;
	__u32 holder_mode;
	__u32 lease_mode;
	__u32 lease_state;
	char holder_comm[16];
	char pmu[32];
	__u32 lease_written;
	__u32 reserved;
};

/* Sizes of the first release: the least that the module takes. */
#define UPMU_LEASE_SIZE_1 16
#define UPMU_INFO_SIZE_1  112

/* The number carries no size: the structures carry their own. */
#define UPMU_IOC_INFO  _IO(0xE7, 0x01)
#define UPMU_IOC_LEASE _IO(0xE7, 0x02)

#endif
