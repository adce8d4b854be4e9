// SPDX-License-Identifier: MIT
/*
 * unlike_sleeper - CPU 1 stores to LINES lines ROUNDS times, from the next
 * level each time. The first time CPU 0 has them in its cache; it has slept
 * since it wrote them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE   64
#define LINES  64
#define ROUNDS 8
#define LARGE  (128 << 10)

static char memory[LINES * LINE] __attribute__((aligned(4096)));
static char large[LARGE] __attribute__((aligned(4096)));
static pthread_barrier_t written, over;

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

static void touch(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += LINE)
		at[i] = 1;
}

static void *sleep_there(void *unused)
{
	on_cpu(0);
	touch(memory, sizeof(memory));
	pthread_barrier_wait(&written);
	pthread_barrier_wait(&over);
	return unused;
}

int main(void)
{
	pthread_t thread;

	on_cpu(1);
	touch(large, sizeof(large));
	pthread_barrier_init(&written, NULL, 2);
	pthread_barrier_init(&over, NULL, 2);
	if (pthread_create(&thread, NULL, sleep_there, NULL))
		return 1;
	pthread_barrier_wait(&written);
	usleep(100000);
	for (int round = 0; round < ROUNDS; round++) {
		touch(memory, sizeof(memory));
		touch(large, sizeof(large));
	}
	pthread_barrier_wait(&over);
	return pthread_join(thread, NULL);
}
