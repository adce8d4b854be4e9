/* SPDX-License-Identifier: MIT */
/* kmod.h - what the programs that try upmu.ko on a board share */
#ifndef UPMU_TESTS_KMOD_H
#define UPMU_TESTS_KMOD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "regs/regs.h"
#include "upmu/uapi.h"

#define EVENT_CYCLES 0x11 /* on an ordinary counter, as the boards count it */

/* TAP */

static int tap_number, tap_failed;

static inline bool tap(bool passed, const char *claim, const char *detail, ...)
{
	va_list arguments;

	printf("%sok %d - %s\n", passed ? "" : "not ", ++tap_number, claim);
	tap_failed += !passed;
	if (detail) {
		printf("# ");
		va_start(arguments, detail);
		vprintf(detail, arguments);
		va_end(arguments);
		printf("\n");
	}
	fflush(stdout);
	return passed;
}

static inline void tap_skip(const char *claim, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_number, claim, why);
	fflush(stdout);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_number);
	return tap_failed ? 1 : 0;
}

/* The device */

static inline int take_flags(uint32_t mode, uint32_t flags, int open_flags)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = mode,
				    .flags = flags };
	int fd = open(UPMU_DEVICE, O_RDWR | open_flags), saved;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, UPMU_IOC_LEASE, &lease))
		return fd;
	saved = errno;
	close(fd);
	return -saved;
}

static inline int take(uint32_t mode)
{
	return take_flags(mode, 0, O_CLOEXEC);
}

static inline struct upmu_info info_of(int fd)
{
	struct upmu_info info = { .size = sizeof(info) };
	int own = fd < 0 ? open(UPMU_DEVICE, O_RDWR | O_CLOEXEC) : fd;

	if (own < 0 || ioctl(own, UPMU_IOC_INFO, &info))
		info.size = 0;
	if (fd < 0 && own >= 0)
		close(own);
	return info;
}

/* Where COUNT goes by kernel.perf_user_access, CYCLES stands in for it. */
static inline uint32_t light_mode(void)
{
	return info_of(-1).modes & 1u << UPMU_MODE_COUNT ? UPMU_MODE_COUNT
							 : UPMU_MODE_CYCLES;
}

static inline bool perf_has_pmu(void)
{
	return info_of(-1).flags & UPMU_INFO_PERF;
}

/* Until a claim holds, or seconds have gone. */
static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline bool no_leases_soon(void)
{
	double end = seconds() + 20;

	while (info_of(-1).leases && seconds() < end)
		usleep(1000);
	return info_of(-1).leases == 0;
}

/* Instructions that may not be permitted */

static sigjmp_buf kmod_illegal;

static inline void kmod_on_illegal(int number)
{
	(void)number;
	siglongjmp(kmod_illegal, 1);
}

/* 1: permitted, *value holds the counter; 0: SIGILL */
static inline int try_cycles(uint32_t *value)
{
	struct sigaction action = { .sa_handler = kmod_on_illegal }, before;
	volatile uint32_t read = 0;
	int permitted = 0;

	sigaction(SIGILL, &action, &before);
	if (!sigsetjmp(kmod_illegal, 1)) {
		read = upmu_regs_cycles32();
		permitted = 1;
	}
	sigaction(SIGILL, &before, NULL);
	if (value)
		*value = read;
	return permitted;
}

/* 1: permitted to write PMOVSR, which is left as it was */
static inline int try_write(void)
{
	struct sigaction action = { .sa_handler = kmod_on_illegal }, before;
	int permitted = 0;

	sigaction(SIGILL, &action, &before);
	if (!sigsetjmp(kmod_illegal, 1)) {
		upmu_regs_clear_overflow(0);
		permitted = 1;
	}
	sigaction(SIGILL, &before, NULL);
	return permitted;
}

/* Runs in a child; what it returns is what this returns. */
static inline int in_child(int (*run)(void *), void *data)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(run(data));
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int child_tries(void *data)
{
	(void)data;
	return try_cycles(NULL);
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline void leave_the_cpu(void)
{
	for (int n = 0; n < 3; n++)
		usleep(2000);
}

static inline int cpus_online(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* A number into a file of the kernel's; 0 or -errno. */
static inline int poke(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Switch a CPU on or off; 0 or -errno. */
static inline int set_online(int cpu, bool on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	return poke(path, on ? "1" : "0");
}

static inline bool file_has(const char *path, const char *text)
{
	static char buffer[65536];
	size_t got;
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	got = fread(buffer, 1, sizeof(buffer) - 1, file);
	buffer[got] = '\0';
	fclose(file);
	return strstr(buffer, text);
}

/* perf */

/* Its events' type; 0: it has none of that name. */
static inline uint32_t pmu_type(const char *name)
{
	char path[80];
	unsigned int type = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.32s/type",
		 name);
	file = fopen(path, "r");
	if (file && fscanf(file, "%u", &type) != 1)
		type = 0;
	if (file)
		fclose(file);
	return type;
}

/* Of the CPU that this thread is pinned to: unlike cores have one each. */
static inline uint32_t pmu_type_here(void)
{
	return pmu_type(info_of(-1).pmu);
}

struct counter {
	int fd;
	volatile struct perf_event_mmap_page *page;
};

static inline int event_open(uint32_t type, uint64_t config, uint64_t config1,
			     pid_t pid, int cpu, unsigned int pinned)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.config1 = config1,
		.pinned = pinned,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	long fd = syscall(__NR_perf_event_open, &attr, pid, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* An event of this thread that is read through its page. */
static inline struct counter counter_open(uint32_t type, uint64_t config)
{
	struct counter counter = { event_open(type, config, 2, 0, -1, 0),
				   NULL };
	void *page;

	if (counter.fd < 0)
		return counter;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
		    counter.fd, 0);
	counter.page = page == MAP_FAILED ? NULL : page;
	return counter;
}

static inline void counter_close(struct counter *counter)
{
	if (counter->page)
		munmap((void *)counter->page, (size_t)sysconf(_SC_PAGESIZE));
	if (counter->fd >= 0)
		close(counter->fd);
}

struct times {
	uint64_t value, enabled, running;
};

static inline struct times counter_read(const struct counter *counter)
{
	struct times times = { 0, 0, 0 };

	if (read(counter->fd, &times, sizeof(times)) != sizeof(times))
		times.value = UINT64_MAX;
	return times;
}

static inline struct times total(int fd)
{
	struct counter counter = { fd, NULL };

	return counter_read(&counter);
}

/* 1: *value through the register; 0: it is not on a counter now */
static inline int counter_page(const struct counter *counter, uint64_t *value)
{
	uint32_t sequence, index;
	int64_t raw;
	uint64_t offset;

	do {
		sequence = counter->page->lock;
		__asm__ __volatile__("" : : : "memory");
		index = counter->page->index;
		if (!index)
			return 0;
		offset = counter->page->offset;
		if (index == 32)
			raw = (int32_t)upmu_regs_cycles32();
		else
			raw = (int32_t)upmu_regs_counter(index - 1);
		__asm__ __volatile__("" : : : "memory");
	} while (counter->page->lock != sequence);
	*value = offset + (uint64_t)raw;
	return 1;
}

static inline bool counter_page_is_right(const struct counter *counter,
					 int times)
{
	for (int n = 0; n < times; n++) {
		uint64_t before = counter_read(counter).value, value = 0, after;
		int there = counter_page(counter, &value);

		after = counter_read(counter).value;
		if (!there || value < before || value > after) {
			printf("# %d: %llu <= %llu <= %llu\n", there,
			       (unsigned long long)before,
			       (unsigned long long)value,
			       (unsigned long long)after);
			return false;
		}
	}
	return true;
}

/* perf's own `cycles` counts on that CPU before so many seconds are over. */
static inline bool counts_on(int cpu, double within)
{
	struct counter counter = {
		event_open(PERF_TYPE_HARDWARE, 0, 0, -1, cpu, 0), NULL
	};
	double end = seconds() + within;
	struct times times;

	do {
		usleep(2000);
		times = counter_read(&counter);
	} while (!(times.running && times.value) && seconds() < end);
	close(counter.fd);
	return times.running && times.value;
}

/*
 * QEMU 7.2's own: it makes counters stand still in two steps around a change of
 * the exception level, without its lock between them; when its timer for an
 * overflow comes just then, counters that run start from zero again. The one
 * that overflowed falls by what it had counted since, some milliseconds'.
 * perf's or the module's rewriting would be anywhere else.
 */
#define QEMU_LATE (1u << 28)

/* So long without its CPU and a reader cannot tell forward from back. */
#define LONG_PAUSE 1.0

static inline bool qemu_fell(uint32_t last, uint32_t now)
{
	return now < last && last < QEMU_LATE;
}

static inline void spin_loop(unsigned long turns)
{
	for (volatile unsigned long n = turns; n; n--)
		;
}

#endif
