// SPDX-License-Identifier: MIT
/*
 * kmod_family - leases of a family: what outlives whose end, and who asks then
 */
#include <pthread.h>

#include "tests/boards/kmod.h"

#define GENERATIONS 60

static uint32_t light;

static int take_family(uint32_t more)
{
	return take_flags(light, UPMU_LEASE_CHILDREN | more, O_CLOEXEC);
}

/* Executed under its parent's lease, which ends; then its own alone counts. */
static int inner(void)
{
	int lease = take_family(0), status = lease < 0;

	status |= in_child(child_tries, NULL) == 1 ? 0 : 2;
	kill(getppid(), SIGKILL);
	while (getppid() != 1)
		usleep(1000);
	usleep(100000); /* its end has been met by then */
	status |= try_cycles(NULL) ? 0 : 4;
	status |= in_child(child_tries, NULL) == 1 ? 0 : 8;
	return status;
}

static void inner_test(void)
{
	int line[2], status = -1;

	if (pipe(line))
		return;
	if (!fork()) {
		take_family(UPMU_LEASE_EXEC);
		if (!fork()) {
			dup2(line[1], 1);
			execl("/proc/self/exe", "kmod_family", "inner", NULL);
			kill(getppid(), SIGKILL);
			_exit(127);
		}
		pause();
	}
	close(line[1]);
	wait(NULL);
	(void)!read(line[0], &status, sizeof(status));
	close(line[0]);
	tap(status == 0,
	    "children_of_one_that_executed_are_covered_by_its_own_lease", "%d",
	    status);
}

/* Each takes a lease of its own under its parent's, which then ends. */
static void generations(int report)
{
	int status = 0;

	for (int n = 0; n < GENERATIONS; n++) {
		pid_t parent = getpid();

		status |= take_family(0) < 0;
		if (fork())
			_exit(0);
		while (getppid() == parent)
			usleep(1000);
	}
	status |= take_family(0) < 0;
	status |= in_child(child_tries, NULL) == 1 ? 0 : 2;
	(void)!write(report, &status, sizeof(status));
	_exit(0);
}

static void generations_test(void)
{
	int line[2], status = -1;

	if (pipe(line))
		return;
	if (!fork())
		generations(line[1]);
	close(line[1]);
	(void)!read(line[0], &status, sizeof(status));
	close(line[0]);
	while (wait(NULL) > 0)
		;
	tap(status == 0 && no_leases_soon(),
	    "leases_within_leases_end_one_after_the_other", "%d of %d", status,
	    GENERATIONS);
}

/* -1: none; another thread asks at any moment of it. */
static volatile int watched = -1, looked, half_seen;

static void *watcher(void *data)
{
	struct upmu_info info;

	(void)data;
	pin(cpus_online() - 1);
	while (watched != -2) {
		info = info_of(watched < 0 ? 0 : watched);
		looked += info.size && info.lease_state == UPMU_STATE_LIVE;
		half_seen += info.size && info.lease_state == UPMU_STATE_LIVE &&
			     info.lease_mode != light;
	}
	return NULL;
}

static void watched_test(void)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = light,
				    .flags = UPMU_LEASE_CHILDREN |
					     UPMU_LEASE_EXEC };
	int beside = take(light), fd;
	pthread_t thread;

	pin(0);
	pthread_create(&thread, NULL, watcher, NULL);
	for (int n = 0; n < 300; n++) {
		fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);
		watched = fd;
		(void)!ioctl(fd, UPMU_IOC_LEASE, &lease);
		usleep(100);
		watched = -1;
		close(fd);
	}
	watched = -2;
	pthread_join(thread, NULL);
	close(beside);
	tap(looked && !half_seen,
	    "whoever_asks_while_one_is_taken_sees_it_whole_or_not", "%d, %d",
	    looked, half_seen);
}

int main(int argc, char **argv)
{
	int status;

	light = light_mode();
	if (argc > 1 && !strcmp(argv[1], "inner")) {
		status = inner();
		(void)!write(1, &status, sizeof(status));
		return 0;
	}
	inner_test();
	generations_test();
	watched_test();
	return tap_done();
}
