// SPDX-License-Identifier: MIT
/*
 * Opened in one thread, read in another: the opener's counts, exactly. And what
 * becomes of sets when threads end, processes fork and programs are executed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"

static struct upmu *set;
static atomic_bool is_open, is_over;

static void spin(unsigned int n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}

static void *open_and_work(void *unused)
{
	(void)unused;
	if (upmu_open(&set, "cycles,r11", NULL))
		note("%s", upmu_explain());
	atomic_store(&is_open, true);
	while (!atomic_load(&is_over))
		spin(10000);
	return NULL;
}

/* While the opener runs on another CPU, or is switched out here. */
static void read_from_another_thread(void)
{
	struct upmu_value before[2], after[2];
	uint64_t outside = 0, backwards = 0, last = 0, counts[2];

	for (int i = 0; i < 2000; i++) {
		uint64_t count;

		upmu_read(set, before, 2);
		count = upmu_count(upmu_counter_at(set, i % 2));
		upmu_count_all(set, counts, 2);
		upmu_read(set, after, 2);
		outside += count < before[i % 2].count ||
			   count > after[i % 2].count;
		for (int k = 0; k < 2; k++)
			outside += counts[k] < before[k].count ||
				   counts[k] > after[k].count;
		backwards += !(i % 2) && count < last;
		last = i % 2 ? last : count;
		if (i % 100 == 0)
			sched_yield();
	}
	note("%" PRIu64 " outside, %" PRIu64 " backwards", outside, backwards);
	ok(!outside, "another_thread_reads_the_openers_counts");
	ok(!backwards, "another_thread_sees_them_rise");
}

static void read_after_the_opener_ended(pthread_t thread)
{
	struct upmu_value value[2];
	uint64_t first, second;

	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	first = upmu_count(upmu_counter_at(set, 0));
	spin(100000);
	second = upmu_count(upmu_counter_at(set, 0));
	ok(first && first != UPMU_NO_COUNT && first == second,
	   "the_last_count_stays_when_the_opener_has_ended");
	ok(!upmu_read(set, value, 2) && value[0].count == first,
	   "read_agrees_with_it");
	upmu_close(set);
}

static void *open_and_leave(void *out)
{
	if (upmu_open(out, "cycles", NULL))
		note("%s", upmu_explain());
	return NULL;
}

/* A new thread gets the stack, and so the thread pointer, of the ended one. */
static void *read_of_the_dead(void *opened)
{
	struct upmu *dead = opened;
	uint64_t first = upmu_count(upmu_counter_at(dead, 0));

	spin(100000);
	return (void *)(uintptr_t)(first != UPMU_NO_COUNT &&
				   first == upmu_count(
						    upmu_counter_at(dead, 0)));
}

static void inherit_a_thread_pointer(void)
{
	struct upmu *dead = NULL;
	pthread_t thread;
	void *same = NULL;

	pthread_create(&thread, NULL, open_and_leave, &dead);
	pthread_join(thread, NULL);
	if (!dead) {
		ok(false, "a_thread_in_a_dead_ones_place_reads_its_last_count");
		return;
	}
	pthread_create(&thread, NULL, read_of_the_dead, dead);
	pthread_join(thread, &same);
	ok(same != NULL, "a_thread_in_a_dead_ones_place_reads_its_last_count");
	upmu_close(dead);
}

static int in_child(struct upmu *parents)
{
	struct upmu_value before, after;
	struct upmu *own;
	uint64_t count;

	if (upmu_read(parents, &before, 1))
		return 1;
	count = upmu_count(upmu_counter_at(parents, 0));
	if (upmu_read(parents, &after, 1) || count < before.count ||
	    count > after.count)
		return 2;
	upmu_close(parents);
	if (upmu_open(&own, "cycles", NULL))
		return 3;
	count = upmu_count(upmu_counter_at(own, 0));
	spin(1000);
	if (upmu_count(upmu_counter_at(own, 0)) <= count)
		return 4;
	upmu_close(own);
	return 0;
}

static void fork_with_a_set(void)
{
	struct upmu *mine;
	uint64_t count;
	int status = -1;
	pid_t child;

	if (upmu_open(&mine, "cycles", NULL)) {
		ok(false, "fork_with_a_set: open");
		return;
	}
	child = fork();
	if (!child)
		_exit(in_child(mine));
	waitpid(child, &status, 0);
	note("status %d", status);
	ok(status == 0, "a_child_reads_the_parent_and_counts_itself");
	count = upmu_count(upmu_counter_at(mine, 0));
	spin(1000);
	ok(upmu_count(upmu_counter_at(mine, 0)) > count &&
		   !strcmp(upmu_source(mine), "page"),
	   "the_parent_counts_on_when_the_child_has_closed");
	upmu_close(mine);
}

/* How many descriptors the executed program has inherited. */
static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 3; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void execute_with_a_set(int inherited)
{
	struct upmu *mine;
	char expected[16];
	int status = -1;
	pid_t child;

	if (upmu_open(&mine, "cycles,r11", NULL)) {
		ok(false, "execute_with_a_set: open");
		return;
	}
	child = fork();
	if (!child) {
		snprintf(expected, sizeof(expected), "%d", inherited);
		execl("/proc/self/exe", "lib_threads", expected, NULL);
		_exit(99);
	}
	waitpid(child, &status, 0);
	ok(status == 0, "an_executed_program_inherits_no_descriptor");
	upmu_close(mine);
}

int main(int argc, char **argv)
{
	int inherited = count_descriptors();
	pthread_t thread;

	if (argc > 1)
		return inherited != atoi(argv[1]);
	pthread_create(&thread, NULL, open_and_work, NULL);
	while (!atomic_load(&is_open))
		sched_yield();
	if (!ok(set != NULL, "a_thread_opened_a_set"))
		return tap_done();
	read_from_another_thread();
	read_after_the_opener_ended(thread);
	inherit_a_thread_pointer();
	fork_with_a_set();
	execute_with_a_set(inherited);
	return tap_done();
}
