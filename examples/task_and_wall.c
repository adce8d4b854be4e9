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
#include <stdio.h>
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

static void compare(const struct upmu_counter *task, const char *what,
		    void (*thing)(void))
{
	uint64_t task_begin = upmu_count(task), task_cycles;
	uint32_t wall_begin = upmu_raw_cycles(), wall_cycles;

	thing();
	wall_cycles = upmu_raw_cycles() - wall_begin;
	task_cycles = upmu_count(task) - task_begin;
	printf("%-12s task %12" PRIu64 "   wall %12" PRIu32
	       "   task/wall %5.2f\n",
	       what, task_cycles, wall_cycles,
	       (double)task_cycles / wall_cycles);
}

int main(void)
{
	struct upmu *set;

	if (upmu_open(&set, "cycles", NULL) < 0) {
		fprintf(stderr, "task_and_wall: %s\n", upmu_explain());
		return 1;
	}
	compare(upmu_counter(set, 0), "work", work);
	compare(upmu_counter(set, 0), "sleep", sleep_a_while);
	upmu_close(set);
	return 0;
}
