// SPDX-License-Identifier: MIT
/*
 * Sets that count others than the caller: a thread, a program with what it
 * starts, CPUs. Each turn of a loop is known work.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"
#include "worker.h"

#define LOOPS 2000000u
/* Two instructions for each turn; some for the program's start and end. */
#define LEAST 2u * LOOPS
#define MOST  3u * LOOPS

static void spin(unsigned int n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}

static struct upmu *open_on(int32_t pid, uint32_t flags, uint32_t cpu)
{
	const struct upmu_options options = {
		.size = sizeof(options), .pid = pid, .flags = flags, .cpu = cpu
	};
	struct upmu *set = NULL;

	if (upmu_open(&set, "instructions:u", &options))
		note("%s", upmu_explain());
	return set;
}

static bool counted(struct upmu *set, uint64_t least, uint64_t most)
{
	struct upmu_value value = { 0, 0, 0 };

	if (!set || upmu_read(set, &value, 1))
		note("%s", upmu_explain());
	note("%" PRIu64 " instructions in %" PRIu64 " of %" PRIu64 " ns",
	     value.count, value.running_ns, value.enabled_ns);
	upmu_close(set);
	return value.count >= least && value.count <= most &&
	       value.running_ns == value.enabled_ns;
}

/* ---- a thread ------------------------------------------------------------ */

/* Two at the same time, one of which works twice as long. */
static void count_threads(void)
{
	struct upmu *sets[2];
	bool passed = true;

	for (int i = 0; i < 2; i++) {
		start_worker(i, spin, LOOPS);
		sets[i] = open_on(workers[i].tid, 0, 0);
	}
	for (int i = 0; i < 2; i++)
		sem_post(&workers[i].go);
	spin(LOOPS);
	for (unsigned int i = 0; i < 2; i++) {
		sem_wait(&workers[i].is_done);
		passed = counted(sets[i], LEAST * (i + 1), MOST * (i + 1)) &&
			 passed;
		sem_post(&workers[i].over);
		pthread_join(workers[i].thread, NULL);
	}
	ok(passed, "two_other_threads_are_counted_each_by_itself");
}

/* ---- a program ----------------------------------------------------------- */

/* What is executed: it works, and so does a child of its. */
static int be_the_program(void)
{
	pid_t child = fork();

	spin(LOOPS);
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	return 0;
}

static pid_t fork_program(const char *self, int *go)
{
	int pipes[2];
	pid_t child;
	char byte;

	if (pipe(pipes))
		return -1;
	child = fork();
	if (child) {
		close(pipes[0]);
		*go = pipes[1];
		return child;
	}
	close(pipes[1]);
	if (!read(pipes[0], &byte, 1))
		execl(self, self, "program", NULL);
	_exit(127);
}

static void count_program(const char *self, uint32_t flags, unsigned int parts,
			  const char *claim)
{
	int go = -1, status = -1;
	pid_t child = fork_program(self, &go);
	struct upmu *set = open_on(child, flags | UPMU_OPEN_ON_EXEC, 0);

	close(go);
	waitpid(child, &status, 0);
	ok(counted(set, LEAST * parts, LEAST * parts + LOOPS) && !status,
	   claim);
}

/* ---- CPUs ---------------------------------------------------------------- */

static void count_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct upmu *sets[8];
	bool passed = true;

	for (long cpu = 0; cpu < cpus && cpu < 8; cpu++)
		sets[cpu] = open_on(0, UPMU_OPEN_CPU, (uint32_t)cpu);
	for (long cpu = 0; cpu < cpus && cpu < 8; cpu++) {
		cpu_set_t only;

		CPU_ZERO(&only);
		CPU_SET(cpu, &only);
		sched_setaffinity(0, sizeof(only), &only);
		spin(LOOPS);
	}
	for (long cpu = 0; cpu < cpus && cpu < 8; cpu++)
		passed = counted(sets[cpu], LEAST, 100 * LEAST) && passed;
	ok(passed, "all_cpus_are_counted_each_by_itself");
}

static bool switch_cpu_1(const char *to)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool done = fd >= 0 && write(fd, to, 1) == 1;

	close(fd);
	return done;
}

/* Read, and by counts: the same, and as before. */
static bool stands(struct upmu *set, struct upmu_value *before)
{
	size_t n = upmu_size(set);
	struct upmu_value now[3];
	uint64_t counts[3];

	spin(LOOPS);
	if (upmu_read(set, now, n) || upmu_count_all(set, counts, n)) {
		note("%s", upmu_explain());
		return false;
	}
	if (!before[0].count)
		memcpy(before, now, n * sizeof(*now));
	note("%" PRIu64 " %s in %" PRIu64 " ns", now[0].count,
	     upmu_event_name(set, 0), now[0].running_ns);
	return !memcmp(now, before, n * sizeof(*now)) &&
	       counts[0] == now[0].count && counts[n - 1] == now[n - 1].count &&
	       upmu_count(upmu_counter_at(set, 0)) == now[0].count;
}

static void lose_a_cpu(const char *events, const char *off, const char *back)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .flags = UPMU_OPEN_CPU,
					      .cpu = 1 };
	struct upmu_value before[3] = { { 0, 0, 0 } };
	struct upmu *set;

	if (sysconf(_SC_NPROCESSORS_CONF) < 2) {
		skip(off, "one CPU");
		skip(back, "one CPU");
		return;
	}
	if (upmu_open(&set, events, &options))
		note("%s", upmu_explain());
	spin(LOOPS);
	ok(switch_cpu_1("0") && stands(set, before) &&
		   before[upmu_size(set) - 1].count && stands(set, before),
	   off);
	ok(switch_cpu_1("1") && stands(set, before), back);
	upmu_close(set);
}

static void refuse(void)
{
	const struct upmu_options nobody = { .size = sizeof(nobody),
					     .pid = 999999 };
	struct upmu *set = NULL;

	ok(upmu_open(&set, "cycles", &nobody) == -ESRCH &&
		   strstr(upmu_explain(), "999999"),
	   "a_thread_that_is_not_there_is_esrch");
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return be_the_program();
	count_threads();
	count_program("/proc/self/exe", 0, 1,
		      "a_program_is_counted_from_its_exec_on");
	count_program("/proc/self/exe", UPMU_OPEN_INHERIT, 2,
		      "what_a_program_starts_is_counted_too");
	count_cpus();
	lose_a_cpu("cycles,instructions",
		   "of_a_cpu_that_goes_off_the_counts_stand",
		   "also_when_it_is_back");
	lose_a_cpu("task-clock,page-faults,cycles",
		   "also_of_the_kernels_own_and_a_cores_together",
		   "and_these_when_it_is_back");
	refuse();
	return tap_done();
}
