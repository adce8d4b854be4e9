// SPDX-License-Identifier: MIT
/*
 * kmod_innocent SECONDS [plain] - who only reads is accused of no writing
 *
 * Holders read while events of tasks, CPUs and children come and go, sample,
 * take turns, are switched on and off; while others take the cycle counter and
 * give it back; and while a CPU comes and goes, where there are two. Counters
 * were on before. "plain": nothing overflows, for QEMU 7.2 makes others fall
 * then where it has several CPUs (kmod.h).
 */
#include "tests/boards/kmod.h"

#define PEEK "/proc/upmu_peek"

#define HOLDERS 4
#define CHURNS	3
#define EVENTS	8

static struct {
	volatile bool over;
	volatile uint64_t opened, taken, reads;
	volatile uint32_t written[HOLDERS];
} * all;

static uint32_t seed;
static bool plain;
static int cpus;

static uint32_t below(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

static bool one_in(uint32_t many)
{
	return below(many) == 0;
}

static int take_some(int number)
{
	return take_flags(number & 2 ? UPMU_MODE_CYCLES : UPMU_MODE_COUNT,
			  number & 1 ? UPMU_LEASE_CHILDREN : 0, O_CLOEXEC);
}

static void fork_one(uint32_t turns)
{
	if (!fork()) {
		spin_loop(below(turns));
		_exit(0);
	}
	wait(NULL);
}

static void holder(int number)
{
	int lease = take_some(number);

	while (!all->over) {
		for (unsigned int n = 0; n < 200; n++) {
			upmu_regs_cycles32();
			upmu_regs_counter(n % 4);
		}
		all->reads++;
		if (one_in(16))
			usleep(below(2000));
		if (one_in(64))
			fork_one(100);
		all->written[number] |= info_of(lease).lease_written;
		if (one_in(200)) {
			close(lease);
			lease = take_some(number);
		}
	}
}

static int open_some(int group)
{
	static const uint64_t raw[] = { 0x11, 8, 0x10, 0, 1 };
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = one_in(2) ? PERF_TYPE_RAW : PERF_TYPE_HARDWARE,
		.exclude_user = one_in(4),
		.exclude_kernel = one_in(4),
		.pinned = one_in(6),
		.inherit = one_in(6),
		.disabled = one_in(4),
		.config1 = one_in(2) ? 2 : 0,
	};

	attr.config = attr.type == PERF_TYPE_RAW ? raw[below(5)] : below(2);
	if (!plain && one_in(3))
		attr.sample_period = 2000 + below(2000000);
	if (one_in(3))
		return (int)syscall(__NR_perf_event_open, &attr, -1,
				    below((uint32_t)cpus), -1, 0);
	return (int)syscall(__NR_perf_event_open, &attr, 0, -1,
			    one_in(3) ? group : -1, 0);
}

static void change(int *fd, int group)
{
	uint64_t period = 1000 + below(1000000);

	switch (below(5)) {
	case 0:
		ioctl(*fd, PERF_EVENT_IOC_DISABLE, below(2));
		break;
	case 1:
		ioctl(*fd, PERF_EVENT_IOC_ENABLE, below(2));
		break;
	case 2:
		if (!plain)
			ioctl(*fd, PERF_EVENT_IOC_PERIOD, &period);
		ioctl(*fd, PERF_EVENT_IOC_RESET, 0);
		break;
	default:
		close(*fd);
		*fd = open_some(group);
		all->opened += *fd >= 0;
	}
}

static void churn(int number)
{
	int fds[EVENTS];

	(void)number;
	memset(fds, -1, sizeof(fds));
	while (!all->over) {
		change(&fds[below(EVENTS)], fds[below(EVENTS)]);
		if (one_in(4))
			usleep(below(3000));
		else if (one_in(3))
			fork_one(20000);
		else
			spin_loop(below(100000));
	}
}

static void takes_cycles(int number)
{
	(void)number;
	while (!all->over) {
		int fd = take(UPMU_MODE_CYCLES);

		all->taken += fd >= 0;
		usleep(below(3000));
		close(fd);
		usleep(below(3000));
	}
}

static void plugs(int number)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";

	(void)number;
	while (!all->over) {
		poke(online, "0");
		usleep(100000);
		poke(online, "1");
		usleep(200000);
	}
}

static void begin(void (*runs)(int), int number)
{
	if (fork())
		return;
	seed = (uint32_t)number * 7919 + 1;
	runs(number);
	_exit(0);
}

int main(int argc, char **argv)
{
	double end = seconds() + (argc > 1 ? atof(argv[1]) : 10);
	uint32_t written = 0;

	plain = argc > 2;
	cpus = cpus_online();
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	poke(PEEK, "0 control 0x1");
	poke(PEEK, "0 enabled 0x8000000f");
	for (int n = 0; n < HOLDERS; n++)
		begin(holder, n);
	for (int n = 0; n < CHURNS; n++)
		begin(churn, n);
	begin(takes_cycles, 0);
	if (cpus > 1)
		begin(plugs, 0);
	while (seconds() < end)
		usleep(100000);
	all->over = true;
	while (wait(NULL) > 0)
		;
	for (int n = 0; n < HOLDERS; n++)
		written |= all->written[n];
	tap(!written && all->reads && all->opened && all->taken,
	    "who_only_reads_is_accused_of_no_writing",
	    "%x, %llu reads, %llu opened, %llu taken", written,
	    (unsigned long long)all->reads, (unsigned long long)all->opened,
	    (unsigned long long)all->taken);
	return tap_done();
}
