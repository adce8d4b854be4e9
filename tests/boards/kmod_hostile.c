// SPDX-License-Identifier: MIT
/*
 * kmod_hostile SECONDS - careless and hostile users, all at once
 *
 * Threads that share descriptors take, close, duplicate and poll them while
 * others of the process, or of its memory, execute programs, fork, or are
 * killed; the parameters
 * change, the state is read and unloading is tried meanwhile. Nothing is asked
 * of what they get but that it is an answer; afterwards nobody holds anything,
 * the registers are closed and the module works. The kernel's own complaints
 * fail the board.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "tests/boards/kmod.h"

#define PARAMETERS "/sys/module/upmu/parameters/"
#define SHARED	   4
#define THREADS	   4
#define SHARERS	   4

static struct {
	volatile int stop;
	volatile uint64_t taken, refused, odd, ended, writes, unloaded;
} * all;

static int shared_fds[SHARED];
static volatile int acts; /* of this process's threads */

static void add(volatile uint64_t *figure)
{
	__atomic_fetch_add(figure, 1, __ATOMIC_RELAXED);
}

static uint32_t draw(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % limit;
}

static void try_lease(int fd, uint32_t *state)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = 1 + draw(state, 3),
				    .flags = draw(state, 4) };

	if (!ioctl(fd, UPMU_IOC_LEASE, &lease))
		add(&all->taken);
	else if (errno == ENOMEM || errno == ENOTTY || errno == EFAULT)
		add(&all->odd);
	else
		add(&all->refused);
}

static void any_act(uint32_t *state)
{
	int *slot = &shared_fds[draw(state, SHARED)];
	struct pollfd waits = { .fd = *slot, .events = 0, .revents = 0 };

	switch (draw(state, 8)) {
	case 0:
		close(*slot);
		*slot = open(UPMU_DEVICE, O_RDWR);
		break;
	case 1:
		close(dup(*slot));
		break;
	case 2:
		poll(&waits, 1, (int)draw(state, 5));
		break;
	case 3:
		info_of(*slot);
		break;
	case 4:
		prctl(PR_SET_NAME, "a\nlease pid 1");
		break;
	default:
		try_lease(*slot, state);
	}
}

static void *thread_main(void *data)
{
	uint32_t state = (uint32_t)(uintptr_t)data;

	while (!all->stop) {
		any_act(&state);
		acts++;
	}
	return NULL;
}

/* Another process of this one's memory, which may write if that is permitted.
 */
static int sharer(void *data)
{
	uint32_t state = (uint32_t)(uintptr_t)data;

	for (int n = 0; n < 20 && !all->stop; n++)
		any_act(&state);
	switch (draw(&state, 4)) {
	case 0:
		execl("/bin/true", "true", (char *)NULL);
		return 1;
	case 1:
		upmu_regs_enable(1);
		return 0;
	case 2:
		if (fork() == 0)
			_exit(try_cycles(NULL) > 1);
		return 0;
	default:
		return 0;
	}
}

static void share(uint32_t *seed)
{
	static char stacks[SHARERS][65536] __attribute__((aligned(16)));

	for (int n = 0; n < SHARERS; n++)
		if (draw(seed, 2))
			clone(sharer, (char *)&stacks[n + 1],
			      CLONE_VM | SIGCHLD, (void *)(uintptr_t)*seed);
}

/* One process, until something ends it. */
static void victim(uint32_t seed)
{
	pthread_t threads[THREADS];

	for (int n = 0; n < SHARED; n++)
		shared_fds[n] = open(UPMU_DEVICE, O_RDWR);
	for (uintptr_t n = 0; n < THREADS; n++)
		pthread_create(&threads[n], NULL, thread_main,
			       (void *)(seed + n));
	share(&seed);
	for (int wanted = (int)draw(&seed, 60); acts < wanted && !all->stop;)
		usleep(500);
	switch (draw(&seed, 4)) {
	case 0: /* while the threads are in calls */
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	case 1:
		if (fork() == 0)
			for (int n = 0; n < 20; n++)
				any_act(&seed);
		_exit(0);
	case 2:
		if (vfork() == 0)
			_exit(try_cycles(NULL) > 1);
		_exit(0);
	default:
		kill(getpid(), SIGKILL);
	}
}

static void victims(uint32_t seed)
{
	while (!all->stop) {
		pid_t pid = fork();

		if (!pid)
			victim(seed);
		if (draw(&seed, 3) == 0) { /* before it ends by itself */
			usleep(draw(&seed, 60000));
			kill(pid, SIGKILL);
		}
		waitpid(pid, NULL, 0);
		seed += 12345;
		add(&all->ended);
	}
	_exit(0);
}

static void owner(uint32_t seed)
{
	static const char *const words[] = { "none", "cycles", "all", "bad" };
	static char text[65536];

	while (!all->stop) {
		int fd = open(UPMU_STATE, O_RDONLY);

		if (read(fd, text, sizeof(text)) > 0)
			add(&all->writes);
		close(fd);
		poke(PARAMETERS "open", words[draw(&seed, 4)]);
		poke(PARAMETERS "raw", draw(&seed, 2) ? "group" : "root");
		if (!draw(&seed, 4) &&
		    !syscall(__NR_delete_module, "upmu", O_NONBLOCK)) {
			add(&all->unloaded);
			system("insmod /upmu/upmu.ko");
		}
		usleep(draw(&seed, 20000));
	}
	_exit(0);
}

static void hotplugger(uint32_t seed)
{
	static const char path[] = "/sys/devices/system/cpu/cpu1/online";

	while (!all->stop && cpus_online() > 1) {
		poke(path, "0");
		usleep(draw(&seed, 100000));
		poke(path, "1");
		usleep(draw(&seed, 300000));
	}
	poke(path, "1");
	_exit(0);
}

/* A slow machine gets ten times as long. */
static bool enough(void)
{
	return all->taken > 20 && all->refused > 50 && all->ended > 20 &&
	       all->writes > 10;
}

int main(int argc, char **argv)
{
	static void (*const roles[])(uint32_t) = { victims, victims, victims,
						   owner, hotplugger };
	size_t count = sizeof(roles) / sizeof(*roles);
	double duration = argc > 1 ? atof(argv[1]) : 10;
	double end = seconds() + duration, latest = end + 9 * duration;
	int fd, failed = 0, status;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t n = 0; n < count; n++)
		if (!fork())
			roles[n](77 + 1000 * (uint32_t)n);
	while (seconds() < end || (!enough() && seconds() < latest))
		usleep(100000);
	all->stop = 1;
	while (wait(&status) > 0)
		failed |= status;
	tap(!failed && all->taken && all->refused && all->ended && all->writes,
	    "careless_and_hostile_users_get_their_answers",
	    "%llu leases, %llu refused, %llu processes ended, %llu states, %llu "
	    "times unloaded",
	    (unsigned long long)all->taken, (unsigned long long)all->refused,
	    (unsigned long long)all->ended, (unsigned long long)all->writes,
	    (unsigned long long)all->unloaded);
	tap(!all->odd, "and_none_that_is_not_meant_for_them", "%llu",
	    (unsigned long long)all->odd);
	poke(PARAMETERS "open", "none");
	poke(PARAMETERS "raw", "root");
	tap(no_leases_soon(), "nobody_holds_anything_afterwards", NULL);
	tap(!try_cycles(NULL), "and_the_registers_are_closed", NULL);
	fd = take(light_mode());
	tap(fd >= 0 && try_cycles(NULL), "and_leases_are_granted_as_ever", "%d",
	    fd);
	close(fd);
	tap(!system("rmmod upmu"), "and_the_module_unloads", NULL);
	return tap_done();
}
