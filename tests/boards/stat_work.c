// SPDX-License-Identifier: MIT
/*
 * stat_work KIND [N] - known work for upmu stat, which measures itself
 *
 * With SELF=1 in the environment it prints the instructions of its own work,
 * read by libupmu, so that a whole-program count can be held against
 * self-measurement. (Not cycles: ARMv7 has one counter for them, and two who
 * want it take turns.) KINDs: loop (N rounds of two instructions on
 * ARM), naive (N by N matrices), chase (N steps), phases (N milliseconds,
 * user and kernel mode in turn), threads (N threads loop), forks (N children
 * loop). "stat_work nobody COMMAND..." executes that as an unprivileged user.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "upmu.h"

#define ROUNDS 1000000L

static void loop(long n)
{
	while (n) {
		n--;
		/* Neither unrolled nor worked out beforehand. */
		__asm__ volatile("" : "+r"(n));
	}
}

static void naive(long n)
{
	float *a = calloc(3 * n * n, sizeof(*a)), *b = a + n * n;
	float *c = b + n * n;

	for (long i = 0; a && i < n; i++)
		for (long j = 0; j < n; j++)
			for (long k = 0; k < n; k++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
	free(a);
}

#define NODES 65536

static void chase(long n)
{
	static unsigned int next[NODES];
	volatile unsigned int at = 0;

	/* 40503 is odd: each node is visited once in NODES steps. */
	for (unsigned int i = 0; i < NODES; i++)
		next[i] = (i + 40503) % NODES;
	while (n--)
		at = next[at];
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void phases(long ms)
{
	static char buffer[65536];
	long start = now_ms(), now = start;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (; zero >= 0 && now - start < ms; now = now_ms()) {
		if ((now - start) / 50 % 2)
			loop(10000);
		else if (read(zero, buffer, sizeof(buffer)) < 0)
			break;
	}
	close(zero);
}

static void *thread(void *unused)
{
	loop(ROUNDS);
	return unused;
}

static void threads(long n)
{
	pthread_t id[64];

	for (long i = 0; i < n && i < 64; i++)
		pthread_create(&id[i], NULL, thread, NULL);
	for (long i = 0; i < n && i < 64; i++)
		pthread_join(id[i], NULL);
}

static void forks(long n)
{
	for (long i = 0; i < n; i++) {
		if (!fork()) {
			loop(ROUNDS);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static const struct kind {
	const char *name;
	void (*run)(long n);
	long n;
} kinds[] = {
	{ "loop", loop, 30 * ROUNDS }, { "naive", naive, 320 },
	{ "chase", chase, 20000000 },  { "phases", phases, 500 },
	{ "threads", threads, 4 },     { "forks", forks, 4 },
};

static int measured(const struct kind *kind, long n)
{
	struct upmu_value before, after;
	struct upmu *set;

	if (upmu_open(&set, "instructions", NULL) ||
	    upmu_read(set, &before, 1)) {
		fprintf(stderr, "stat_work: %s\n", upmu_explain());
		return 1;
	}
	kind->run(n);
	if (upmu_read(set, &after, 1))
		return 1;
	printf("self %llu\n", (unsigned long long)(after.count - before.count));
	upmu_close(set);
	return 0;
}

#define NOBODY 65534

/* What busybox lacks: execute a command as an unprivileged user. */
static int as_nobody(char **command)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		return 1;
	execvp(command[0], command);
	return 127;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "nobody"))
		return as_nobody(argv + 2);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds);
	     i++) {
		long n = argc > 2 ? atol(argv[2]) : kinds[i].n;

		if (strcmp(kinds[i].name, argv[1]))
			continue;
		if (getenv("SELF"))
			return measured(&kinds[i], n);
		kinds[i].run(n);
		return 0;
	}
	fputs("usage: stat_work KIND [N]\n", stderr);
	return 2;
}
