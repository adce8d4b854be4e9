// SPDX-License-Identifier: MIT
/*
 * kmod_load - a load that fails leaves nothing behind, nor does any other
 *
 * A pinned event has open=all refused, and with it the load. It goes as soon as
 * the log tells so, and a write of the parameter then finds the module on its
 * way out. Loads and unloads the module itself.
 */
#include <poll.h>
#include <sys/utsname.h>

#include "tests/boards/kmod.h"

#define MODULE "/sys/module/upmu"
#define OPEN   MODULE "/parameters/open"

/* From now on; the kernel gives one line a read. */
static int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(fd, 0, SEEK_END);
	return fd;
}

static bool log_tells(int fd, const char *text)
{
	struct pollfd waits = { .fd = fd, .events = POLLIN, .revents = 0 };
	char line[1024];
	ssize_t got;

	while (poll(&waits, 1, 30000) == 1) {
		got = read(fd, line, sizeof(line) - 1);
		if (got < 0)
			return false;
		line[got] = '\0';
		if (strstr(line, text))
			return true;
	}
	return false;
}

/* What was said since with that in it, of the kernel's level 4 and below. */
static int log_warnings(int fd, const char *text)
{
	char line[1024];
	ssize_t got;
	int warnings = 0;

	while ((got = read(fd, line, sizeof(line) - 1)) > 0) {
		line[got] = '\0';
		if ((atoi(line) & 7) > 4 || !strstr(line, text))
			continue;
		printf("# %s\n", line);
		warnings++;
	}
	return warnings;
}

/* Once: busybox's insmod tries another way when the first has failed. */
static bool load(const char *parameters)
{
	int fd = open("/upmu/upmu.ko", O_RDONLY | O_CLOEXEC);
	long err = syscall(__NR_finit_module, fd, parameters, 0);

	close(fd);
	return !err;
}

#define LINGERS 3 /* the probes of the last lease, for 2 s */

/* A lease of children has the module keep objects in reserve. */
static bool load_lease_unload(unsigned int rests)
{
	int fd = load("") ? take_flags(light_mode(), UPMU_LEASE_CHILDREN,
				       O_CLOEXEC)
			  : -1;

	close(fd);
	sleep(rests);
	return fd >= 0 && !system("rmmod upmu");
}

static bool closed_everywhere(void)
{
	bool closed = true;

	for (int cpu = 0; cpu < cpus_online(); cpu++) {
		pin(cpu);
		usleep(1000); /* what another task left is gone */
		closed &= !try_cycles(NULL);
	}
	return closed;
}

/* What the kernel has of memory that it cannot take back, in KiB. */
static long slab(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "SUnreclaim: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

/* Freed behind RCU's back: soon. */
static bool slab_soon(long kib)
{
	double end = seconds() + 30;

	while (slab() > kib && seconds() < end)
		usleep(100000);
	return slab() <= kib;
}

#define OPENED	   20000 /* of more than 128 bytes each */
#define LOADED	   16	 /* of more than 32 KiB each */
#define OPENED_KIB 1024
#define LOADED_KIB 256

static void open_and_close(void)
{
	for (int n = 0; n < OPENED; n++)
		close(open(UPMU_DEVICE, O_RDWR | O_CLOEXEC));
}

static void memory_test(void)
{
	struct utsname kernel;
	bool done = true;
	long before;

	if (!uname(&kernel) && strstr(kernel.release, "-upmu-")) {
		tap_skip("no_memory_is_left_by_who_opens_and_closes_it",
			 "what is freed stays for a while in this kernel");
		return;
	}
	load("");
	before = slab();
	open_and_close();
	tap(slab_soon(before + OPENED_KIB),
	    "no_memory_is_left_by_who_opens_and_closes_it", "%ld, then %ld KiB",
	    before, slab());
	system("rmmod upmu");
	for (int n = 0; n < 3; n++)
		done &= load_lease_unload(0);
	before = slab();
	for (int n = 0; n < LOADED; n++)
		done &= load_lease_unload(0);
	tap(done && slab_soon(before + LOADED_KIB), "nor_by_the_module_itself",
	    "%ld, then %ld KiB", before, slab());
}

int main(void)
{
	int pinned = event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, 0, 1);
	int log = log_open(), all = log_open(), status = -1, writes = 0;
	pid_t loader = fork();
	bool told;

	if (!loader) {
		close(pinned); /* the parent's is to be the last */
		_exit(!load("open=all"));
	}
	told = log_tells(log, "open is none now");
	close(pinned);
	while (!poke(OPEN, "all"))
		writes++;
	waitpid(loader, &status, 0);
	tap(told && status, "open_that_is_refused_fails_the_load", "status %x",
	    status);
	tap(access(MODULE, F_OK) && closed_everywhere(),
	    "and_a_write_of_the_parameter_meanwhile_opens_nothing", "%d writes",
	    writes);
	tap(load("open=all") && in_child(child_tries, NULL) == 1,
	    "the_next_load_opens", NULL);
	tap(!system("rmmod upmu") && closed_everywhere(),
	    "until_it_is_unloaded", NULL);
	close(log);
	log = log_open();
	tap(access(UPMU_DEVICE, F_OK) && access(UPMU_STATE, F_OK) && load("") &&
		    info_of(-1).size && file_has(UPMU_STATE, "abi ") &&
		    !system("rmmod upmu"),
	    "its_files_go_with_it_and_come_again", NULL);
	tap(!log_warnings(log, ";upmu: "), "and_it_warns_of_nothing", NULL);
	tap(load_lease_unload(LINGERS) && !log_warnings(all, "[upmu]"),
	    "nor_does_the_kernel_for_its_sake", NULL);
	close(log);
	close(all);
	memory_test();
	return tap_done();
}
