// SPDX-License-Identifier: MIT
/*
 * Cycles of the task against cycles of the wall. perf's counter runs while
 * this thread runs; the register runs on whatever the CPU does. A reader of
 * the first article remarked it; here it is shown over work and over a sleep.
 *
 *	cc task_and_wall.c $(pkg-config --cflags --libs libupmu)
 *	upmu exec -- ./a.out
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <upmu.h>
#include <upmu/raw.h>

#define ROUNDS	 1000000
#define SLEEP_US 50000

static void work(void)
{
	for (volatile int n = ROUNDS; n > 0;)
		n--;
}

static void sleep_a_while(void)
{
	usleep(SLEEP_US);
}

struct both {
	uint64_t task;
	uint32_t wall;
};

/* The register's window lies within the task's. */
static struct both measure(const struct upmu_counter *task, void (*thing)(void))
{
	uint64_t task_begin = upmu_count(task);
	uint32_t wall_begin = upmu_raw_cycles();
	struct both cycles;

	thing();
	cycles.wall = upmu_raw_cycles() - wall_begin;
	cycles.task = upmu_count(task) - task_begin;
	return cycles;
}

static void print(const char *what, struct both cycles)
{
	printf("%-12s task %12" PRIu64 "   wall %12" PRIu32
	       "   task/wall %5.2f\n",
	       what, cycles.task, cycles.wall,
	       (double)cycles.task / cycles.wall);
}

/* Of a signal handler too. */
static void say_and_end(const char *why)
{
	(void)!write(STDERR_FILENO, why, strlen(why));
	_exit(1);
}

static void register_is_closed(int signal)
{
	(void)signal;
	say_and_end("task_and_wall: the cycle register is closed to programs; "
		    "run it as: upmu exec -- task_and_wall\n");
}

int main(void)
{
	struct both busy, asleep;
	struct upmu *set;

	signal(SIGILL, register_is_closed);
	if (upmu_open(&set, "cycles", NULL) < 0) {
		fprintf(stderr, "task_and_wall: %s\n", upmu_explain());
		return 1;
	}
	busy = measure(upmu_counter_at(set, 0), work);
	asleep = measure(upmu_counter_at(set, 0), sleep_a_while);
	/* Less than the task had in a larger window: one and the same. */
	if (asleep.wall <= asleep.task)
		say_and_end("task_and_wall: the cycle register is perf's and "
			    "stands still with the task; run it as: upmu exec "
			    "-- task_and_wall; on a 64-bit kernel with upmu.ko "
			    "and, where there is one, "
			    "kernel.perf_user_access=0\n");
	print("work", busy);
	print("sleep", asleep);
	upmu_close(set);
	return 0;
}
