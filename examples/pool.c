// SPDX-License-Identifier: MIT
/*
 * A pool of threads that count their own jobs: each opens its set when it
 * starts, once, and reads it without a system call around each job.
 *
 *	cc pool.c -pthread $(pkg-config --cflags --libs libupmu)
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <upmu.h>

#define THREADS 4
#define JOBS	100

static atomic_int next_job;
static uint64_t cost[JOBS];

static void do_job(int job)
{
	for (volatile int n = 1000 * (1 + job % 4); n > 0;)
		n--;
}

static void *work(void *arg)
{
	const struct upmu_counter *counter;
	struct upmu *set;
	int job;

	/* What the list means was found out by the first thread to open it. */
	if (upmu_open(&set, "instructions:u", NULL)) {
		fprintf(stderr, "pool: %s\n", upmu_explain());
		return arg;
	}
	counter = upmu_counter_at(set, 0);
	if (upmu_count(counter) == UPMU_NO_COUNT) {
		fprintf(stderr, "pool: %s\n", upmu_explain());
		return arg;
	}
	while ((job = atomic_fetch_add(&next_job, 1)) < JOBS) {
		uint64_t before = upmu_count(counter);

		do_job(job);
		cost[job] = upmu_count(counter) - before;
	}
	upmu_close(set);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	uint64_t sum[4] = { 0 };

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, thread);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(thread[i], &failed);
		if (failed)
			return 1;
	}
	for (int job = 0; job < JOBS; job++)
		sum[job % 4] += cost[job];
	for (int kind = 0; kind < 4; kind++)
		printf("jobs of size %d: %" PRIu64 " instructions each\n",
		       kind + 1, sum[kind] / (JOBS / 4));
	return 0;
}
