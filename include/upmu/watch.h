/* SPDX-License-Identifier: MIT */
/**
 * watch.h - be told each time that so many events have come; upmu.h includes it
 */
#ifndef UPMU_WATCH_H
#define UPMU_WATCH_H

#include <upmu.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One event that tells each N of its counts. */
struct upmu_watch;

/**
 * struct upmu_sample - where the program was when N more events had come
 * @size: set by the caller to sizeof(struct upmu_sample); no more is filled
 * @address: of the instruction that was interrupted: some instructions after
 *           the one that made the event
 * @time_ns: CLOCK_MONOTONIC_RAW
 * @pid, @tid: process and thread; @cpu: where it ran
 * @lost: how many samples before this one found no room, as upmu_watch_next()
 *        was not called in time
 */
struct upmu_sample {
	size_t size;
	uint64_t address;
	uint64_t time_ns;
	uint64_t lost;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t reserved;
};

#define UPMU_SAMPLE_SIZE_1 \
	(offsetof(struct upmu_sample, reserved) + sizeof(uint32_t))

/**
 * upmu_watch_open - be told each @every counts of an event
 * @out: receives the watch; upmu_watch_close() frees it
 * @event: one, as for upmu_open()
 * @every: 1 to 2^63 - 1; what comes sooner than the kernel allows
 *         (kernel.perf_event_max_sample_rate) is held back by it
 * @options: as for upmu_open(), NULL for the calling thread; of the flags
 *           UPMU_OPEN_USER_ONLY, _BOUND and _CPU; no source
 *
 * Counting begins at once. An interrupt of the PMU tells, so the counter of the
 * event is taken as by any other user of perf. upmu_watch_fd() is a descriptor
 * for poll(2); for a call in the thread itself it takes fcntl(2) F_SETOWN_EX,
 * F_SETSIG and O_ASYNC: on unlike cores only of a thread that was bound to CPUs
 * of one kind before, as signals tell of one kind alone; poll(2) tells of all.
 * Threads that are to be told alike open one each.
 *
 * Where perf_event_paranoid permits user mode only, it tells of that alone, as
 * the addresses of its samples show. Returns 0, an error of upmu_open(), or
 *   -EINVAL     @every is out of range; another number of events than one;
 *               another flag, or a source
 *   -EPERM      no room for one more ring: kernel.perf_event_mlock_kb
 *   -EOPNOTSUPP this PMU has no interrupt; an event of the kernel's where user
 *               mode alone may be counted
 *
 * Cost: as upmu_open(), and nine pages of memory. Then some 3,000 instructions
 * of the kernel's for each sample.
 */
UPMU_API int upmu_watch_open(struct upmu_watch **out, const char *event,
			     uint64_t every,
			     const struct upmu_options *options);

/**
 * upmu_watch_fd - a descriptor that is readable when samples have come
 * @watch: from upmu_watch_open()
 *
 * For poll(2), select(2), epoll(7): POLLIN, which tells of the same samples
 * once and one caller alone: before the next wait take all, until
 * upmu_watch_next() is -EAGAIN. POLLHUP, then without POLLIN: the thread has
 * ended, and its last samples may still be there.
 * Returns a descriptor that the watch owns: neither read nor close it.
 */
UPMU_API int upmu_watch_fd(const struct upmu_watch *watch);

/**
 * upmu_watch_next - take the oldest sample
 * @watch: from upmu_watch_open()
 * @sample: filled
 *
 * Never waits, makes no system call but getpid(2), and leaves upmu_explain() as
 * it was. One caller at a time; also a signal handler. Returns 0 or
 *   -EAGAIN there is none now
 *   -EINVAL @sample->size is less than UPMU_SAMPLE_SIZE_1
 *   -ESTALE after fork(): the samples are the parent's
 */
UPMU_API int upmu_watch_next(struct upmu_watch *watch,
			     struct upmu_sample *sample);

/**
 * upmu_watch_close - stop and free
 * @watch: NULL is a no-op
 */
UPMU_API void upmu_watch_close(struct upmu_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
