// SPDX-License-Identifier: MIT
/*
 * kmod_fold - counts on a PMU without interrupt, under a real-time loop
 *
 * Loads and unloads the module itself (/upmu/upmu.ko, adopt=auto). A thread
 * that never leaves its CPU counts cycles twice: on the cycle counter, read
 * through perf's page all the time, and on an event counter, read only at the
 * end. On an emulated board a cycle is a nanosecond of the board's clock, so
 * 2^34 of them take 17 seconds, and the clock knows the truth.
 *
 * QEMU loses counts now and then (qemu_fell() in kmod.h): 2^31 too many for
 * perf, where a counter had just been folded. So a wrong run is run again; a
 * module that does not fold is wrong each time.
 */
#include "tests/boards/kmod.h"

#define CPU_CYCLES 0x11
#define LOAD	   "insmod /upmu/upmu.ko adopt=auto"
#define UNLOAD	   "rmmod upmu"

/* A host that gives the emulator no time for that long spoils a run. */
#define LONGEST_GAP   0.8
#define LONGEST_LOOKS 0.4
#define TRIES	      4

/* What folding may lose, and far below 2^31 cycles, which are 2.1 s. */
#define SLACK 0.5

struct run {
	double least;	 /* seconds by the clock between the readings */
	double most;	 /* and with the time that the readings took */
	double gap;	 /* longest between two looks at the clock */
	uint64_t page;	 /* counted meanwhile, through the page */
	uint64_t cycles; /* the same event by read(2) */
	uint64_t event;	 /* the other one */
	unsigned long reads, backwards, missing;
};

struct pair {
	struct counter cycles, event;
};

struct reading {
	double before, after;
	uint64_t page, cycles, event;
};

static struct reading look(const struct pair *pair)
{
	struct reading now = { .before = seconds() };

	if (pair->cycles.page)
		counter_page(&pair->cycles, &now.page);
	now.cycles = counter_read(&pair->cycles).value;
	now.event = counter_read(&pair->event).value;
	now.after = seconds();
	return now;
}

/* Its look at the clock and at the page are the loop: no system call. */
static void spin(struct run *run, const struct counter *counter, double length,
		 uint64_t last)
{
	double begin = seconds(), now = begin, before;
	uint64_t value;

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
}

static void measure(struct run *run, const struct pair *pair, double length)
{
	struct reading first, last;

	memset(run, 0, sizeof(*run));
	first = look(pair);
	spin(run, &pair->cycles, length, first.page);
	last = look(pair);
	run->least = last.before - first.after;
	run->most = last.after - first.before;
	run->page = last.page - first.page;
	run->cycles = last.cycles - first.cycles;
	run->event = last.event - first.event;
	printf("# %.2f to %.2f s: page %llu, cycles %llu, event 0x11 %llu; %lu "
	       "reads, %lu backwards, %lu without index, gap %.3f s\n",
	       run->least, run->most, (unsigned long long)run->page,
	       (unsigned long long)run->cycles, (unsigned long long)run->event,
	       run->reads, run->backwards, run->missing, run->gap);
	fflush(stdout);
}

static bool spoiled(const struct run *run)
{
	return run->gap > LONGEST_GAP || run->most - run->least > LONGEST_LOOKS;
}

static int pair_open(struct pair *pair)
{
	pair->cycles =
		counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	pair->event = counter_open(PERF_TYPE_RAW, CPU_CYCLES);
	return pair->cycles.fd < 0 || pair->event.fd < 0 ? -1 : 0;
}

static void pair_close(struct pair *pair)
{
	counter_close(&pair->cycles);
	counter_close(&pair->event);
}

static void no_page(struct counter *counter)
{
	munmap((void *)counter->page, (size_t)sysconf(_SC_PAGESIZE));
	counter->page = NULL;
}

static int count_once(struct run *run, double length, bool page)
{
	struct pair pair;
	int lease = page ? take(UPMU_MODE_COUNT) : -1;

	if (pair_open(&pair) || (page && lease < 0))
		return -1;
	if (!page)
		no_page(&pair.cycles);
	measure(run, &pair, length);
	pair_close(&pair);
	if (lease >= 0)
		close(lease);
	return 0;
}

static bool right(uint64_t counted, const struct run *run)
{
	double took = (double)counted / 1e9;

	return took > run->least - SLACK && took < run->most + SLACK;
}

static bool all_right(const struct run *run)
{
	return right(run->page, run) && right(run->cycles, run) &&
	       right(run->event, run);
}

/* Again where the emulator stood still, or may have lost a count. */
static int count(struct run *run, double length, bool page)
{
	int err;

	for (int try = 0; try < TRIES; try++) {
		err = count_once(run, length, page);
		if (err || (!spoiled(run) && (!page || all_right(run))))
			break;
	}
	return err;
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

	tap(!count(&run, 18.5, true),
	    "a_real_time_loop_counts_past_2_34_cycles", NULL);
	tap(run.cycles > 1ull << 34 && right(run.cycles, &run),
	    "cycles_are_right_past_2_34", NULL);
	tap(run.event > 1ull << 34 && right(run.event, &run),
	    "an_event_counter_is_right_past_2_34", NULL);
	tap(run.page > 1ull << 34 && right(run.page, &run),
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

/* Once, by a holder that goes on until its counters have been folded. */
static bool reset_is_believed(uint32_t *written)
{
	int perf = event_open(PERF_TYPE_RAW, CPU_CYCLES, 0, -1, 1, 0);
	int lease = take(UPMU_MODE_COUNT);
	double begin = seconds(), took;
	uint64_t before = total(perf).value, counted;

	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_isb();
	while (seconds() < begin + 0.5)
		;
	counted = total(perf).value - before;
	took = seconds() - begin;
	*written = info_of(lease).lease_written;
	close(lease);
	close(perf);
	printf("# %llu in %.2f s, written %x\n", (unsigned long long)counted,
	       took, *written);
	return !counted || (double)counted / 1e9 > took + SLACK;
}

static void reset_test(void)
{
	uint32_t written = 0;
	bool believed = true;

	for (int try = 0; try < TRIES && (believed || !written); try++)
		believed = reset_is_believed(&written);
	tap(!believed, "a_counter_that_a_holder_reset_is_not_folded_as_it_is",
	    NULL);
	tap(written & UPMU_WRITTEN_COUNTS, "and_the_holder_is_told", "%x",
	    written);
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
	tap(!count(&run, 6, true) && right(run.cycles, &run) &&
		    right(run.event, &run) && right(run.page, &run),
	    "right_past_2_32_on_a_cpu_that_went_and_came", NULL);
}

static void loading_tests(void)
{
	struct run run = { 0 };
	struct pair pair;

	pair_open(&pair);
	system(UNLOAD);
	tap(!timer_runs(), "unloading_ends_the_timer", NULL);
	tap(!system(LOAD), "it_loads_while_an_event_counts", NULL);
	no_page(&pair.cycles);
	for (int try = 0; try < TRIES; try++) {
		measure(&run, &pair, 6);
		if (!spoiled(&run) && right(run.cycles, &run) &&
		    right(run.event, &run))
			break;
	}
	tap(right(run.cycles, &run) && right(run.event, &run),
	    "an_event_older_than_the_module_is_folded_too", NULL);
	pair_close(&pair);
}

/* Shows that the rest would notice: the kernel alone loses 2^32. */
static void without_module(void)
{
	struct run run;

	system(UNLOAD);
	tap(!count(&run, 6, false) && !right(run.cycles, &run) &&
		    right(run.cycles + (1ull << 32), &run),
	    "without_the_module_2_32_cycles_are_lost", NULL);
	tap(!system(LOAD), "it_loads_again", NULL);
}

/* Nobody else gets the CPU, which would fold: neither by the old limit ... */
static void alone(void)
{
	struct sched_param priority = { .sched_priority = 50 };

	poke("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	/*
	 * ... nor, since 6.12, by the server that runs who waits for long. It
	 * goes on for up to a second where nobody runs any more, and 6.12 warns
	 * where it is changed then: who runs there itself makes 6.12 stop it.
	 */
	pin(1);
	poke("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0");
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("sched_setscheduler");
		exit(1);
	}
}

int main(void)
{
	tap(!system(LOAD), "the_module_adopts_the_pmu", NULL);
	tap(info_of(-1).flags & UPMU_INFO_FOLDED, "the_pmu_is_folded",
	    "flags 0x%x", info_of(-1).flags);
	alone();
	timer_tests();
	reset_test();
	without_module();
	long_run();
	hotplug_test();
	loading_tests();
	return tap_done();
}
