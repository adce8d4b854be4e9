// SPDX-License-Identifier: MIT
/*
 * upstream_access - user access to ARMv7's counters by perf itself: the kernel
 * of upstream/arm-user-access, without upmu.ko. Who gets it, and until when.
 */
#include "tests/boards/kmod.h"

#define SYSCTL "/proc/sys/kernel/perf_user_access"
#define ONLINE "/sys/devices/system/cpu/cpu1/online"
#define ASKS   2 /* config1, format/rdpmc */

static uint32_t index_by(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	volatile struct perf_event_mmap_page *page;
	uint32_t index;
	int fd = (int)syscall(__NR_perf_event_open, attr, pid, cpu, -1, 0);

	if (fd < 0)
		return (uint32_t)-errno;
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	index = page == MAP_FAILED ? UINT32_MAX : page->index;
	munmap((void *)page, 4096);
	close(fd);
	return index;
}

static void off_tests(void)
{
	struct counter counter = counter_open(PERF_TYPE_RAW, EVENT_CYCLES);

	tap(file_has(SYSCTL, "0"), "it_is_off_by_default", NULL);
	tap(counter.page && !counter.page->index && !try_cycles(NULL),
	    "while_it_is_off_nothing_is_told_or_permitted", NULL);
	poke(SYSCTL, "1");
	tap(try_cycles(NULL), "what_is_mapped_is_permitted_once_it_is_on",
	    NULL);
	poke(SYSCTL, "0");
	tap(!try_cycles(NULL), "and_no_longer_when_it_is_off_again", NULL);
	tap(poke(SYSCTL, "2") == -EINVAL, "it_is_on_or_off", NULL);
	counter_close(&counter);
	poke(SYSCTL, "1");
}

static void permission_tests(void)
{
	struct counter first, second, plain;

	tap(!try_cycles(NULL), "who_has_mapped_nothing_is_not_permitted", NULL);
	plain = counter_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	tap(!try_cycles(NULL), "nor_who_has_mapped_a_software_event", NULL);
	counter_close(&plain);
	first = counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	second = counter_open(PERF_TYPE_RAW, EVENT_CYCLES);
	tap(try_cycles(NULL), "who_has_mapped_an_event_is_permitted", NULL);
	tap(in_child(child_tries, NULL) == 0, "its_child_is_not", NULL);
	tap(first.page->index == 32, "the_cycle_counter_has_index_32", NULL);
	tap(second.page->index >= 1 && second.page->index <= 31,
	    "an_event_has_1_plus_the_number_of_its_counter", "%u",
	    second.page->index);
	tap(first.page->cap_user_rdpmc && first.page->pmc_width == 32,
	    "the_page_tells_the_width", "%u", first.page->pmc_width);
	counter_close(&first);
	tap(try_cycles(NULL), "one_of_two_unmapped_leaves_the_permission",
	    NULL);
	counter_close(&second);
	tap(!try_cycles(NULL), "the_last_one_takes_it_along", NULL);
}

static void refusal_tests(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW,
					.size = sizeof(attr),
					.config = EVENT_CYCLES,
					.config1 = ASKS };

	tap((int)index_by(&attr, -1, 0) == -EINVAL,
	    "an_event_of_a_cpu_cannot_ask_for_it", NULL);
	/* perf maps an inherited event of one CPU only. */
	pin(0);
	tap(index_by(&attr, 0, 0) - 1 < 31,
	    "an_event_of_this_thread_on_one_cpu_has_an_index", NULL);
	attr.inherit = 1;
	tap(index_by(&attr, 0, 0) == 0, "an_inherited_event_has_none", NULL);
	attr.inherit = 0;
	attr.config1 = 0;
	tap(index_by(&attr, 0, 0) == 0, "nor_has_one_that_does_not_ask", NULL);
}

/* Reads, and moves; whoever may not read is killed by SIGILL. */
static int reads_and_moves(void *data)
{
	struct counter cycles =
		counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct counter event = counter_open(PERF_TYPE_RAW, EVENT_CYCLES);
	uint64_t last[2] = { 0, 0 }, value;
	double end = seconds() + 10;

	for (int n = 0; seconds() < end; n++) {
		if (data && n % 50 == 0)
			pin(n / 50 % 2);
		for (int k = 0; k < 2; k++) {
			if (!counter_page(k ? &event : &cycles, &value))
				continue;
			if (value < last[k])
				return 1;
			last[k] = value;
		}
	}
	return !last[0] || !last[1];
}

static int tries_in_vain(void *data)
{
	double end = seconds() + 10;

	(void)data;
	while (seconds() < end)
		if (try_cycles(NULL))
			return 1;
	return 0;
}

static pid_t beside(int (*run)(void *), void *data)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(run(data));
	return pid;
}

static int outcome(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Readers and others share two CPUs, of which one comes and goes. */
static void crowd_test(void)
{
	int moves = 1, read[3], in_vain[2];
	pid_t reader[3], other[2];
	double end = seconds() + 9;

	for (int n = 0; n < 3; n++)
		reader[n] = beside(reads_and_moves, n ? &moves : NULL);
	for (int n = 0; n < 2; n++)
		other[n] = beside(tries_in_vain, NULL);
	while (seconds() < end) {
		usleep(700000);
		poke(ONLINE, "0");
		usleep(300000);
		poke(ONLINE, "1");
	}
	for (int n = 0; n < 3; n++)
		read[n] = outcome(reader[n]);
	for (int n = 0; n < 2; n++)
		in_vain[n] = outcome(other[n]);
	tap(!read[0] && !read[1] && !read[2],
	    "readers_go_on_while_they_move_and_a_cpu_comes_and_goes",
	    "%d %d %d", read[0], read[1], read[2]);
	tap(!in_vain[0] && !in_vain[1],
	    "others_beside_them_are_never_permitted", "%d %d", in_vain[0],
	    in_vain[1]);
}

static void value_tests(void)
{
	struct counter cycles =
		counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct counter event = counter_open(PERF_TYPE_RAW, EVENT_CYCLES);
	uint64_t value = 0;

	tap(counter_page_is_right(&cycles, 2000) &&
		    counter_page_is_right(&event, 2000),
	    "what_is_read_lies_between_two_reads_by_system_call", NULL);
	counter_read(&event);
	ioctl(event.fd, PERF_EVENT_IOC_RESET, 0);
	tap(counter_page(&event, &value) && value < UINT32_MAX / 2,
	    "after_a_reset_the_page_is_right", "%llu",
	    (unsigned long long)value);
	counter_close(&cycles);
	counter_close(&event);
}

/* What a process with the permission writes is not left behind. */
static int spoils(void *data)
{
	struct counter counter = counter_open(PERF_TYPE_RAW, EVENT_CYCLES);

	(void)data;
	upmu_regs_write_control(upmu_regs_control() | 1u << 3);
	counter_close(&counter);
	return 0;
}

static void spoiled_test(void)
{
	struct counter cycles;
	struct times before, after;
	double began;

	pin(0);
	in_child(spoils, NULL);
	cycles = counter_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	before = counter_read(&cycles);
	began = seconds();
	while (seconds() < began + 0.2)
		;
	after = counter_read(&cycles);
	/* QEMU counts nanoseconds; with PMCR.D it would be one in 64. */
	tap((double)(after.value - before.value) > 0.05e9,
	    "a_divider_that_user_mode_set_does_not_last", "%llu",
	    (unsigned long long)(after.value - before.value));
	counter_close(&cycles);
}

int main(void)
{
	off_tests();
	permission_tests();
	refusal_tests();
	value_tests();
	spoiled_test();
	crowd_test();
	return tap_done();
}
