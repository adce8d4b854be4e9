// SPDX-License-Identifier: MIT
#include "lib/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char *forced_root;

void upmu_sys_set_root(const char *root)
{
	forced_root = root;
}

static const char *root_of_paths(void)
{
	const char *root = forced_root;

	if (!root)
		root = secure_getenv("UPMU_ROOT");
	return root ? root : "";
}

int upmu_sys_path(char *out, const char *path)
{
	int n = snprintf(out, UPMU_PATH_SIZE, "%s%s", root_of_paths(), path);

	return n < UPMU_PATH_SIZE ? 0 : -ENAMETOOLONG;
}

int upmu_sys_open(const char *path, int flags)
{
	char below_root[UPMU_PATH_SIZE];
	int ret = upmu_sys_path(below_root, path);
	int fd;

	if (ret)
		return ret;
	fd = open(below_root, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int upmu_sys_close(int fd)
{
	return close(fd) ? -errno : 0;
}

ssize_t upmu_sys_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t upmu_sys_getdents(int folder, void *entries, size_t size)
{
	long n = syscall(SYS_getdents64, folder, entries, size);

	return n < 0 ? -errno : n;
}

int upmu_sys_open_folder(const char *path)
{
	return upmu_sys_open(path, O_PATH | O_DIRECTORY);
}

/* Closes @fd. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
	size_t length = 0;
	ssize_t n;

	do {
		n = upmu_sys_read(fd, bytes + length, size - length);
		length += n > 0 ? (size_t)n : 0;
	} while (n > 0 && length < size);
	upmu_sys_close(fd);
	return n < 0 ? n : (ssize_t)length;
}

/* Closes @fd: /sys gives what there is at once. */
static ssize_t read_once(int fd, char *bytes, size_t size)
{
	ssize_t length = upmu_sys_read(fd, bytes, size);

	upmu_sys_close(fd);
	return length;
}

static int read_text(int fd, char *text, size_t size,
		     ssize_t (*read_it)(int fd, char *bytes, size_t size))
{
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read_it(fd, text, size);
	if (length < 0)
		return (int)length;
	if ((size_t)length == size)
		return -EFBIG;
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return 0;
}

int upmu_sys_read_text(const char *path, char *text, size_t size)
{
	return read_text(upmu_sys_open(path, O_RDONLY), text, size, read_all);
}

static int open_at(int folder, const char *name, int flags)
{
	int fd = openat(folder, name, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int upmu_sys_open_folder_at(int folder, const char *name)
{
	return open_at(folder, name, O_PATH | O_DIRECTORY);
}

int upmu_sys_read_text_at(int folder, const char *name, char *text, size_t size)
{
	return read_text(open_at(folder, name, O_RDONLY), text, size,
			 read_once);
}

ssize_t upmu_sys_read_bytes_at(int folder, const char *name, void *bytes,
			       size_t size)
{
	int fd = open_at(folder, name, O_RDONLY);

	return fd < 0 ? fd : read_once(fd, bytes, size);
}

int upmu_sys_read_long(const char *path, long *value)
{
	char text[32];
	char *end;
	long parsed;
	int ret;

	ret = upmu_sys_read_text(path, text, sizeof(text));
	if (ret)
		return ret;
	errno = 0;
	parsed = strtol(text, &end, 0);
	if (errno || end == text || *end)
		return -EINVAL;
	*value = parsed;
	return 0;
}

bool upmu_sys_exists(const char *path)
{
	char below_root[UPMU_PATH_SIZE];

	return !upmu_sys_path(below_root, path) && !access(below_root, F_OK);
}

int upmu_sys_release(char *out, size_t size)
{
	struct utsname name;

	if (root_of_paths()[0])
		return upmu_sys_read_text("/proc/sys/kernel/osrelease", out,
					  size);
	if (uname(&name))
		return -errno;
	return snprintf(out, size, "%s", name.release) < (int)size ? 0 : -EFBIG;
}

bool upmu_sys_is_arm32(void)
{
	struct utsname name;

	return !root_of_paths()[0] && !uname(&name) &&
	       (!strncmp(name.machine, "armv7", 5) ||
		!strncmp(name.machine, "armv6", 5));
}

int upmu_sys_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int upmu_sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			     int group_fd, unsigned long flags)
{
	long fd;

	/* While the one to be counted executes a program, it waits. */
	do
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			     flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

size_t upmu_sys_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int map(int fd, size_t size, int protection, void **out)
{
	void *address = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

	if (address == MAP_FAILED)
		return -errno;
	*out = address;
	return 0;
}

int upmu_sys_map(int fd, size_t size, void **out)
{
	return map(fd, size, PROT_READ, out);
}

int upmu_sys_map_writable(int fd, size_t size, void **out)
{
	return map(fd, size, PROT_READ | PROT_WRITE, out);
}

void upmu_sys_unmap(void *address, size_t size)
{
	munmap(address, size);
}

/* Not every libc has gettid(). */
pid_t upmu_sys_thread(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Capabilities that hold in a user namespace of one's own say nothing to perf:
 * its root is another user outside. */
static bool is_in_user_namespace(void)
{
	unsigned long first, outside, n;
	char map[256];

	return !upmu_sys_read_text("/proc/self/uid_map", map, sizeof(map)) &&
	       (sscanf(map, "%lu %lu %lu", &first, &outside, &n) != 3 ||
		first || outside || n != UINT32_MAX);
}

bool upmu_sys_has_perfmon(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct of[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint32_t perfmon = CAP_TO_MASK(CAP_PERFMON);

	return !syscall(SYS_capget, &head, of) &&
	       (of[CAP_TO_INDEX(CAP_PERFMON)].effective & perfmon ||
		of[0].effective & CAP_TO_MASK(CAP_SYS_ADMIN)) &&
	       !is_in_user_namespace();
}

int upmu_sys_affinity(pid_t pid, cpu_set_t *cpus)
{
	return sched_getaffinity(pid, sizeof(*cpus), cpus) ? -errno : 0;
}

static int set_lock(int fd, int at, short type)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = at,
		.l_len = 1,
	};

	return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

int upmu_sys_lock(int fd, int at)
{
	int ret = set_lock(fd, at, F_WRLCK);

	return ret == -EAGAIN || ret == -EACCES ? -EBUSY : ret;
}

void upmu_sys_unlock(int fd, int at)
{
	set_lock(fd, at, F_UNLCK);
}

uint64_t upmu_sys_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
