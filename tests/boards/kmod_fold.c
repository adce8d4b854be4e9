// SPDX-License-Identifier: MIT
/*
 * kmod_fold - counts on a PMU without interrupt, under a real-time loop
 *
 * Loads and unloads the module itself (/upmu/upmu.ko, adopt=auto). A thread
 * that never leaves its CPU counts cycles twice: on the cycle counter, read
 * through perf's page all the time, and on an event counter, read only at the
 * end. On an emulated board a cycle is a nanosecond of the board's clock, so
 * 2^34 of them take 17 seconds, and the clock knows the truth.
 */
#include "tests/boards/kmod.h"

#define CPU_CYCLES 0x11
#define LOAD	   "insmod /upmu/upmu.ko adopt=auto"
#define UNLOAD	   "rmmod upmu"

/* A host that gives the emulator no time for that long spoils a run. */
#define LONGEST_GAP 0.8
#define TRIES	    4

struct run {
	double took;	 /* seconds by the clock */
	double gap;	 /* longest between two looks at it */
	uint64_t page;	 /* last value through the page, less the first */
	uint64_t cycles; /* the same event by read(2) at the end */
	uint64_t event;	 /* the other one */
	unsigned long reads, backwards, missing;
};

/* Its look at the clock and at the page are the loop: no system call. */
static void spin(struct run *run, const struct counter *counter, double length)
{
	double begin = seconds(), now = begin, before;
	uint64_t first = 0, last = 0, value;

	if (counter->page)
		counter_page(counter, &first);
	last = first;
	do {
		before = now;
		now = seconds();
		if (now - before > run->gap)
			run->gap = now - before;
		if (!counter->page)
			continue;
		if (!counter_page(counter, &value)) {
			run->missing++;
			continue;
		}
		run->reads++;
		run->backwards += value < last;
		last = value;
	} while (now - begin < length);
	run->took = seconds() - begin;
	run->page = last - first;
}

static int count_once(struct run *run, double length, bool page)
{
	struct counter cycles, event;
	int lease = -1;

	memset(run, 0, sizeof(*run));
	cycles = counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	event = counter_open(PERF_TYPE_RAW, CPU_CYCLES);
	if (cycles.fd < 0 || event.fd < 0)
		return -1;
	if (page)
		lease = take(UPMU_MODE_COUNT);
	if (!page || lease < 0) {
		munmap((void *)cycles.page, (size_t)sysconf(_SC_PAGESIZE));
		cycles.page = NULL;
	}
	spin(run, &cycles, length);
	run->cycles = counter_read(&cycles).value;
	run->event = counter_read(&event).value;
	counter_close(&cycles);
	counter_close(&event);
	if (lease >= 0)
		close(lease);
	return page && lease < 0 ? -1 : 0;
}

/* Again where the emulator stood still. */
static int count(struct run *run, double length, bool page)
{
	int err;

	for (int try = 0; try < TRIES; try++) {
		err = count_once(run, length, page);
		printf("# %.2f s: page %llu, cycles %llu, event 0x11 %llu; %lu "
		       "reads, %lu backwards, %lu without index, gap %.3f s\n",
		       run->took, (unsigned long long)run->page,
		       (unsigned long long)run->cycles,
		       (unsigned long long)run->event, run->reads,
		       run->backwards, run->missing, run->gap);
		fflush(stdout);
		if (err || run->gap < LONGEST_GAP)
			break;
	}
	return err;
}

/* 2^32 lost are 24 % of 18 s; a busy host adds some between clock and count. */
static bool near(uint64_t counted, double took)
{
	double truth = took * 1e9;

	return (double)counted > 0.95 * truth && (double)counted < 1.05 * truth;
}

static bool timer_runs(void)
{
	return file_has("/proc/timer_list", "upmu_fold_fire");
}

static bool timer_stops(void)
{
	double end = seconds() + 20;

	while (timer_runs() && seconds() < end)
		usleep(10000);
	return !timer_runs();
}

static void long_run(void)
{
	struct run run;

	tap(!count(&run, 18, true), "a_real_time_loop_counts_for_18_s", NULL);
	tap(run.cycles > 1ull << 34 && near(run.cycles, run.took),
	    "cycles_are_right_past_2_34", NULL);
	tap(run.event > 1ull << 34 && near(run.event, run.took),
	    "an_event_counter_is_right_past_2_34", NULL);
	tap(run.page > 1ull << 34 && near(run.page, run.took),
	    "the_page_is_right_past_2_34", NULL);
	tap(run.reads > 10000 && !run.backwards,
	    "the_page_never_runs_backwards", "%lu reads", run.reads);
}

static void timer_tests(void)
{
	int fd;

	tap(timer_stops(), "no_timer_runs_where_nothing_is_counted", NULL);
	fd = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, -1,
			0);
	spin_loop(10000);
	tap(timer_runs(), "a_timer_runs_while_something_is_counted", NULL);
	close(fd);
	tap(timer_stops(), "it_stops_with_the_last_event", NULL);
}

static void hotplug_test(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	struct run run;
	int fd;

	/* Its timer is running when the CPU goes. */
	fd = event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, -1, 1,
			0);
	pin(0);
	usleep(300000);
	poke(online, "0");
	usleep(300000);
	poke(online, "1");
	close(fd);
	pin(1);
	tap(!count(&run, 6, true) && near(run.cycles, run.took) &&
		    near(run.page, run.took),
	    "right_past_2_32_on_a_cpu_that_went_and_came", NULL);
}

static void loading_tests(void)
{
	struct run run = { 0 };
	struct counter cycles;
	uint64_t before;
	bool right;

	cycles = counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	system(UNLOAD);
	tap(!timer_runs(), "unloading_ends_the_timer", NULL);
	tap(!system(LOAD), "it_loads_while_an_event_counts", NULL);
	munmap((void *)cycles.page, (size_t)sysconf(_SC_PAGESIZE));
	cycles.page = NULL;
	before = counter_read(&cycles).value;
	spin(&run, &cycles, 6);
	right = near(counter_read(&cycles).value - before, run.took);
	if (!right && run.gap > LONGEST_GAP)
		tap_skip("an_event_older_than_the_module_is_folded_too",
			 "the emulator stood still");
	else
		tap(right, "an_event_older_than_the_module_is_folded_too",
		    NULL);
	counter_close(&cycles);
}

/* Shows that the rest would notice: the kernel alone loses 2^32. */
static void without_module(void)
{
	struct run run;

	system(UNLOAD);
	tap(!count(&run, 6, false) && !near(run.cycles, run.took) &&
		    near(run.cycles + (1ull << 32), run.took),
	    "without_the_module_2_32_cycles_are_lost", NULL);
	tap(!system(LOAD), "it_loads_again", NULL);
}

int main(void)
{
	struct sched_param priority = { .sched_priority = 50 };

	tap(!system(LOAD), "the_module_adopts_the_pmu", NULL);
	tap(info_of(-1).flags & UPMU_INFO_FOLDED, "the_pmu_is_folded",
	    "flags 0x%x", info_of(-1).flags);
	poke("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	pin(1);
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("sched_setscheduler");
		return 1;
	}
	timer_tests();
	without_module();
	long_run();
	hotplug_test();
	loading_tests();
	return tap_done();
}
