/* SPDX-License-Identifier: MIT */
/*
 * sys.h - every question that the library asks the system
 *
 * Tests replace these functions (ld --wrap) to provoke what a machine would
 * not do on demand. Paths of /proc and /sys go through here because a fixture
 * tree may stand in for the root: UPMU_ROOT=DIR in the environment (ignored
 * in a set-uid program) or upmu_sys_set_root().
 */
#ifndef UPMU_LIB_SYS_H
#define UPMU_LIB_SYS_H

#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Longest path that the library builds below /proc, /sys or /dev. */
#define UPMU_PATH_SIZE 512

/* arm64, since 5.17: the kernel opens counters by itself where it is 1. */
#define UPMU_USER_ACCESS "/proc/sys/kernel/perf_user_access"

/** NULL gives the root back to the environment. The string is not copied. */
void upmu_sys_set_root(const char *root);

/**
 * Write the path as it is below the root to @out (UPMU_PATH_SIZE bytes).
 * 0 or -ENAMETOOLONG.
 */
int upmu_sys_path(char *out, const char *path);

/**
 * Read a small text file, without its last newline. Returns 0, -errno of
 * open or read, or -EFBIG where @size is too small.
 */
int upmu_sys_read_text(const char *path, char *text, size_t size);

/** As above, for a file that holds one integer; -EINVAL where it does not. */
int upmu_sys_read_long(const char *path, long *value);

/** The kernel's version, as "uname -r" tells it; 0, -errno or -EFBIG. */
int upmu_sys_release(char *out, size_t size);
/** Is the kernel surely one of 32 bits? Of a fixture nothing is sure. */
bool upmu_sys_is_arm32(void);

bool upmu_sys_exists(const char *path);

/**
 * A folder whose files are to be read by their names alone: the kernel walks
 * sysfs's long paths, which are slow, only once. A descriptor or -errno. Only
 * of /sys: each file is read by one call, which gives all of it there.
 */
int upmu_sys_open_folder(const char *path);
int upmu_sys_open_folder_at(int folder, const char *name);
int upmu_sys_read_text_at(int folder, const char *name, char *text,
			  size_t size);
/** As they are, up to @size bytes; how many, or -errno. */
ssize_t upmu_sys_read_bytes_at(int folder, const char *name, void *bytes,
			       size_t size);

/** The calls of these names, with -errno for an error. */
int upmu_sys_open(const char *path, int flags);
int upmu_sys_close(int fd);
ssize_t upmu_sys_read(int fd, void *buf, size_t size);
/** Of a folder opened for reading: opendir(3) takes 32 KiB of memory for it. */
ssize_t upmu_sys_getdents(int folder, void *entries, size_t size);
int upmu_sys_ioctl(int fd, unsigned long request, void *arg);
int upmu_sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			     int group_fd, unsigned long flags);

/** The kernel's page: 4096 on most, 16384 on a Pi 5, 65536 on some arm64. */
size_t upmu_sys_page_size(void);

/** Map @size bytes of @fd read-only and shared. 0 or -errno. */
int upmu_sys_map(int fd, size_t size, void **out);
int upmu_sys_map_writable(int fd, size_t size, void **out);
void upmu_sys_unmap(void *address, size_t size);

/** The number of the calling thread. */
pid_t upmu_sys_thread(void);

/** Has the caller what perf and upmu.ko ask of root (CAP_PERFMON)? Root in a
 * container may lack it, and in a user namespace of its own always does. */
bool upmu_sys_has_perfmon(void);

/** The CPUs that a thread may run on; @pid 0: the caller. 0 or -errno. */
int upmu_sys_affinity(pid_t pid, cpu_set_t *cpus);

/**
 * Lock byte @at of @fd for this open file (F_OFD_SETLK), until it is closed or
 * unlocked. 0 or -errno; -EBUSY: another open file has it.
 */
int upmu_sys_lock(int fd, int at);
void upmu_sys_unlock(int fd, int at);

/** CLOCK_MONOTONIC_RAW in nanoseconds. */
uint64_t upmu_sys_clock_ns(void);

#endif
