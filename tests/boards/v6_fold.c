// SPDX-License-Identifier: MIT
/*
 * v6_fold - counts on an ARM1176 past 2^32, which no interrupt tells
 *
 * v6_fold idle    the CPU's cycles while it sleeps
 * v6_fold busy    a thread's, which never leaves its CPU (2^32 instructions)
 *
 * Loads and unloads the module itself. An emulated cycle is a nanosecond of
 * the board's clock, in sleep too, so the clock knows the truth.
 */
#include "tests/boards/kmod.h"

#define LENGTH 4.6 /* s: 2^32 cycles are 4.29 */

/* What folding may lose, far below 2^32. */
#define SLACK 0.05

struct run {
	double least, most;
	double counted;
	unsigned long reads, backwards, missing;
};

static void stay_busy(struct run *run, const struct counter *counter)
{
	double end = seconds() + LENGTH;
	uint64_t last = 0, value;

	while (seconds() < end) {
		spin_loop(1000000);
		if (!counter->page)
			continue;
		if (!counter_page(counter, &value)) {
			run->missing++;
			continue;
		}
		run->reads++;
		run->backwards += value < last;
		last = value;
	}
}

static bool measure(struct run *run, bool busy)
{
	struct counter counter = { .fd = -1 };
	double before, began, ended;
	int64_t first;

	memset(run, 0, sizeof(*run));
	if (busy)
		counter = counter_open(PERF_TYPE_HARDWARE,
				       PERF_COUNT_HW_CPU_CYCLES);
	else
		counter.fd = event_open(PERF_TYPE_HARDWARE,
					PERF_COUNT_HW_CPU_CYCLES, 0, -1, 0, 0);
	if (counter.fd < 0)
		return false;
	before = seconds();
	first = (int64_t)counter_read(&counter).value;
	began = seconds();
	if (busy)
		stay_busy(run, &counter);
	else
		usleep((useconds_t)(LENGTH * 1e6));
	ended = seconds();
	run->counted =
		(double)((int64_t)counter_read(&counter).value - first) / 1e9;
	run->least = ended - began;
	run->most = seconds() - before;
	/* its page alone would keep the event counting */
	counter_close(&counter);
	printf("# %.3f s counted in %.3f to %.3f s; %lu reads, %lu backwards, "
	       "%lu without index\n",
	       run->counted, run->least, run->most, run->reads, run->backwards,
	       run->missing);
	return true;
}

static bool right(const struct run *run)
{
	return run->counted > run->least - SLACK &&
	       run->counted < run->most + SLACK;
}

static void real_time(void)
{
	struct sched_param priority = { .sched_priority = 50 };

	poke("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	poke("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "0");
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		perror("sched_setscheduler");
}

int main(int argc, char **argv)
{
	bool busy = argc > 1 && !strcmp(argv[1], "busy");
	struct run run;
	int lease;

	real_time();
	tap(measure(&run, busy) && !right(&run) &&
		    run.counted + 4.294967296 > run.least - SLACK &&
		    run.counted + 4.294967296 < run.most + SLACK,
	    "without_the_module_2_32_cycles_are_lost", NULL);
	tap(!system("insmod /upmu/upmu.ko"), "the_module_loads", NULL);
	lease = busy ? take(UPMU_MODE_COUNT) : -1;
	tap(measure(&run, busy) && right(&run) && run.least > 4.294967296,
	    "with_it_they_are_counted", NULL);
	if (busy)
		tap(run.reads > 500 && !run.backwards && !run.missing,
		    "the_page_never_runs_backwards", NULL);
	if (lease >= 0)
		close(lease);
	tap(!system("rmmod upmu"), "it_unloads", NULL);
	return tap_done();
}
