// SPDX-License-Identifier: MIT
/*
 * exec_reads - a program that reads the cycle counter itself and knows nothing
 * of upmu: it gets SIGILL where that is not permitted, as any would
 *
 * exec_reads               one read
 * exec_reads child         so does a child, and its child; 0 where both lived
 * exec_reads as USER PROGRAM...   execute it as that user
 * exec_reads past SECONDS  reads that long and tells what it saw
 * exec_reads busy COUNTS   the same, without sleeping, for so many counts
 * exec_reads hold FILE     reads until SIGILL, then writes "sigill" to FILE
 * exec_reads counts        sets event counter 0 to software increments
 * exec_reads thread        the same in a thread
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "regs/regs.h"

#define HALF	   UINT64_C(0x80000000)
#define WHOLE	   UINT64_C(0x100000000)
#define NEAR	   20000000u /* counts around a wrap that are read densely */
#define PAUSE_US   10000
#define INCREMENTS 12345

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int read_in_child(int depth)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		upmu_regs_cycles32();
		_exit(depth > 1 ? read_in_child(depth - 1) : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int execute_as(char **argv)
{
	long user = strtol(argv[0], NULL, 10);

	if (setgid((gid_t)user) || setuid((uid_t)user))
		return 98;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 97;
}

/* What a program sees that adds up 32-bit differences. */
struct seen {
	uint64_t total, longest;
	unsigned long reads;
	unsigned int halves, wholes; /* crossings of 2^31 and of 2^32 */
	uint32_t last;
};

static void look(struct seen *seen)
{
	uint32_t value = upmu_regs_cycles32();
	uint32_t step = value - seen->last;

	if (seen->last < HALF && value >= HALF)
		seen->halves++;
	if (value < seen->last)
		seen->wholes++;
	if (step > seen->longest)
		seen->longest = step;
	seen->total += step;
	seen->last = value;
	seen->reads++;
}

static int tell(const struct seen *seen, double seconds)
{
	printf("reads %lu\nhalves %u\nwholes %u\nlongest %" PRIu64
	       "\ntotal %" PRIu64 "\nns %.0f\n",
	       seen->reads, seen->halves, seen->wholes, seen->longest,
	       seen->total, seconds * 1e9);
	return 0;
}

/* Sleeps, but not where the counter goes round. */
static int go_past(double seconds)
{
	struct seen seen = { .last = upmu_regs_cycles32() };
	double start = now(), end = start + seconds, t;

	do {
		uint32_t to_half = (uint32_t)HALF - (seen.last & 0x7fffffff);

		if (to_half > NEAR)
			usleep(PAUSE_US);
		look(&seen);
		t = now();
	} while (t < end);
	return tell(&seen, t - start);
}

static int be_busy(uint64_t counts)
{
	struct seen seen = { .last = upmu_regs_cycles32() };
	double start = now();

	while (seen.total < counts) {
		for (volatile int i = 0; i < 10000; i++)
			;
		look(&seen);
	}
	return tell(&seen, now() - start);
}

static const char *told_to;

static void on_illegal(int number)
{
	FILE *file = fopen(told_to, "w");

	(void)number;
	if (file) {
		fputs("sigill\n", file);
		fclose(file);
	}
	_exit(0);
}

static int hold(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return 96;
	told_to = path;
	signal(SIGILL, on_illegal);
	upmu_regs_cycles32();
	fputs("reading\n", file);
	fclose(file);
	for (;;)
		upmu_regs_cycles32();
}

/* As the articles do it: stop, choose the event, clear, start, work, stop. */
static int count_increments(void)
{
	uint32_t count;

	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	upmu_regs_set_type(0, 0); /* SW_INCR */
	upmu_regs_change_control(0, UPMU_CONTROL_P | UPMU_CONTROL_C);
	upmu_regs_enable(UPMU_MASK_CYCLES | 1);
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	upmu_regs_isb();
	for (int i = 0; i < INCREMENTS; i++)
		upmu_regs_software_increment(1);
	upmu_regs_isb();
	count = upmu_regs_counter(0);
	printf("increments %u\n", count);
	return count == INCREMENTS ? 0 : 1;
}

static void *count_in_thread(void *status)
{
	*(int *)status = count_increments();
	return NULL;
}

static int count_elsewhere(void)
{
	pthread_t thread;
	int status = 1;

	if (!pthread_create(&thread, NULL, count_in_thread, &status))
		pthread_join(thread, NULL);
	return status;
}

int main(int argc, char **argv)
{
	const char *act = argc > 1 ? argv[1] : "";

	if (!strcmp(act, "as") && argc > 3)
		return execute_as(argv + 2);
	if (!strcmp(act, "hold") && argc > 2)
		return hold(argv[2]);
	upmu_regs_cycles32();
	if (!strcmp(act, "child"))
		return read_in_child(2);
	if (!strcmp(act, "past") && argc > 2)
		return go_past(strtod(argv[2], NULL));
	if (!strcmp(act, "busy") && argc > 2)
		return be_busy(strtoull(argv[2], NULL, 0));
	if (!strcmp(act, "counts"))
		return count_increments();
	if (!strcmp(act, "thread"))
		return count_elsewhere();
	return argc > 1 ? 95 : 0;
}
