// SPDX-License-Identifier: MIT
#include "fake_kernel.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/perf/perf.h"
#include "lib/sources/source.h"
#include "lib/sys.h"
#include "lib/set/wanted.h"

struct fake_kernel fake;

static struct perf_event_mmap_page pages[FAKE_FDS];
static char root[256];
static bool has_root;
static pid_t roots_owner; /* not its children, which may execute another */

static void path_below(char *out, const char *path)
{
	snprintf(out, UPMU_PATH_SIZE, "%s%s", root, path);
}

static void remove_root(void)
{
	char command[sizeof(root) + 16];

	if (getpid() != roots_owner)
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	if (system(command))
		perror(command);
}

static void make_root(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%s/upmu-fake-XXXXXX",
		 folder ? folder : "/tmp");
	if (!mkdtemp(root))
		abort();
	atexit(remove_root);
	has_root = true;
	roots_owner = getpid();
}

static void make_folders(const char *path)
{
	char folder[UPMU_PATH_SIZE];

	strcpy(folder, path);
	for (char *p = folder + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(folder, 0755);
	}
}

void fake_write(const char *path, const char *text)
{
	char full[UPMU_PATH_SIZE];
	FILE *file;

	path_below(full, path);
	make_folders(full);
	file = fopen(full, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

void fake_remove(const char *path)
{
	char full[UPMU_PATH_SIZE];

	path_below(full, path);
	unlink(full);
}

static void link_fixture(const char *board, const char *name)
{
	char from[UPMU_PATH_SIZE], to[UPMU_PATH_SIZE];

	snprintf(from, sizeof(from), "%s/%s/%s", FIXTURES, board, name);
	path_below(to, "/");
	strcat(to, name);
	make_folders(to);
	unlink(to);
	if (symlink(from, to))
		abort();
}

void fake_boot(const char *board)
{
	if (!has_root)
		make_root();
	link_fixture(board, "sys");
	link_fixture(board, "proc/cpuinfo");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "0\n");
	fake_remove("/proc/sys/kernel/perf_user_access");
	upmu_sys_set_root(root);
	upmu_wanted_forget_machine();
	upmu_pmu_alive_forget();
	upmu_page_forget();
	unsetenv("UPMU_SOURCE");
	memset(&fake, 0, sizeof(fake));
	fake.page_size = 4096;
	fake.registers = 7;
	fake.index = 1;
	fake.cpus = 0xff;
	fake.info = (struct upmu_info){
		.size = sizeof(fake.info),
		.abi = UPMU_ABI,
		.arch = 7,
		.pmu_version = 2,
		.counters = 4,
		.modes = 1u << UPMU_MODE_COUNT | 1u << UPMU_MODE_CYCLES |
			 1u << UPMU_MODE_RAW,
	};
}

size_t fake_open_fds(void)
{
	size_t n = 0;

	for (size_t i = 0; i < FAKE_FDS; i++)
		n += fake.events[i].is_open;
	return n;
}

size_t fake_open_pages(void)
{
	return fake.maps - fake.unmaps;
}

void fake_leave_hardware(void)
{
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].page)
			fake.events[i].page->index = 0;
}

int fake_fails(enum fake_call call)
{
	struct fake_failure *f = &fake.failure;

	if (f->call != call || ++f->seen < f->at)
		return 0;
	return f->seen == f->at || f->goes_on ? f->error : 0;
}

static struct fake_event *event_of(int fd)
{
	if (fd < FAKE_FD || fd >= FAKE_FD + FAKE_FDS)
		return NULL;
	return &fake.events[fd - FAKE_FD];
}

static int new_fd(void)
{
	for (int i = 0; i < FAKE_FDS; i++) {
		struct fake_event *event = &fake.events[i];

		if (event->is_open)
			continue;
		memset(event, 0, sizeof(*event));
		event->is_open = true;
		return FAKE_FD + i;
	}
	return -EMFILE;
}

/* ARMv7's number for the cycle counter. */
static bool is_ordinary(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->config != 0xff;
}

/* arm_pmu does not reckon with a leader that is merely disabled. */
static bool is_reckoned(const struct fake_event *event)
{
	return event->is_open && !event->is_device &&
	       (!event->attr.disabled || event->attr.enable_on_exec);
}

static size_t ordinary_in_group(int leader)
{
	size_t n = 0;

	for (size_t i = 0; i < FAKE_FDS; i++) {
		const struct fake_event *event = &fake.events[i];

		n += is_reckoned(event) && is_ordinary(&event->attr) &&
		     (event->group_fd == leader || (int)i + FAKE_FD == leader);
	}
	return n;
}

static size_t hardware_in_group(int leader)
{
	size_t n = 0;

	for (size_t i = 0; i < FAKE_FDS; i++) {
		const struct fake_event *event = &fake.events[i];

		n += is_reckoned(event) &&
		     event->attr.type != PERF_TYPE_SOFTWARE &&
		     (event->group_fd == leader || (int)i + FAKE_FD == leader);
	}
	return n;
}

static int perf_verdict(const struct perf_event_attr *attr, int group_fd)
{
	if (fake.perf_error && fake.perf_opens >= (size_t)fake.perf_error_from)
		return fake.perf_error;
	if (fake.only_user && !attr->exclude_kernel)
		return -EACCES;
	if (fake.has_no_filter &&
	    (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv))
		return -EINVAL;
	if (fake.counters && group_fd >= 0 &&
	    attr->type != PERF_TYPE_SOFTWARE &&
	    hardware_in_group(group_fd) >= fake.counters)
		return -EINVAL;
	if (fake.ordinary && group_fd >= 0 && is_ordinary(attr) &&
	    ordinary_in_group(group_fd) >= fake.ordinary)
		return -EINVAL;
	return 0;
}

int __wrap_upmu_sys_perf_event_open(struct perf_event_attr *attr, pid_t pid,
				    int cpu, int group_fd, unsigned long flags);
int __wrap_upmu_sys_perf_event_open(struct perf_event_attr *attr, pid_t pid,
				    int cpu, int group_fd, unsigned long flags)
{
	int ret, fd;

	(void)flags;
	fake.perf_opens++;
	if (fake.in_perf_open)
		fake.in_perf_open();
	ret = fake_fails(FAKE_PERF_OPEN);
	if (!ret)
		ret = perf_verdict(attr, group_fd);
	if (ret)
		return ret;
	fd = new_fd();
	if (fd < 0)
		return fd;
	event_of(fd)->attr = *attr;
	event_of(fd)->group_fd = group_fd;
	event_of(fd)->pid = pid;
	event_of(fd)->cpu = cpu;
	return fd;
}

int __real_upmu_sys_open(const char *path, int flags);
int __wrap_upmu_sys_open(const char *path, int flags);
int __wrap_upmu_sys_open(const char *path, int flags)
{
	int fd = fake_fails(FAKE_OPEN);

	if (fd)
		return fd;
	if (strcmp(path, UPMU_DEVICE))
		return __real_upmu_sys_open(path, flags);
	if (fake.device_error)
		return fake.device_error;
	fd = new_fd();
	event_of(fd)->is_device = true;
	return fd;
}

int __real_upmu_sys_close(int fd);
int __wrap_upmu_sys_close(int fd);
int __wrap_upmu_sys_close(int fd)
{
	struct fake_event *event = event_of(fd);

	if (!event)
		return __real_upmu_sys_close(fd);
	if (!event->is_open)
		return -EBADF;
	fake.live_leases -= event->is_leased;
	event->is_open = false;
	return 0;
}

static bool is_enabled(const struct fake_event *event)
{
	const struct fake_event *leader = event_of(event->group_fd);

	return !event->attr.disabled && (!leader || !leader->attr.disabled);
}

/* perf's own cycles of no CPU in particular are one kind of core's alone. */
static bool is_on(const struct fake_event *event)
{
	return event->attr.type == fake.on_type ||
	       (event->attr.type == PERF_TYPE_HARDWARE && event->cpu >= 0);
}

void fake_work(uint64_t ns)
{
	if (fake.clock_ns)
		*fake.clock_ns += ns;
	for (size_t i = 0; i < FAKE_FDS; i++) {
		struct fake_event *event = &fake.events[i];

		if (!event->is_open || event->is_device || !is_enabled(event))
			continue;
		event->ns += ns;
		if (!is_on(event))
			continue;
		event->running_ns += ns;
		event->count += ns;
	}
}

static void take_time(void)
{
	if (fake.on_type)
		fake_work(FAKE_STEP);
}

static uint64_t advance(struct fake_event *event)
{
	bool is_clock = event->attr.type == PERF_TYPE_SOFTWARE;

	if (fake.on_type)
		return event->count;
	if (fake.still_config && event->attr.config == fake.still_config)
		return event->count;
	if (!fake.stands_still || is_clock)
		event->count += FAKE_STEP;
	if (fake.by_code)
		event->count += event->attr.config;
	if (fake.by_time)
		event->count = upmu_sys_clock_ns();
	return event->count;
}

static void tell_times(struct fake_event *event, uint64_t *out)
{
	if (!fake.on_type)
		event->running_ns = event->ns += FAKE_STEP;
	out[0] = event->ns;
	out[1] = fake.never_runs ? 0 : event->running_ns;
	if (fake.takes_turns)
		out[1] /= 2;
	for (size_t i = 0; fake.tick_ns && i < 2; i++)
		out[i] -= out[i] % fake.tick_ns;
}

static ssize_t read_one(struct fake_event *event, uint64_t *out)
{
	out[0] = advance(event);
	tell_times(event, &out[1]);
	return 3 * sizeof(*out);
}

static ssize_t read_group(int leader, uint64_t *out, size_t size)
{
	struct fake_event *event = event_of(leader);
	size_t n = 0;

	tell_times(event, &out[1]);
	for (size_t i = 0; i < FAKE_FDS; i++) {
		struct fake_event *member = &fake.events[i];

		if (!member->is_open || member->is_device ||
		    (member != event && member->group_fd != leader))
			continue;
		if ((4 + n) * sizeof(*out) > size)
			return -ENOSPC;
		out[3 + n++] = advance(member);
	}
	out[0] = n;
	return (ssize_t)((3 + n) * sizeof(*out));
}

ssize_t __real_upmu_sys_read(int fd, void *buf, size_t size);
ssize_t __wrap_upmu_sys_read(int fd, void *buf, size_t size);
ssize_t __wrap_upmu_sys_read(int fd, void *buf, size_t size)
{
	struct fake_event *event = event_of(fd);
	int ret = fake_fails(FAKE_READ);

	if (ret)
		return ret;
	if (!event)
		return __real_upmu_sys_read(fd, buf, size);
	if (!event->is_open || event->is_device)
		return -EBADF;
	fake.reads++;
	take_time();
	if (fake.read_error)
		return fake.read_error == FAKE_END ? 0 : fake.read_error;
	if (event->attr.read_format & PERF_FORMAT_GROUP)
		return read_group(fd, buf, size);
	return read_one(event, buf);
}

static int device_ioctl(struct fake_event *event, unsigned long request,
			void *arg)
{
	if (request == UPMU_IOC_INFO) {
		struct upmu_info *info = arg;

		if (fake.info_error)
			return fake.info_error;
		/* What an older module does not know it leaves alone. */
		memcpy(info, &fake.info,
		       fake.info.size < info->size ? fake.info.size
						   : info->size);
		if (event->is_leased && !info->lease_state)
			info->lease_state = UPMU_STATE_LIVE;
		return 0;
	}
	if (request != UPMU_IOC_LEASE)
		return -ENOTTY;
	fake.last_lease = *(struct upmu_lease *)arg;
	if (fake.lease_error)
		return fake.lease_error;
	fake.leases++;
	fake.live_leases++;
	event->is_leased = true;
	return 0;
}

int __real_upmu_sys_ioctl(int fd, unsigned long request, void *arg);
int __wrap_upmu_sys_ioctl(int fd, unsigned long request, void *arg);
int __wrap_upmu_sys_ioctl(int fd, unsigned long request, void *arg)
{
	struct fake_event *event = event_of(fd);
	int ret = fake_fails(FAKE_IOCTL);

	if (ret)
		return ret;
	if (!event)
		return __real_upmu_sys_ioctl(fd, request, arg);
	if (!event->is_open)
		return -EBADF;
	if (event->is_device)
		return device_ioctl(event, request, arg);
	take_time();
	event->attr.disabled = request == PERF_EVENT_IOC_DISABLE;
	return 0;
}

int __wrap_upmu_sys_lock(int fd, int at);
int __wrap_upmu_sys_lock(int fd, int at)
{
	int ret = fake_fails(FAKE_LOCK);

	if (ret)
		return ret;
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && fake.events[i].locked == at + 1)
			return -EBUSY;
	event_of(fd)->locked = at + 1;
	return 0;
}

void __wrap_upmu_sys_unlock(int fd, int at);
void __wrap_upmu_sys_unlock(int fd, int at)
{
	struct fake_event *event = event_of(fd);

	if (event->locked == at + 1)
		event->locked = 0;
	fake.unlocks++;
}

uint64_t __real_upmu_sys_clock_ns(void);
uint64_t __wrap_upmu_sys_clock_ns(void);
/* Weak: tests/model has a clock of its own. */
__attribute__((weak)) uint64_t __wrap_upmu_sys_clock_ns(void)
{
	return fake.clock_ns ? *fake.clock_ns : __real_upmu_sys_clock_ns();
}

size_t __wrap_upmu_sys_page_size(void);
size_t __wrap_upmu_sys_page_size(void)
{
	return fake.page_size;
}

int __wrap_upmu_sys_map(int fd, size_t size, void **out);
int __wrap_upmu_sys_map(int fd, size_t size, void **out)
{
	struct fake_event *event = event_of(fd);
	int ret = fake_fails(FAKE_MAP);

	if (ret || fake.map_error)
		return ret ? ret : fake.map_error;
	if (!event->page) {
		event->page = &pages[event - fake.events];
		memset(event->page, 0, sizeof(*event->page));
	}
	event->page->index = fake.index;
	fake.maps++;
	fake.mapped_size = size;
	*out = event->page;
	return 0;
}

static _Alignas(4096) char ring[4096 + FAKE_RING];

void *fake_ring(void)
{
	return ring;
}

int __wrap_upmu_sys_map_writable(int fd, size_t size, void **out);
int __wrap_upmu_sys_map_writable(int fd, size_t size, void **out)
{
	int ret = fake_fails(FAKE_MAP);

	if (ret || fake.map_error)
		return ret ? ret : fake.map_error;
	if (!event_of(fd)->is_open || size != sizeof(ring))
		return -EINVAL;
	memset(ring, 0, sizeof(ring));
	fake.maps++;
	fake.mapped_size = size;
	*out = ring;
	return 0;
}

void __wrap_upmu_sys_unmap(void *address, size_t size);
void __wrap_upmu_sys_unmap(void *address, size_t size)
{
	/* munmap(2) of another length leaves a part mapped. */
	fake.unmaps +=
		size == (address == ring ? sizeof(ring) : fake.page_size);
}

int __wrap_upmu_sys_affinity(pid_t pid, cpu_set_t *cpus);
int __wrap_upmu_sys_affinity(pid_t pid, cpu_set_t *cpus)
{
	int ret = fake_fails(FAKE_AFFINITY);

	(void)pid;
	if (ret)
		return ret;
	CPU_ZERO(cpus);
	for (unsigned int cpu = 0; cpu < 64; cpu++)
		if (fake.cpus >> cpu & 1)
			CPU_SET(cpu, cpus);
	return 0;
}

/* What reads files goes on to the fixture, where it does not fail. */
#define FAILING_FILE(type, name, parameters, arguments)              \
	type __real_upmu_sys_##name parameters;                      \
	type __wrap_upmu_sys_##name parameters;                      \
	type __wrap_upmu_sys_##name parameters                       \
	{                                                            \
		int ret = fake_fails(FAKE_FILE);                     \
                                                                     \
		return ret ? ret : __real_upmu_sys_##name arguments; \
	}

FAILING_FILE(int, read_text, (const char *path, char *text, size_t size),
	     (path, text, size))
FAILING_FILE(int, read_long, (const char *path, long *value), (path, value))
FAILING_FILE(ssize_t, getdents, (int folder, void *entries, size_t size),
	     (folder, entries, size))
FAILING_FILE(int, open_folder, (const char *path), (path))
FAILING_FILE(int, open_folder_at, (int folder, const char *name),
	     (folder, name))
FAILING_FILE(int, read_text_at,
	     (int folder, const char *name, char *text, size_t size),
	     (folder, name, text, size))
FAILING_FILE(ssize_t, read_bytes_at,
	     (int folder, const char *name, void *bytes, size_t size),
	     (folder, name, bytes, size))

unsigned int __wrap_upmu_processor_registers(void);
unsigned int __wrap_upmu_processor_registers(void)
{
	return fake.registers;
}

void fake_assert_closed(void)
{
	assert_int_equal(fake_open_fds(), 0);
	assert_int_equal(fake_open_pages(), 0);
	assert_int_equal(fake.live_leases, 0);
}
