/* SPDX-License-Identifier: MIT */
/*
 * fake_kernel.h - a kernel that does what a test wants
 *
 * Stands in for lib/sys.h's calls (ld --wrap): perf events that count a known
 * amount between two readings, /dev/upmu, and files below a root made of one
 * of tests/fixtures. Descriptors are numbers from FAKE_FD on.
 */
#ifndef UPMU_TESTS_FAKE_KERNEL_H
#define UPMU_TESTS_FAKE_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu.h"

#define FAKE_FD	     5000
#define FAKE_FDS     256
#define FAKE_END     1
#define FAKE_NOWHERE UINT32_MAX
#define FAKE_RING    (8 * 4096)
#define FAKE_STEP    500u /* counts, and ns, from one read(2) to the next */

struct fake_event {
	bool is_open;
	bool is_device;
	bool is_leased;
	int locked; /* byte + 1; 0: none */
	struct perf_event_attr attr;
	int group_fd;
	pid_t pid;
	int cpu;
	uint64_t count;
	uint64_t ns;
	uint64_t running_ns; /* where fake.on_type */
	struct perf_event_mmap_page *page;
};

/* What can be made to fail. */
enum fake_call {
	FAKE_NONE,
	FAKE_MEMORY, /* in tests that wrap malloc() */
	FAKE_PERF_OPEN,
	FAKE_OPEN,
	FAKE_READ,
	FAKE_IOCTL,
	FAKE_MAP,
	FAKE_LOCK,
	FAKE_AFFINITY,
	FAKE_FILE, /* reading a file or opening a folder of /proc and /sys */
	FAKE_CALLS
};

/**
 * struct fake_failure - one call that fails
 * @call: which kind
 * @at: the first one, from 1 on
 * @goes_on: each later one too
 * @error: with which -errno
 * @seen: calls of this kind
 */
struct fake_failure {
	enum fake_call call;
	size_t at;
	bool goes_on;
	int error;
	size_t seen;
};

/**
 * struct fake_kernel - what it does; all zero is a machine where all works
 * @perf_error: of each perf_event_open(), @perf_error_from: from this one on
 * @counters: hardware events in a group beyond which it is -EINVAL; 0: any
 * @ordinary: the same, of those that need an ordinary counter; 0: any
 * @has_no_filter: exclude_* is -EINVAL
 * @only_user: without exclude_kernel it is -EACCES
 * @stands_still: cycles never move
 * @by_code: an event counts its config more from one reading to the next
 * @by_time: all events count ns of the real clock
 * @still_config: only this event never moves
 * @never_runs: running stays 0
 * @takes_turns: running is half of enabled
 * @tick_ns: times are told in so many ns each; 0: in one
 * @index: what perf's pages carry
 * @device_error: of opening /dev/upmu; @info_error, @lease_error: of its ioctls
 * @map_error: of mapping a page
 * @read_error: of reading an event; FAKE_END: the end of file, as of a pinned
 *	event that has lost its counter
 * @registers: upmu_processor_registers()
 * @cpus: the thread's affinity; 0: CPU 0 to 7
 * @on_type: the thread runs on CPUs of this PMU, whose events alone count, one
 *	a ns; FAKE_NOWHERE: others have the counters. Each call takes FAKE_STEP
 *	of its time
 * @clock_ns: upmu_sys_clock_ns(), which goes on with that; NULL: the real one
 * @unlocks: calls of upmu_sys_unlock()
 * @in_perf_open: called in the middle of each perf_event_open()
 * @failure: a call that fails once, or from then on
 */
struct fake_kernel {
	int perf_error, perf_error_from;
	size_t counters, ordinary;
	bool has_no_filter, only_user, stands_still, never_runs;
	bool takes_turns, by_code, by_time;
	uint32_t index;
	uint64_t still_config, tick_ns;
	int read_error, device_error, info_error, lease_error, map_error;
	struct upmu_info info;
	size_t page_size;
	unsigned int registers;
	uint64_t cpus;
	uint32_t on_type;
	uint64_t *clock_ns;
	unsigned int unlocks;
	void (*in_perf_open)(void);
	struct fake_failure failure;
	/* What it saw. */
	struct fake_event events[FAKE_FDS];
	size_t perf_opens, reads, leases, live_leases;
	size_t maps, unmaps, mapped_size;
	struct upmu_lease last_lease;
};

extern struct fake_kernel fake;

/** Everything works, on the fixture @board with perf_event_paranoid 0. */
void fake_boot(const char *board);
/** A file below the root: fake_write("/proc/sys/kernel/x", "1\n"). */
void fake_write(const char *path, const char *text);
void fake_remove(const char *path);
/** Where fake.on_type: the thread works for so long. */
void fake_work(uint64_t ns);
/** 0, or what a call of this kind fails with now. */
int fake_fails(enum fake_call call);
/** What upmu_sys_map_writable() gives: a page and a ring of FAKE_RING bytes. */
void *fake_ring(void);
/** Descriptors that are open now, /dev/upmu's too. */
size_t fake_open_fds(void);
size_t fake_open_pages(void);
/** No descriptor, no page and no lease is left; fails the test else. */
void fake_assert_closed(void);
/** All events leave the hardware: their pages carry no index. */
void fake_leave_hardware(void);

/* What every test file begins with. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#endif
