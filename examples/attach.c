// SPDX-License-Identifier: MIT
/*
 * Count others: `attach thread`, `attach program COMMAND...` (and all that it
 * starts), `attach cpu N`, `attach cpus`. docs/attaching.md explains.
 *
 *	cc attach.c -pthread $(pkg-config --cflags --libs libupmu)
 */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <upmu.h>

#define EVENTS	  "cycles,instructions"
#define CPUS_MOST 256

static struct upmu *open_on(const struct upmu_options *target)
{
	struct upmu *set;

	if (!upmu_open(&set, EVENTS, target))
		return set;
	fprintf(stderr, "attach: %s\n", upmu_explain());
	exit(1);
}

static void print(const char *what, struct upmu *set)
{
	struct upmu_value value[2];

	if (upmu_read(set, value, 2)) {
		fprintf(stderr, "attach: %s\n", upmu_explain());
		exit(1);
	}
	if (value[0].running_ns)
		printf("%-8s %12" PRIu64 " cycles %12" PRIu64 " instructions\n",
		       what, value[0].count, value[1].count);
	else
		printf("%-8s <not counted>\n", what);
	upmu_close(set);
}

/* ---- another thread ----------------------------------------------------- */

static sem_t is_there, go;
static pid_t number;

static void *work(void *arg)
{
	number = (pid_t)syscall(SYS_gettid);
	sem_post(&is_there);
	sem_wait(&go);
	for (volatile int n = 100000; n > 0;)
		n--;
	return arg;
}

static void count_thread(void)
{
	struct upmu_options target = { .size = sizeof(target) };
	struct upmu *set;
	pthread_t thread;

	sem_init(&is_there, 0, 0);
	sem_init(&go, 0, 0);
	pthread_create(&thread, NULL, work, NULL);
	sem_wait(&is_there);
	target.pid = number;
	set = open_on(&target);
	sem_post(&go);
	pthread_join(thread, NULL);
	print("thread", set);
}

/* ---- a program and its children ----------------------------------------- */

/* The child waits until somebody counts it, then it executes the command. */
static pid_t start(char **command, int *hold)
{
	int pipes[2];
	pid_t child;
	char byte;

	if (pipe(pipes))
		return -1;
	child = fork();
	if (child) {
		close(pipes[0]);
		*hold = pipes[1];
		return child;
	}
	close(pipes[1]);
	if (!read(pipes[0], &byte, 1))
		execvp(command[0], command);
	_exit(127);
}

static void count_program(char **command)
{
	struct upmu_options target = {
		.size = sizeof(target),
		.flags = UPMU_OPEN_INHERIT | UPMU_OPEN_ON_EXEC,
	};
	int hold = -1;
	struct upmu *set;

	target.pid = start(command, &hold);
	set = open_on(&target);
	close(hold);
	waitpid(target.pid, NULL, 0);
	print("program", set);
}

/* ---- CPUs --------------------------------------------------------------- */

static struct upmu *open_cpu(uint32_t cpu)
{
	const struct upmu_options target = {
		.size = sizeof(target),
		.flags = UPMU_OPEN_CPU,
		.cpu = cpu,
	};

	return open_on(&target);
}

static void count_cpus(uint32_t first, uint32_t last)
{
	struct upmu *set[CPUS_MOST];
	char name[16];

	for (uint32_t cpu = first; cpu <= last; cpu++)
		set[cpu] = open_cpu(cpu);
	usleep(100000);
	for (uint32_t cpu = first; cpu <= last; cpu++) {
		snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		print(name, set[cpu]);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus > CPUS_MOST)
		cpus = CPUS_MOST;
	if (!strcmp(what, "thread")) {
		count_thread();
	} else if (!strcmp(what, "program") && argc > 2) {
		count_program(argv + 2);
	} else if (!strcmp(what, "cpu") && argc > 2 && atoi(argv[2]) < cpus) {
		count_cpus((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[2]));
	} else if (!strcmp(what, "cpus")) {
		count_cpus(0, (uint32_t)cpus - 1);
	} else {
		fputs("usage: attach thread | program COMMAND... | cpu N | "
		      "cpus\n",
		      stderr);
		return 2;
	}
	return 0;
}
